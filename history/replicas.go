package history

import (
	"encoding/json"
	"slices"
	"strings"
)

// MostInstances is how many instances of a target there may be.
const MostInstances = 16

// NotAt is the column of a row that is not in all databases of a target with several:
// their names. A column of the target's query cannot be called so without quotes.
const NotAt = "(not at)"

// WithReplica adds to rows, which are those of one database, or of several that were added before, those of another. A row that one of
// them lacks has [NotAt]. Names are those of the other, and of those before it.
func WithReplica(rows []Row, replica []Row, name string, before []string) []Row {
	left := slices.Clone(replica)
	all := make([]Row, 0, len(rows)) // an empty list says that there is none
	for _, row := range rows {
		same := func(other Row) bool { return textOf(other) == textOf(row) }
		if i := slices.IndexFunc(left, same); i >= 0 {
			left = slices.Delete(left, i, i+1)
			all = append(all, row)
			continue
		}
		all = append(all, lacking(row, []string{name}))
	}
	for _, row := range left {
		all = append(all, lacking(row, before))
	}
	return all
}

// lacking is a row that some databases lack.
func lacking(row Row, names []string) Row {
	more := Row{}
	for column, value := range row {
		more[column] = value
	}
	if at, some := row[NotAt].(string); some {
		names = append([]string{at}, names...)
	}
	more[NotAt] = strings.Join(names, ", ")
	return more
}

// textOf is a row without [NotAt] as a text that equal rows have in common.
func textOf(row Row) string {
	plain := Row{}
	for column, value := range row {
		if column != NotAt {
			plain[column] = value
		}
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return err.Error() // values are those that JSON keeps
	}
	return string(text)
}
