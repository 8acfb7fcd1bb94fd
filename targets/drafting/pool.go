package drafting

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Kinds of what is asked of all rows of a table.
const (
	InState = "in state" // how many have a value
	WithAny = "with any" // how many have a value at all
	InAll   = "in all"   // the sum of a number
)

// Pool is a number of all rows of a table that creates change although nothing links its rows to them: how many are marked as used, or how much
// of all lots together is left.
type Pool struct {
	Table               databases.Table
	Kind, Column, Value string
}

// enumType matches types of columns that have one of a few values.
var enumType = regexp.MustCompile(`(?i)^(bool|enum|user-defined|tinyint\(1\))`)

// PoolsOf are the numbers that may be asked of a table: of states those that values give for a column, and of other columns how many are set. Sums
// are for tables of which not each row is read.
func PoolsOf(t databases.Table, values func(column string) []string, sums bool) (all []Pool) {
	keys := slices.Concat(t.Keys()...)
	for _, c := range t.Columns {
		if slices.Contains(keys, c.Name) || CountsRequests(c.Name) || slices.ContainsFunc(namedWords(c.Name), numbering.MatchString) {
			continue
		}
		few := values(c.Name)
		flag := !slices.ContainsFunc(few, func(v string) bool { return v != "0" && v != "1" })
		switch {
		case len(few) > 0 && (enumType.MatchString(c.Type) || forText(c) || c.HoldsNumber() && flag):
			for _, value := range few {
				if quotable.MatchString(value) {
					all = append(all, Pool{t, InState, c.Name, value})
				}
			}
		case sums && countsOrMeasures(t, c) && !slices.ContainsFunc(namedWords(t.Name), numbering.MatchString):
			all = append(all, Pool{t, InAll, c.Name, ""})
		}
		all = append(all, Pool{t, WithAny, c.Name, ""})
	}
	return all
}

// Asked is the number as the database is asked for it.
func (p Pool) Asked(d databases.Dialect) string {
	column := d.Name(p.Column)
	switch p.Kind {
	case InState:
		return fmt.Sprintf("count(case when %s = '%s' then 1 end)", column, p.Value)
	case WithAny:
		return fmt.Sprintf("count(%s)", column)
	}
	return fmt.Sprintf("coalesce(sum(%s), 0)", column)
}

// Name says what it is.
func (p Pool) Name() string {
	switch of := p.Table.FullName() + "." + p.Column; p.Kind {
	case InState:
		return "how many rows have " + p.Value + " in " + of
	case WithAny:
		return "how many rows have a value in " + of
	default:
		return "the sum of " + of
	}
}

// slug names the effect.
func (p Pool) slug() string {
	name := p.Table.FullName() + "." + p.Column
	if p.Kind == InState {
		name += "." + p.Value
	}
	return Slug(name)
}

// Pooled notes by how much each create changes a number of a whole table, by how much one that was repeated, and by how much one with another body;
// this is the same where none was sent.
func Pooled(f *File, p Pool, each, again, other float64) {
	switch {
	case each != math.Trunc(each) || math.Abs(each) > 1e9:
	case again != each:
		f.Doubt("Whether a repetition may change %s: one create changed it by %v, and by %v when it was repeated: a defect, if it is what creates take, of which runs say nothing. If so, add an effect with its query and a delta of %v.", p.Name(), each, again, each)
		return
	case other != each:
		f.Doubt("Whether each create changes %s by what it says: one changed it by %v, and one with another body by %v. No effect watches it; add one that holds it against %s, with a delta of 0.", p.Name(), each, other, f.Proof.Table.FullName())
		return
	case p.Kind == InAll && each == 1:
		f.Doubt("Whether %s counts what creates make: it rises by one with each, and may be what gives each its number, which one that loses a race has drawn, too. No effect watches it; if no number may be left out, add one with its query and a delta.", p.Name())
		return
	default:
		f.Doubt("Whether anything but creates changes %s: each create changes it by %v, and nothing says of which create. If others do, or if what a create has taken in vain is given back by a job, leave the effect out.", p.Name(), each)
		f.Proof.Others = append(f.Proof.Others, Beside{Table: p.Table, Rows: int(each), Again: int(again), Pool: &p})
		return
	}
	f.Doubt("Whether each create changes %s by what it says: one changed it by %v. No effect watches it.", p.Name(), each)
}
