package reports

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// meaning says in one clause what a kind of finding is.
func meaning(k checker.Kind) string {
	switch k {
	case checker.Leak:
		return "an answer showed another user's data"
	case checker.Duplicate:
		return "one intent has duplicate rows"
	case checker.LostWrite:
		return "the target acknowledged the request, but its row is missing"
	case checker.PhantomRow:
		return "a row exists that no answer explains"
	case checker.AlteredBody:
		return "the same key with another body was not rejected"
	case checker.EffectMismatch:
		return "a side effect happened too often, or not at all"
	case checker.ReplayMismatch:
		return "a repeated request got a different answer"
	case checker.FalseConflict:
		return "a new request was rejected as a duplicate"
	case checker.MissingKeyAccepted:
		return "a request without the required key was accepted"
	case checker.Unavailable:
		return "retries with backoff never got a final answer"
	default:
		return "a broken promise"
	}
}

// kindTotal is how many findings of one kind there are, and in how many intents.
type kindTotal struct {
	Kind, Meaning     string
	Findings, Intents int
}

// kindTotals counts findings per kind, worst kind first.
func kindTotals(all []findingView) []kindTotal {
	var list []kindTotal
	at, counted := map[string]int{}, map[string]bool{}
	for _, f := range all {
		i, known := at[f.Kind]
		if !known {
			i = len(list)
			at[f.Kind] = i
			list = append(list, kindTotal{Kind: f.Kind, Meaning: f.Meaning})
		}
		list[i].Findings++
		if id := fmt.Sprintf("%s/%d/%s", f.Kind, f.place, f.Intent); !counted[id] {
			counted[id] = true
			list[i].Intents++
		}
	}
	slices.SortStableFunc(list, func(a, b kindTotal) int {
		return checker.Compare(checker.Finding{Kind: checker.Kind(a.Kind)}, checker.Finding{Kind: checker.Kind(b.Kind)})
	})
	return list
}
