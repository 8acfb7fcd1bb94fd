package scenarios

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proofs"
)

// Simplification is a scenario from which one thing was removed.
type Simplification struct {
	Without  string // what was removed, in the words of a file
	Scenario Scenario
}

// Simpler lists the scenarios that are s without one thing, the simplest first. If nothing can be removed, it lists
// none. S must have been loaded.
func Simpler(s Scenario) []Simplification {
	x := simplifier{from: s}
	x.traffic()
	for i := range s.Steps {
		if len(s.Steps) > 1 {
			x.add(fmt.Sprintf("step %d (%s)", i+1, s.Steps[i].kind()), func(to *Scenario) { to.Steps = slices.Delete(to.Steps, i, i+1) })
		}
	}
	x.together()
	for i := range s.Steps {
		x.step(i)
	}
	for i, one := range s.sendings() {
		x.send(i, one)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lanes)) {
		x.path("lane", name, s.Lanes[name], func(s *Scenario) map[string][]faults.Fault { return s.Lanes })
	}
	for _, name := range slices.Sorted(maps.Keys(s.Links)) {
		x.path("link", name, s.Links[name], func(s *Scenario) map[string][]faults.Fault { return s.Links })
	}
	slices.SortStableFunc(x.found, func(a, b Simplification) int { return a.rank() - b.rank() })
	return x.found
}

// GroupSize is how many intents make a group of twins or neighbours, the smallest number that exercises the scenario.
func (s Scenario) GroupSize() int {
	size := max(s.Twins, 1)
	if s.Neighbours != nil {
		size = max(size, s.Neighbours.Of)
	}
	for _, one := range s.sendings() {
		size = max(size, len(one.send.Ways))
	}
	return size
}

// rank is how much is left, for sorting: the number of requests counts most, then faults, then
// steps. Of requests a reader has to follow each; a fault is one line.
func (s Simplification) rank() int {
	plan := NewPlan(s.Scenario.only(), 1)
	faults := 0
	for _, lane := range s.Scenario.Lanes {
		faults += len(lane)
	}
	for _, link := range s.Scenario.Links {
		faults += len(link)
	}
	return 100*plan.Requests() + 10*faults + len(s.Scenario.Steps)
}

// only is the scenario with one group of intents.
func (s Scenario) only() Scenario {
	s.Intents = s.GroupSize()
	return s
}

// simplifier collects the scenarios that are simpler by one thing.
type simplifier struct {
	from  Scenario
	found []Simplification
}

// add adds the scenario that a change makes, unless the change makes no difference or leaves nothing to send, or only what strangers send: a script
// would have no request of the client's.
func (x *simplifier) add(without string, change func(*Scenario)) {
	before, to := x.from.clone(), x.from.clone()
	change(&to)
	to.tidy()
	before.tidy()
	if slices.ContainsFunc(to.Steps, sendsWithCredential) && !reflect.DeepEqual(to, before) {
		x.found = append(x.found, Simplification{Without: without, Scenario: to})
	}
}

// sendsWithCredential reports that a step sends something as the client does.
func sendsWithCredential(step Step) bool {
	return len(step.sendings(0)) > 0 && (step.Respell == nil || step.Respell.Spelling != SpellingNoCredential)
}

// tidy removes what has no use any more: waits before the first request, lanes, needs of no step, and proofs that can
// never hold.
func (s *Scenario) tidy() {
	sent := false
	s.Steps = slices.DeleteFunc(s.Steps, func(step Step) bool {
		sent = sent || len(step.sendings(0)) > 0
		pause := step.Wait != nil && step.Wait.For == WaitPause
		return !sent && !pause
	})
	used := map[string]bool{}
	for _, send := range s.sends() {
		used[send.Lane] = true
		if send.Retry != nil {
			used[send.Retry.Lane] = true
		}
	}
	for name := range s.Lanes {
		if !used[name] || len(s.Lanes[name]) == 0 {
			s.forget(name)
		}
	}
	for name, list := range s.Links {
		if len(list) == 0 {
			delete(s.Links, name)
		}
	}
	s.Needs = slices.DeleteFunc(s.Needs, Need.implied)
	shape := s.shape()
	s.Exercised = slices.DeleteFunc(s.Exercised, func(p Proof) bool { return shape.never(p.Name) != "" })
	if len(s.Exercised) == 0 {
		s.Exercised = []Proof{{Name: proofs.Acknowledged}}
	}
	s.complete()
}

// Without is the scenario without some of its proofs of exercise. One without any asks for an acknowledgement.
func (s Scenario) Without(unheld []proofs.Name) Scenario {
	s.Exercised = slices.DeleteFunc(slices.Clone(s.Exercised), func(p Proof) bool { return slices.Contains(unheld, p.Name) })
	if len(s.Exercised) == 0 {
		s.Exercised = []Proof{{Name: proofs.Acknowledged}}
	}
	return s
}

// forget removes a lane; its users send through the clean one.
func (s *Scenario) forget(lane string) {
	delete(s.Lanes, lane)
	for _, send := range s.sends() {
		if send.Lane == lane {
			send.Lane = Clean
		}
		if send.Retry != nil && send.Retry.Lane == lane {
			send.Retry.Lane = ""
		}
	}
}

// sends are those of the steps and of the background traffic.
func (s *Scenario) sends() []*Send {
	var all []*Send
	for _, one := range s.sendings() {
		all = append(all, one.send)
	}
	if s.Background != nil {
		all = append(all, &s.Background.Send)
	}
	return all
}

// traffic removes what is sent beside an intent.
func (x *simplifier) traffic() {
	if x.from.Background != nil {
		x.add("the background traffic", func(to *Scenario) { to.Background = nil })
	}
	if x.from.Answer != "" {
		x.add("the size of the answer", func(to *Scenario) { to.Answer = "" })
	}
	if x.from.Concurrency > 1 {
		x.add("other intents at the same time", func(to *Scenario) { to.Concurrency = 1 })
	}
}

// together removes what intents share.
func (x *simplifier) together() {
	if x.from.Twins > 1 {
		x.add("twins", func(to *Scenario) { to.Twins = 0 })
	}
	if len(x.from.Work) > 0 {
		x.add("the work", func(to *Scenario) { to.Work = nil })
	}
	if x.from.Sinks != nil {
		x.add("the fault of the sinks", func(to *Scenario) { to.Sinks = nil })
	}
	for _, work := range x.from.Work {
		x.add("all work but "+time.Duration(work).String(), func(to *Scenario) { to.Work = []faults.Duration{work} })
	}
	if x.from.Neighbours != nil {
		x.add("neighbours", func(to *Scenario) { to.Neighbours = nil })
	}
}

// step removes what is special about a step, or half of it. What remains sends at least one
// request, or it would show nothing.
func (x *simplifier) step(i int) {
	switch s := x.from.Steps[i]; {
	case s.Burst != nil:
		x.burst(i, *s.Burst)
	case s.Tabs != nil:
		x.tabs(i, s.Tabs)
	case s.Sweep != nil:
		x.add("the second request", func(to *Scenario) { to.Steps[i] = Step{Send: &to.Steps[i].Sweep.Send} })
		x.span(fmt.Sprintf("the sweep's range from %s", s.Sweep.From), s.Sweep.From, func(to *Scenario, short Span) {
			sweep := to.Steps[i].Sweep
			sweep.From, sweep.To = short, noEarlier(sweep.To, short)
		})
	case s.Crash != nil:
		x.add("the crash", func(to *Scenario) { to.Steps[i] = Step{Send: &to.Steps[i].Crash.Send} })
		// At an effect, there is no range of time to shorten.
		if s.Crash.At != "" {
			return
		}
		x.span(fmt.Sprintf("the crash's range from %s", s.Crash.From), s.Crash.From, func(to *Scenario, short Span) {
			crash := to.Steps[i].Crash
			crash.From, crash.To = short, noEarlier(crash.To, short)
		})
	case s.Wait != nil && len(s.Wait.Pauses) > 1:
		for _, pause := range s.Wait.Pauses {
			x.add("all pauses but "+pause.String(), func(to *Scenario) { to.Steps[i].Wait.Pauses = []Span{pause} })
		}
	case s.Respell != nil:
		if other := map[Spelling]string{
			SpellingElsewhere: "the other place", SpellingHeaderCase: "the other case", SpellingTwoHeaders: "the second key",
			SpellingNatural: "the other spelling", SpellingNoCredential: "the missing credential",
		}[s.Respell.Spelling]; other != "" {
			x.add(other, func(to *Scenario) { to.Steps[i] = Step{Send: &to.Steps[i].Respell.Send} })
		}
	case s.Wait != nil && s.Wait.For == WaitPause:
		x.span(fmt.Sprintf("a pause of %s", s.Wait.Pause), s.Wait.Pause, func(to *Scenario, short Span) { to.Steps[i].Wait.Pause = short })
	}
}

// burst takes copies away: all but one, all but two, half, or one. Shrink begins with the
// simplest, so that a finding that needs no burst loses it at once.
func (x *simplifier) burst(i int, b Burst) {
	x.add("all but one copy", func(to *Scenario) { to.Steps[i] = Step{Send: &to.Steps[i].Burst.Send} })
	for _, fewer := range []int{2, b.Copies / 2, b.Copies - 1} {
		if fewer >= 2 && fewer < b.Copies {
			x.add(fmt.Sprintf("%d of %d copies", b.Copies-fewer, b.Copies), func(to *Scenario) {
				to.Steps[i].Burst.Copies, to.Steps[i].Burst.Altered = fewer, min(b.Altered, fewer-1)
			})
		}
	}
	if b.Altered > 0 {
		x.add("altered bodies", func(to *Scenario) { to.Steps[i].Burst.Altered = 0 })
	}
	if b.Altered > 1 {
		x.add("all but one altered body", func(to *Scenario) { to.Steps[i].Burst.Altered = 1 })
	}
	if b.Spelling != "" {
		x.add("the other spelling", func(to *Scenario) { to.Steps[i].Burst.Spelling = "" })
	}
	if b.WriteGate {
		x.add("the write gate", func(to *Scenario) { to.Steps[i].Burst.WriteGate = false })
	}
}

// tabs takes tabs away, one by one, and what sets them apart.
func (x *simplifier) tabs(i int, tabs []Tab) {
	for j, tab := range tabs {
		if len(tabs) > 1 {
			x.add(fmt.Sprintf("tab %d", j+1), func(to *Scenario) { to.Steps[i].Tabs = slices.Delete(to.Steps[i].Tabs, j, j+1) })
		}
		if tab.Count > 1 {
			x.add(fmt.Sprintf("%d of %d tabs", tab.Count-1, tab.Count), func(to *Scenario) { to.Steps[i].Tabs[j].Count = 0 })
		}
		if tab.Altered {
			x.add("an altered body", func(to *Scenario) { to.Steps[i].Tabs[j].Altered = false })
		}
		x.span(fmt.Sprintf("the spread of %s of tab %d", tab.Within, j+1), tab.Within, func(to *Scenario, short Span) { to.Steps[i].Tabs[j].Within = short })
		x.span(fmt.Sprintf("the delay of %s of tab %d", tab.At, j+1), tab.At, func(to *Scenario, short Span) { to.Steps[i].Tabs[j].At = short })
	}
}

// send removes what is special about the n-th sending.
func (x *simplifier) send(n int, one sending) {
	change := func(what string, f func(*Send)) {
		x.add(what, func(to *Scenario) { f(to.sendings()[n].send) })
	}
	if one.send.Lane != Clean {
		change("the lane "+one.send.Lane, func(s *Send) { s.Lane = Clean })
	}
	if usual := (Span{Fixed: usualTimeout}); one.send.Timeout != usual {
		change("a timeout of "+one.send.Timeout.String(), func(s *Send) { s.Timeout = usual })
	}
	if one.send.Key != "" && one.send.Key != SameKey && !x.from.removesBefore(one.step) {
		change("key: "+string(one.send.Key), func(s *Send) { s.Key = "" })
	}
	if slices.Contains(one.send.Ways, OtherWay) {
		change("the other way", func(s *Send) { s.Ways = nil })
	}
	if c := one.send.Cut; c != nil {
		change("the cut of the link "+c.Link, func(s *Send) { s.Cut = nil })
	}
	if r := one.send.Retry; r != nil {
		change("retries", func(s *Send) { s.Retry = nil })
		if r.Max > 1 {
			change(fmt.Sprintf("%d of %d retries", r.Max-1, r.Max), func(s *Send) { s.Retry.Max = 1 })
		}
		if r.Jitter > 0 {
			change("the jitter of the backoff", func(s *Send) { s.Retry.Jitter = 0 })
		}
		if r.Lane != "" {
			change("the retries' lane "+r.Lane, func(s *Send) { s.Retry.Lane = "" })
		}
		if !r.Timeout.IsZero() {
			change("the retries' timeout", func(s *Send) { s.Retry.Timeout = Span{} })
		}
		x.span(fmt.Sprintf("a backoff of %s", r.Backoff), r.Backoff, func(to *Scenario, short Span) { to.sendings()[n].send.Retry.Backoff = short })
	}
}

// path removes the faults of a lane or a link, or makes them weaker.
func (x *simplifier) path(kind, name string, list []faults.Fault, of func(*Scenario) map[string][]faults.Fault) {
	for i, f := range list {
		where := fmt.Sprintf("%s on the %s %s", f, kind, name)
		x.add(where, func(to *Scenario) { of(to)[name] = slices.Delete(of(to)[name], i, i+1) })
		if f.Latency == nil {
			continue
		}
		if f.Latency.Jitter > 0 {
			x.add("the jitter of "+where, func(to *Scenario) { of(to)[name][i].Latency.Jitter = 0 })
		}
		weaker := round(Span{Fixed: time.Duration(f.Latency.Delay) / 2})
		x.add("half of "+where, func(to *Scenario) { of(to)[name][i].Latency.Delay = faults.Duration(weaker.Fixed) })
	}
}

// span removes a length of time, or half of it, or rounds it.
func (x *simplifier) span(what string, s Span, set func(to *Scenario, short Span)) {
	if s.IsZero() {
		return
	}
	x.add(what, func(to *Scenario) { set(to, Span{}) })
	x.add("half of "+what, func(to *Scenario) { set(to, round(s.Scale(0.5))) })
	x.add("the odd figure of "+what, func(to *Scenario) { set(to, round(s)) })
}

// noEarlier is the end of a range whose beginning was rounded.
func noEarlier(to, from Span) Span {
	if from.surelyLonger(to) {
		return from
	}
	return to
}

// round returns a span with one figure that is not zero: 26ms is 30ms, 47% is 50%.
func round(s Span) Span {
	one := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		unit := math.Pow(10, math.Floor(math.Log10(v)))
		return math.Round(v/unit) * unit
	}
	return Span{Fixed: time.Duration(one(float64(s.Fixed))), Share: math.Round(one(s.Share)*1e6) / 1e6}
}

// kind names what a step does.
func (s Step) kind() string {
	switch {
	case s.Send != nil:
		return "send"
	case s.Burst != nil:
		return "burst"
	case s.Sweep != nil:
		return "sweep"
	case s.Crash != nil:
		return "crash"
	case s.Tabs != nil:
		return "tabs"
	case s.Alter != nil:
		return "alter"
	case s.Invalid != nil:
		return "invalid"
	case s.Respell != nil:
		return "respell"
	case s.Wait != nil:
		return "wait"
	case s.Flush != "":
		return "flush"
	case s.Remove != nil:
		return "remove"
	default:
		return "look"
	}
}
