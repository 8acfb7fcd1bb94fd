package drafting

import (
	"slices"
	"strings"
)

// OnceTogether notes that the same body under another key made no second row, as the database allows the marker once together with what other
// members say, such as a coupon and a customer: those make two creates one, and none of them is altered.
func OnceTogether(f *File, r *Repeated, answer Answer) {
	columns, with, found := onceTogether(f)
	if !found {
		return
	}
	r.Natural, r.Constrained, r.With = []string{f.Proof.Text}, true, append(r.With, with...)
	if answer.Refused() {
		r.Taken = &answer
	}
	f.Proof.Unfit = append(f.Proof.Unfit, r.With...) // with another value it is another thing
	f.Doubt("Whether another key with the same %s may be refused, or get what is there: it made no second row, and the database allows (%s) once, so the file has it in natural_key. If each key is to make a row of its own, take it out.", strings.Join(append(r.Natural, r.With...), " and "), strings.Join(columns, ", "))
}

// onceTogether is the constraint over several columns that has the marker's, and the members that came to the others: the one of which the body
// says most. One with a column that is another one for each create, such as (id, note) for others to refer to, refuses
// nothing.
func onceTogether(f *File) (columns, with []string, found bool) {
	most, p := 0, f.Proof
	for _, unique := range p.Table.Keys() {
		if len(unique) < 2 || !slices.Contains(unique, p.Column) {
			continue
		}
		members, unsaid := []string{}, false
		for _, c := range unique {
			switch all := membersOf(f, c); {
			case c == p.Column:
			case len(all) > 0:
				members = append(members, all[0])
			case c == p.Identity || slices.Equal(p.Table.Primary, []string{c}) || NamesKey(c) || keyName.MatchString(squeezed(c)) || moment.MatchString(p.Table.TypeOf(c)):
				unsaid = true
			}
		}
		if !unsaid && (!found || len(members) > most) {
			columns, with, found, most = unique, members, true, len(members)
		}
	}
	return columns, with, found
}

// ByConstraint are the members of the body of which the table holds the same values once, going by the catalogue, the first of them one with whose
// value a second create failed; nil: no constraint says so, or several that requests may break.
func ByConstraint(f File, failed []string) []string {
	if len(failed) == 0 || f.settle() != nil {
		return nil
	}
	p, from := f.Proof, map[string]string{}
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		column := cameTo(&f, pointer, value)
		if column == "" && soleKey(p, value) {
			column = p.Table.Primary[0]
		}
		if column != "" {
			from[column] = pointer
		}
	})
	var found [][]string
	for _, columns := range p.Table.Keys() {
		var members []string
		for _, c := range columns {
			if pointer, has := from[c]; has {
				members = append(members, pointer)
			}
		}
		if len(members) == len(columns) {
			found = append(found, members)
		}
	}
	if len(found) != 1 {
		return nil
	}
	n := slices.IndexFunc(found[0], func(pointer string) bool { return slices.Contains(failed, pointer) })
	if n < 0 {
		return nil
	}
	found[0][0], found[0][n] = found[0][n], found[0][0]
	return found[0]
}
