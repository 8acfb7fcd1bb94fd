package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// Cause is findings of a run that one defect explains: of one kind, under one set of circumstances or under more of them.
// What plain requests show, bursts and crashes show as well.
type Cause struct {
	ID            string         `json:"id"` // unique in the run: "C1", "C2", ...
	Kind          Kind           `json:"kind"`
	Details       []string       `json:"details,omitempty"` // of its findings
	Known         string         `json:"known,omitempty"`
	Excused       string         `json:"excused,omitempty"`
	Circumstances []Circumstance `json:"circumstances,omitempty"` // the least under which it was seen; none: plain requests show it
	Findings      []string       `json:"findings"`                // ids; the first is the simplest
	Scenarios     []CauseIn      `json:"scenarios"`               // in which it was seen, the simplest first

	Members []Place `json:"-"` // of Findings, by index

	details map[string]bool // with the empty one
	broken  map[brokenIntent]bool
}

// brokenIntent is an intent with a finding of a cause, and the index of its result.
type brokenIntent struct {
	result int
	intent string
}

// CauseIn is how often a cause was seen in a scenario.
type CauseIn struct {
	Scenario string   `json:"scenario"`
	Findings []string `json:"findings"` // ids
	Broke    int      `json:"broke"`    // intents with such a finding
	Of       int      `json:"of"`       // intents
}

// Place is where a finding stands: the index of its result, and its own in there.
type Place struct{ Result, Finding int }

// Plain reports that the cause takes no race, no fault and no special request.
func (c Cause) Plain() bool { return len(c.Circumstances) == 0 }

// Causes groups the findings of a run: new ones before known and excused ones, the worst kind first. A create that is wrong
// by itself comes before all others: they may follow from it. Ids of findings are taken over as they are.
func Causes(results []Result) []Cause {
	var all []Cause
	for _, p := range bySimplicity(results) {
		f := p.in(results)
		i := slices.IndexFunc(all, func(c Cause) bool { return c.explains(*f, p.Result) })
		if i < 0 {
			i = len(all)
			all = append(all, Cause{Kind: f.Kind, Known: f.Known, Excused: f.Excused, Circumstances: f.Circumstances, details: map[string]bool{}, broken: map[brokenIntent]bool{}})
		}
		all[i].add(p, results[p.Result], *f)
	}
	slices.SortStableFunc(all, func(a, b Cause) int {
		first, other := a.Members[0].in(results), b.Members[0].in(results)
		return cmp.Or(compareStanding(*first, *other), first.alone()-other.alone(), cmp.Compare(first.harm(), other.harm()),
			first.weight()-other.weight())
	})
	for i := range all {
		all[i].ID = fmt.Sprintf("C%d", i+1)
	}
	return all
}

// bySimplicity returns the places of all findings, the easiest to understand first. Of those that need as much, what most intents
// of its scenario show comes before what is seldom seen, and what shows in the middle of a sweep before what shows at its edge, as
// it shows again when it is replayed.
func bySimplicity(results []Result) []Place {
	var all []Place
	middle := make([]history.Offset, len(results))
	for i, r := range results {
		for j := range r.Findings {
			all = append(all, Place{i, j})
		}
		middle[i] = r.middle()
	}
	fromMiddle := func(p Place) history.Offset {
		away := p.in(results).swept() - middle[p.Result]
		return max(away, -away)
	}
	slices.SortStableFunc(all, func(a, b Place) int {
		one, other := a.in(results), b.in(results)
		return cmp.Or(one.weight()-other.weight(), results[a.Result].seldom()-results[b.Result].seldom(), results[a.Result].control()-results[b.Result].control(),
			results[a.Result].atOnce()-results[b.Result].atOnce(), compareEvidence(*one, *other), CompareResults(results[a.Result], results[b.Result]),
			cmp.Compare(fromMiddle(a), fromMiddle(b)))
	})
	return all
}

// in returns the finding at a place.
func (p Place) in(results []Result) *Finding { return &results[p.Result].Findings[p.Finding] }

// middle is the median of the times at which a sweep showed the result's findings; 0: none did.
func (r Result) middle() history.Offset {
	var all []history.Offset
	for _, f := range r.Findings {
		if at := f.swept(); at > 0 {
			all = append(all, at)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// swept is how long after a request the sweep of its scenario sent another one, or killed the target; 0: it is of no sweep.
func (f Finding) swept() history.Offset {
	for _, c := range f.Crashes {
		if c.After > 0 {
			return c.After
		}
	}
	for _, a := range f.Attempts {
		if a.Intent == f.Intent && a.After > 0 {
			return a.After
		}
	}
	return 0
}

// seldom is 1 where less than half of the intents failed, and it is no control.
func (r Result) seldom() int {
	if 2*r.Failed < r.Of() && r.control() == 2 {
		return 1
	}
	return 0
}

// plainCreate is the scenario of the library that sends each intent once.
const plainCreate = "plain-create"

// control is less than 2 for the scenarios of the library that show what plain requests do, the plainest first.
func (r Result) control() int {
	if i := slices.Index([]string{plainCreate, "sequential-replay"}, r.Scenario); i >= 0 {
		return i
	}
	return 2
}

// atOnce is 0 where the scenario sends the requests of an intent one after the other, and 1 where it sends some at once: even if those
// of one finding did not meet, a reader of it has to see that.
func (r Result) atOnce() int {
	together := []proofs.Name{proofs.Overlapped, proofs.Swept, proofs.WritesHeld, proofs.RetriedRunning, proofs.LeftRunning, proofs.WorkedLong}
	if r.Bursts != nil || slices.ContainsFunc(r.Exercise, func(e Exercise) bool { return slices.Contains(together, proofs.Name(e.Proof)) }) {
		return 1
	}
	return 0
}

// explains reports that a finding belongs to a cause: it has one of its details, or is about an intent that the cause broke,
// and was seen under no fewer circumstances.
func (c Cause) explains(f Finding, result int) bool {
	return c.Kind == f.Kind && c.Known == f.Known && c.Excused == f.Excused &&
		(c.details[f.Detail] || c.broken[brokenIntent{result, f.Intent}]) &&
		!slices.ContainsFunc(c.Circumstances, func(one Circumstance) bool {
			return !slices.Contains(f.Circumstances, one) && !(one == Overlapping && f.mayOverlap())
		})
}

// mayOverlap reports that a client left a request that the target was still working on, and that the next one may have met it there.
// When that work ended is not known, as nobody was left to be answered, unless it ended with the process.
func (f Finding) mayOverlap() bool {
	return !slices.Contains(f.Circumstances, Crashed) && len(f.Attempts) > 1 &&
		slices.ContainsFunc(f.Attempts, func(a history.Attempt) bool { return leftRunning(&classified{Attempt: &a}) })
}

// add takes a finding in.
func (c *Cause) add(p Place, r Result, f Finding) {
	if f.Detail != "" && !c.details[f.Detail] {
		c.Details = append(c.Details, f.Detail)
	}
	c.details[f.Detail] = true
	c.Findings, c.Members = append(c.Findings, f.ID), append(c.Members, p)
	i := slices.IndexFunc(c.Scenarios, func(s CauseIn) bool { return s.Scenario == r.Scenario })
	if i < 0 {
		i = len(c.Scenarios)
		c.Scenarios = append(c.Scenarios, CauseIn{Scenario: r.Scenario, Of: r.Of()})
	}
	c.Scenarios[i].Findings = append(c.Scenarios[i].Findings, f.ID)
	if one := (brokenIntent{p.Result, f.Intent}); !c.broken[one] {
		c.broken[one] = true
		c.Scenarios[i].Broke++
	}
	if f.Intent == EveryIntent {
		c.Scenarios[i].Broke = r.Of()
	}
}

// weight is how much a reader must understand to understand the circumstances of a finding.
func (f Finding) weight() int {
	sum := 0
	for _, c := range f.Circumstances {
		sum += 1 << c.rank()
	}
	return sum
}

// harm is the rank of what a finding says is wrong. Where no rows are known, two names for what is one are the sign of a second row.
func (f Finding) harm() int {
	unseen := slices.ContainsFunc(f.Rows, func(r RowEvidence) bool { return r.Unknown })
	if f.Kind == ReplayMismatch && f.Detail == "identity" && unseen {
		return Duplicate.rank()
	}
	return f.Kind.rank()
}

// alone is 0 for a finding about one plain request, and 1 for all others.
func (f Finding) alone() int {
	if len(f.Attempts) == 1 && len(f.Circumstances) == 0 {
		return 0
	}
	return 1
}
