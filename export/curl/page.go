package curl

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// page is what the layout shows of a script.
type page struct {
	Script
	sending
	helpers
	Needed  []string // environment variables that must be set
	Drawn   []variable
	Bodies  []variable
	Moves   [][]string // by intent
	Queries []query
	Missing []string // what curl does not do
	Looser  int      // times as many tries as doubletap has rounds; 0: as many
	Before  []string // commands before the moves of a round
	After   []string // commands behind them
	Checks  []string // commands that set $again
	Instead []string // what the script does in place of something that it cannot do
	Blind   bool     // not to see it says nothing
	AtOnce  int      // so many tries at the same time; 0: 1
	Control string   // a plain request, into the file control; empty: there is none
	Settled string   // seconds until rows are there; empty: they are there at once

	asked []*asked
}

// sending are the commands for the steps of the target file.
type sending struct {
	Login   []string // log in
	SetUp   []string // prepare, and fetch keys, before the requests of a try are written
	CleanUp []string // remove in the end what was prepared
}

// helpers are the functions that the script has of its own.
type helpers struct {
	Signed   bool     // requests are signed
	Keyed    bool     // by bytes that are written in hex or base64
	Between  bool     // it draws times
	Tells    []string // functions that tell what answers mean
	Narrowed bool     // they look into answers
	Takes    []string // kinds of places from which values are taken
	Writes   []string // functions that write a value in another way
	JQ       bool     // something asks jq
	Compares bool     // it compares answers
	Amounts  bool     // it compares amounts
}

// asked is one request of the plan, which may be sent more than once.
type asked struct {
	attempt scenarios.PlannedAttempt
	request driver.Rehearsed
	intent  string
	marker  string   // variable
	files   []string // its answers
	patient bool     // the script gave it all the time there is
	final   string   // file of the answer to its final retry; empty: there is none
	removed bool     // it was sent after a removal
	forgot  int      // how often before it the script waited until keys are forgotten
}

// variable is one of the script's, with the shell's words for its value.
type variable struct{ Name, Value string }

// query asks for the rows of the marker that is in a variable. Text is a word of a shell.
type query struct{ Marker, Text string }

// Absence reports whether to find no rows at all shows nothing: the target was not there, or rejected every request.
func (s Script) Absence() bool { return s.Judge.Sees == TooMany }

// Judged reports whether the script sees by itself whether it happened again.
func (s Script) Judged() bool { return s.Judge.Sees != Unclear }

// Counts reports whether the rows are needed to see it.
func (s Script) Counts() bool {
	return slices.Contains([]Condition{TooMany, Lost, Phantom, Wrong, Gone}, s.Judge.Sees)
}

// page works out the whole script. Lists for the reader are sorted, so that the same finding gives
// the same file.
func (s Script) page() page {
	s.Cannot = slices.Clone(s.Cannot)
	blind := len(s.Cannot) > 0
	// Without a client for the database nothing counts rows, so that the script cannot say anything.
	if s.Client == NoClient && s.Counts() {
		s.Judge.Sees = Unclear
	}
	w := writer{
		page: page{Script: s, Blind: blind, Missing: slices.Clone(s.Lacks)}, named: maps.Clone(s.Variables), count: map[string]int{},
		files: map[string][]string{}, final: map[string]string{}, taken: map[string]string{},
	}
	if w.named == nil {
		w.named = map[string]string{}
	}
	w.takes()
	for _, i := range s.Plan.Intents {
		if i.Background {
			w.page.Missing = append(w.page.Missing, "the background traffic")
			w.cannot("the background traffic")
			continue
		}
		w.intent(i)
		w.page.Moves, w.moves = append(w.page.Moves, w.moves), nil
	}
	for name := range s.Links {
		w.page.Missing = append(w.page.Missing, fmt.Sprintf("what slows the link %s down", name))
		w.cannot(fmt.Sprintf("what slows the link %s down", name))
	}
	w.page.Rounds = max(w.page.Rounds, 1)
	// Requests of curl meet less often, so that more rounds are played until they do.
	if s.races() {
		w.page.Rounds *= looser
		w.page.Looser = looser
	}
	w.together()
	judging{&w}.judge()
	w.steps()
	if slices.ContainsFunc(w.page.Drawn, func(v variable) bool { return strings.Contains(v.Value, "${salt}") }) {
		w.page.Drawn = slices.Insert(w.page.Drawn, 0, variable{Name: "salt", Value: "$(letters 8)"})
	}
	// Several intents may lack the same thing.
	slices.Sort(w.page.Cannot)
	w.page.Cannot = slices.Compact(w.page.Cannot)
	slices.Sort(w.page.Needed)
	w.page.Needed = slices.Compact(w.page.Needed)
	slices.Sort(w.page.Instead)
	w.page.Instead = slices.Compact(w.page.Instead)
	slices.Sort(w.page.Missing)
	w.page.Missing = slices.Compact(w.page.Missing)
	return w.page
}

// looser is how much less often requests of curl meet than those of the driver, which go out within microseconds.
const looser = 3

// races reports that requests of one intent are sent at the same time.
func (s Script) races() bool {
	return slices.ContainsFunc(s.Plan.Intents, func(i scenarios.PlannedIntent) bool {
		return slices.ContainsFunc(i.Moves, func(m scenarios.Move) bool { return len(m.Batch) > 1 })
	})
}

// writer turns a plan into a page.
type writer struct {
	page   page
	named  map[string]string // variables of the script, by the text that they stand for
	taken  map[string]string // likewise, of what steps extract
	count  map[string]int    // of variables, by the beginning of their names
	sent   int               // requests so far
	normal time.Duration     // of the requests of the intent that is being written: shares are of this
	moves  []string          // of the intent that is being written
	slept  time.Duration     // by it so far
	files  map[string][]string
	final  map[string]string // file of the final retry's answer, by request
}

// together has intents, and tries, go on at the same time where that is needed.
func (w *writer) together() {
	if !w.page.Minimal || w.page.Concurrency < 2 {
		return
	}
	for n, moves := range w.page.Moves {
		if len(w.page.Moves) > 1 {
			w.page.Moves[n] = []string{"{\n" + strings.Join(moves, "\n") + "\n} &"}
		}
	}
	if n := len(w.page.Moves); n > 1 {
		w.page.Moves[n-1] = append(w.page.Moves[n-1], "wait")
	}
	shared := func(e Effect) bool { return e.Delta != nil } // which other tries change as well
	if w.page.Judge.Sees == Wrong && slices.ContainsFunc(w.page.Judge.Effects, shared) {
		return
	}
	w.page.AtOnce = min(w.page.Concurrency, w.page.Rounds)
}

// cannot notes what it may not show without: surely, where nothing can be left out.
func (w *writer) cannot(what string) {
	w.page.Cannot, w.page.Blind = append(w.page.Cannot, what), true
}

// intent writes the moves of one intent, and notes what each of them takes or lacks.
func (w *writer) intent(i scenarios.PlannedIntent) {
	w.normal = w.page.Normal + i.Work
	removed, forgot := false, 0
	w.slept = 0
	for n, m := range i.Moves {
		for _, a := range m.Batch {
			w.name(w.page.Requests[a.ID])
			w.lacks(a)
		}
		if m.Crash != nil {
			w.page.Needed = append(w.page.Needed, "CRASH")
			w.page.Cannot = append(w.page.Cannot, "a crash, unless $CRASH kills the target and starts it again")
		}
		if m.Flush {
			w.page.Needed = append(w.page.Needed, "FLUSH")
			w.page.Cannot = append(w.page.Cannot, "an emptied store, unless $FLUSH empties it")
		}
		if m.WriteGate {
			w.page.Missing = append(w.page.Missing, "the write gate in the database")
			w.cannot("the write gate in the database")
		}
		move := w.move(m)
		if m.Wait != nil && m.Wait.For == scenarios.WaitExpired {
			forgot++
		}
		if m.Remove {
			move, removed = w.remove(i.ID), true
		}
		if w.page.Signed && len(m.Batch) > 0 {
			move = "now=$(date +%s)\n" + move
		}
		w.moves = append(w.moves, fmt.Sprintf("# Step %d of %s: %s.\n%s", n+1, i.ID, what(m), move))
		for _, a := range m.Batch {
			r := w.page.Requests[a.ID]
			marker, _ := w.variable("marker", r.Marker)
			w.page.asked = append(w.page.asked, &asked{
				attempt: a, request: r, intent: i.ID, marker: marker, files: w.files[a.ID], patient: a.Timeout.Of(w.normal) >= usualDeadline, removed: removed, forgot: forgot,
			})
		}
	}
}

// needs notes which environment variables a request takes.
func (w *writer) needs(r driver.Rehearsed) {
	whole := fmt.Sprint(r.Path, r.Header, string(r.Body), r.Signer)
	for stands, name := range w.page.Variables {
		if strings.Contains(whole, stands) {
			w.page.Needed = append(w.page.Needed, name)
		}
	}
}

// name makes variables of what a request has from the run or from the environment.
func (w *writer) name(r driver.Rehearsed) {
	w.needs(r)
	whole := fmt.Sprint(r.Path, r.Header, string(r.Body), r.Signer)
	kind, value := "marker", "dt$(letters 16)"
	switch {
	case r.Marker == r.Key: // by which rows are asked for
		kind, value = "key", freshKey(r, r.Key)
	case number.MatchString(r.Marker):
		value = "$(among 123456789 9)"
	}
	if name, first := w.variable(kind, r.Marker); first {
		w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: value})
		w.reference(r, whole)
		if asked := askedFor(w.page.Rows[r.Operation], r); asked != "" {
			w.page.Queries = append(w.page.Queries, query{Marker: name, Text: w.word(w.page.Adds[r.Marker].apart(asked))})
		}
	}
	w.reference(r, whole)
	for _, key := range []string{r.Key, r.SecondKey} {
		if _, issued := w.taken[key]; issued {
			continue
		}
		if value := freshKey(r, key); value != "" {
			if name, first := w.variable("key", key); first {
				w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: value})
			}
		} else if key != "" {
			w.page.Missing = append(w.page.Missing, "a fresh key in a second run of this script: the keys are as they stand")
		}
	}
	w.draws(r)
	w.secrets(r)
	if r.Body != nil {
		value := w.wordIn(string(r.Body), placeOf(r))
		if name, first := w.variable("body", string(r.Body)); first {
			w.page.Bodies = append(w.page.Bodies, variable{Name: name, Value: value})
		}
	}
}

// freshKey draws another key that looks like one of a request's; empty: there is nothing in it that could differ.
func freshKey(r driver.Rehearsed, key string) string {
	at := strings.IndexFunc(key, alphanumeric)
	switch {
	case len(r.Form) > 0 && key != "":
		return likeOthers(r.Form)
	case isUUID(key):
		return "$(uuid)"
	case at >= 0:
		return shell.Word(shell.Part{Text: key[:at+1]}, shell.Part{Name: "salt"}, shell.Part{Text: key[at+1:]})
	default:
		return ""
	}
}

// likeOthers draws a key of a form.
func likeOthers(form []contract.KeyPart) string {
	var word strings.Builder
	for _, part := range form {
		if part.Text != "" {
			word.WriteString(shell.Quote(part.Text))
		} else {
			fmt.Fprintf(&word, "$(among %s %d)", part.Among, part.Length)
		}
	}
	return word.String()
}

// reference makes a variable of the text that a request and its rows are known by besides, if there is one.
func (w *writer) reference(r driver.Rehearsed, whole string) {
	if r.Reference != "" && (strings.Contains(whole, r.Reference) || strings.Contains(w.page.Rows[r.Operation], ":reference")) {
		if name, first := w.variable("reference", r.Reference); first {
			w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: "ref$(letters 16)"})
		}
	}
}

// number matches a marker that is a whole number.
var number = regexp.MustCompile(`^[0-9]+$`)

// parameter finds :marker and :reference, but not PostgreSQL's cast "::marker" nor ":markers"; keyed finds :key, where none of them is.
var (
	parameter = regexp.MustCompile(`(^|[^:]):(marker|reference)\b`)
	keyed     = regexp.MustCompile(`(^|[^:\w]):(key)\b`)
)

// askedFor is a row query for what a request made; empty: rows are not asked of a database. In this form the clients of databases take
// none of it for a command of theirs.
func askedFor(rows string, r driver.Rehearsed) string {
	rows = strings.TrimRight(strings.TrimSpace(rows), "; \t\n")
	if rows == "" {
		return ""
	}
	named := parameter
	if !named.MatchString(rows) {
		named = keyed
	}
	rows = named.ReplaceAllStringFunc(rows, func(found string) string {
		before, name, _ := strings.Cut(found, ":")
		return before + "'" + map[string]string{"marker": r.Marker, "reference": r.Reference, "key": r.Key}[name] + "'"
	})
	if strings.Contains(rows, "--") || strings.Contains(rows, "#") {
		rows += "\n" // which ends a comment
	}
	return "select * from (" + rows + ") doubletap_rows"
}

// mostExecutions is how many executions a row is taken apart into: no scenario sends as many requests for one intent.
const mostExecutions = 10_000

// apart is a query that gives a row for each execution that has added to one.
func (a Addition) apart(query string) string {
	if a == (Addition{}) {
		return query
	}
	return fmt.Sprintf("with recursive doubletap_times(n) as (select 1 union all select n + 1 from doubletap_times where n < %d) "+
		"select doubletap_rows.* from doubletap_times, (%s) doubletap_rows where n = 1 or (n - 0.5) * %s < doubletap_rows.%s", mostExecutions, query, a.Each, a.Column)
}

// draws makes variables of what is another thing in another run besides.
func (w *writer) draws(r driver.Rehearsed) {
	for _, text := range slices.Sorted(maps.Keys(r.Drawn.Unique)) {
		value := map[string]string{"number": "1$(among 0123456789 14)", "int": "1$(among 0123456789 8)", "uuid": "$(uuid)"}[string(r.Drawn.Unique[text])]
		if name, first := w.variable("unique", text); first {
			w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: cmp.Or(value, "$(letters 16)")})
		}
	}
	if r.Drawn.Dated {
		w.page.Missing = append(w.page.Missing, "a new now: the times in the requests are those of the export")
	}
}

// secrets leaves the headers that hold one to the environment, unless their values come from there anyway.
func (w *writer) secrets(r driver.Rehearsed) {
	for _, header := range r.Secret {
		value := r.Header[header]
		given := func(stands string) bool { return strings.Contains(value, stands) }
		if !given(driver.Placeholder) && !slices.ContainsFunc(slices.Collect(maps.Keys(w.page.Variables)), given) {
			name, _ := w.variable(shell.Name(header), value)
			w.page.Needed = append(w.page.Needed, name)
		}
	}
	if r.Sign == nil {
		return
	}
	w.page.Signed, w.named[driver.Moment] = true, "now"
	if !slices.ContainsFunc(slices.Collect(maps.Keys(w.page.Variables)), func(stands string) bool { return strings.Contains(r.Signer, stands) }) {
		name, _ := w.variable("SIGNING_SECRET", r.Signer)
		w.page.Needed = append(w.page.Needed, name)
	}
}

// variable returns the variable that stands for a text, and whether it is a new one.
func (w *writer) variable(kind, text string) (name string, first bool) {
	if name, known := w.named[text]; known {
		return name, false
	}
	for taken := true; taken; taken = slices.Contains(slices.Collect(maps.Values(w.page.Variables)), name) {
		w.count[kind]++
		name = kind
		if n := w.count[kind]; n > 1 {
			name = fmt.Sprintf("%s_%d", kind, n)
		}
	}
	w.named[text] = name
	return name, true
}

// alphanumeric reports whether a character is a letter or a digit of ASCII.
func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// isUUID reports whether a key is one that is drawn for every run.
func isUUID(key string) bool { return len(key) == 36 && strings.Count(key, "-") == 4 }

// lacks notes what of an attempt's lane a script does not do.
func (w *writer) lacks(a scenarios.PlannedAttempt) {
	for _, lane := range []string{a.Lane, a.RetryLane} {
		switch l := w.lane(lane); {
		case l.lacks:
			w.page.Missing = append(w.page.Missing, fmt.Sprintf("the faults of the lane %s", lane))
			w.cannot(fmt.Sprintf("the faults of the lane %s", lane))
		case l.delay > 0 || l.rate > 0:
			w.page.Instead = append(w.page.Instead, fmt.Sprintf("the lane %s, clients give up earlier, by what a request takes on it", lane))
		case l.losesAnswer:
			w.page.Instead = append(w.page.Instead, fmt.Sprintf("the lane %s, clients act as if its answers had not come", lane))
		}
	}
	if a.Cut != nil {
		w.page.Missing = append(w.page.Missing, fmt.Sprintf("the break of the link %s", a.Cut.Link))
		w.cannot(fmt.Sprintf("the break of the link %s", a.Cut.Link))
	}
}
