package checker

import (
	"slices"
	"strings"
	"unicode"
)

// mistaken reports that an intent was refused as the repetition of something else.
func mistakenForAnother(e *evaluation, tr *trace) bool {
	return has(tr.attempts, Exists) ||
		slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.mismatch }) && !mayRejectKey(e, tr)
}

// mayRefuseKey reports that an intent may have been refused for the form of its key, which is made to resemble its
// neighbours' keys. Where a mismatch is known by its status alone, the two refusals look the same: it was mistaken for
// a neighbour surely only where one got through with a key like that.
func mayRejectKey(e *evaluation, tr *trace) bool {
	if e.terms.Contract.Fingerprint.Narrowed() {
		return false
	}
	resembles, beside := false, false
	for _, other := range e.neighbours[tr.intent.Kin] {
		through := mayHaveEffect(other.attempts)
		switch {
		case other.intent.ID == tr.intent.ID || !meet(tr, other, resemblingKeys):
			continue
		case meet(tr, other, equalKeys), through && meet(tr, other, alikeKeys):
			return false
		}
		resembles, beside = true, beside || through
	}
	if beside {
		e.doubt("intent %s was refused beside a neighbour with a key of another form: it may have been refused for its key, which has the same status as a mismatch: fingerprint.where tells them apart", tr.intent.ID)
	}
	return resembles
}

// meet reports that something holds between an attempt of each of two intents.
func meet(one, other *trace, holds func(a, b *classified) bool) bool {
	return slices.ContainsFunc(one.attempts, func(a *classified) bool {
		return slices.ContainsFunc(other.attempts, func(b *classified) bool { return holds(a, b) })
	})
}

func equalKeys(a, b *classified) bool { return a.Key != "" && a.Key == b.Key }

// resemblingKeys reports that two keys begin alike, whatever the case of their letters. Blank keys do.
func resemblingKeys(a, b *classified) bool {
	half := min(len(a.Key), len(b.Key)) / 2
	return strings.EqualFold(a.Key[:half], b.Key[:half])
}

// alikeKeys reports that two keys differ in their digits at most, so that one is no odder than the other. Blank keys are
// alike.
func alikeKeys(a, b *classified) bool { return withoutDigits(a.Key) == withoutDigits(b.Key) }

func withoutDigits(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, key)
}
