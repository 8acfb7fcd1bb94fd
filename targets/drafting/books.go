package drafting

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Book is a number in a row that many creates have in common, and that each of them changes by what it writes down elsewhere: a balance
// and the payments from it, a stock and the lines of orders. The number and what was written down stay the same together.
type Book struct {
	Of     databases.Table // holds the number
	Key    string          // column that says which of its rows
	Value  string          // that this row has there
	Number string          // column

	Entries databases.Table // has the rows that say how much
	By      string          // column that has the Value
	Amount  string          // column; empty: each row stands for one
	Falls   bool            // by as much, or it rises
}

// Name is table.column.
func (b Book) Name() string { return b.Of.FullName() + "." + b.Number }

// SameNumber reports that it is the same number, whatever is written down.
func (b Book) SameNumber(o Book) bool { return b.Name() == o.Name() && b.Value == o.Value }

// called is the name of its effect: the column's, and which row it is where there are others of one.
func (b Book) called(all []Book) string {
	if slices.ContainsFunc(all, func(o Book) bool { return o.Name() == b.Name() && o.Value != b.Value }) {
		return Slug(b.Name() + " of " + b.Value)
	}
	return Slug(b.Name())
}

// Standing is what one row holds that entries refer to, before or after a create.
type Standing struct {
	Book                       // without its Number, Amount and Falls
	Numbers map[string]float64 // by column
}

// Entry is what one create has written down for a row: how many rows, and the sums of their columns.
type Entry struct {
	Rows int
	Sums map[string]float64
}

// Posting is what one create has changed and written down.
type Posting struct {
	Before, After Standing
	Entry
}

// numeric are the numbers in a row's columns, but for those that are keys.
func numeric(t databases.Table, row map[string]string) map[string]float64 {
	all := map[string]float64{}
	for _, c := range t.Columns {
		key := slices.Contains(t.Primary, c.Name) || idLike.MatchString(c.Name) ||
			slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
		if n, err := strconv.ParseFloat(row[c.Name], 64); err == nil && c.HoldsNumber() && !key {
			all[c.Name] = n
		}
	}
	return all
}

// StandingIn reads a row that entries refer to.
func StandingIn(b Book, row map[string]string) Standing {
	return Standing{Book: b, Numbers: numeric(b.Of, row)}
}

// Unchanged reports that a row holds the same numbers as before.
func (s Standing) Unchanged(now Standing) bool { return maps.Equal(s.Numbers, now.Numbers) }

// EntryOf sums what rows say.
func EntryOf(t databases.Table, rows []map[string]string) Entry {
	e := Entry{Rows: len(rows), Sums: map[string]float64{}}
	for _, row := range rows {
		for column, n := range numeric(t, row) {
			e.Sums[column] += n
		}
	}
	return e
}

// changed is by how much a column of a row has changed.
func (p Posting) changed(column string) float64 {
	return p.After.Numbers[column] - p.Before.Numbers[column]
}

// BooksIn finds which columns change by what entries say, in all postings, of which there is one at least. A column that changes by one with
// each create is unsure where an amount was one in all of them.
func BooksIn(postings []Posting) (all []Book, unsure []string) {
	first := postings[0]
	for _, c := range first.Before.Of.Columns {
		if first.changed(c.Name) == 0 || countsRequests.MatchString(c.Name) {
			continue
		}
		var found []Book
		for _, amount := range append(first.Before.Entries.Columns, databases.Column{}) {
			for _, falls := range []bool{true, false} {
				if explains(postings, c.Name, amount.Name, falls) {
					b := first.Before.Book
					b.Number, b.Amount, b.Falls = c.Name, amount.Name, falls
					found = append(found, b)
				}
			}
		}
		switch {
		case len(found) == 0:
		case len(found) > 1 && found[len(found)-1].Amount == "":
			unsure = append(unsure, found[0].Name())
		default:
			all = append(all, found[0])
		}
	}
	return all, unsure
}

// countsRequests matches what columns are called that may change with a request that creates nothing.
var countsRequests = regexp.MustCompile(`(?i)version|revision|attempt|request|call|seen|visit|view|access|login|tries`)

// explains reports that the entries say by how much a number has changed with each create.
func explains(postings []Posting, number, amount string, falls bool) bool {
	return !slices.ContainsFunc(postings, func(p Posting) bool {
		sum, there := p.Sums[amount]
		if amount == "" {
			sum, there = float64(p.Rows), true
		}
		if falls {
			sum = -sum
		}
		return !there || math.Abs(p.changed(number)-sum) > 1e-6
	})
}

// Parents are the rows of other tables that a row of a table refers to: by a foreign key, or by a column that is called as the other table and
// its key are. A value that cannot stand in a query as it is refers to nothing.
func Parents(f *File, tables []databases.Table, t databases.Table, row map[string]string) (all []Book) {
	for _, of := range tables {
		if of.FullName() == t.FullName() || of.FullName() == f.Proof.Table.FullName() || len(of.Primary) != 1 {
			continue
		}
		for _, c := range t.Columns {
			key := of.Primary[0]
			for _, r := range t.Refers {
				if r.Column == c.Name && r.Table == of.FullName() {
					key = r.Theirs
				}
			}
			refers := slices.Contains(t.Refers, databases.Reference{Column: c.Name, Table: of.FullName(), Theirs: key}) || namesKey(c.Name, of.Name, key)
			if refers && quotable.MatchString(row[c.Name]) {
				all = append(all, Book{Of: of, Key: key, Value: row[c.Name], Entries: t, By: c.Name})
			}
		}
	}
	return all
}

// quotable matches a value that can stand between quotes in a query of any database.
var quotable = regexp.MustCompile(`^[\pL\pN ._@+/-]+$`)

// namesKey reports that a column is called as the key of a table is, alone or behind the table's name in the singular.
func namesKey(column, table, key string) bool {
	table = strings.TrimSuffix(squeezed(table), "s")
	return squeezed(column) == squeezed(key) && squeezed(key) != "id" || squeezed(column) == table+squeezed(key)
}

// undone are the states of a row that stands for nothing.
var undone = []string{"declined", "failed", "rejected", "refused", "cancelled", "canceled", "void", "error"}

// books writes the numbers that many creates have in common.
func books(f *File) {
	for _, b := range f.Proof.Books {
		name, amount := f.Dialect.Name, "count(*)"
		entries, of := f.Dialect.TableName(b.Entries), f.Dialect.TableName(b.Of)
		said := "rows of " + b.Entries.FullName()
		if b.Amount != "" {
			amount, said = fmt.Sprintf("coalesce(sum(%s.%s), 0)", entries, name(b.Amount)), b.Entries.FullName()+"."+b.Amount
		}
		sign := "-"
		if b.Falls {
			sign = "+"
		}
		where := fmt.Sprintf("%s.%s = '%s'", entries, name(b.By), b.Value)
		for _, c := range b.Entries.Columns {
			if stateColumn.MatchString(c.Name) && !c.HoldsNumber() {
				where += fmt.Sprintf(" and lower(coalesce(cast(%s.%s as char(20)), '')) not in ('%s')", entries, name(c.Name), strings.Join(undone, "', '"))
			}
		}
		f.line("      - name: %s # it and %s stay the same together", literal(b.called(f.Proof.Books)), inert.Comment(said))
		f.line("        query: %s", literal(fmt.Sprintf("select %s.%s %s (select %s from %s where %s) from %s where %s.%s = '%s'",
			of, name(b.Number), sign, amount, entries, where, of, of, name(b.Key), b.Value)))
		f.line("        delta: 0")
	}
}

// stateColumn matches what columns are called that say what became of a row.
var stateColumn = regexp.MustCompile(`(?i)^(status|state)$|_(status|state)$`)
