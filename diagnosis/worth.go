package diagnosis

import (
	"maps"
	"slices"
	"sync"
)

// caught has, by scenario, the broken designs that it caught, each on its database.
var caught = sync.OnceValue(func() map[string][]string {
	by := map[string][]string{}
	for _, o := range Observations() {
		for _, scenario := range slices.Concat(o.Pattern.Failed, slices.Collect(maps.Keys(o.Pattern.Other))) {
			by[scenario] = append(by[scenario], o.Design+" on "+o.Store)
		}
	}
	return by
})

// CaughtBy names the broken designs, each on its database, that a scenario of the library caught when the matrix was last played; it is
// shared, and not to be changed. None: it caught none, or is none of the library.
func CaughtBy(scenario string) []string { return caught()[scenario] }
