package reports

import (
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// mostDecisive bounds the attempts whose request and answer are shown.
const mostDecisive = 3

// decisive returns the indices of the attempts by which a reader understands a finding, in the order of sending: the first,
// the one that contradicts it or the promise, and the last where it shows that it stays so.
func decisive(f checker.Finding) []int {
	if len(f.Attempts) == 0 {
		return nil
	}
	list := []int{opening(f)}
	for _, i := range []int{contradicting(f, list[0]), closing(f)} {
		if i >= 0 && !slices.Contains(list, i) && len(list) < mostDecisive {
			list = append(list, i)
		}
	}
	if len(list) == 1 && len(f.Attempts) > 1 { // one alone tells no story
		list = append(list, beside(f, list[0]))
	}
	slices.Sort(list)
	return list
}

// beside is the attempt that tells most beside the only decisive one: one that was told something else, if there is any.
func beside(f checker.Finding, only int) int {
	one := f.Attempts[only]
	differs := func(i int) bool {
		return told(f, i) && f.Attempts[i].Intent == one.Intent && f.Attempts[i].Content != one.Content
	}
	if i := firstWhere(f, differs); i >= 0 && len(f.Differs) > 0 {
		return i
	}
	return max(1-only, 0)
}

// opening is the first attempt of the finding, with a yes for an answer where what was acknowledged is the point.
func opening(f checker.Finding) int {
	if f.Kind == checker.Duplicate || f.Kind == checker.LostWrite || f.Kind == checker.ReplayMismatch || f.Kind == checker.UndeclaredAnswer {
		if i := firstWhere(f, func(i int) bool { return told(f, i) }); i >= 0 {
			return i
		}
	}
	return 0
}

// contradicting is the attempt that shows what is wrong; -1: the opening one does, with the rows.
func contradicting(f checker.Finding, first int) int {
	if first >= len(f.Attempts) {
		return -1
	}
	one := f.Attempts[first]
	if len(f.Differs) > 0 {
		return firstWhere(f, func(i int) bool { return f.Attempts[i].ID == f.Differs[0].Attempt })
	}
	other := func(i int) bool { return i != first && told(f, i) }
	switch f.Kind {
	// What shows a second execution best: an answer that says something else, else one that was lost, else any.
	case checker.Duplicate, checker.EffectMismatch, checker.EffectBeforeCommit, checker.DownstreamKeyChanged:
		if i := firstWhere(f, func(i int) bool { return other(i) && !f.Attempts[i].Probe && f.Attempts[i].Content != one.Content }); i >= 0 {
			return i
		}
		if i := firstWhere(f, func(i int) bool { return i != first && !f.Attempts[i].Complete }); i >= 0 {
			return i
		}
		return firstWhere(f, other)
	case checker.AlteredBody:
		return firstWhere(f, func(i int) bool {
			corrected := one.Body == history.Invalid && f.Attempts[i].Body != history.Invalid
			return i != first && (f.Attempts[i].Body == history.Altered || corrected)
		})
	case checker.MissingKeyAccepted:
		return firstWhere(f, func(i int) bool { return told(f, i) && f.Attempts[i].Key == "" })
	case checker.FalseConflict:
		for _, o := range []checker.Outcome{checker.Rejected, checker.Exists} { // a repetition may be told that it exists
			if i := firstWhere(f, func(i int) bool { return outcomeIs(f, i, o) && f.Attempts[i].Intent == f.Intent }); i >= 0 {
				return i
			}
		}
	case checker.Leak:
		if f.Detail == history.NoCredential {
			return firstWhere(f, func(i int) bool { return told(f, i) && f.Attempts[i].Body == history.NoCredential })
		}
		return firstWhere(f, func(i int) bool { return told(f, i) && f.Attempts[i].Intent != one.Intent })
	case checker.Unanswered, checker.TargetDied:
		return firstWhere(f, func(i int) bool { return !f.Attempts[i].Complete })
	}
	return -1
}

// closing is the last attempt, for the kinds in which the end is the point; -1: it is not.
func closing(f checker.Finding) int {
	if f.Kind == checker.LostWrite || f.Kind.Row().Unresolved {
		return len(f.Attempts) - 1
	}
	if len(f.Attempts) > 1 && contradicting(f, opening(f)) < 0 {
		return 1
	}
	return -1
}

// firstWhere returns the first attempt for which something holds; -1: there is none.
func firstWhere(f checker.Finding, holds func(int) bool) int {
	for i := range f.Attempts {
		if holds(i) {
			return i
		}
	}
	return -1
}

// told reports that the client of an attempt was told that it was done.
func told(f checker.Finding, i int) bool {
	return outcomeIs(f, i, checker.Acknowledged) || outcomeIs(f, i, checker.Accepted)
}

// outcomeIs compares the judgement on an attempt. A report from elsewhere may lack it.
func outcomeIs(f checker.Finding, i int, o checker.Outcome) bool {
	return i < len(f.Outcomes) && f.Outcomes[i] == o
}
