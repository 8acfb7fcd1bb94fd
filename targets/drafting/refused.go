package drafting

import "slices"

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
	for _, columns := range append([][]string{p.Table.Primary}, p.Table.Unique...) {
		var members []string
		for _, c := range columns {
			if pointer, has := from[c]; has {
				members = append(members, pointer)
			}
		}
		if len(columns) > 0 && len(members) == len(columns) {
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
