package checker

import (
	"maps"
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Terms is what attempts are held against: the target's contract and how its operations show
// identities, keys and rows.
type Terms struct {
	Contract  contract.Contract             `json:"contract"`
	Operation contract.Operation            `json:"operation"`        // the run's
	Others    map[string]contract.Operation `json:"others,omitempty"` // by name
}

// operation returns the operation of an intent.
func (t Terms) operation(i history.Intent) contract.Operation {
	if other, found := t.Others[i.Operation]; found {
		return other
	}
	return t.Operation
}

// operations returns all operations: the run's, then the others by name.
func (t Terms) operations() []contract.Operation {
	all := []contract.Operation{t.Operation}
	for _, name := range slices.Sorted(maps.Keys(t.Others)) {
		all = append(all, t.Others[name])
	}
	return all
}

// judged is an attempt with its outcome.
type judged struct {
	*history.Attempt
	outcome   Outcome
	mismatch  bool              // it was told that the key was used with another body
	either    bool              // what it was told may mean "it exists already", whatever the outcome
	body      string            // Original or Altered: what it says, however it is spelled
	identity  string            // of the created thing, as the answer names it; empty: it names none
	latest    history.Offset    // the target was done with it by then
	followup  *history.Followup // what its status resource said last; nil: it was not asked
	lockedOut bool              // it was turned away at the door because a session had ended
}

func (a *judged) respelled() bool { return a.body != a.Body }

func (a *judged) is(outcomes ...Outcome) bool { return slices.Contains(outcomes, a.outcome) }

// story is one intent with its attempts in the order of sending.
type story struct {
	intent    history.Intent
	operation contract.Operation
	attempts  []*judged
	twin      bool   // shares its marker, so that a row cannot be told to be its own
	past      *story // the wish before, whose thing was removed; nil: none was
	void      bool   // nobody knows what that left for this wish to find
	gone      bool   // it is such a past: no snapshot has its rows
	found     int    // then: how many rows there were
}

// family is the intents that share a marker: one, unless the scenario plans twins.
type family struct {
	stories []*story
}

// group is the attempts that the contract maps to one idempotency record, or to one natural key.
type group []*judged

// families arranges a history by marker, in the order of the intents.
func (t Terms) families(h *history.History) []*family {
	var all []*family
	byMarker := map[string]*family{}
	byIntent := map[string]*story{}
	for _, i := range h.Intents {
		s := &story{intent: i, operation: t.operation(i)}
		byIntent[i.ID] = s
		marker := i.Bodies[history.Original].Marker
		f := byMarker[marker]
		if f == nil {
			f = &family{}
			byMarker[marker] = f
			all = append(all, f)
		}
		f.stories = append(f.stories, s)
		if len(f.stories) > 1 {
			s.twin, f.stories[0].twin = true, true
		}
	}
	followups := map[string]*history.Followup{}
	for i := range h.Followups {
		followups[h.Followups[i].Attempt] = &h.Followups[i]
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if s := byIntent[a.Intent]; s != nil {
			j := t.judge(a, s.operation, followups[a.ID])
			j.latest = doneBy(a, h)
			s.attempts = append(s.attempts, j)
		}
	}
	return all
}

// doneBy returns a moment by which the target was done with an attempt. Where its answer was lost,
// that is when the target was seen to be quiet.
func doneBy(a *history.Attempt, h *history.History) history.Offset {
	quiet := h.T1
	if a.Probe {
		quiet = h.T2
	}
	switch {
	case a.Complete, neverArrived(a):
		return a.End
	case a.Passage != nil && a.Passage.Answered != 0:
		return max(a.End, a.Passage.Answered)
	case quiet != nil:
		return max(a.End, quiet.At)
	default:
		return math.MaxInt64
	}
}

func (t Terms) judge(a *history.Attempt, o contract.Operation, f *history.Followup) *judged {
	said := answerOf(a)
	j := &judged{
		Attempt: a, outcome: t.classify(a, said), mismatch: t.mismatch(a, said),
		either: said.bears(t.Contract.Existing.Signature), body: history.Meaning(a.Body),
	}
	switch j.outcome {
	case Acknowledged:
		j.identity = said.names(o.Identity)
	case Exists:
		j.identity = said.names(t.Contract.Existing.Identity)
	case Accepted:
		t.resolve(j, said, o, f)
	}
	return j
}

// until returns the story as it stood at a moment: T1 does not know the final probe.
func (s *story) until(m moment) *story {
	if m == atT2 {
		return s
	}
	until := *s
	until.attempts = keep(s.attempts, func(a *judged) bool { return !a.Probe })
	return &until
}

// groups splits attempts as the contract does. With a natural key all attempts of an intent are one
// group, whatever their keys; without, each key is a group, and again after it was forgotten, and each
// attempt without a key is one.
func (t Terms) groups(attempts []*judged) []group {
	var all []group
	for _, record := range t.records(attempts) {
		all = append(all, t.epochs(record)...)
	}
	return all
}

// records splits attempts by natural key, or else by key, in the order of sending.
func (t Terms) records(attempts []*judged) []group {
	if len(t.Contract.NaturalKey) > 0 {
		if len(attempts) == 0 {
			return nil
		}
		return []group{attempts}
	}
	var all []group
	byKey := map[string]int{}
	for _, a := range attempts {
		i, known := byKey[a.Key]
		if !known || a.Key == "" {
			i = len(all)
			all = append(all, nil)
			byKey[a.Key] = i
		}
		all[i] = append(all[i], a)
	}
	return all
}

func keep(attempts []*judged, wanted func(*judged) bool) []*judged {
	var kept []*judged
	for _, a := range attempts {
		if wanted(a) {
			kept = append(kept, a)
		}
	}
	return kept
}

func ofOutcome(attempts []*judged, o Outcome) []*judged {
	return keep(attempts, func(a *judged) bool { return a.outcome == o })
}

func ofBody(attempts []*judged, body string) []*judged {
	return keep(attempts, func(a *judged) bool { return a.body == body })
}

// has reports whether any attempt has one of the outcomes.
func has(attempts []*judged, outcomes ...Outcome) bool {
	for _, a := range attempts {
		for _, o := range outcomes {
			if a.outcome == o {
				return true
			}
		}
	}
	return false
}

// mayHaveEffect reports whether any attempt can have been executed.
func mayHaveEffect(attempts []*judged) bool { return has(attempts, Acknowledged, Accepted, Unknown) }

// bounds is what the answers say about the number of rows (invariants I2 and I3).
type bounds struct {
	lower  int // effects that a client was told of
	upper  int // groups that can have had an effect
	wishes int // groups that may have one; a request without a key is a wish only once it got through
}

// bounds counts over the groups of a story. "Exists already" speaks of an effect of the intent,
// whichever group had it, and is no effect itself; where nothing can have had one, it is no promise
// but a false conflict.
func (t Terms) bounds(s *story) bounds {
	var b bounds
	for _, record := range t.records(s.attempts) {
		b.lower += t.effectsTold(record)
		for _, g := range t.executions(record) {
			possible := mayHaveEffect(g)
			if possible {
				b.upper++
			}
			if possible || !t.singly(g) {
				b.wishes++
			}
		}
	}
	if has(s.attempts, Exists) && b.upper > 0 {
		b.lower = max(b.lower, 1)
	}
	return b
}

// singly reports that each attempt of a group stands for itself: it has no key, and no natural key
// joins it to others.
func (t Terms) singly(g group) bool { return len(t.Contract.NaturalKey) == 0 && g[0].Key == "" }

func (t Terms) boundsOf(stories []*story) bounds {
	var sum bounds
	for _, s := range stories {
		b := t.bounds(s)
		sum.lower, sum.upper, sum.wishes = sum.lower+b.lower, sum.upper+b.upper, sum.wishes+b.wishes
	}
	return sum
}

// Named returns how an answer names what its intent has made: as an acknowledgement does, or an answer that it
// exists already; empty: it does not.
func (t Terms) Named(operation string, a history.Attempt) string {
	return t.judge(&a, t.operation(history.Intent{Operation: operation}), nil).identity
}

// Identity returns the created thing's identity as an operation's acknowledgement names it; empty: it
// names none.
func Identity(o contract.Operation, a history.Attempt) string {
	return answerOf(&a).names(o.Identity)
}
