package scenarios

import (
	"slices"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proofs"
)

// shape tells which obstacles to proofs of exercise a scenario does not have, by what its steps can bring
// about at most. An obstacle that is not in it stands.
type shape map[proofs.Obstacle]bool

// clear notes that an obstacle does not stand if something is so.
func (c shape) clear(o proofs.Obstacle, so bool) { c[o] = c[o] || so }

// never returns why a proof can hold for no intent of the scenario; empty: nothing obvious stands in its way.
func (c shape) never(name proofs.Name) proofs.Obstacle {
	return proofs.Never(name, func(o proofs.Obstacle) bool { return !c[o] })
}

// shape looks at the steps, lanes and links of a scenario.
func (s *Scenario) shape() shape {
	c := shape{}
	c.clear(proofs.NoNeighbours, s.Neighbours != nil)
	c.clear(proofs.NoWork, len(s.Work) > 0)
	c.clear(proofs.NoOtherWay, s.takesOtherWay())
	c.clear(proofs.NoSinkFault, s.Sinks != nil)
	c.clear(proofs.NoLargeAnswer, s.Answer == LargeAnswer)
	c.clear(proofs.NoHugeAnswer, s.Answer == HugeAnswer)
	c.clear(proofs.NoEmptyAnswer, s.Answer == EmptyAnswer)
	for _, list := range s.Links {
		c.clear(proofs.NoSlowLink, slices.ContainsFunc(list, func(f faults.Fault) bool { return f.Latency != nil }))
	}
	c.clear(proofs.NoWaitCommitted, s.sendsAround(WaitCommitted))
	c.clear(proofs.NoWaitExpired, s.sendsAround(WaitExpired))
	c.clear(proofs.NoWaitRemembered, s.sendsAround(WaitRemembered))
	c.clear(proofs.NoCredential, s.asksWithoutCredential())
	s.clearBySendings(c)
	s.clearBySteps(c)
	return c
}

// clearBySendings looks at what is sent for one intent, whatever the order.
func (s *Scenario) clearBySendings(c shape) {
	requests := 0
	for _, one := range s.sendings() {
		requests += one.requests
		s.clearByLane(c, one.send.Lane)
		if r := one.send.Retry; r != nil {
			requests += one.requests * r.Max
			c.clear(proofs.NoOtherKey, r.Key == FreshKey)
			s.clearByLane(c, r.Lane)
		}
		c.clear(proofs.NoAltered, one.altered > 0)
		c.clear(proofs.NoOriginal, one.requests > one.altered && !one.invalid)
		c.clear(proofs.NoOtherKey, one.send.Key == FreshKey || one.send.Key == NoKey)
		c.clear(proofs.NoKeyless, one.send.Key == NoKey)
		c.clear(proofs.NoAnswerLost, one.send.Timeout != Span{Fixed: usualTimeout})
	}
	c.clear(proofs.OneRequest, requests > 1)
}

// clearByLane looks at the faults of a lane that is in use. A toxic may be anything.
func (s *Scenario) clearByLane(c shape, lane string) {
	for _, f := range s.Lanes[lane] {
		c.clear(proofs.NothingSlow, f.Latency != nil || f.Bandwidth != nil || f.Slice != nil || f.SlowClose != nil || f.Toxic != nil)
		c.clear(proofs.NoRequestLost, f.Lose == faults.LoseRequest || f.HangUp != nil || f.Toxic != nil)
		c.clear(proofs.NoAnswerLost, f.Lose != faults.LoseRequest)
	}
}

// clearBySteps looks at what comes after what.
func (s *Scenario) clearBySteps(c shape) {
	var sent, flushed, removed, invalid bool // by the steps so far
	for _, step := range s.Steps {
		sends := len(step.sendings(0)) > 0
		c.clear(proofs.NoRemove, removed && sends)
		c.clear(proofs.NoFlush, flushed && sends)
		c.clear(proofs.NoSendAfterCut, c[proofs.NoCut] && sends)
		c.clear(proofs.NoSendAfterKill, c[proofs.NoCrash] && sends || step.Crash != nil && step.Crash.Retry != nil)
		c.clear(proofs.NoInvalid, invalid && step.corrects())
		c.clear(proofs.NoRespell, step.Respell != nil && sent || step.Burst != nil && step.Burst.Spelling != "")
		c.clear(proofs.NoLook, step.Look != nil && sent)
		c.clear(proofs.NoWriteGate, step.Burst != nil && step.Burst.WriteGate)
		c.clear(proofs.NoSweep, step.Sweep != nil)
		c.clear(proofs.NoCrash, step.Crash != nil)
		c.clear(proofs.NoEffectCrash, step.Crash != nil && step.Crash.At != "")
		c.clear(proofs.NoAnswerLost, step.Crash != nil)
		c.clear(proofs.NoCut, len(step.cuts()) > 0)
		removed = removed || step.Remove != nil && sent
		invalid = invalid || step.Invalid != nil
		flushed = flushed || step.Flush != "" && sent
		sent = sent || sends
	}
}

// asksWithoutCredential reports that a request without the credential comes before one with it, and another one after it.
func (s *Scenario) asksWithoutCredential() bool {
	before, told := false, false
	for _, step := range s.Steps {
		stranger := step.Respell != nil && step.Respell.Spelling == SpellingNoCredential
		if stranger && told {
			return true
		}
		before = before || stranger
		told = told || before && !stranger && step.corrects()
	}
	return false
}

// corrects reports that a step sends the original body, however it is spelled.
func (s *Step) corrects() bool {
	return slices.ContainsFunc(s.sendings(0), func(one sending) bool { return !one.invalid && one.requests > one.altered })
}

// sendsAround reports that something is sent before the first wait for this, and after it.
func (s *Scenario) sendsAround(what WaitFor) bool {
	wait := slices.IndexFunc(s.Steps, func(step Step) bool { return step.Wait != nil && step.Wait.For == what })
	before, after := false, false
	for _, one := range s.sendings() {
		before, after = before || one.step < wait, after || one.step > wait
	}
	return before && after
}
