package drafting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// within is the column of a primary key of several by which an answer names the row among those that share the others: the end of the path in
// Location, or a member that is called as the column is; empty: it does not.
func (c Created) within(l databases.Landing, d Draft) string {
	if len(l.Table.Primary) < 2 {
		return ""
	}
	path, _, _ := strings.Cut(c.Location, "?")
	_, end := jsonpointer.Cut(strings.TrimRight(path, "/"))
	for _, column := range slices.Backward(l.Table.Primary) {
		value := l.Row[column]
		if value == "" || given(l, d, column) {
			continue
		}
		if named := c.naming(value, column); named.Declared() && (named.Header == "" || end == value) {
			return column
		}
	}
	return ""
}

// given reports that a column of a primary key of several holds a part of the path that all creates share.
func given(l databases.Landing, d Draft, column string) bool {
	path, _, _ := strings.Cut(d.Path, "?")
	return len(l.Table.Primary) > 1 && slices.Contains(l.Table.Primary, column) && slices.Contains(strings.Split(path, "/"), l.Row[column])
}

// ofPart reads off another create whether a name of a created thing is one among those that share the first columns of its key only: then it is no
// name among all rows. Where the path says whose it is, answers about one thing are compared by it; elsewhere it is no name at all.
func ofPart(f *File, r Repeated) {
	p := f.Proof
	at := slices.Index(p.Table.Primary, p.Identity)
	if at < 0 || r.Row == nil || len(r.Row[p.Identity]) >= telling ||
		!slices.ContainsFunc(p.Table.Primary[:at], func(column string) bool { return p.Row[column] != r.Row[column] }) {
		return
	}
	p.Part, p.Identity, p.Shown = p.Identity, "", databases.Shown{}
	if !strings.Contains(f.Draft.Path, "{{.Prepared.") {
		p.Named = contract.Identity{}
	}
}

// doubtPart says what such a name leaves open.
func doubtPart(f *File) {
	p := f.Proof
	key := fmt.Sprintf("the primary key of %s is (%s), and %s of another row may be the same", p.Table.FullName(), strings.Join(p.Table.Primary, ", "), p.Part)
	if p.Named.Declared() {
		f.Doubt("Which row %s names: it is %s alone, where %s. Answers to one path are compared with each other by it, and not with the row.", p.Named.Where(), p.Part, key)
		return
	}
	f.Doubt("How the answer names the row: it has %s alone, where %s. So the file has no identity; one that has all of the key, such as a pattern for the Location, can be added with a column of the row query that reads so (rows.identity).", p.Part, key)
}

// calledAsTable is the member that is called as one row of a table is, such as order of pizza_orders, and has this value. A list, or a number of
// them, is called orders.
func calledAsTable(answer any, table, value string) contract.Identity {
	best := ""
	Scalars("", answer, func(pointer string, member any) {
		if fmt.Sprint(member) == value && ofTable(pointer, table) && (best == "" || strings.Count(pointer, "/") < strings.Count(best, "/")) {
			best = pointer
		}
	})
	return contract.Identity{JSON: best}
}

// ofTable reports that a member is called as one row of a table is: by all words of its name, or by the last ones.
func ofTable(pointer, table string) bool {
	_, name := jsonpointer.Cut(pointer)
	words := namedWords(table[strings.LastIndex(table, ".")+1:])
	for n := range words {
		if squeezed(name) == singular(strings.Join(words[n:], "")) {
			return true
		}
	}
	return false
}

// sure reports that a name of a created thing is no number that was equal by chance: a member that is called as the table, and not as a key,
// names the row of the next create, too, and is the same in a repetition when another was made.
func sure(f *File, r Repeated) bool {
	p, name := f.Proof, calledThere(f.Proof.Named.JSON)
	if p.Named.JSON == "" || p.Identity == "" || idLike.MatchString(name) || squeezed(name) == squeezed(p.Identity) || len(p.Row[p.Identity]) >= telling {
		return true
	}
	return r.Row != nil && f.name(r.First) == p.Shown.Of(r.Row[p.Identity]) && (len(r.Apart) < 2 || f.name(r.Apart[0]) == f.name(r.Apart[1]))
}
