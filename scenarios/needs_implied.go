package scenarios

import (
	"slices"

	"github.com/doubletap-harness/doubletap/proofs"
)

// implied lists the needs that follow from what a scenario does. Files need not list them, and a
// scenario from which shrink has removed a step loses the needs of that step.
func (s *Scenario) implied() []Need {
	needs := s.Answer.needs()
	if s.altersBodies() {
		needs = append(needs, NeedsAlter)
	}
	if s.takesOtherWay() {
		needs = append(needs, NeedsWays)
	}
	if s.sendsInvalid() {
		needs = append(needs, NeedsInvalid)
	}
	if s.shape()[proofs.NoKeyless] || s.Background != nil && s.Background.Send.Key == NoKey {
		needs = append(needs, NeedsLooseKey)
	}
	if s.leavesOwnKey() {
		needs = append(needs, NeedsMarkerRows)
	}
	for _, step := range s.Steps {
		needs = append(needs, step.needs()...)
	}
	if len(s.Links) > 0 {
		needs = append(needs, NeedsLink)
	}
	if len(s.Work) > 0 {
		needs = append(needs, NeedsWork)
	}
	if s.Sinks != nil {
		needs = append(needs, NeedsSink)
	}
	if slices.ContainsFunc(s.Exercised, func(p Proof) bool { return p.Name == proofs.Instances }) {
		needs = append(needs, NeedsInstances)
	}
	if n := s.Neighbours; n != nil {
		needs = append(append(needs, n.Keys.needs()...), n.Across.needs()...)
	}
	return needs
}

// leavesOwnKey reports that the key of an intent does not tell its rows from others: they may have another key or none, another intent may have the
// same, or equal bodies are to be told apart.
func (s *Scenario) leavesOwnKey() bool {
	kin := s.Neighbours
	return s.Twins > 0 || s.shape()[proofs.NoOtherKey] || kin != nil && slices.Contains([]Likeness{KeysEqual, KeysSpace, KeysBlank}, kin.Keys) ||
		s.Background != nil && slices.Contains([]KeyChoice{FreshKey, NoKey}, s.Background.Send.Key) ||
		slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Remove != nil || step.Wait != nil && step.Wait.For == WaitExpired })
}

// needs lists the size of answers that the target must be able to give.
func (a Answer) needs() []Need {
	switch a {
	case LargeAnswer:
		return []Need{NeedsLargeAnswer}
	case HugeAnswer:
		return []Need{NeedsHugeAnswer}
	case EmptyAnswer:
		return []Need{NeedsEmptyAnswer}
	default:
		return nil
	}
}

// needs lists what one step takes, besides what the requests of all steps take together.
func (s *Step) needs() []Need {
	var needs []Need
	if s.Respell != nil {
		needs = append(needs, s.Respell.Spelling.needs()...)
	}
	if s.Burst != nil && s.Burst.Spelling != "" {
		needs = append(needs, s.Burst.Spelling.needs()...)
	}
	if s.Burst != nil && s.Burst.WriteGate {
		needs = append(needs, NeedsWriteGate)
	}
	if s.Crash != nil {
		needs = append(append(needs, NeedsProcess), s.Crash.At.needs()...)
	}
	if len(s.cuts()) > 0 {
		needs = append(needs, NeedsLink)
	}
	if s.Flush != "" {
		needs = append(needs, NeedsFlush)
	}
	if s.Remove != nil {
		needs = append(needs, NeedsRemove)
	}
	if s.Wait != nil && s.Wait.For == WaitExpired {
		needs = append(needs, NeedsExpiry)
	}
	if s.Wait != nil && s.Wait.For == WaitRemembered {
		needs = append(needs, NeedsMemory)
	}
	return needs
}

// needs lists what the target's effects must be like.
func (at CrashAt) needs() []Need {
	switch at {
	case BeforeEffect:
		return []Need{NeedsHeldEffect}
	case AfterEffect:
		return []Need{NeedsEffect}
	default:
		return nil
	}
}

// needs lists what can be spelled so.
func (s Spelling) needs() []Need {
	switch s {
	case SpellingElsewhere:
		return nil
	case SpellingHeaderCase:
		return []Need{NeedsHeaderKey}
	case SpellingTwoHeaders:
		// Where no key is required, both may be ignored (RFC 9651, section 4.2): no key, and each request is an intent.
		return []Need{NeedsHeaderKey, NeedsRequiredKey, NeedsChosenKey}
	case SpellingNatural:
		return []Need{NeedsNaming}
	case SpellingNoCredential:
		return []Need{NeedsCredential}
	case SpellingNumbers:
		return []Need{NeedsSameJSON, NeedsNumbers}
	default:
		return []Need{NeedsSameJSON}
	}
}

// needs lists what the target's keys must be like.
func (l Likeness) needs() []Need {
	switch l {
	case KeysUnlike:
		return nil
	case KeysCase:
		return []Need{NeedsFreeKey, NeedsCasedKey}
	case KeysSpace:
		return []Need{NeedsFreeKey, NeedsSpacedKey}
	case KeysQuote, KeysLong:
		return []Need{NeedsFreeKey}
	case KeysBlank:
		return []Need{NeedsKey, NeedsChosenKey, NeedsLooseKey}
	default:
		return []Need{NeedsKey, NeedsChosenKey}
	}
}

// needs lists what the target must have two of.
func (a Across) needs() []Need {
	switch a {
	case AcrossPrincipals:
		return []Need{NeedsPrincipals}
	case AcrossOperations:
		return []Need{NeedsOperations}
	case AcrossParents:
		return []Need{NeedsParents}
	default:
		return nil
	}
}
