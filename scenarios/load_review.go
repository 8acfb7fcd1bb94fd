package scenarios

import (
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/proofs"
)

// reviewer looks for what a schema cannot see.
type reviewer struct {
	doc      *document.Document
	scenario *Scenario
	mistakes document.Mistakes
}

// review returns the mistakes in how the parts of a scenario fit together. Where the schema has found
// a part wrong already, it does not draw conclusions from it.
func review(doc *document.Document, s Scenario) document.Mistakes {
	r := reviewer{doc: doc, scenario: &s}
	r.counts()
	r.needs()
	r.known()
	for name, list := range s.Lanes {
		r.lane(name, list)
	}
	for name, list := range s.Links {
		r.slices(jsonpointer.Of("links", name), list)
	}
	if doc.Length("/steps") == len(s.Steps) {
		r.lanesInUse()
		r.steps()
		r.removals()
		r.proofs()
	}
	return r.mistakes
}

func (r *reviewer) complain(path, format string, args ...any) {
	if r.doc.Sound(path) {
		r.mistakes = append(r.mistakes, r.doc.Mistake(path, format, args...))
	}
}

func (r *reviewer) counts() {
	s := r.scenario
	if s.Twins > s.Intents && r.doc.Sound("/intents") {
		r.complain("/twins", "%d twins are more than the %d intents", s.Twins, s.Intents)
	}
	r.neighbours()
	r.alone()
}

// alone holds that nobody else writes into a table whose writers are held back, is hit by a crash, uses a link
// that breaks or a store that is flushed, and that sweeps and crashes have a way to go.
func (r *reviewer) alone() {
	for i, step := range r.scenario.Steps {
		switch at := jsonpointer.Of("steps", i); {
		case step.Burst != nil && step.Burst.WriteGate && r.scenario.Concurrency > 1:
			r.complain("/concurrency", "a burst with a write gate holds back the writes of all; expected concurrency: 1")
		case step.Crash != nil && r.scenario.Concurrency > 1:
			r.complain("/concurrency", "a crash hits the requests of all; expected concurrency: 1")
		case step.Crash != nil && r.scenario.Background != nil:
			r.complain("/background", "a crash would hit the background traffic as well; leave one of them out")
		case step.Crash != nil && step.Crash.From.surelyLonger(step.Crash.To):
			r.complain(at+"/crash", "from %s is later than to %s", step.Crash.From, step.Crash.To)
		case len(step.cuts()) > 0 && r.scenario.Concurrency > 1:
			r.complain("/concurrency", "a link that breaks while a request is under way breaks for all; expected concurrency: 1")
		case len(step.cuts()) > 0 && r.scenario.Background != nil:
			r.complain("/background", "a link that breaks while a request is under way breaks for the background traffic as well")
		case step.Flush != "" && r.scenario.Concurrency > 1:
			r.complain("/concurrency", "a store that loses what it holds loses it for all; expected concurrency: 1")
		case step.Flush != "" && r.scenario.Background != nil:
			r.complain("/background", "a store that loses what it holds loses it for the background traffic as well")
		case step.Sweep != nil && step.Sweep.From.surelyLonger(step.Sweep.To):
			r.complain(at+"/sweep", "from %s is later than to %s", step.Sweep.From, step.Sweep.To)
		}
	}
}

func (r *reviewer) neighbours() {
	s := r.scenario
	if s.Neighbours == nil || !r.doc.Sound("/neighbours") {
		return
	}
	n := s.Neighbours
	switch {
	case n.Of > s.Intents && r.doc.Sound("/intents"):
		r.complain("/neighbours/of", "%d neighbours are more than the %d intents", n.Of, s.Intents)
	case s.Twins > 1 && n.Across == AcrossOperations:
		r.complain("/twins", "those who share a body cannot be neighbours across operations: one marker would stand in two tables")
	case s.Twins > 1 && s.Twins != n.Of:
		r.complain("/twins", "%d twins and %d neighbours: those who share a body must be those who are neighbours", s.Twins, n.Of)
	}
	switch {
	case n.Across != AcrossNothing:
	case n.Keys == KeysEqual:
		r.complain("/neighbours/keys", "two wishes of one principal with one key are the client's own mistake; say across what they are apart")
	case n.Keys == KeysUnlike:
		r.complain("/neighbours", "say what neighbours have in common: keys, or across what they are apart")
	}
}

func (r *reviewer) needs() {
	needs := r.scenario.Needs
	if slices.Contains(needs, NeedsNaturalKey) && slices.Contains(needs, NeedsNoNatural) {
		r.complain("/needs", "no target has both a natural-key and no-natural-key")
	}
}

func (r *reviewer) known() {
	lines := make([]registered, 0, len(r.scenario.Known))
	for _, k := range r.scenario.Known {
		lines = append(lines, registered{KnownBug: k})
	}
	r.mistakes = append(r.mistakes, repeated(r.doc, lines)...)
}

func (r *reviewer) lane(name string, list []faults.Fault) {
	if name == Clean && len(list) > 0 {
		r.complain(jsonpointer.Of("lanes", name), "the lane clean has no faults; give this one another name")
	}
	r.slices(jsonpointer.Of("lanes", name), list)
}

func (r *reviewer) slices(path string, list []faults.Fault) {
	for i, f := range list {
		if f.Slice != nil && f.Slice.Variation > 0 && f.Slice.Variation >= f.Slice.Size {
			r.complain(path+jsonpointer.Of(i, "slice", "variation"), "must be less than the size, %d", f.Slice.Size)
		}
	}
}

// lanesInUse compares the lanes that are declared with those that are used.
func (r *reviewer) lanesInUse() {
	declared := slices.Sorted(maps.Keys(r.scenario.Lanes))
	known := append([]string{Clean}, slices.DeleteFunc(slices.Clone(declared), func(name string) bool { return name == Clean })...)
	used := map[string]bool{Clean: true}
	sendings := r.scenario.sendings()
	if b := r.scenario.Background; b != nil {
		sendings = append(sendings, sending{path: "/background", send: &b.Send})
	}
	for _, one := range sendings {
		r.use(one.path+"/lane", one.send.Lane, known, used)
		if retry := one.send.Retry; retry != nil && retry.Lane != "" {
			r.use(one.path+"/retry/lane", retry.Lane, known, used)
		}
	}
	for _, name := range declared {
		if !used[name] && r.doc.Sound("/steps") {
			r.complain(jsonpointer.Of("lanes", name), "no step uses this lane")
		}
	}
}

func (r *reviewer) use(path, lane string, known []string, used map[string]bool) {
	used[lane] = true
	if slices.Contains(known, lane) {
		return
	}
	if nearest, ok := document.Nearest(lane, known); ok {
		used[nearest] = true
		r.complain(path, "there is no lane %q, did you mean %q?", lane, nearest)
		return
	}
	r.complain(path, "there is no lane %q; the lanes are %s", lane, strings.Join(known, ", "))
}

func (r *reviewer) steps() {
	sendings := r.scenario.sendings()
	if len(sendings) == 0 {
		r.complain("/steps", "the steps send nothing")
	}
	for _, one := range sendings {
		if one.altered > one.requests {
			r.complain(one.path+"/altered", "%d altered bodies are more than the %d copies", one.altered, one.requests)
		}
		if path := one.path + "/timeout"; r.isZero(path) {
			r.complain(path, "a timeout must be more than 0s")
		}
	}
	for i, step := range r.scenario.Steps {
		if step.Wait == nil {
			continue
		}
		if step.Wait.For != WaitPause && !step.Wait.Pause.IsZero() {
			r.complain(jsonpointer.Of("steps", i, "wait"), "for and pause exclude each other")
		}
		if step.Wait.For != WaitPause && len(sendings) > 0 && i < sendings[0].step {
			r.complain(jsonpointer.Of("steps", i, "wait"), "nothing has been sent before this wait")
		}
	}
}

// removals holds that something of one wish is removed once and wanted once more, that it is known whose it is, and
// that nobody asks what a key means once its thing is gone: no contract says.
func (r *reviewer) removals() {
	at := slices.IndexFunc(r.scenario.Steps, func(step Step) bool { return step.Remove != nil })
	if at < 0 {
		return
	}
	if r.scenario.Twins > 1 {
		r.complain("/twins", "what is removed could be another's, with the same body; leave them or the remove out")
	}
	if r.scenario.Neighbours != nil {
		r.complain("/neighbours", "what is removed could be a neighbour's; leave them or the remove out")
	}
	for i, step := range r.scenario.Steps[at+1:] {
		if step.Remove != nil {
			r.complain(jsonpointer.Of("steps", at+1+i), "what was made is removed already; a story removes once")
		}
	}
	for i, one := range r.scenario.sendings() {
		switch {
		case one.altered > 0:
			r.complain(one.path, "an altered body makes another row than the one that is removed; leave it or the remove out")
		case i == 0 && one.step > at:
			r.complain(jsonpointer.Of("steps", at), "nothing has been sent before this remove")
		case r.scenario.removesBefore(one.step) && one.send.Key != FreshKey && one.send.Key != NoKey:
			r.complain(one.path, "what a key means once its thing was removed is nobody's promise; expected key: fresh")
		}
	}
}

// isZero reports whether the file has a span here, and the span is no time.
func (r *reviewer) isZero(path string) bool {
	var s Span
	text := strings.Trim(r.doc.Shown(path), `"`)
	return r.doc.Has(path) && s.UnmarshalText([]byte(text)) == nil && s.IsZero()
}

func (r *reviewer) proofs() {
	exercised := r.scenario.Exercised
	if r.doc.Length("/exercised") != len(exercised) {
		return
	}
	shape := r.scenario.shape()
	seen := map[proofs.Name]bool{}
	for i, proof := range exercised {
		path := jsonpointer.Of("exercised", i)
		if seen[proof.Name] {
			r.complain(path, "the proof %s is already there", proof.Name)
		}
		seen[proof.Name] = true
		if why := shape.never(proof.Name); why != "" && r.doc.Sound("/steps", "/lanes") {
			r.complain(path, "the proof %s can never hold: %s", proof.Name, why)
		}
	}
}
