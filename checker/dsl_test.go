package checker_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// amounts changes the amount in the rows of a marker, at both moments.
func amounts(h *history.History, marker string, amount any) *history.History {
	for _, s := range []*history.Snapshot{h.T1, h.T2} {
		for i, row := range s.Rows[marker] {
			s.Rows[marker][i] = history.Row{"id": row["id"], "amount": amount}
		}
	}
	return h
}

func unasked(h *history.History, marker string) *history.History {
	delete(h.T1.Rows, marker)
	delete(h.T2.Rows, marker)
	return h
}

func nameless(t *checker.Terms) { t.Operation.Rows.Identity = "" }

// The words of the tables: story(acknowledged(201, "o1"), unknown(history.Timeout)).rows(1).probe(...)
// is one intent whose attempts follow each other, the rows of its marker, and the final probe.

// draft is an intent on its way into a history.
type draft struct {
	id       string
	who      string
	kin      string
	to       string // operation
	path     string
	traffic  bool // of the background
	extra    bool // a plain create with a fresh key, beside keys without a final answer
	marker   string
	attempts []history.Attempt
	before   map[string][]history.Row // by body, at T1
	after    map[string][]history.Row // at T2; nil: as at T1
	bodies   []string
	effects  map[string]float64 // of the original body, at both
	followed []history.Followup
}

// story is one intent, sent with one body unless an attempt is altered or invalid. Attempts without times of
// their own follow each other.
func story(attempts ...history.Attempt) *draft {
	d := &draft{id: "i1", bodies: []string{history.Original}, before: map[string][]history.Row{}}
	d.attempts = attempts
	for _, a := range attempts {
		if a.Body == history.Altered || a.Body == history.Invalid {
			d.bodies = []string{history.Original, a.Body}
		}
	}
	return d
}

// named gives an intent an identity of its own beside others.
func (d *draft) named(id string) *draft { d.id = id; return d }

func (d *draft) of(principal string) *draft { d.who = principal; return d }

// beside makes an intent the neighbour of another, of the same name with its neighbours.
func (d *draft) beside(kin string) *draft { d.kin = kin; return d }

func (d *draft) at(operation string) *draft { d.to = operation; return d }

// under is the path that an intent is sent to.
func (d *draft) under(path string) *draft { d.path = path; return d }

// behind makes an intent part of the background traffic.
func (d *draft) behind() *draft { d.traffic = true; return d }

// fresh makes an intent a plain create with a fresh key, beside keys without a final answer.
func (d *draft) fresh() *draft { d.extra = true; return d }

// with is how much of an effect there is for the original body.
func (d *draft) with(effect string, n float64) *draft {
	if d.effects == nil {
		d.effects = map[string]float64{}
	}
	d.effects[effect] = n
	return d
}

// then is what the status resource of the last attempt says.
func (d *draft) then(f history.Followup) *draft {
	f.Attempt = fmt.Sprintf("%s.%d", d.id, len(d.attempts))
	d.followed = append(d.followed, f)
	return d
}

// twinOf makes an intent share another's marker.
func (d *draft) twinOf(marker string) *draft { d.marker = marker; return d }

// rows are the rows of the original body at T1: o1, o2, ...
func (d *draft) rows(n int) *draft { return d.holding(ids(n)...) }

// holding are the rows of the original body at T1, by identity.
func (d *draft) holding(ids ...string) *draft {
	d.before[history.Original] = rowsOf(1200, ids)
	return d
}

// and are the rows of the altered body at T1.
func (d *draft) and(ids ...string) *draft {
	d.before[history.Altered] = rowsOf(9900, ids)
	d.bodies = []string{history.Original, history.Altered}
	return d
}

// leaving are the rows of the invalid body at T1.
func (d *draft) leaving(ids ...string) *draft {
	d.before[history.Invalid] = rowsOf(-1, ids)
	return d
}

// later are the rows of the original body at T2, where they differ from T1.
func (d *draft) later(ids ...string) *draft { return d.laterOf(history.Original, ids...) }

func (d *draft) laterOf(body string, ids ...string) *draft {
	if d.after == nil {
		d.after = maps.Clone(d.before)
	}
	amount := map[string]float64{history.Original: 1200, history.Altered: 9900}[body]
	d.after[body] = rowsOf(amount, ids)
	return d
}

// probe is the final probe.
func (d *draft) probe(attempts ...history.Attempt) *draft {
	for i, a := range attempts {
		a.Probe, a.Retry = true, i
		d.attempts = append(d.attempts, a)
	}
	return d
}

func (d *draft) markerOf(body string) string {
	marker := "dt" + d.id
	if d.marker != "" {
		marker = d.marker
	}
	switch body {
	case history.Altered:
		marker += "changed"
	case history.Invalid:
		marker += "mistaken"
	}
	return marker
}

func ids(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("o%d", i+1))
	}
	return list
}

func rowsOf(amount float64, ids []string) []history.Row {
	rows := []history.Row{}
	for _, id := range ids {
		rows = append(rows, history.Row{"id": id, "amount": amount})
	}
	return rows
}

// scene is a complete history of some intents. A healthy intent stands beside them, so that the proof
// of exercise holds and the verdict is theirs.
func scene(drafts ...*draft) *history.History {
	return scenes(append(drafts, story(acknowledged(201, "healthy")).named("i0").holding("healthy")))
}

func scenes(drafts []*draft) *history.History {
	h := &history.History{
		Run: history.Run{
			Format: history.Format, Scenario: "table", Lanes: []history.Lane{{Name: "clean"}},
			Exercised: []history.Proof{{Name: string(proofs.Acknowledged)}},
		},
		Before: &history.Snapshot{Rows: map[string][]history.Row{}},
		T1:     &history.Snapshot{At: ms(1000), Rows: map[string][]history.Row{}},
		T2:     &history.Snapshot{At: ms(3000), Rows: map[string][]history.Row{}}, Complete: true,
	}
	for _, d := range drafts {
		d.into(h)
	}
	return h
}

func (d *draft) into(h *history.History) {
	intent := history.Intent{ID: d.id, Number: len(h.Intents), Principal: d.who, Kin: d.kin, Operation: d.to, Behind: d.traffic, Fresh: d.extra, Bodies: map[string]history.Body{}}
	after := d.after // several scenes may have one draft, at the same time
	if after == nil {
		after = d.before
	}
	for _, body := range d.bodies {
		m := d.markerOf(body)
		amount := map[string]int{history.Original: 1200, history.Altered: 9900, history.Invalid: -1}[body]
		intent.Bodies[body] = history.Body{Marker: m, Path: d.path, Content: fmt.Sprintf(`{"note":%q,"amount":%d}`, m, amount)}
		h.Before.Rows[m] = []history.Row{}
		h.T1.Rows[m] = append(h.T1.Rows[m], d.before[body]...)
		h.T2.Rows[m] = append(h.T2.Rows[m], after[body]...)
	}
	for _, s := range []*history.Snapshot{h.Before, h.T1, h.T2} {
		for name, n := range d.effects {
			if s.Effects == nil {
				s.Effects = map[string]map[string]float64{}
			}
			if s.Effects[name] == nil {
				s.Effects[name] = map[string]float64{}
			}
			s.Effects[name][d.markerOf(history.Original)] = n
		}
	}
	h.Intents = append(h.Intents, intent)
	h.Followups = append(h.Followups, d.followed...)
	for i, a := range d.attempts {
		h.Attempts = append(h.Attempts, d.attempt(i, a))
	}
}

// attempt completes an attempt: its place in the story, and what stands for its markers.
func (d *draft) attempt(i int, a history.Attempt) history.Attempt {
	a.ID, a.Intent, a.Lane = fmt.Sprintf("%s.%d", d.id, i+1), d.id, "clean"
	if a.Body == "" {
		a.Body = history.Original
	}
	switch a.Key {
	case "":
		a.Key = "key-" + d.id
	case noKey:
		a.Key = ""
	}
	if a.Start == 0 {
		a = during(float64(10*(i+1)), float64(10*(i+1)+9), a)
		if a.Probe {
			a = during(float64(2000+10*i), float64(2000+10*i+9), a)
		}
	}
	fill := strings.NewReplacer("{original}", d.markerOf(history.Original), "{altered}", d.markerOf(history.Altered))
	a.Content = fill.Replace(a.Content)
	a.Length = max(a.Length, int64(len(a.Content)))
	return a
}

func ms(n float64) history.Offset { return history.Offset(n * float64(time.Millisecond)) }

// check judges a scene.
func (d *draft) check(t checker.Terms) checker.Result { return check(scene(d), t) }

// Answers.

func answer(status int, content string) history.Attempt {
	return history.Attempt{
		Sent: 100, Status: status, Content: content, Complete: true, Header: map[string]string{"Content-Type": "application/json"},
	}
}

func acknowledged(status int, id string) history.Attempt {
	return answer(status, fmt.Sprintf(`{"id":%q}`, id))
}

func exists(id string) history.Attempt {
	return answer(409, fmt.Sprintf(`{"error":"exists","id":%q}`, id))
}

func inProgress() history.Attempt { return answer(409, `{"error":"in_progress"}`) }

func throttled() history.Attempt { return answer(503, `{"error":"slow"}`) }

func limited() history.Attempt { return answer(429, "") }

func mismatch() history.Attempt { return answer(422, `{"error":"mismatch"}`) }

func rejected(status int) history.Attempt { return answer(status, `{"error":"invalid"}`) }

func serverError() history.Attempt { return answer(500, `{"error":"oops"}`) }

func refused() history.Attempt { return history.Attempt{ErrorKind: history.Refused} }

func unknown(kind history.ErrorKind) history.Attempt {
	return history.Attempt{Sent: 100, ErrorKind: kind, Error: string(kind)}
}

// noKey stands for a request without a key.
const noKey = "-"

// Changes of an attempt.

func altered(a history.Attempt) history.Attempt { a.Body = history.Altered; return a }

func invalid(a history.Attempt) history.Attempt { a.Body = history.Invalid; return a }

func reordered(a history.Attempt) history.Attempt { a.Body = history.Reordered; return a }

func inLowerCase(a history.Attempt) history.Attempt { a.Body = history.HeaderCase; return a }

func twoKeys(a history.Attempt) history.Attempt { a.Body = history.TwoHeaders; return a }

func withoutCredential(a history.Attempt) history.Attempt { a.Body = history.NoCredential; return a }
func elsewhere(a history.Attempt) history.Attempt         { a.Body = history.Elsewhere; return a }

func blank(a history.Attempt) history.Attempt { a.Key, a.BlankKey = noKey, true; return a }

func keyed(key string, a history.Attempt) history.Attempt { a.Key = key; return a }

func during(start, end float64, a history.Attempt) history.Attempt {
	a.Start, a.End = ms(start), ms(end)
	if a.Sent > 0 {
		a.Wrote = ms(start + 1)
	}
	if a.Status != 0 {
		a.Replied = ms(end)
	}
	return a
}

func saying(content string, a history.Attempt) history.Attempt { a.Content = content; return a }

func bearing(name, value string, a history.Attempt) history.Attempt {
	a.Header = maps.Clone(a.Header)
	a.Header[name] = value
	return a
}

func replayed(a history.Attempt) history.Attempt { return bearing("Idempotent-Replayed", "true", a) }

// terms is the contract of the tables, with changes.
func terms(changes ...func(*checker.Terms)) checker.Terms {
	t := checker.Terms{
		Contract: contract.Contract{
			Level: contract.Idempotent,
			Ack:   contract.Ack{Signature: contract.Signature{Statuses: []int{200, 201, 204}}},
			Fingerprint: contract.Fingerprint{
				OnMismatch: contract.MismatchReject, Signature: contract.Signature{Statuses: []int{422}, Where: says("mismatch")},
			},
			InProgress: contract.InProgress{Mode: contract.InProgressReject, Signature: contract.Signature{Statuses: []int{409}, Where: says("in_progress")}},
			Existing:   contract.Existing{Signature: contract.Signature{Statuses: []int{409}, Where: says("exists")}, Identity: contract.Identity{JSON: "/id"}},
			Throttled:  contract.Signature{Statuses: []int{503}, Where: says("slow")},
			Replay:     contract.Replay{Body: contract.SameJSON, Headers: []string{"Location", "Content-Type"}},
		},
		Operation: contract.Operation{
			Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}, Identity: contract.Identity{JSON: "/id"},
			Rows: contract.Rows{Identity: "id", Content: map[string]string{"amount": "/amount"}},
		},
	}
	for _, change := range changes {
		change(&t)
	}
	return t
}

func says(code string) map[string]any { return map[string]any{"/error": code} }

func store5xx(t *checker.Terms) { yes := true; t.Contract.Errors.Store5xx = &yes }

func store4xx(t *checker.Terms) { yes := true; t.Contract.Errors.Store4xx = &yes }

func forgets4xx(t *checker.Terms) { no := false; t.Contract.Errors.Store4xx = &no }

func againAfterCrash(t *checker.Terms) { t.Contract.AfterCrash = contract.AtLeastOnce }

func dedupOnly(t *checker.Terms) { t.Contract.Level = contract.DedupOnly }

func naturalKey(t *checker.Terms) { t.Contract.NaturalKey = []string{"/ref"} }

func keyRequired(t *checker.Terms) { t.Operation.Key.Required = true }

func replayFirst(t *checker.Terms) {
	t.Contract.Fingerprint.OnMismatch = contract.MismatchReplayOriginal
}

func undeclared(t *checker.Terms) { t.Contract.Fingerprint.OnMismatch = contract.MismatchUnspecified }

func onlyIdentity(t *checker.Terms) { t.Contract.Replay.Body = contract.SameIdentity }

func anyBody(t *checker.Terms) { t.Contract.Replay.Body = contract.AnyBody }

func sameBytes(t *checker.Terms) { t.Contract.Replay.Body = contract.SameBytes }

func sameJSON(t *checker.Terms) { t.Contract.Fingerprint.Mode = contract.FingerprintJSON }

func scoped(principal, operation contract.KeyScope) func(*checker.Terms) {
	return func(t *checker.Terms) { t.Contract.Scope = contract.Scope{Principal: principal, Operation: operation} }
}

// expiring forgets keys after so many milliseconds.
func expiring(after int, then contract.AfterExpiry) func(*checker.Terms) {
	return func(t *checker.Terms) {
		t.Contract.Expiry = contract.Expiry{After: contract.Duration(time.Duration(after) * time.Millisecond), Then: then}
	}
}

// accepting takes 202 for a promise.
func accepting(t *checker.Terms) {
	t.Contract.Ack.Accepted = contract.Accepted{
		Signature: contract.Signature{Statuses: []int{202}}, Monitor: "Location",
		Done:   contract.Signature{Statuses: []int{200}, Where: map[string]any{"/state": "done"}},
		Failed: contract.Signature{Statuses: []int{200}, Where: map[string]any{"/state": "failed"}}, Identity: "/thing",
	}
}

func replayMarked(t *checker.Terms) {
	t.Contract.Replay.Marker = &contract.ReplayMarker{Name: "Idempotent-Replayed", Value: "true", Required: true}
}

func replayStatus(first int, then ...int) func(*checker.Terms) {
	return func(t *checker.Terms) { t.Contract.Replay.Status = map[int][]int{first: then} }
}

// cell is one cell of a decision table.
type cell struct {
	name  string
	story *draft
	terms checker.Terms
	want  []string // findings as "kind" or "kind/detail"; none: pass
	doubt string   // part of a reason; then the verdict is inconclusive
}

func (c cell) run(t *testing.T) {
	t.Parallel()
	if c.terms.Contract.Level == "" {
		c.terms = terms()
	}
	judge(t, scene(c.story), c.terms, c.want, c.doubt)
}

func runCells(t *testing.T, cells []cell) {
	t.Helper()
	for _, c := range cells {
		t.Run(c.name, c.run)
	}
}

// judge holds a history's result against the findings, or the doubt, that it must have.
func judge(t *testing.T, h *history.History, terms checker.Terms, want []string, doubt string) {
	t.Helper()
	r := check(h, terms)
	require.Equal(t, want, found(r), "findings: %+v", r.Findings)
	switch {
	case len(want) > 0:
		require.Equal(t, checker.Fail, r.Verdict)
	case doubt != "":
		require.Equal(t, checker.Inconclusive, r.Verdict)
		require.Contains(t, strings.Join(r.Reasons, "\n"), doubt)
	default:
		require.Equal(t, checker.Pass, r.Verdict, "reasons: %v", r.Reasons)
		require.Empty(t, r.Reasons)
	}
}

// found names the findings of a result, worst first, each once.
func found(r checker.Result) []string {
	var names []string
	for _, f := range r.Findings {
		name := string(f.Kind)
		if f.Detail != "" {
			name += "/" + f.Detail
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
