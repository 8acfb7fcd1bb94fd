package scenarios

import (
	"cmp"
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
}

// sendings lists everything that the steps send, in order.
func (s *Scenario) sendings() []sending {
	var all []sending
	for i := range s.Steps {
		all = append(all, s.Steps[i].sendings(i)...)
	}
	return all
}

func (s *Step) sendings(i int) []sending {
	at := func(tokens ...any) string {
		return jsonpointer.Of(append([]any{"steps", i}, tokens...)...)
	}
	switch {
	case s.Send != nil:
		return []sending{{step: i, path: at("send"), send: s.Send, requests: 1}}
	case s.Alter != nil:
		return []sending{{step: i, path: at("alter"), send: s.Alter, requests: 1, altered: 1}}
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
		cut.For = cmp.Or(cut.For, usualCut)
	}
	if s.Sweep != nil && s.Sweep.To.IsZero() {
		s.Sweep.To = Span{Share: usualSweep}
	}
	if s.Crash != nil && s.Crash.To.IsZero() {
		s.Crash.To = Span{Share: usualSweep}
	}
	if s.Wait != nil && s.Wait.For == WaitCommitted && s.Wait.Within.IsZero() {
		s.Wait.Within = Span{Fixed: usualWithin}
	}
}

func (s *Send) complete() {
	if s.Lane == "" {
		s.Lane = Clean
	}
	if s.Timeout.IsZero() {
		s.Timeout = Span{Fixed: usualTimeout}
	}
}

func (s *Scenario) altersBodies() bool {
	for _, one := range s.sendings() {
		if one.altered > 0 {
			return true
		}
	}
	return false
}

// story is what the steps can bring about at most, for the question whether a proof can ever hold.
type story struct {
	requests  int  // of one intent, with every retry
	originals int  // requests with the original body
	altered   int  // requests with the altered body
	committed bool // something is sent, then waited for, then sent again
	expired   bool // something is sent, then its key is forgotten, then something is sent again
	looked    bool // something is sent, and then the database is looked into
	respelled bool // something is sent in another spelling
	kin       bool // intents have neighbours
	otherKeys bool // something is sent under another key than the intent's own
	keyless   bool // something is sent without a key
	gated     bool // a burst's writes wait for each other
	swept     bool // the second of two requests follows at a time that moves
	crashed   bool // the target is killed beside a request
	restarted bool // something is sent again after that
	flushed   bool // something is sent, then the store loses what it holds, then something is sent again
	removed   bool // something is sent, then what that made is removed, then something is sent again
	awaited   bool // something is sent again after a link has broken
	impatient bool // a client has a timeout of its own
	slowLinks bool // a link inside the target is slowed down
	cuts      bool // a link inside the target breaks
	faults    []Fault
}

func (s *Scenario) story() story {
	t := story{kin: s.Neighbours != nil}
	for _, faults := range s.Links {
		t.slowLinks = t.slowLinks || slices.ContainsFunc(faults, func(f Fault) bool { return f.Latency != nil })
	}
	t.committed, t.expired = s.sendsAround(WaitCommitted), s.sendsAround(WaitExpired)
	for _, one := range s.sendings() {
		requests := one.requests
		if r := one.send.Retry; r != nil {
			requests += one.requests * r.Max
			t.otherKeys = t.otherKeys || r.Key == FreshKey
			t.faults = append(t.faults, s.Lanes[r.Lane]...)
		}
		t.requests += requests
		t.altered += one.altered
		t.originals += one.requests - one.altered
		t.otherKeys = t.otherKeys || one.send.Key == FreshKey || one.send.Key == NoKey
		t.keyless = t.keyless || one.send.Key == NoKey
		t.impatient = t.impatient || one.send.Timeout != Span{Fixed: usualTimeout}
		t.faults = append(t.faults, s.Lanes[one.send.Lane]...)
	}
	sent, flushed, removed := false, false, false
	for _, step := range s.Steps {
		t.removed = t.removed || removed && len(step.sendings(0)) > 0
		removed = removed || step.Remove != nil && sent
		t.flushed = t.flushed || flushed && len(step.sendings(0)) > 0
		flushed = flushed || step.Flush != "" && sent
		t.awaited = t.awaited || t.cuts && len(step.sendings(0)) > 0
		t.respelled = t.respelled || step.Respell != nil && sent
		t.looked = t.looked || step.Look != nil && sent
		t.gated = t.gated || step.Burst != nil && step.Burst.WriteGate
		t.swept = t.swept || step.Sweep != nil
		t.restarted = t.restarted || t.crashed && len(step.sendings(0)) > 0 || step.Crash != nil && step.Crash.Retry != nil
		t.crashed = t.crashed || step.Crash != nil
		t.cuts = t.cuts || len(step.cuts()) > 0
		sent = sent || len(step.sendings(0)) > 0
	}
	return t
}

// removesBefore reports that what was made is removed before a step.
func (s *Scenario) removesBefore(step int) bool {
	return slices.ContainsFunc(s.Steps[:step], func(step Step) bool { return step.Remove != nil })
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

func (t story) meets(fault func(Fault) bool) bool {
	for _, f := range t.faults {
		if fault(f) {
			return true
		}
	}
	return false
}

func slows(f Fault) bool {
	return f.Latency != nil || f.Bandwidth != nil || f.Slice != nil || f.SlowClose != nil || f.Toxic != nil
}

func losesRequests(f Fault) bool {
	return f.Lose == LoseRequest || f.HangUp != nil || f.Toxic != nil
}

func losesResponses(f Fault) bool {
	return f.Lose != LoseRequest
}

// never says why a proof cannot hold for any intent, or nothing. It knows only the obvious cases:
// what is left is for the checker to find out.
func (t story) never(proof string) string {
	switch proof {
	case "both-bodies":
		if t.altered == 0 {
			return "nothing is sent with an altered body"
		}
		if t.originals == 0 {
			return "nothing is sent with the original body"
		}
	case "committed-before-retry":
		if !t.committed {
			return "there is no wait: committed between two sendings"
		}
	case "expired":
		if !t.expired {
			return "there is no wait: expired between two sendings"
		}
	case "looked":
		if !t.looked {
			return "there is no look after a sending"
		}
	case "respelled":
		if !t.respelled {
			return "there is no respell after a sending"
		}
	case "writes-held":
		if !t.gated {
			return "there is no burst with write_gate: true"
		}
	case "swept":
		if !t.swept {
			return "there is no sweep"
		}
	case "crashed":
		if !t.crashed {
			return "there is no crash"
		}
	case "restarted":
		if !t.restarted {
			return "nothing is sent after a crash"
		}
	case "link-delayed":
		if !t.slowLinks {
			return "no link has a latency"
		}
	case "link-cut":
		if !t.cuts {
			return "no send has a cut"
		}
	case "link-away":
		if !t.awaited {
			return "nothing is sent after a send with a cut"
		}
	case "flushed":
		if !t.flushed {
			return "there is no flush between two sendings"
		}
	case "removed":
		if !t.removed {
			return "there is no remove between two sendings"
		}
	case "neighbours-answered":
		if !t.kin {
			return "the scenario has no neighbours"
		}
	case "overlapped", "retried-while-running", "several-instances":
		if t.requests < 2 {
			return "an intent sends one request only"
		}
	case "keys-differ":
		if !t.otherKeys {
			return "every request carries the intent's own key; use key: fresh"
		}
	case "key-omitted":
		if !t.keyless {
			return "every request carries a key; use key: none"
		}
	case "delayed":
		if !t.meets(slows) {
			return "no lane in use slows anything down"
		}
	case "request-lost":
		if !t.meets(losesRequests) {
			return "no lane in use loses requests; use lose: request"
		}
	case "response-lost", "gave-up", "left-while-running":
		if !t.impatient && !t.crashed && !t.meets(losesResponses) {
			return "no lane in use has a fault that keeps an answer away, and no client has a timeout of its own"
		}
	}
	return ""
}
