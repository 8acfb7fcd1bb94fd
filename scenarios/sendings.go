package scenarios

import (
	"slices"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// sending is what one entry of a scenario file sends for one intent.
type sending struct {
	step     int
	path     string // JSON pointer of the entry
	send     *Send
	requests int // without retries
	altered  int // of requests
	invalid  bool
}

// sendings lists everything that the steps send, in order.
func (s *Scenario) sendings() []sending {
	var all []sending
	for i := range s.Steps {
		all = append(all, s.Steps[i].sendings(i)...)
	}
	return all
}

// sendings lists what a step sends for one intent. Only tabs have several entries; waits, looks,
// removals and flushes have none.
func (s *Step) sendings(i int) []sending {
	at := func(tokens ...any) string {
		return jsonpointer.Of(append([]any{"steps", i}, tokens...)...)
	}
	switch {
	case s.Send != nil:
		return []sending{{step: i, path: at("send"), send: s.Send, requests: 1}}
	case s.Alter != nil:
		return []sending{{step: i, path: at("alter"), send: s.Alter, requests: 1, altered: 1}}
	case s.Invalid != nil:
		return []sending{{step: i, path: at("invalid"), send: s.Invalid, requests: 1, invalid: true}}
	case s.Respell != nil:
		return []sending{{step: i, path: at("respell"), send: &s.Respell.Send, requests: 1}}
	case s.Burst != nil:
		return []sending{{step: i, path: at("burst"), send: &s.Burst.Send, requests: s.Burst.Copies, altered: s.Burst.Altered}}
	case s.Sweep != nil:
		return []sending{{step: i, path: at("sweep"), send: &s.Sweep.Send, requests: 2}}
	case s.Crash != nil:
		return []sending{{step: i, path: at("crash"), send: &s.Crash.Send, requests: 1}}
	}
	var all []sending
	for j := range s.Tabs {
		one := sending{step: i, path: at("tabs", j), send: &s.Tabs[j].Send, requests: max(s.Tabs[j].Count, 1)}
		if s.Tabs[j].Altered {
			one.altered = one.requests
		}
		all = append(all, one)
	}
	return all
}

// cuts lists the cuts of links that a step asks for.
func (s *Step) cuts() []*LinkCut {
	var all []*LinkCut
	for _, one := range s.sendings(0) {
		if one.send.Cut != nil {
			all = append(all, one.send.Cut)
		}
	}
	return all
}

// complete fills in what the file leaves out.
func (s *Step) complete() {
	for _, one := range s.sendings(0) {
		one.send.complete()
	}
	for _, cut := range s.cuts() {
		if cut.For == nil {
			cut.For = new(usualCut)
		}
	}
	if s.Sweep != nil && s.Sweep.To.IsZero() {
		s.Sweep.To = Span{Share: usualSweep}
	}
	if s.Crash != nil && s.Crash.To.IsZero() && s.Crash.At == "" {
		s.Crash.To = Span{Share: usualSweep}
	}
	if s.Wait != nil && s.Wait.For == WaitCommitted && s.Wait.Within.IsZero() {
		s.Wait.Within = Span{Fixed: usualWithin}
	}
}

// complete sends by the clean lane, with the usual timeout, where the file says nothing.
func (s *Send) complete() {
	if s.Lane == "" {
		s.Lane = Clean
	}
	if s.Timeout.IsZero() {
		s.Timeout = Span{Fixed: usualTimeout}
	}
}

// altersBodies reports that an altered body is sent.
func (s *Scenario) altersBodies() bool {
	for _, one := range s.sendings() {
		if one.altered > 0 {
			return true
		}
	}
	return false
}

// takesOtherWay reports that something is sent by another way.
func (s *Scenario) takesOtherWay() bool {
	return slices.ContainsFunc(s.sendings(), func(one sending) bool { return slices.Contains(one.send.Ways, OtherWay) })
}

// sendsInvalid reports that an invalid body is sent.
func (s *Scenario) sendsInvalid() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Invalid != nil })
}

// removesBefore reports that what was made is removed before a step.
func (s *Scenario) removesBefore(step int) bool {
	return slices.ContainsFunc(s.Steps[:step], func(step Step) bool { return step.Remove != nil })
}
