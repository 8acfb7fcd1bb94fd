package reports

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// kindTotal is how many findings of one kind there are, and in how many intents.
type kindTotal struct {
	Kind, Meaning     string
	Findings, Intents int
	IDs               []string // of the findings; a scenario that has just ended has none
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
			list = append(list, kindTotal{Kind: f.Kind, Meaning: checker.Kind(f.Kind).Row().Meaning})
		}
		list[i].Findings++
		if f.ID != "" {
			list[i].IDs = append(list[i].IDs, f.ID)
		}
		if id := fmt.Sprintf("%s/%d/%s", f.Kind, f.at.Result, f.Intent); !counted[id] {
			counted[id] = true
			list[i].Intents++
		}
	}
	slices.SortStableFunc(list, func(a, b kindTotal) int {
		return checker.Compare(checker.Finding{Kind: checker.Kind(a.Kind)}, checker.Finding{Kind: checker.Kind(b.Kind)})
	})
	return list
}
