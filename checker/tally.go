package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// tally is what was found and counted in some parts. Parts are judged on all cores and end
// in any order, so tallies can be added in any order: sums, maxima, and lists that carry
// their place and are sorted at the end.
type tally struct {
	findings []placedFinding
	unlisted map[Kind]int // findings that were left out, as there are worse or plainer ones
	doubts   []placedDoubt
	warnings map[warningSlot]*warned

	intents  int // but plain creates with a fresh key
	beside   int // of them background traffic
	outcomes map[Outcome]int
	elapsed  history.Offset
	exercise []held
	proven   exercised
	effects  held // of intents with rows, whose effects were seen at their sinks
	spreads  []history.Offset
	members  int // requests of the largest burst
	atLane   bool
	phases   []Phase
	standing [2]standing // of all findings, and of those that last

	promise  repeated
	done     effectOf
	business business
	taken    placedText                    // an invalid body that was not refused
	unasked  [2]placedText                 // why rows are unknown, by moment
	totals   [2]map[string]*expectedTotals // by moment and query
}

// place orders what was found as if all of a history had been judged at once: by pass, then by part.
type place struct{ pass, part, number int }

// compare orders places: -1, 0 or 1.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.pass, q.pass), cmp.Compare(p.part, q.part), cmp.Compare(p.number, q.number))
}

// placedFinding is a finding with its place in the order of a whole.
type placedFinding struct {
	place
	Finding
}

// placedDoubt is a reason why a clean history is no pass.
type placedDoubt struct {
	place
	once string // of the reasons with one such key, the first stands for all; empty: it stands for itself
	text string
}

// placedText is the first text of all parts.
type placedText struct {
	place
	text string
}

// add keeps the earlier of two texts.
func (t *placedText) add(other placedText) {
	if other.text != "" && (t.text == "" || other.compare(t.place) < 0) {
		*t = other
	}
}

// held is for how many of some intents something held.
type held struct{ held, of, failed int }

// add adds the counts of another part.
func (h *held) add(other held) {
	h.held, h.of, h.failed = h.held+other.held, h.of+other.of, h.failed+other.failed
}

// standing counts findings by what they mean for the verdict.
type standing struct {
	isNew, isKnown bool
	broken         int    // intents with a finding that the contract does not excuse
	freshBroken    int    // of them plain creates with a fresh key
	besideBroken   bool   // one of them is background traffic
	seen           []bool // by known bug: it was seen
}

// warned is the intents with a warning.
type warned struct {
	count   int
	intents []placedText // the first of them
}

// How much is kept of a large run: reasons, intents of a warning, and findings of a scenario. The others are counted.
const (
	mostDoubts   = 200
	mostWarned   = 1000
	mostFindings = 1000
)

// newTally has counted nothing. done.keyless is true until an intent with a key is seen.
func newTally(known []KnownBug) tally {
	t := tally{unlisted: map[Kind]int{}, warnings: map[warningSlot]*warned{}, outcomes: map[Outcome]int{}, totals: [2]map[string]*expectedTotals{{}, {}}}
	for i := range t.standing {
		t.standing[i].seen = make([]bool, len(known))
	}
	t.done.keyless = true
	return t
}

// add adds a tally of other parts.
func (w *whole) add(other tally) {
	t := &w.sum
	t.findings = append(t.findings, other.findings...)
	if len(t.findings) > 2*mostFindings {
		t.prune()
	}
	t.doubts = append(t.doubts, other.doubts...)
	if len(t.doubts) > 4*mostDoubts {
		t.doubts = distinctDoubts(t.doubts)
	}
	for slot, more := range other.warnings {
		if t.warnings[slot] == nil {
			t.warnings[slot] = &warned{}
		}
		t.warnings[slot].add(*more)
	}
	for o, n := range other.outcomes {
		t.outcomes[o] += n
	}
	t.intents, t.beside, t.elapsed = t.intents+other.intents, t.beside+other.beside, max(t.elapsed, other.elapsed)
	if t.exercise == nil {
		t.exercise = make([]held, len(other.exercise))
	}
	for i, x := range other.exercise {
		t.exercise[i].add(x)
	}
	t.effects.add(other.effects)
	t.proven.add(other.proven)
	t.spreads, t.members, t.atLane = append(t.spreads, other.spreads...), max(t.members, other.members), t.atLane || other.atLane
	t.phases = append(t.phases, other.phases...)
	for i := range t.standing {
		t.standing[i].add(other.standing[i])
	}
	t.promise.add(other.promise)
	t.done.add(other.done)
	t.business.add(other.business)
	t.taken.add(other.taken)
	for m := range t.unasked {
		t.unasked[m].add(other.unasked[m])
		for query, more := range other.totals[m] {
			if t.totals[m][query] == nil {
				t.totals[m][query] = &expectedTotals{}
			}
			t.totals[m][query].add(*more)
		}
	}
}

// add adds the findings of another part.
func (s *standing) add(other standing) {
	s.isNew, s.isKnown = s.isNew || other.isNew, s.isKnown || other.isKnown
	s.broken, s.freshBroken, s.besideBroken = s.broken+other.broken, s.freshBroken+other.freshBroken, s.besideBroken || other.besideBroken
	for i, seen := range other.seen {
		s.seen[i] = s.seen[i] || seen
	}
}

// add adds the intents of another part. It sorts now and then only, so that adding stays
// cheap.
func (w *warned) add(other warned) {
	w.count += other.count
	w.intents = append(w.intents, other.intents...)
	if len(w.intents) > 2*mostWarned {
		w.intents = w.first()
	}
}

// first returns the first intents with a warning, in their order.
func (w *warned) first() []placedText {
	slices.SortStableFunc(w.intents, func(a, b placedText) int { return a.compare(b.place) })
	return w.intents[:min(len(w.intents), mostWarned)]
}

// signature is what findings have in common that are listed for one another.
type signature struct {
	kind           Kind
	detail         string
	known, excused string
}

// prune keeps the findings that a reader should see first, some of each signature, and
// counts the others: a million duplicates are one finding, and may not hide the one lost
// write among them.
func (t *tally) prune() {
	sortFindings(t.findings)
	of := func(f placedFinding) signature { return signature{f.Kind, f.Detail, f.Known, f.Excused} }
	some := map[signature]int{}
	for _, f := range t.findings {
		some[of(f)]++
	}
	each := max(10, mostFindings/len(some))
	clear(some)
	t.findings = slices.DeleteFunc(t.findings, func(f placedFinding) bool {
		some[of(f)]++
		if some[of(f)] > each {
			t.unlisted[f.Kind]++
			return true
		}
		return false
	})
}

// sortFindings orders findings for a reader, and those that are equal to one in the order in which they were found.
func sortFindings(all []placedFinding) {
	slices.SortStableFunc(all, func(a, b placedFinding) int { return cmp.Or(Compare(a.Finding, b.Finding), a.compare(b.place)) })
}

// distinctDoubts orders doubts as they came and drops repetitions. Of very many, the first are kept.
func distinctDoubts(all []placedDoubt) []placedDoubt {
	slices.SortStableFunc(all, func(a, b placedDoubt) int { return a.compare(b.place) })
	texts, keys := map[string]bool{}, map[string]bool{}
	kept := slices.DeleteFunc(all, func(d placedDoubt) bool {
		again := texts[d.text] || d.once != "" && keys[d.once]
		texts[d.text], keys[d.once] = true, true
		return again
	})
	return kept[:min(len(kept), 2*mostDoubts)]
}

// doubtTexts returns the reasons, of very many the first.
func (t *tally) doubtTexts() []string {
	var texts []string
	for i, d := range distinctDoubts(t.doubts) {
		if i == mostDoubts {
			return append(texts, "and more reasons like these")
		}
		texts = append(texts, d.text)
	}
	return texts
}

// judge runs the passes over a part and counts what is in it. A rule may have asked for
// something of all intents that was not known yet (asked); then nothing is counted, and
// the part is judged once more when it is.
func (e *evaluation) judge() {
	e.tally = newTally(e.whole.known)
	for i, p := range passes() {
		e.pass = i
		p(e)
	}
	if e.asked && !e.whole.ready {
		return
	}
	measure(e)
	placeFindings(e, &e.tally)
}

// placeFindings places what was found, and counts the intents that broke: of all findings,
// and of those that last, which count even where the target file may be wrong.
func placeFindings(e *evaluation, t *tally) {
	if len(e.found.findings)+len(e.found.doubts) == 0 {
		return // as in most parts of a large history
	}
	fresh, beside := map[string]bool{}, map[string]bool{}
	for tr := range e.traces() {
		fresh[tr.intent.ID], beside[tr.intent.ID] = tr.intent.Fresh, tr.intent.Behind
	}
	for s := range t.standing {
		broken := map[string]bool{}
		for _, f := range e.found.findings {
			if s == 1 && !f.Kind.Row().Lasting {
				continue
			}
			if f.Excused == "" && !broken[f.Intent] {
				broken[f.Intent] = true
				t.standing[s].broken++
				if fresh[f.Intent] {
					t.standing[s].freshBroken++
				}
				t.standing[s].besideBroken = t.standing[s].besideBroken || beside[f.Intent]
			}
			t.standing[s].note(f, e.whole.known)
		}
	}
	t.proven.placeBroken(e.found.findings)
	for i, f := range e.found.findings {
		t.findings = append(t.findings, placedFinding{place{e.found.passes[i], e.part, i}, f})
	}
	for i, d := range e.found.doubts {
		d.part, d.number = e.part, i
		t.doubts = append(t.doubts, d)
	}
}

// note counts a finding for the verdict.
func (s *standing) note(f Finding, known []KnownBug) {
	s.isNew, s.isKnown = s.isNew || f.isNew(), s.isKnown || f.isKnown()
	for i, k := range known {
		s.seen[i] = s.seen[i] || k.explains(f)
	}
}

// measure counts what is in a part.
func measure(e *evaluation) {
	t, h := &e.tally, e.history
	for _, i := range h.Intents {
		if !i.Fresh { // creates beside those of the plan count where they show something
			t.intents++
		}
		if i.Behind {
			t.beside++
		}
	}
	for tr := range e.traces() {
		for _, a := range tr.whole().attempts {
			t.outcomes[a.outcome]++
			t.elapsed = max(t.elapsed, a.End)
		}
	}
	measureExercise(e, t)
	measureSeen(e, t)
	measureBursts(e, t)
	measurePhases(e, t)
	measurePromise(e, t)
	measureEffect(e, t)
	measureBusiness(e, t)
	measureTaken(e, t)
	measureUnasked(e, t)
	measureTotals(e, t)
}

// result judges what only all intents together show, and puts the result together.
func (w *whole) result() (Result, error) {
	if err := w.close(); err != nil {
		return Result{}, err
	}
	return w.assemble(), nil
}

// close judges what only all intents together show.
func (w *whole) close() error {
	if err := w.judgeTotals(); err != nil {
		return err
	}
	if t := &w.sum; w.neverReached() { // what may be owed to a misconfigured target file is dropped
		t.findings = slices.DeleteFunc(t.findings, func(f placedFinding) bool { return !f.Kind.Row().Lasting })
		for k := range t.unlisted {
			if !k.Row().Lasting {
				delete(t.unlisted, k)
			}
		}
		t.standing[0] = t.standing[1]
	}
	return nil
}

// assemble puts the result together, with the findings in the order of Compare.
func (w *whole) assemble() Result {
	t, h := &w.sum, w.head
	standing := t.standing[0]
	if len(t.findings) > mostFindings {
		t.prune()
	}
	sortFindings(t.findings)
	r := Result{
		Scenario: h.Run.Scenario, Summary: h.Run.Summary, Seed: h.Run.Seed, Attempts: w.attempts, Outcomes: t.outcomes, Elapsed: t.elapsed,
		Warnings: w.warnings(), Exercise: w.exercise(), Bursts: w.bursts(), Writers: writersOf(w), Phases: mergedPhases(t.phases),
		DatabaseGone: slices.ContainsFunc(w.runs(), func(run *whole) bool { return incident(run.head, history.DatabaseGone) != nil }),
		Intents:      t.intents + standing.freshBroken, Failed: standing.broken,
	}
	for _, f := range t.findings {
		r.Findings = append(r.Findings, f.Finding)
	}
	if n := t.proven.count; n > 0 && n < r.Intents-t.beside {
		r.Exercised = &Exercised{Intents: n, Broke: t.proven.broke}
	}
	if h.Run.Whole > 0 {
		r.Fewer = &Fewer{Whole: h.Run.Whole, Create: h.Run.Normal, Start: h.Run.Start}
	}
	if len(t.unlisted) > 0 {
		r.Unlisted = t.unlisted
		r.Warnings = append(r.Warnings, unlistedWarning(t.unlisted))
	}
	if w.every {
		r.Failed = r.Intents
	}
	if !w.every && !standing.besideBroken {
		r.Beside = t.beside
	}
	r.Verdict, r.Reasons = w.decide(standing, r.Exercise)
	r.Warnings = append(r.Warnings, w.notSeen(standing, r.Reasons)...)
	return r
}

// unlistedWarning says how many findings are left out, by kind.
func unlistedWarning(unlisted map[Kind]int) Warning {
	var texts []string
	sum := 0
	for _, k := range slices.Sorted(maps.Keys(unlisted)) {
		texts = append(texts, fmt.Sprintf("%d %s", unlisted[k], k))
		sum += unlisted[k]
	}
	return Warning{Kind: "unlisted", Text: fmt.Sprintf("%d more findings are counted and not listed (%s): of each kind those that are the easiest to understand are", sum, strings.Join(texts, ", "))}
}

// exercise says for how many intents the proofs held.
func (w *whole) exercise() []Exercise {
	var all []Exercise
	for i, p := range w.head.Run.Exercised {
		counted := w.sum.exercise[i]
		if counted.failed >= counted.of { // more than now and then
			counted.of += counted.failed
		}
		all = append(all, Exercise{Proof: p.Name, Text: sentence(proofs.Name(p.Name)), Held: counted.held, Of: counted.of, Needed: needed(p, counted.of)})
	}
	named := slices.ContainsFunc(all, func(shown Exercise) bool { return shown.Proof == string(proofs.EffectSeen) })
	if seen := w.sum.effects; seen.of > 0 && !named {
		all = append(all, Exercise{Proof: string(proofs.EffectSeen), Text: sentence(proofs.EffectSeen), Held: seen.held, Of: seen.of, Needed: 1})
	}
	return all
}

// judgeTotals judges what only all intents together show, such as a counter that should be
// the number of rows. The finding is about all of them, and stands behind those of the
// parts.
func (w *whole) judgeTotals() error {
	e := &evaluation{whole: w, part: w.parts.Len(), terms: w.terms, history: w.head, found: newVerdicts(), tally: newTally(w.known)}
	for i, m := range []moment{atT1, atT2} {
		e.pass = passOfRules + i
		checkTotals(e, m)
	}
	e.pass = len(passes())
	reportLonelyDeaths(e)
	e.found.doubts = append(w.removals.doubts(), e.found.doubts...)
	if len(e.found.findings) > 0 {
		all, err := w.allTogether()
		if err != nil {
			return err
		}
		setbacks := w.setbacks()
		markKnown(e)
		for i := range e.found.findings {
			f := &e.found.findings[i]
			f.Circumstances = all.circumstances()
			all.at(f.Moment).show(f)
			if len(setbacks) > 0 && f.isNew() {
				f.Excused = all.excuse(e, *f)
			}
			w.every = w.every || f.Excused == "" && (f.Kind.Row().Lasting || !w.neverReached())
		}
	}
	placeFindings(e, &e.tally)
	for i := range e.tally.standing { // it is no intent
		e.tally.standing[i].broken = 0
	}
	w.add(e.tally)
	return nil
}

// incident returns the first incident of a kind; nil: there was none.
func incident(h *history.History, k history.IncidentKind) *history.Incident {
	for i := range h.Incidents {
		if h.Incidents[i].Kind == k {
			return &h.Incidents[i]
		}
	}
	return nil
}

// unclearRemovals counts removals that were not confirmed before the next request.
type unclearRemovals struct {
	count int
	at    int // which of all removals the first is
	first string
}

// add adds the removals of another part, and keeps the text of the earliest.
func (u *unclearRemovals) add(other unclearRemovals) {
	if other.count > 0 && (u.count == 0 || other.at < u.at) {
		u.at, u.first = other.at, other.first
	}
	u.count += other.count
}

// doubts returns the one doubt that stands for all of them, before those of any pass; nil: there
// are none.
func (u unclearRemovals) doubts() []placedDoubt {
	if u.count == 0 {
		return nil
	}
	return []placedDoubt{{place: place{pass: -1}, text: fmt.Sprintf("the removal for %s was not confirmed before the next request; the first, %s", count(u.count, "intent"), u.first)}}
}
