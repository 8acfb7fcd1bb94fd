package reports

import (
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// verdictView is a verdict as a class, a character and a word: no reader depends on its colour.
type verdictView struct {
	Class, Mark, Word string
	verdict           checker.Verdict
}

// newVerdictView says a verdict in words. An unknown one, of a report from elsewhere, has the class of an
// inconclusive one.
func newVerdictView(v checker.Verdict) verdictView {
	class := "inconclusive"
	switch v {
	case checker.Pass, checker.Fail, checker.NotApplicable, checker.Broken, checker.Known, checker.Mended:
		class = v.String()
	}
	return verdictView{Class: class, Mark: mark(v), Word: spoken(v), verdict: v}
}

// spoken is what readers know a verdict by. What a file calls mended is fixed.
func spoken(v checker.Verdict) string {
	if v == checker.Mended {
		return "fixed"
	}
	return words(v)
}

// mark is the one character that stands for a verdict.
func mark(v checker.Verdict) string {
	switch v {
	case checker.Pass:
		return "✓"
	case checker.Fail:
		return "✗"
	case checker.NotApplicable:
		return "–"
	case checker.Broken:
		return "!"
	case checker.Known:
		return "≈"
	case checker.Mended:
		return "+"
	default:
		return "?"
	}
}

// byAttention lists the verdicts, those that most ask for a look first.
func byAttention() []checker.Verdict {
	return []checker.Verdict{
		checker.Fail, checker.Broken, checker.Inconclusive, checker.Mended, checker.Known, checker.Pass, checker.NotApplicable,
	}
}

// attention orders verdicts by [byAttention].
func attention(v checker.Verdict) int { return slices.Index(byAttention(), v) }

// flawless is true for a scenario that was exercised and in which nothing broke.
func flawless(v checker.Verdict) bool { return v == checker.Pass || v == checker.Mended }

// settled is true for a verdict that judges the target.
func settled(v checker.Verdict) bool {
	return flawless(v) || v == checker.Fail || v == checker.Known
}

// undecided is true for a verdict that stands for a missing judgement.
func undecided(v checker.Verdict) bool { return v == checker.Inconclusive || v == checker.Broken }
