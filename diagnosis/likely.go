package diagnosis

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/doubletap-harness/doubletap/checker"
)

// Guess is a defect that may be behind a cause.
type Guess struct {
	Defect     string  `json:"defect"`     // its name; empty: none that is known
	Likelihood float64 `json:"likelihood"` // from 0 to 1, as measured: of guesses of 0.8, four of five are right
}

// Diagnosis is what may be behind a cause.
type Diagnosis struct {
	Guesses []Guess `json:"guesses,omitempty"` // those that are likely enough to be read, the likeliest first; none: no known cause
	Apart   string  `json:"apart,omitempty"`   // scenario that the run did not decide, and that would tell the first two apart; empty: there is none
	Fails   string  `json:"fails,omitempty"`   // defect of the two with which Apart fails
}

// Observed is what a design of which the defect is known showed.
type Observed struct {
	Design  string  `json:"design"`
	Store   string  `json:"store"` // database, and "+redis"
	Defect  string  `json:"defect"`
	Pattern Pattern `json:"pattern"` // of its first cause
}

// The same scenarios are named again and again: packed, they take a thirtieth.
//
//go:embed observations.json.gz
var recorded []byte

// Observations returns what the built-in broken designs showed, as `make observations` last measured it.
var Observations = sync.OnceValue(func() []Observed {
	var all []Observed
	text, err := gzip.NewReader(bytes.NewReader(recorded))
	if err == nil {
		err = json.NewDecoder(text).Decode(&all)
	}
	if err != nil {
		panic(fmt.Sprintf("diagnosis: observations.json.gz: %v", err))
	}
	return all
})

// fitted is the model that all guesses come from.
var fitted = sync.OnceValue(func() model { return fit(examples(Observations()), "") })

// Of returns the diagnoses of the causes of a run, by index.
func Of(results []checker.Result, causes []checker.Cause) []Diagnosis {
	decided := shownBy(Decided(results))
	var list []Diagnosis
	for _, c := range causes {
		pattern := patternOf(c, decided)
		list = append(list, fitted().diagnose(pattern, excluded(results, c, pattern)...))
	}
	return list
}

// The defects that what a finding shows can rule out.
const (
	effectOutside  = "effect-outside"  // effects come again with repetitions
	downstreamKey  = "downstream-key"  // effects are at another service
	stopsAnswering = "stops-answering" // there are no answers, or only errors
	checkThenAct   = "check-then-act"  // two requests at the same time both find nothing
	hiddenRetry    = "hidden-retry"    // what broke is repeated behind the API
)

// excluded names the defects that cannot be behind a cause, whatever else its run showed:
//   - a repetition takes nothing away from a number or from rows, and does nothing to what was wrong before anything was repeated;
//   - a call to another service changes nothing in the target's own database;
//   - a target that refuses the last retry answers;
//   - where bursts find nothing and long work does, who comes second finds what the first one claimed;
//   - where a broken link and a crash show the same, no connection of the target's has repeated it: a process that was killed has none.
func excluded(results []checker.Result, c checker.Cause, pattern Pattern) []string {
	shows := func(clue func(checker.Finding) bool) bool {
		return slices.ContainsFunc(c.Members, func(p checker.Place) bool { return clue(results[p.Result].Findings[p.Finding]) })
	}
	var list []string
	if shows(func(f checker.Finding) bool { return f.Unrepeated }) {
		list = append(list, effectOutside)
	}
	if shows(func(f checker.Finding) bool { return f.Own }) {
		list = append(list, downstreamKey)
	}
	if shows(refusedAtLast) {
		list = append(list, stopsAnswering)
	}
	shown := pattern.features()
	if shown[groupFeature(Long)] == yes && shown[groupFeature(Together)] == no {
		list = append(list, checkThenAct)
	}
	if shown[groupFeature(Crash)] == yes && shown[circumstanceFeature(checker.LinkCut)] == yes {
		list = append(list, hiddenRetry)
	}
	return list
}

// refusedAtLast reports that a key never gets its answer, and that the last attempt was refused and no more.
func refusedAtLast(f checker.Finding) bool {
	if f.Kind != checker.RefusedThoughDone && f.Kind != checker.StuckKey || len(f.Attempts) == 0 {
		return false
	}
	last := f.Attempts[len(f.Attempts)-1]
	return last.Status >= 400 && last.Status < 500
}

// The constants of the model. They were chosen for the best ranks when one design after the other is left out.
const (
	doubt     = 0.07 // how far the features of one example may differ by chance
	strong    = 0.9  // weight of kind, detail and circumstances
	weak      = 0.15 // weight of a group of scenarios: they depend on each other
	declared  = 1.0  // designs that a declared sign counts for
	softening = 1.25 // divides what features add up to: they are not independent
	unfit     = 1.15 // how much better than no explanation an explanation must be
	strange   = 5.0  // what a defect loses where no example of it shows such a kind of finding
	prior     = 0.6  // how much the number of designs that have a defect counts
	fair      = 0.2  // likelihood of the first guess, below which no cause is known
	least     = 0.05 // likelihood of a further guess that is worth reading
	most      = 3    // guesses
)

// features are what there is to say about a pattern, by name. What is not decided is not there.
type features map[string]string

// weightOf says how much a feature counts.
func weightOf(name string) float64 {
	if strings.HasPrefix(name, "group ") || strings.HasPrefix(name, "also ") || name == "spread" {
		return weak
	}
	return strong
}

// groupFeature is the name of the feature that a group of scenarios failed.
func groupFeature(g Group) string { return "group " + string(g) }

// circumstanceFeature is the name of the feature that a cause takes a circumstance.
func circumstanceFeature(c checker.Circumstance) string { return "circumstance " + string(c) }

// aloneFeature is the name of the feature that only one group of scenarios failed; its value is the group.
const aloneFeature = "alone"

// The values of features that are no words of their own.
const (
	yes = "yes"
	no  = "no"
)

// truth is the value of a feature that holds or not.
func truth(holds bool) string {
	if holds {
		return yes
	}
	return no
}

// features takes a pattern apart.
func (p Pattern) features() features {
	f := features{"kind": string(p.Kind), "detail": strings.Join(p.Details, "+")}
	for _, c := range checker.Circumstances() {
		f[circumstanceFeature(c)] = truth(slices.Contains(p.Circumstances, c))
	}
	failed, last := 0, Group("")
	for group, names := range Members() {
		within := func(list []string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
		}
		other := slices.ContainsFunc(names, func(n string) bool { return p.Other[n] != nil })
		switch {
		case within(p.Failed):
			failed++
			last = group
			f[groupFeature(group)] = yes
		case within(p.Passed) || other:
			f[groupFeature(group)] = no
		}
	}
	f["spread"] = spread(failed)
	f[aloneFeature] = no
	if failed == 1 {
		f[aloneFeature] = string(last)
	}
	for _, kind := range []checker.Kind{checker.AlteredBody, checker.LostWrite, checker.ReplayMismatch, checker.Duplicate, checker.RefusedThoughDone, checker.StuckKey} {
		also := false
		for _, shown := range p.Other {
			also = also || slices.Contains(shown, kind)
		}
		f["also "+string(kind)] = truth(also)
	}
	return f
}

// spread says in how many groups of scenarios a cause shows.
func spread(n int) string {
	switch {
	case n == 1:
		return "one"
	case n <= 4:
		return "few"
	default:
		return "many"
	}
}

// example is the features of a design, or of a declared sign, and how much it counts.
type example struct {
	design   string // empty: of a declared sign
	defect   string
	features features
	weight   float64
}

// model holds examples of each defect, and how common each feature is among all of them.
type model struct {
	examples []example
	total    map[string]float64            // of an example's weights, by feature
	common   map[string]map[string]float64 // likewise, by feature and value
	counted  map[string]float64            // likewise, by defect
}

// examples returns those of some observations. A design that was observed on several databases counts once.
func examples(all []Observed) []example {
	times := map[string]float64{}
	for _, o := range all {
		times[o.Design]++
	}
	list := make([]example, 0, len(all))
	for _, o := range all {
		list = append(list, example{o.Design, o.Defect, o.Pattern.features(), 1 / times[o.Design]})
	}
	return list
}

// fit makes a model of examples and of the declared signs. The examples of one design are left
// out; empty: of none. Leaving out a design leaves it out on each of its databases: its own runs
// would give it away.
func fit(list []example, leftOut string) model {
	m := model{total: map[string]float64{}, common: map[string]map[string]float64{}, counted: map[string]float64{}}
	for _, e := range list {
		if e.design != leftOut || leftOut == "" {
			m.add(e)
		}
	}
	for _, d := range Defects() {
		for _, s := range d.Signs {
			m.add(example{"", d.Name, s.features(), declared})
		}
	}
	return m
}

// add adds an example.
func (m *model) add(e example) {
	for name, value := range e.features {
		m.total[name] += e.weight
		if m.common[name] == nil {
			m.common[name] = map[string]float64{}
		}
		m.common[name][value] += e.weight
	}
	m.counted[e.defect] += e.weight
	m.examples = append(m.examples, e)
}

// chance is how common a feature is among all examples. Half an example is added to each value
// (Krichevsky and Trofimov's estimator), so that one that was never seen is rare and not
// impossible.
func (m model) chance(name, value string) float64 {
	return (m.common[name][value] + 0.5) / (m.total[name] + 0.5*float64(len(m.common[name])+1))
}

// rank returns every defect with its likelihood, the likeliest first. The empty name stands for one that is not known. All
// sums are of logarithms, as in a naive Bayes classifier; a defect is not one average design but a mixture of its examples,
// since designs with one defect differ in what they show.
func (m model) rank(of features) []Guess {
	// Of no known defect, each feature is as common as among all examples. An explanation has to be better than that.
	unknown := unfit
	names := slices.Sorted(maps.Keys(of)) // a sum of floating numbers depends on its order
	chances := make([]float64, len(names))
	for i, name := range names {
		chances[i] = m.chance(name, of[name])
		unknown += weightOf(name) * math.Log(chances[i])
	}
	sums, shows := map[string][]float64{}, map[string]bool{}
	for _, e := range m.examples {
		shows[e.defect] = shows[e.defect] || e.features["kind"] == of["kind"]
		sum := math.Log(e.weight / m.counted[e.defect])
		for i, name := range names {
			value, has := e.features[name]
			likely := chances[i] // what an example did not decide speaks neither for it nor against it
			switch {
			case has && value == of[name]:
				likely = 1 - doubt + doubt*chances[i]
			case has:
				likely = doubt * chances[i]
			}
			sum += weightOf(name) * math.Log(likely)
		}
		sums[e.defect] = append(sums[e.defect], sum)
	}
	guesses := []Guess{{"", unknown}}
	for defect, list := range sums {
		likely := logSum(list) + prior*math.Log(m.counted[defect])
		if !shows[defect] {
			likely -= strange
		}
		guesses = append(guesses, Guess{defect, likely})
	}
	slices.SortFunc(guesses, func(a, b Guess) int {
		return cmp.Or(cmp.Compare(b.Likelihood, a.Likelihood), cmp.Compare(a.Defect, b.Defect))
	})
	// Logarithms become likelihoods that add up to 1. The largest is taken out first, as in logSum.
	top, sum := guesses[0].Likelihood, 0.0
	for i := range guesses {
		guesses[i].Likelihood = math.Exp((guesses[i].Likelihood - top) / softening)
		sum += guesses[i].Likelihood
	}
	for i := range guesses {
		guesses[i].Likelihood = math.Round(100*guesses[i].Likelihood/sum) / 100
	}
	return guesses
}

// logSum is the logarithm of the sum of numbers of which the logarithms are given. The largest is
// taken out first: the numbers themselves are too small for a float64.
func logSum(list []float64) float64 {
	top, sum := slices.Max(list), 0.0
	for _, one := range list {
		sum += math.Exp(one - top)
	}
	return top + math.Log(sum)
}

// known reports that the first of some ranked guesses is worth saying.
func known(ranked []Guess) bool { return ranked[0].Defect != "" && ranked[0].Likelihood >= fair }

// without leaves defects out of ranked guesses, and shares their likelihood among the others.
func without(ranked []Guess, defects []string) []Guess {
	left := slices.DeleteFunc(slices.Clone(ranked), func(g Guess) bool { return slices.Contains(defects, g.Defect) })
	sum := 0.0
	for _, g := range left {
		sum += g.Likelihood
	}
	for i := range left {
		if sum > 0 {
			left[i].Likelihood = math.Round(100*left[i].Likelihood/sum) / 100
		}
	}
	return left
}

// diagnose returns the guesses that are worth reading, and what would tell the first two apart.
func (m model) diagnose(p Pattern, excluded ...string) Diagnosis {
	d := Diagnosis{}
	ranked := without(m.rank(p.features()), excluded)
	if !known(ranked) {
		return d
	}
	for _, g := range ranked {
		if g.Defect != "" && g.Likelihood >= least && len(d.Guesses) < most {
			d.Guesses = append(d.Guesses, g)
		}
	}
	if len(d.Guesses) > 1 {
		d.Apart, d.Fails = m.apart(p, d.Guesses[0].Defect, d.Guesses[1].Defect)
	}
	return d
}

// apart returns the scenario that the run did not decide and that only one of two defects should fail, and which one.
func (m model) apart(p Pattern, first, second string) (scenario, fails string) {
	const clear = 0.5
	for _, pair := range [][2]string{{first, second}, {second, first}} {
		d, _ := Named(pair[0])
		for _, name := range d.Play {
			_, other := p.Other[name]
			if other || slices.Contains(p.Failed, name) || slices.Contains(p.Passed, name) {
				continue
			}
			if m.fails(pair[0], groupOf(name))-m.fails(pair[1], groupOf(name)) >= clear {
				return name, pair[0]
			}
		}
	}
	return "", ""
}

// fails is the share of a defect's examples that fail a group of scenarios, of those that decided it.
func (m model) fails(defect string, g Group) float64 {
	fail, all := 0.0, 0.0
	for _, e := range m.examples {
		if value, decided := e.features[groupFeature(g)]; e.defect == defect && decided {
			all += e.weight
			if value == yes {
				fail += e.weight
			}
		}
	}
	if all == 0 {
		return 0
	}
	return fail / all
}
