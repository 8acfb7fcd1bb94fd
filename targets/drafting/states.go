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

// Pushed reads the row of the one create again, after others: a number that is another one now, such as its place in a list, was changed by those. No
// effect watches that.
func Pushed(f *File, rows []map[string]string) {
	p := f.Proof
	if len(rows) != 1 {
		return
	}
	keys := slices.Concat(p.Table.Keys()...)
	for _, c := range p.Table.Columns {
		was, is := p.Row[c.Name], rows[0][c.Name]
		number := c.HoldsNumber() && plainNumber.MatchString(was) && plainNumber.MatchString(is) && !slices.Contains(keys, c.Name)
		if number && was != is && !CountsRequests(c.Name) && !ofStates.MatchString(c.Name) && !slices.ContainsFunc(namedWords(c.Name), stateWord.MatchString) {
			f.Doubt("Whether creates change %s of other rows of %s, or work behind their answers does: it was %s in the row of the first create, and is %s after others. No effect watches that, so a create that does it twice is a defect of which runs say nothing.", c.Name, p.Table.FullName(), was, is)
			return
		}
	}
}

// numbersStates reports that a column tells rows with one id from each other, and counts among them: what is another one in each row of the table
// counts all of them.
func numbersStates(p *Proof, c databases.Column) bool {
	if p.Table.IsKey(c.Name) {
		return false
	}
	return ofStates.MatchString(c.Name) || slices.ContainsFunc(p.Table.Keys(), func(columns []string) bool {
		return slices.Contains(columns, c.Name) && slices.Contains(columns, p.Identity)
	})
}

// later reports that a number is greater than another one.
func later(number, than string) bool {
	a, is := new(big.Rat).SetString(number)
	b, was := new(big.Rat).SetString(than)
	return is && was && a.Cmp(b) > 0
}
