package drafting

import (
	"math/big"
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// ofStates matches what columns are called that number the states of one thing.
var ofStates = regexp.MustCompile(`(?i)version|revision|(^|_)(ver|rev|seq|sequence)(_|$)`)

// Versioned reads the rows that have the id of the one create, which was sent once: where more have come behind its answer, each is a later state
// of the one thing. Runs count the first one alone.
func Versioned(f *File, rows []map[string]string) {
	p := f.Proof
	rows = slices.DeleteFunc(slices.Clone(rows), func(row map[string]string) bool { return p.Table.SameRow(row, p.Row) })
	if len(rows) == 0 {
		return
	}
	for _, c := range p.Table.Columns {
		if first := p.Row[c.Name]; (first == "0" || first == "1") && c.HoldsNumber() && numbersStates(p, c) && !slices.ContainsFunc(rows, func(row map[string]string) bool { return !later(row[c.Name], first) }) {
			p.Version = c.Name
			f.Doubt("Which row is the effect: %s had more rows with the %s of one create some time after its answer. Runs count the row whose %s is %s, and the others as later states of it.", p.Table.FullName(), p.Identity, c.Name, first)
			return
		}
	}
	f.Doubt("Whether each row of %s is an effect: there were more with the %s of one create some time after its answer, as of a thing whose states are kept. Runs take each for a duplicate: let the query ask for the first one.", p.Table.FullName(), p.Identity)
}

// numbersStates reports that a column tells rows with one id from each other, and counts among them: what is another one in each row of the table
// counts all of them.
func numbersStates(p *Proof, c databases.Column) bool {
	keys := p.Table.Keys()
	if slices.ContainsFunc(keys, func(columns []string) bool { return slices.Equal(columns, []string{c.Name}) }) {
		return false
	}
	return ofStates.MatchString(c.Name) || slices.ContainsFunc(keys, func(columns []string) bool {
		return slices.Contains(columns, c.Name) && slices.Contains(columns, p.Identity)
	})
}

// later reports that a number is greater than another one.
func later(number, than string) bool {
	a, is := new(big.Rat).SetString(number)
	b, was := new(big.Rat).SetString(than)
	return is && was && a.Cmp(b) > 0
}
