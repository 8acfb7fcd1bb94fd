package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// sunk are the designs on SQLite whose effects are seen at sinks.
func sunk(t *testing.T) []orders.Design {
	t.Helper()
	var all []orders.Design
	for _, d := range orders.Designs() {
		target, _, err := orders.Describe(d.Name)
		require.NoError(t, err)
		if len(target.Sinks) > 0 && d.StandsOn("sqlite") {
			all = append(all, d)
		}
	}
	return all
}

// TestDesignsWithASinkAreKnownByIt plays every third one; make matrix plays all.
func TestDesignsWithASinkAreKnownByIt(t *testing.T) {
	t.Parallel()
	broken := 0
	for i, d := range sunk(t) {
		if i%3 != 0 {
			continue
		}
		scenarios := []string{"effect-answer-lost"}
		if d.Redis { // a broker's answer is not the sink's to lose
			scenarios = []string{"burst-same-key"}
		}
		if !d.Correct {
			scenarios = d.By[:1]
			broken++
			if strings.HasPrefix(d.By[0], "crash-") { // as TestACrashAtAnEffect does it
				continue
			}
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			x := trial{reports: t.TempDir()}
			prefix := sut.BuiltinPrefix
			if d.Instances > 0 {
				prefix = sut.ServedPrefix
			}
			got := typed(t, append([]string{"run", "--target", prefix + d.Name, "--seed", "3", "--reports", x.reports}, scenarios...)...)
			x.checked(t, got)
			result := onlyReport(t, x.reports).Results[0]
			if d.Correct {
				require.Equal(t, exitPass, got.code, "%s", got)
				require.Contains(t, got.out, "effect-seen")
				return
			}
			require.Equal(t, exitFinding, got.code, "%s", got)
			require.Contains(t, d.Shows, string(result.Findings[0].Kind))
		})
	}
	require.GreaterOrEqual(t, broken, 5)
}

// TestACrashAtAnEffect kills a service when its request is at another service: of those that are right, nothing is done twice or left out.
func TestACrashAtAnEffect(t *testing.T) {
	t.Parallel()
	one := writeFile(t, "one.yaml", `name: one
summary: One intent is enough.
intents: 1
concurrency: 1
steps: [{crash: {at: before-effect}}, {send: {}}]
exercised: [effect-crashed]
`)
	for design, c := range map[string]struct {
		code int
		says []string
	}{
		"mail-outbox-claimed":     {exitPass, []string{"effect-crashed 1/1"}},
		"outbox-done-before-sent": {exitFinding, []string{"effect-crashed 1/1", "and the target was killed before it was done"}},
		"job-pushed-after-commit": {exitPass, []string{"effect-crashed 1/1"}},
		"job-lost-after-commit":   {exitFinding, []string{"effect-crashed 1/1", "and the target was killed before it was done"}},
	} {
		t.Run(design, func(t *testing.T) {
			t.Parallel()
			x := trial{reports: t.TempDir()}
			got := typed(t, "run", "--target", sut.ServedPrefix+design, "--seed", "3", "--reports", x.reports, one)
			x.checked(t, got)
			require.Equal(t, c.code, got.code, "%s", got)
			for _, text := range c.says {
				require.Contains(t, strings.Join(strings.Fields(got.out), " "), text, "%s", got)
			}
			if c.code == exitFinding {
				require.Equal(t, checker.EffectMismatch, onlyReport(t, x.reports).Results[0].Findings[0].Kind)
			}
		})
	}
}

func TestTwoChargesBehindOneRow(t *testing.T) {
	t.Parallel()
	x := trial{reports: t.TempDir()}
	args := []string{"run", "--target", sut.BuiltinPrefix + "charge-key-per-attempt", "--seed", "3", "burst-same-key"}
	got := typed(t, append(args, "--reports", x.reports)...)
	x.checked(t, got)
	require.Equal(t, exitFinding, got.code, "%s", got)
	result := onlyReport(t, x.reports).Results[0]
	f := result.Findings[0]
	require.Equal(t, checker.EffectMismatch, f.Kind)
	require.Len(t, f.Rows[0].Rows, 1, "its row is right")
	charges := f.Rows[0].Messages
	require.GreaterOrEqual(t, len(charges), 2)
	require.NotEqual(t, charges[0].Key, charges[1].Key)
	for _, m := range charges[:2] {
		require.Positive(t, m.At)
		require.Contains(t, got.out, m.ID)
		require.Contains(t, got.out, m.Key)
	}
	page, err := os.ReadFile(filepath.Join(onlyRun(t, x.reports), "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), charges[0].ID)

	ignoring := trial{reports: t.TempDir()}
	got = typed(t, append(args, "--ignore-effects", "--reports", ignoring.reports)...)
	ignoring.checked(t, got)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), "effects were not watched: charge (payments)")
	require.NotContains(t, got.out, "effect-seen")
}

func TestASinkForAProcess(t *testing.T) {
	t.Parallel()
	x := trial{reports: t.TempDir()}
	got := typed(t, "run", "--target", sut.ServedPrefix+"charge-before-claim", "--seed", "3", "--reports", x.reports, "plain-create", "double-click", "dependency-cut")
	x.checked(t, got)
	require.Equal(t, exitFinding, got.code, "%s", got)
	results := onlyReport(t, x.reports).Results
	require.Equal(t, checker.Pass, results[0].Verdict, "%s", got)
	require.NotEmpty(t, results[1].Findings, "%s", got)
	require.GreaterOrEqual(t, results[2].Exercise[0].Held, 4, "the link to the sink breaks: %s", got)
}

func TestASinkThatSeesNothingIsNoPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, says string }{
		"the target does not ask it":    {"", "nothing reached the sink payments at http://"},
		"its requests have no marker":   {`{"amount": 1200}`, "without its marker"},
		"its requests are another call": {`{"order": "MARKER"}`, "compare effects.where"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := freeAddress(t)
			shop := newShop(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					text, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(text))
					next.ServeHTTP(w, r)
					if c.body == "" {
						return
					}
					sent := strings.ReplaceAll(c.body, "MARKER", regexp.MustCompile("dt[a-z0-9]{16}").FindString(string(text)))
					if resp, err := http.Post(sink+"/pings", "application/json", strings.NewReader(sent)); err == nil {
						resp.Body.Close()
					}
				})
			})
			file := filepath.Join(t.TempDir(), "shop.yaml")
			require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `name: shop
base_url: %s
database: {url: "sqlite:///%s"}
sinks: {payments: {listen: "%s", http: {}}}
operations:
  create:
    request: {path: /things, body: {note: "{{.Intent.Marker}}", amount: 1200}}
    key: {in: header}
    rows: {query: select id from things where note = :marker}
    effects: [{name: charge, seen: payments, where: {method: POST, path: /charges}}]
`, shop.url, strings.TrimPrefix(shop.path, "/"), strings.TrimPrefix(sink, "http://")), 0o600))
			got := typed(t, "run", "--target", file, "--reports", t.TempDir(), "plain-create")
			require.Equal(t, exitConfig, got.code, "%s", got)
			require.Contains(t, got.err, c.says)
		})
	}
}

func TestDoctorSaysWhatASinkSaw(t *testing.T) {
	t.Parallel()
	got := typed(t, "doctor", "--target", sut.BuiltinPrefix+"mail-at-most-once")
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), `of the last plain creates reached it at smtp://127.0.0.1:`, "%s", got)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), `: mail to ann@customer.example, "Your receipt"`, "%s", got)
}

// TestSpansOfAnAttemptAreItsEffects has a shop whose spans carry nothing of a request but its trace.
func TestSpansOfAnAttemptAreItsEffects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spans int
		more  int // spans of nothing
		code  int
	}{
		"one for each order": {1, 1, exitPass},
		"two":                {2, 1, exitFinding},
		"one, in a flood":    {1, 2_600, exitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := freeAddress(t)
			var charged sync.Map // keys
			shop := newShop(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(w, r)
					if _, before := charged.LoadOrStore(r.Header.Get("Idempotency-Key"), true); before {
						return
					}
					_, trace, _ := strings.Cut(r.Header.Get("Traceparent"), "-")
					span := fmt.Sprintf(`{"traceId":%q,"name":"charge card"}`, strings.ToUpper(trace[:min(32, len(trace))]))
					all := strings.Repeat(span+",", c.spans) + strings.Repeat(`{"traceId":"f0","name":"charge card"},`, c.more-1) + `{"traceId":"f0","name":"charge card"}`
					resp, err := http.Post(sink+"/v1/traces", "application/json", strings.NewReader(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+all+`]}]}]}`))
					if err == nil {
						resp.Body.Close()
					}
				})
			})
			file := filepath.Join(t.TempDir(), "shop.yaml")
			require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `name: shop
base_url: %s
database: {url: "sqlite:///%s"}
sinks: {spans: {listen: "%s", otlp: {}}}
operations:
  create:
    request:
      path: /things
      headers: {traceparent: "{{.Attempt.Traceparent}}"}
      body: {note: "{{.Intent.Marker}}", amount: 1200}
    key: {in: header}
    rows: {query: select id from things where note = :marker}
    effects: [{name: charge, seen: spans, where: {span: charge*}}]
`, shop.url, strings.TrimPrefix(shop.path, "/"), strings.TrimPrefix(sink, "http://")), 0o600))
			x := trial{reports: t.TempDir()}
			got := typed(t, "run", "--target", file, "--seed", "3", "--reports", x.reports, "plain-create")
			require.Equal(t, c.code, got.code, "%s", got)
			result := onlyReport(t, x.reports).Results[0]
			if c.code == exitInconclusive {
				require.Regexp(t, `so much reached the sink spans that \d+ messages are not on record`, strings.Join(strings.Fields(got.out), " "))
				require.Empty(t, result.Findings, "nothing is missed that may be off record")
				return
			}
			require.Contains(t, got.out, "effect-seen")
			if c.code == exitFinding {
				f := result.Findings[0]
				require.Equal(t, checker.EffectMismatch, f.Kind)
				require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, f.Attempts[0].Own["traceparent"])
				require.Contains(t, got.out, f.Attempts[0].Own["traceparent"], "the finding has the trace")
			}
		})
	}
}

// TestALateAnswerHoldsUpWhatComesBehindIt has a shop that charges behind its answers, one order after the other: what waits for a sink that
// answers late comes later than the file says, and is not missing.
func TestALateAnswerHoldsUpWhatComesBehindIt(t *testing.T) {
	t.Parallel()
	sink := freeAddress(t)
	orders := make(chan string, 100)
	var relay sync.WaitGroup
	relay.Go(func() {
		for order := range orders {
			if resp, err := http.Post(sink+"/charges", "text/plain", strings.NewReader(order)); err == nil {
				resp.Body.Close()
			}
		}
	})
	t.Cleanup(func() { close(orders); relay.Wait() })
	var seen sync.Map // keys
	shop := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, before := seen.LoadOrStore(r.Header.Get("Idempotency-Key"), true); !before {
				orders <- r.Header.Get("X-Order")
			}
			next.ServeHTTP(w, r)
		})
	})
	file := writeFile(t, "shop.yaml", fmt.Sprintf(`name: shop
base_url: %s
database: {url: "sqlite:///%s"}
settle: 100ms
sinks: {payments: {listen: "%s", http: {}}}
operations:
  create:
    request: {path: /things, headers: {X-Order: "order {{.Intent.Marker}}"}, body: {note: "{{.Intent.Marker}}", amount: 1200}}
    key: {in: header}
    rows: {query: select id from things where note = :marker}
    effects: [{name: charge, seen: payments, within: 500ms}]
`, shop.url, strings.TrimPrefix(shop.path, "/"), strings.TrimPrefix(sink, "http://")))
	late := writeFile(t, "late.yaml", `name: late
summary: A sink answers each first message late.
intents: 4
concurrency: 4
sinks: {answer: late, for: 1500ms}
steps: [{send: {}}, {send: {}}]
exercised: [effect-disturbed]
`)
	x := trial{reports: t.TempDir()}
	got := typed(t, "run", "--target", file, "--seed", "3", "--reports", x.reports, late)
	x.checked(t, got)
	require.Equal(t, exitPass, got.code, "%s", got)
}
