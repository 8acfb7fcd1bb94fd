package drafting

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// doubtQuery says that no run sends another value of what the query of the path holds beside a body, and a created row keeps: whether the target compares
// it, nothing shows.
func doubtQuery(f *File) {
	_, query, _ := strings.Cut(f.Draft.Path, "?")
	values, err := url.ParseQuery(query)
	if err != nil || f.Proof == nil || !f.Draft.Keyed() || len(f.Draft.Body) == 0 || f.Draft.Query {
		return
	}
	cells := slices.Collect(maps.Values(f.Proof.Row))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value := values.Get(name); len(value) > 1 && !strings.Contains(value, "{{") && slices.Contains(cells, value) {
			f.Doubt("Whether the target compares ?%s when a key comes again: the row keeps its value, and runs alter members of the body alone. Send a create with another one under its key: it must not be answered as the first one was.", name)
		}
	}
}
