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

// validator finds the mistakes that a schema cannot see.
type validator struct {
	doc      *document.Document
	scenario *Scenario
	mistakes document.Mistakes
}

// validate returns the mistakes in how the parts of a scenario fit together. Where the schema has found
// a part wrong already, it does not draw conclusions from it.
func validate(doc *document.Document, s Scenario) document.Mistakes {
	v := validator{doc: doc, scenario: &s}
	v.counts()
	v.needs()
	v.known()
	for name, list := range s.Lanes {
		v.lane(name, list)
	}
	for name, list := range s.Links {
		v.slices(jsonpointer.Of("links", name), list)
	}
	if doc.Length("/steps") == len(s.Steps) {
		v.lanesInUse()
		v.steps()
		v.removals()
		v.proofs()
	}
	return v.mistakes
}

// addMistake adds a mistake, unless the schema has found one in that place already.
func (v *validator) addMistake(path, format string, args ...any) {
	if v.doc.Sound(path) {
		v.mistakes = append(v.mistakes, v.doc.Mistake(path, format, args...))
	}
}

// counts looks for numbers that do not fit together.
func (v *validator) counts() {
	s := v.scenario
	if s.Twins > s.Intents && v.doc.Sound("/intents") {
		v.addMistake("/twins", "%d twins are more than the %d intents", s.Twins, s.Intents)
	}
	if f := s.Sinks; f != nil && (f.Answer == SinkLate) != (f.For > 0) {
		v.addMistake("/sinks", "for says how late an answer is: expected {answer: late, for: 1s}, or lost or error without it")
	}
	v.neighbours()
	v.alone()
}

// alone checks that steps which affect all requests run without other intents: write gates, crashes, breaking links
// and flushes. It also checks that sweeps and crashes go forward in time.
func (v *validator) alone() {
	for i, step := range v.scenario.Steps {
		switch at := jsonpointer.Of("steps", i); {
		case step.Burst != nil && step.Burst.WriteGate && v.scenario.Concurrency > 1:
			v.addMistake("/concurrency", "a write gate blocks the writes of all intents; expected concurrency: 1")
		case step.Crash != nil && v.scenario.Concurrency > 1:
			v.addMistake("/concurrency", "a crash hits the requests of all intents; expected concurrency: 1")
		case step.Crash != nil && v.scenario.Background != nil:
			v.addMistake("/background", "a crash would hit the background traffic as well; leave one of them out")
		case step.Crash != nil && step.Crash.At != "" && !(step.Crash.From.IsZero() && step.Crash.To.IsZero()):
			v.addMistake(at+"/crash/at", "a sink releases this crash; leave from and to out")
		case step.Crash != nil && step.Crash.From.surelyLonger(step.Crash.To):
			v.addMistake(at+"/crash", "from %s is later than to %s", step.Crash.From, step.Crash.To)
		case len(step.cuts()) > 0 && v.scenario.Concurrency > 1:
			v.addMistake("/concurrency", "a link that breaks during a request breaks for all intents; expected concurrency: 1")
		case len(step.cuts()) > 0 && v.scenario.Background != nil:
			v.addMistake("/background", "a link that breaks during a request breaks for the background traffic as well; leave one of them out")
		case step.Flush != "" && v.scenario.Concurrency > 1:
			v.addMistake("/concurrency", "a flush empties the store for all intents; expected concurrency: 1")
		case step.Flush != "" && v.scenario.Background != nil:
			v.addMistake("/background", "a flush empties the store for the background traffic as well; leave one of them out")
		case step.Sweep != nil && step.Sweep.From.surelyLonger(step.Sweep.To):
			v.addMistake(at+"/sweep", "from %s is later than to %s", step.Sweep.From, step.Sweep.To)
		}
	}
}

// neighbours looks for neighbours that no target could be blamed for mistaking: one principal that
// uses one key for two intents makes the mistake itself.
func (v *validator) neighbours() {
	s := v.scenario
	if s.Neighbours == nil || !v.doc.Sound("/neighbours") {
		return
	}
	n := s.Neighbours
	switch {
	case n.Of > s.Intents && v.doc.Sound("/intents"):
		v.addMistake("/neighbours/of", "%d neighbours are more than the %d intents", n.Of, s.Intents)
	case s.takesOtherWay() && n.Across == AcrossOperations:
		v.addMistake("/neighbours/across", "the ways are those of one operation; leave ways or across: operations out")
	case s.Twins > 1 && n.Across == AcrossOperations:
		v.addMistake("/twins", "twins cannot be neighbours across operations: they share a body, and one marker would be in two tables")
	case s.Twins > 1 && s.Twins != n.Of:
		v.addMistake("/twins", "%d twins and %d neighbours: expected the same number, because twins must be neighbours of each other", s.Twins, n.Of)
	}
	switch {
	case n.Across != AcrossNothing:
	case n.Keys == KeysEqual:
		v.addMistake("/neighbours/keys", "two intents of one principal with one key are a mistake of the client; add across: principals, across: operations or across: parents")
	case n.Keys == KeysUnlike:
		v.addMistake("/neighbours", "expected keys or across: what neighbours have in common, or what each has to itself")
	}
}

// needs looks for needs that exclude each other.
func (v *validator) needs() {
	needs := v.scenario.Needs
	if slices.Contains(needs, NeedsNaturalKey) && slices.Contains(needs, NeedsNoNatural) {
		v.addMistake("/needs", "no target has both a natural-key and no-natural-key")
	}
}

// known looks for known bugs that stand there twice.
func (v *validator) known() {
	lines := make([]Registered, 0, len(v.scenario.Known))
	for _, k := range v.scenario.Known {
		lines = append(lines, Registered{KnownBug: k})
	}
	v.mistakes = append(v.mistakes, repeated(v.doc, lines)...)
}

// lane looks at the faults of one lane. The lane clean stays clean: what is measured and compared
// goes by it.
func (v *validator) lane(name string, list []faults.Fault) {
	if name == Clean && len(list) > 0 {
		v.addMistake(jsonpointer.Of("lanes", name), "the lane clean has no faults; give this one another name")
	}
	v.slices(jsonpointer.Of("lanes", name), list)
}

// slices looks for slices whose size could come out as nothing.
func (v *validator) slices(path string, list []faults.Fault) {
	for i, f := range list {
		if f.Slice != nil && f.Slice.Variation > 0 && f.Slice.Variation >= f.Slice.Size {
			v.addMistake(path+jsonpointer.Of(i, "slice", "variation"), "must be less than the size, %d", f.Slice.Size)
		}
	}
}

// lanesInUse compares the declared lanes with those in use.
func (v *validator) lanesInUse() {
	declared := slices.Sorted(maps.Keys(v.scenario.Lanes))
	known := append([]string{Clean}, slices.DeleteFunc(slices.Clone(declared), func(name string) bool { return name == Clean })...)
	used := map[string]bool{Clean: true}
	sendings := v.scenario.sendings()
	if b := v.scenario.Background; b != nil {
		sendings = append(sendings, sending{path: "/background", send: &b.Send})
	}
	for _, one := range sendings {
		v.use(one.path+"/lane", one.send.Lane, known, used)
		if retry := one.send.Retry; retry != nil && retry.Lane != "" {
			v.use(one.path+"/retry/lane", retry.Lane, known, used)
		}
	}
	for _, name := range declared {
		if !used[name] && v.doc.Sound("/steps") {
			v.addMistake(jsonpointer.Of("lanes", name), "no step uses this lane")
		}
	}
}

// use notes that a lane is in use, and says if there is none of that name.
func (v *validator) use(path, lane string, known []string, used map[string]bool) {
	used[lane] = true
	if slices.Contains(known, lane) {
		return
	}
	if nearest, ok := document.Nearest(lane, known); ok {
		used[nearest] = true
		v.addMistake(path, "there is no lane %q, did you mean %q?", lane, nearest)
		return
	}
	v.addMistake(path, "there is no lane %q; the lanes are %s", lane, strings.Join(known, ", "))
}

// steps looks at what is sent and waited for.
func (v *validator) steps() {
	sendings := v.scenario.sendings()
	if len(sendings) == 0 {
		v.addMistake("/steps", "the steps send nothing")
	}
	for _, one := range sendings {
		if one.altered > one.requests {
			v.addMistake(one.path+"/altered", "%d altered bodies are more than the %d copies", one.altered, one.requests)
		}
		if len(one.send.Ways) > 0 && one.altered > 0 {
			v.addMistake(one.path+"/ways", "an altered body takes the operation's own way; leave ways or altered out")
		}
		if one.invalid && v.scenario.altersBodies() {
			v.addMistake(one.path, "an intent is sent with an invalid body or with an altered one; leave one of them out")
		}
		if path := one.path + "/timeout"; v.isZero(path) {
			v.addMistake(path, "a timeout must be more than 0s")
		}
	}
	for i, step := range v.scenario.Steps {
		if step.Wait == nil {
			continue
		}
		if step.Wait.For != WaitPause && !step.Wait.Pause.IsZero() {
			v.addMistake(jsonpointer.Of("steps", i, "wait"), "for and pause exclude each other")
		}
		if remembered := step.Wait.For == WaitRemembered; remembered != (len(step.Wait.Pauses) > 0) {
			v.addMistake(jsonpointer.Of("steps", i, "wait"), "for: remembered and pauses need each other")
		}
		if step.Wait.For != WaitPause && len(sendings) > 0 && i < sendings[0].step {
			v.addMistake(jsonpointer.Of("steps", i, "wait"), "nothing has been sent before this wait")
		}
	}
}

// removals checks that an intent removes once and creates once more, that the removed row can only be its own, and that
// no old key is used after the removal: no contract says what it means then.
func (v *validator) removals() {
	at := slices.IndexFunc(v.scenario.Steps, func(step Step) bool { return step.Remove != nil })
	if at < 0 {
		return
	}
	if v.scenario.Twins > 1 {
		v.addMistake("/twins", "the removed row could be that of a twin, with the same body; leave twins or remove out")
	}
	if v.scenario.Neighbours != nil {
		v.addMistake("/neighbours", "the removed row could be that of a neighbour; leave neighbours or remove out")
	}
	for i, step := range v.scenario.Steps[at+1:] {
		if step.Remove != nil {
			v.addMistake(jsonpointer.Of("steps", at+1+i), "the row is removed already; a scenario can remove once")
		}
	}
	for i, one := range v.scenario.sendings() {
		switch {
		case one.invalid:
			v.addMistake(one.path, "an invalid body makes nothing that could be removed; leave it or remove out")
		case one.altered > 0:
			v.addMistake(one.path, "an altered body may create another row than the one that is removed; leave it or remove out")
		case i == 0 && one.step > at:
			v.addMistake(jsonpointer.Of("steps", at), "nothing has been sent before this remove")
		case v.scenario.removesBefore(one.step) && one.send.Key != FreshKey && one.send.Key != NoKey:
			v.addMistake(one.path, "no contract says what a key means after its row was removed; expected key: fresh")
		}
	}
}

// isZero reports whether the file has a length of time here that is zero.
func (v *validator) isZero(path string) bool {
	var s Span
	text := strings.Trim(v.doc.Shown(path), `"`)
	return v.doc.Has(path) && s.UnmarshalText([]byte(text)) == nil && s.IsZero()
}

// proofs looks for proofs that stand there twice, and for those that can never hold: each run
// would be inconclusive, whatever the target does.
func (v *validator) proofs() {
	exercised := v.scenario.Exercised
	if v.doc.Length("/exercised") != len(exercised) {
		return
	}
	shape := v.scenario.shape()
	seen := map[proofs.Name]bool{}
	for i, proof := range exercised {
		path := jsonpointer.Of("exercised", i)
		if seen[proof.Name] {
			v.addMistake(path, "the proof %s is already there", proof.Name)
		}
		seen[proof.Name] = true
		if why := shape.never(proof.Name); why != "" && v.doc.Sound("/steps", "/lanes") {
			v.addMistake(path, "the proof %s can never hold: %s", proof.Name, why)
		}
	}
}
