package curl

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// page is what the layout shows of a script.
type page struct {
	Script
	Needed  []string // environment variables that must be set
	Drawn   []variable
	Bodies  []variable
	Moves   []string
	Queries []query
	Missing []string // what curl does not do
	Signed  bool     // requests are signed
	Returns bool     // bodies hold carriage returns
}

// variable is one of the script's, with the shell's words for its value. Of a value in a here-document there
// are a word that no line of it is, and what the shell takes from its end.
type variable struct{ Name, Value, Word, End string }

// query asks for the rows of the marker that is in a variable, in a shell's double quotes.
type query struct{ Marker, Text string }

// Absence reports whether to find no rows at all shows nothing: the target was not there, or rejected every request.
func (s Script) Absence() bool { return s.Broken == TooMany }

func (s Script) page() page {
	w := writer{page: page{Script: s, Missing: slices.Clone(s.Lacks)}, named: maps.Clone(s.Variables), count: map[string]int{}}
	if w.named == nil {
		w.named = map[string]string{}
	}
	for _, i := range s.Plan.Intents {
		if i.Background {
			w.page.Missing = append(w.page.Missing, "the background traffic")
			continue
		}
		w.intent(i)
	}
	for name := range s.Links {
		w.page.Missing = append(w.page.Missing, fmt.Sprintf("what slows the link %s down", name))
	}
	slices.Sort(w.page.Needed)
	w.page.Needed = slices.Compact(w.page.Needed)
	slices.Sort(w.page.Missing)
	w.page.Missing = slices.Compact(w.page.Missing)
	return w.page
}

// writer turns a plan into a page.
type writer struct {
	page  page
	named map[string]string // variables of the script, by the text that they stand for
	count map[string]int    // of variables, by the beginning of their names
	sent  int               // requests so far
}

func (w *writer) intent(i scenarios.PlannedIntent) {
	for n, m := range i.Moves {
		for _, a := range m.Batch {
			w.name(w.page.Requests[a.ID])
			w.lacks(a)
		}
		if m.Crash != nil {
			w.page.Needed = append(w.page.Needed, "CRASH")
		}
		if m.Flush {
			w.page.Needed = append(w.page.Needed, "FLUSH")
		}
		if m.Remove {
			w.page.Needed = append(w.page.Needed, "REMOVE")
		}
		if m.WriteGate {
			w.page.Missing = append(w.page.Missing, "the write gate in the database")
		}
		move := w.move(m)
		if m.Remove {
			marker, _ := w.variable("marker", w.page.Requests[i.Moves[0].Batch[0].ID].Marker)
			move = fmt.Sprintf(`sh -c "$REMOVE" remove "$%s"`, marker)
		}
		if w.page.Signed && len(m.Batch) > 0 {
			move = "now=$(date +%s)\n" + move
		}
		w.page.Moves = append(w.page.Moves, fmt.Sprintf("# Step %d of %s: %s.\n%s", n+1, i.ID, what(m), move))
	}
}

// name makes variables of what a request has from the run or from the environment.
func (w *writer) name(r driver.Rehearsed) {
	whole := fmt.Sprint(r.Path, r.Header, string(r.Body), r.Signer)
	for stands, name := range w.page.Variables {
		if strings.Contains(whole, stands) {
			w.page.Needed = append(w.page.Needed, name)
		}
	}
	if name, first := w.variable("marker", r.Marker); first {
		w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: "dt$(letters 16)"})
		text := strings.NewReplacer(":marker", "'"+r.Marker+"'", ":reference", "'"+r.Marker+"'").Replace(w.page.Rows[r.Operation])
		w.page.Queries = append(w.page.Queries, query{Marker: name, Text: w.inQuotes(text)})
	}
	if strings.Contains(whole, r.Reference) {
		if name, first := w.variable("reference", r.Reference); first {
			w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: "ref$(letters 16)"})
		}
	}
	for _, key := range []string{r.Key, r.SecondKey} {
		if isUUID(key) {
			if name, first := w.variable("key", key); first {
				w.page.Drawn = append(w.page.Drawn, variable{Name: name, Value: "$(uuid)"})
			}
		} else if key != "" {
			w.page.Missing = append(w.page.Missing, "a fresh key in a second run of this script: the keys are as they stand")
		}
	}
	w.draws(r)
	w.secrets(r)
	if r.Body != nil {
		value := w.inDocument(string(r.Body))
		if name, first := w.variable("body", string(r.Body)); first {
			w.page.Bodies = append(w.page.Bodies, document(name, string(r.Body), value))
			w.page.Returns = w.page.Returns || bytes.Contains(r.Body, []byte("\r"))
		}
	}
}

// document is a variable for a here-document.
func document(name, text, value string) variable {
	v := variable{Name: name, Value: strings.TrimSuffix(value, "\n"), Word: "END"}
	for strings.Contains("\n"+value+"\n", "\n"+v.Word+"\n") {
		v.Word += "D"
	}
	if strings.HasSuffix(text, "\n") {
		v.End = `$'\n'`
	}
	return v
}

// draws makes variables of what is another thing in another run besides.
func (w *writer) draws(r driver.Rehearsed) {
	for _, text := range slices.Sorted(maps.Keys(r.Drawn.Unique)) {
		value := map[string]string{"number": "1$(among 0-9 14)", "uuid": "$(uuid)"}[string(r.Drawn.Unique[text])]
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
		if !slices.ContainsFunc(slices.Collect(maps.Keys(w.page.Variables)), given) {
			name, _ := w.variable(strings.ToUpper(strings.ReplaceAll(header, "-", "_")), value)
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
	w.count[kind]++
	name = kind
	if n := w.count[kind]; n > 1 {
		name = fmt.Sprintf("%s_%d", kind, n)
	}
	w.named[text] = name
	return name, true
}

// isUUID reports whether a key is one that is drawn for every run.
func isUUID(key string) bool { return len(key) == 36 && strings.Count(key, "-") == 4 }

// lacks notes what of an attempt's lane a script does not do.
func (w *writer) lacks(a scenarios.PlannedAttempt) {
	for _, lane := range []string{a.Lane, a.RetryLane} {
		if len(w.page.Lanes[lane]) > 0 {
			w.page.Missing = append(w.page.Missing, fmt.Sprintf("the faults of the lane %s", lane))
		}
	}
	if a.Cut != nil {
		w.page.Missing = append(w.page.Missing, fmt.Sprintf("the break of the link %s", a.Cut.Link))
	}
}

// inQuotes writes a text for a shell's double quotes, with its variables.
func (w *writer) inQuotes(text string) string { return w.escaped(text, `"`, `\"`) }

// inDocument writes a text for a here-document, with its variables.
func (w *writer) inDocument(text string) string { return w.escaped(text) }

func (w *writer) escaped(text string, more ...string) string {
	var pairs []string
	for _, stands := range slices.Sorted(maps.Keys(w.named)) {
		if name := w.named[stands]; stands != "" {
			respelled := fmt.Sprintf("u%04x", stands[0])
			pairs = append(pairs, stands, "${"+name+"}", `\`+respelled+stands[1:], `\\`+respelled+"${"+name+"#?}")
		}
	}
	pairs = append(pairs, "\r", "${cr}", `\`, `\\`, "$", `\$`, "`", "\\`")
	return strings.NewReplacer(append(pairs, more...)...).Replace(text)
}
