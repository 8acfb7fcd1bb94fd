package checker

import (
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// Terms is what attempts are held against: the target's contract and how its operation shows
// identities, keys and rows.
type Terms struct {
	Contract  targets.Contract  `json:"contract"`
	Operation targets.Operation `json:"operation"`
}

// judged is an attempt with its outcome.
type judged struct {
	history.Attempt
	outcome  Outcome
	identity string // of the created thing, as the answer names it; empty: it names none
}

// story is one intent with its attempts in the order of sending.
type story struct {
	intent   history.Intent
	attempts []judged
	twin     bool // shares its marker, so that a row cannot be told to be its own
}

// family is the intents that share a marker: one, unless the scenario plans twins.
type family struct {
	stories []*story
}

// group is the attempts that the contract maps to one idempotency record, or to one natural key.
type group []judged

// families arranges a history by marker, in the order of the intents.
func (t Terms) families(h *history.History) []*family {
	var all []*family
	byMarker := map[string]*family{}
	byIntent := map[string]*story{}
	for _, i := range h.Intents {
		s := &story{intent: i}
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
	for _, a := range h.Attempts {
		if s := byIntent[a.Intent]; s != nil {
			s.attempts = append(s.attempts, t.judge(a))
		}
	}
	return all
}

func (t Terms) judge(a history.Attempt) judged {
	j := judged{Attempt: a, outcome: t.Classify(a)}
	switch j.outcome {
	case Acknowledged:
		j.identity = t.Identity(a)
	case Exists:
		j.identity = identityAt(a, t.Contract.Existing.Identity)
	}
	return j
}

// identityAt reads an identity from an answer's body.
func identityAt(a history.Attempt, pointer string) string {
	if pointer == "" {
		return ""
	}
	body, ok := parse(a.Content)
	if !ok {
		return ""
	}
	value, found := resolve(body, pointer)
	if !found || value == nil {
		return ""
	}
	return plain(value)
}

// until returns the story as it stood at a moment: T1 does not know the final probe.
func (s *story) until(m moment) *story {
	if m == atT2 {
		return s
	}
	return &story{intent: s.intent, twin: s.twin, attempts: keep(s.attempts, func(a judged) bool { return !a.Probe })}
}

// groups splits attempts as the contract does. With a natural key all attempts of an intent are one
// group, whatever their keys; without, each key is a group and each attempt without a key is one.
func (t Terms) groups(attempts []judged) []group {
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

func keep(attempts []judged, wanted func(judged) bool) []judged {
	var kept []judged
	for _, a := range attempts {
		if wanted(a) {
			kept = append(kept, a)
		}
	}
	return kept
}

func ofOutcome(attempts []judged, o Outcome) []judged {
	return keep(attempts, func(a judged) bool { return a.outcome == o })
}

func ofBody(attempts []judged, body string) []judged {
	return keep(attempts, func(a judged) bool { return a.Body == body })
}

// has reports whether any attempt has one of the outcomes.
func has(attempts []judged, outcomes ...Outcome) bool {
	for _, a := range attempts {
		for _, o := range outcomes {
			if a.outcome == o {
				return true
			}
		}
	}
	return false
}

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
	for _, g := range t.groups(s.attempts) {
		possible := has(g, Acknowledged, Unknown)
		if has(g, Acknowledged) {
			b.lower++
		}
		if possible {
			b.upper++
		}
		if possible || !t.singly(g) {
			b.wishes++
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

// Identity returns the created thing's identity as an acknowledgement names it; empty: it names none.
func (t Terms) Identity(a history.Attempt) string { return identityAt(a, t.Operation.Identity) }
