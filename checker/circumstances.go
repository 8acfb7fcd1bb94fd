package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Circumstance is something about the requests of a finding that a plain one, sent again after its answer, has not. A finding
// without any takes no race and no fault.
type Circumstance string

// The circumstances, from what is easiest to understand to what is hardest.
const (
	OtherBody      Circumstance = "other-body"      // the same key came with another body
	NoCredential   Circumstance = "no-credential"   // a request without the credential of who sent the others
	NoKey          Circumstance = "no-key"          // a request without a key, or with a blank one
	Overlapping    Circumstance = "overlapping"     // two requests were inside the target at once
	OtherSpelling  Circumstance = "other-spelling"  // the same request in another spelling
	OtherWay       Circumstance = "other-way"       // the same intent, sent to another operation that makes the same
	OtherKey       Circumstance = "other-key"       // the same request with another key
	OtherIntent    Circumstance = "other-intent"    // another intent that is alike
	OtherPrincipal Circumstance = "other-principal" // another intent, of another principal
	OtherOperation Circumstance = "other-operation" // another intent, of another operation
	OtherInstance  Circumstance = "other-instance"  // the requests went to several instances of the target
	LostAnswer     Circumstance = "lost-answer"     // a client got no whole answer
	Removed        Circumstance = "removed"         // what was made was removed in between
	Expired        Circumstance = "expired"         // the target may have forgotten the key in between
	SlowLink       Circumstance = "slow-link"       // a link inside the target was slow or away
	StoreFlushed   Circumstance = "store-flushed"   // the store lost what it may lose
	LinkCut        Circumstance = "link-cut"        // a link inside the target broke
	Crashed        Circumstance = "crashed"         // the target's process was killed
	Background     Circumstance = "background"      // it is about a request of the background traffic
)

// Circumstances lists all of them, the easiest to understand first.
func Circumstances() []Circumstance {
	return []Circumstance{
		OtherBody, NoCredential, NoKey, Overlapping, OtherSpelling, OtherWay, OtherKey, OtherIntent, OtherPrincipal, OtherOperation, OtherInstance,
		LostAnswer, Removed, Expired, SlowLink, StoreFlushed, LinkCut, Crashed, Background,
	}
}

// rank is the place of a circumstance among all; an unknown one comes last.
func (c Circumstance) rank() int {
	if i := slices.Index(Circumstances(), c); i >= 0 {
		return i
	}
	return len(Circumstances())
}

// circumstances says under which circumstances the attempts of a finding of a trace were sent.
func (e *evaluation) circumstances(m moment, tr *trace, f Finding) []Circumstance {
	whole, all := tr.until(m).whole(), e.evidence(m, tr)
	var list []Circumstance
	note := func(c Circumstance, holds bool) {
		if holds {
			list = append(list, c)
		}
	}
	note(OtherBody, len(tr.refused) > 0 || two(whole.attempts, func(a, b *classified) bool { return a.body != b.body && a.Key == b.Key }))
	note(NoCredential, len(tr.strangers) > 0)
	note(NoKey, tr.operation.Key.In != contract.KeyNowhere && slices.ContainsFunc(whole.attempts, keyless))
	note(Overlapping, two(all, e.overlapped))
	note(OtherSpelling, slices.ContainsFunc(whole.attempts, func(a *classified) bool { return a.respelled() && !a.otherWay() }))
	note(OtherWay, slices.ContainsFunc(whole.attempts, (*classified).otherWay))
	note(OtherKey, two(whole.attempts, func(a, b *classified) bool { return a.Key != b.Key && a.Key != "" && b.Key != "" }))
	for _, other := range e.neighbours[tr.intent.Kin] {
		switch {
		case other == tr:
		case other.intent.Principal != tr.intent.Principal:
			note(OtherPrincipal, !slices.Contains(list, OtherPrincipal))
		case other.intent.Operation != tr.intent.Operation:
			note(OtherOperation, !slices.Contains(list, OtherOperation))
		default:
			note(OtherIntent, !slices.Contains(list, OtherIntent))
		}
	}
	note(OtherIntent, tr.twin && !slices.Contains(list, OtherIntent))
	note(OtherInstance, two(all, func(a, b *classified) bool { return a.Instance != b.Instance }))
	note(LostAnswer, slices.ContainsFunc(all, func(a *classified) bool { return !a.Complete && !notTried(a) }))
	note(Removed, slices.ContainsFunc(f.Removals, func(r history.Removal) bool { return r.Done != 0 }))
	note(Expired, slices.ContainsFunc(e.terms.records(whole.attempts), func(g keyGroup) bool { return len(e.terms.remembered(g)) > 1 }))
	note(SlowLink, slices.ContainsFunc(e.history.Run.Links, func(l history.Link) bool { return len(l.Faults) > 0 }))
	note(StoreFlushed, len(f.Flushes) > 0)
	note(LinkCut, slices.ContainsFunc(all, func(a *classified) bool { return a.Cut != nil && a.Cut.At != 0 }))
	note(Crashed, slices.ContainsFunc(f.Crashes, func(k history.Crash) bool { return k.Struck != 0 }))
	note(Background, tr.intent.Behind)
	return sorted(list)
}

// sorted puts circumstances in their order.
func sorted(list []Circumstance) []Circumstance {
	slices.SortFunc(list, func(a, b Circumstance) int { return a.rank() - b.rank() })
	return list
}

// keyless reports that an attempt was sent without a key.
func keyless(a *classified) bool { return a.Key == "" }

// two reports that something holds for two of the attempts.
func two(all []*classified, holds func(a, b *classified) bool) bool {
	for i, a := range all {
		if slices.ContainsFunc(all[i+1:], func(b *classified) bool { return holds(a, b) }) {
			return true
		}
	}
	return false
}
