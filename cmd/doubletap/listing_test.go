package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	limits "golang.org/x/time/rate"

	"github.com/doubletap-harness/doubletap/rundir"
)

// listingFile is a target file for a shop whose database nobody may ask.
const listingFile = `name: shop
base_url: ${SHOP_URL}
principals: {alice: {Token: alice-token-1}, bob: {Token: bob-token-22}}
contract: {scope: {principal: separate}}
operations:
  create:
    request:
      path: /things
      headers: {Authorization: "Bearer {{.Principal.Token}}"}
      body: {note: "{{.Intent.Marker}}"}
    key: {in: header}
    identity: /id
    rows:
      http: {path: "/things?note={{.Intent.Marker}}", headers: {Authorization: "Bearer {{.Principal.Token}}"}}
      items: /list/items
      identity: id
      content: {about.note: /note}
`

// lister is a shop that lists what it has, to the client that sent it.
type lister struct {
	*shop
	hasty  bool                                              // it looks its key up and then inserts
	answer func(w http.ResponseWriter, items []any, n int64) // writes the n-th list; nil: as it is
	asked  atomic.Int64
	limit  *limits.Limiter                 // beyond which nobody is answered; nil: there is none
	door   func(http.Handler) http.Handler // before it; nil: none
}

func (l *lister) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who := r.Header.Get("Authorization")
	switch {
	case l.limit != nil && !l.limit.Allow():
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case r.URL.Path == "/login":
		_ = json.NewEncoder(w).Encode(map[string]string{"token": r.Header.Get("X-User") + "-token"})
	case r.Method != http.MethodGet:
		r.Header.Set("Idempotency-Key", who+r.Header.Get("Idempotency-Key")) // each client has keys of its own
		if l.hasty {
			l.shop.hasty(w, r)
		} else {
			l.create(w, r)
		}
	case r.URL.Path == "/":
		w.WriteHeader(http.StatusNoContent)
	default:
		l.list(w, r, who)
	}
}

func (l *lister) list(w http.ResponseWriter, r *http.Request, who string) {
	// The key's column is the body's where keys are not unique.
	rows, err := l.db.Query("select id, note from things where note = ? and (key like ? or body like ?)", r.URL.Query().Get("note"), who+"%", who+"%")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer rows.Close()
	items := []any{}
	for rows.Next() {
		var id int
		var note string
		_ = rows.Scan(&id, &note)
		items = append(items, map[string]any{"id": id, "about": map[string]any{"note": note, "seen": l.asked.Load()}, "owner": who, "tags": []int{1}})
	}
	n := l.asked.Add(1)
	if l.answer != nil {
		l.answer(w, items, n)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"list": map[string]any{"items": items}})
}

// newLister starts a shop that lists, and makes a trial of it.
func newLister(t *testing.T, l *lister, args ...string) trial {
	l.shop = newShop(t, func(http.Handler) http.Handler {
		if l.door != nil {
			return l.door(l)
		}
		return l
	})
	x := l.trial(t, args...)
	x.file = listingFile
	delete(x.env, "SHOP_DATABASE")
	return x
}

// The listing is asked as the principal that is logged in.
func TestAListingBehindALogin(t *testing.T) {
	t.Parallel()
	x := newLister(t, &lister{}, "burst-same-key", "same-key-two-principals")
	x.file = strings.NewReplacer(
		"principals: {alice: {Token: alice-token-1}, bob: {Token: bob-token-22}}", `principals: {alice: {User: alice}, bob: {User: bob}}
login: [{request: {path: /login, headers: {X-User: "{{.Principal.User}}"}}, take: {Token: {json: /token}}}]`,
		".Principal.Token", ".Login.Token",
	).Replace(x.file)
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	requireNowhere(t, x.reports, "alice-token")
}

// After a session has ended the listing is asked as the principal that has logged in again.
func TestAListingBehindASessionThatEnds(t *testing.T) {
	t.Parallel()
	door := func(next http.Handler) http.Handler {
		return forgetful(15, unauthorized)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "alice") // whatever the session
			next.ServeHTTP(w, r)
		}))
	}
	x := newLister(t, &lister{door: door}, "plain-create")
	x.file = strings.NewReplacer(
		"principals: {alice: {Token: alice-token-1}, bob: {Token: bob-token-22}}", "login: [{request: {path: /login}, take: {Token: {json: /token}}}]",
		".Principal.Token", ".Login.Token",
	).Replace(x.file)
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), "answered after a new login: the session had expired")
}

func TestATargetWithoutADatabaseIsAskedForItsRows(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		hasty bool
		code  int
		says  string
	}{
		"atomic":                    {false, exitPass, "PASS"},
		"looks up and then inserts": {true, exitFinding, "DUPLICATE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newLister(t, &lister{hasty: row.hasty}, "burst-same-key", "withheld-answer", "same-key-two-principals")
			got := x.run(t)
			require.Equal(t, row.code, got.code, "%s", got)
			require.Contains(t, got.out, row.says)
			require.Contains(t, got.out, "rows read from the target's own listing")
			require.Contains(t, strings.Join(strings.Fields(got.out), " "), "The rows are what the target itself reports")
			x.checked(t, got)
			run := onlyRun(t, x.reports)
			for _, name := range []string{"report.txt", "report.md", "report.html", "junit.xml", "report.json"} {
				text, err := os.ReadFile(filepath.Join(run, name))
				require.NoError(t, err)
				require.Regexp(t, "the target itself reports|own_word", strings.Join(strings.Fields(string(text)), " "), name)
			}
			requireNowhere(t, x.reports, "alice-token-1")
			requireNowhere(t, x.reports, "bob-token-22")
			if row.code != exitFinding {
				return
			}
			require.Contains(t, got.out, "Rows that the target reported")
			finding := filepath.Join(run, rundir.FindingsName, "F1")
			require.NoFileExists(t, filepath.Join(finding, rundir.TargetName), "the principals' tokens are spelled out in it")
			path := filepath.Join(t.TempDir(), "target.yaml")
			require.NoError(t, os.WriteFile(path, []byte(x.file), 0o644))
			again := callWith(t.Context(), x.env, "replay", finding, "--target", path, "--times", "3", "--reports", t.TempDir())
			require.Equal(t, exitFinding, again.code, "%s", again)
			small := callWith(t.Context(), x.env, "shrink", finding, "--target", path, "--budget", "2m", "--reports", t.TempDir())
			require.Equal(t, exitPass, small.code, "%s", small)
		})
	}
}

func TestAListingThatCannotBeTrustedIsNoPass(t *testing.T) {
	t.Parallel()
	list := func(w http.ResponseWriter, items any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"list": map[string]any{"items": items}})
	}
	const piloted = 40 // questions of the pilot: what comes later meets the scenario
	for name, row := range map[string]struct {
		answer func(w http.ResponseWriter, items []any, n int64)
		code   int
		says   string
	}{
		"it breaks down after a while": {func(w http.ResponseWriter, items []any, n int64) {
			if n > piloted {
				http.Error(w, "out of order", http.StatusInternalServerError)
				return
			}
			list(w, items)
		}, exitInconclusive, "operations.create.rows.http: the target answered 500"},
		"it forgets after a while": {func(w http.ResponseWriter, items []any, n int64) {
			if n > piloted {
				items = items[:0]
			}
			list(w, items)
		}, exitFinding, "LOST-ACKNOWLEDGED-WRITE"},
		"it is empty": {func(w http.ResponseWriter, _ []any, _ int64) { list(w, []any{}) },
			exitConfig, "the target lists nothing for its marker"},
		"it knows no filter": {func(w http.ResponseWriter, items []any, _ int64) { list(w, append(items, map[string]any{"id": 0})) },
			exitConfig, "the target lists 2 things for the marker of one plain create"},
		"it is null":             {func(w http.ResponseWriter, _ []any, _ int64) { list(w, nil) }, exitConfig, "expected a list"},
		"it has no list":         {func(w http.ResponseWriter, _ []any, _ int64) { fmt.Fprint(w, `{}`) }, exitConfig, "nothing at /list/items"},
		"it is no JSON":          {func(w http.ResponseWriter, _ []any, _ int64) { fmt.Fprint(w, `<html>`) }, exitConfig, "no JSON"},
		"nothing is not found":   {func(w http.ResponseWriter, _ []any, _ int64) { http.NotFound(w, nil) }, exitConfig, "the target answered 404"},
		"one thing, and no list": {func(w http.ResponseWriter, _ []any, _ int64) { list(w, map[string]any{"id": 1}) }, exitConfig, "expected a list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newLister(t, &lister{answer: row.answer}, "burst-same-key", "sequential-replay")
			got := x.run(t)
			require.Equal(t, row.code, got.code, "%s", got)
			require.Contains(t, got.String(), row.says)
			if row.code != exitConfig {
				x.checked(t, got)
			}
		})
	}
}

func TestADoctorSaysThatTheRowsAreTheTargetsOwnWord(t *testing.T) {
	t.Parallel()
	x := newLister(t, &lister{})
	path := filepath.Join(t.TempDir(), "target.yaml")
	require.NoError(t, os.WriteFile(path, []byte(x.file), 0o644))
	got := callWith(t.Context(), x.env, "doctor", "--target", path, "--reports", t.TempDir())
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "the rows are the target's own word")
	told := callWith(t.Context(), x.env, "explain", "--target", path)
	require.Contains(t, told.out, "The rows are what the target itself lists")
}

// A listing is asked no faster than the target lets through.
func TestAListingKeepsToTheRateLimit(t *testing.T) {
	t.Parallel()
	x := newLister(t, &lister{limit: limits.NewLimiter(limits.Every(20*time.Millisecond), 30)}, "sequential-replay")
	x.file = strings.Replace(x.file, "principals:", "rate_limit: {requests: 20, per: 400ms}\nprincipals:", 1)
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	x.checked(t, got)
}

func TestAQuestionThatSpellsASecretOutIsNotHandedOver(t *testing.T) {
	t.Parallel()
	x := newLister(t, &lister{hasty: true}, "burst-same-key")
	x.file = strings.NewReplacer(
		"principals: {alice: {Token: alice-token-1}, bob: {Token: bob-token-22}}\ncontract: {scope: {principal: separate}}\n", "",
		"{{.Principal.Token}}\"}\n      body", "${SHOP_TOKEN}\"}\n      body", "{{.Principal.Token}}\"}}", "token-of-the-shop\"}}",
	).Replace(x.file)
	x.env["SHOP_TOKEN"] = "token-of-the-shop"
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.NoFileExists(t, filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1", rundir.TargetName))
	requireNowhere(t, x.reports, "token-of-the-shop")
}
