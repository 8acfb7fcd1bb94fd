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
	Total  bool            // it is the sum over all rows that have these cells, and no row says which one it refers to
	Where  []Cell

	Entries databases.Table // has the rows that say how much
	By      string          // column that has the Value; empty: they are all meant
	Amount  string          // column; empty: each row stands for one
	Each    []Worth         // what each row stands for where no column says it; nil: one does, or it is one
	Falls   bool            // by as much, or it rises
	Counted Counting        // which rows say something
}

// Name is table.column.
func (b Book) Name() string { return b.Of.FullName() + "." + b.Number }

// SameNumber reports that it is the same number, whatever is written down.
func (b Book) SameNumber(o Book) bool {
	return b.Name() == o.Name() && b.Total == o.Total && b.which() == o.which()
}

// called are the names of the effects: the columns', and which row it is where there are others of one. No two are the same, and none is that
// of an effect which counts rows.
func called(f *File) (names []string) {
	taken := map[string]bool{}
	for _, c := range f.Children {
		taken[c.name(f.Children)] = true
	}
	for _, b := range f.Proof.Books {
		name := Slug(b.Name())
		if slices.ContainsFunc(f.Proof.Books, func(o Book) bool { return o.Name() == b.Name() && o.which() != b.which() }) {
			name = Slug(b.Name() + " of " + b.which())
		}
		free := name
		for n := 2; taken[free]; n++ { // a long name is cut
			free = fmt.Sprintf("%s-%d", name, n)
		}
		taken[free] = true
		names = append(names, free)
	}
	return names
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
	Body
	Said string            // all that its body says
	Row  map[string]string // the created one
}

// numeric are the numbers in a row's columns, but for those that are keys.
func numeric(t databases.Table, row map[string]string) map[string]float64 {
	all := map[string]float64{}
	for _, c := range t.Columns {
		if n, err := strconv.ParseFloat(row[c.Name], 64); err == nil && countsOrMeasures(t, c) {
			all[c.Name] = n
		}
	}
	return all
}

// countsOrMeasures reports that a column holds numbers that are no keys.
func countsOrMeasures(t databases.Table, c databases.Column) bool {
	return c.HoldsNumber() && !slices.Contains(t.Primary, c.Name) && !idLike.MatchString(c.Name) &&
		!slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
}

// StandingIn reads a row that entries refer to.
func StandingIn(b Book, row map[string]string) Standing {
	numbers := numeric(b.Of, row)
	maps.Copy(numbers, datesIn(b.Of, row))
	maps.Copy(numbers, datesIn(endsIn(b.Of, row)))
	maps.Copy(numbers, gathered(b.Of, row))
	return Standing{Book: b, Numbers: numbers}
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

// BooksIn finds which columns change by what entries say, in all postings. A column that changes by one with each create is unsure where an
// amount was one in all of them.
func BooksIn(postings []Posting) (all []Book, unsure []string) {
	if len(postings) == 0 {
		return nil, nil
	}
	first := postings[0]
	for _, number := range first.Before.numberNames() {
		if first.changed(number) == 0 || CountsRequests(number) && !IsDate(number) {
			continue
		}
		var found []Book
		for _, amount := range append(slices.Clone(first.Before.Entries.Columns), databases.Column{}) {
			if slices.ContainsFunc(namedWords(amount.Name), stateWord.MatchString) { // a code is no amount
				continue
			}
			for _, falls := range []bool{true, false} {
				if explains(postings, number, amount.Name, falls) && (amount.Name != "" || inItsUnit(postings, number)) {
					b := first.Before.Book
					b.Number, b.Amount, b.Falls = number, amount.Name, falls
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

// Lags reports that a number has changed by what all postings say together until later, and not by what each of them says: it is changed some
// time after the answers, and a posting has seen what others did.
func Lags(postings []Posting, later Standing) bool {
	if len(postings) == 0 {
		return false
	}
	whole := postings[0]
	whole.After = later
	for _, p := range postings[1:] {
		whole.Entry = whole.plus(p.Entry)
	}
	apart, _ := BooksIn(postings)
	together, _ := BooksIn([]Posting{whole})
	return slices.ContainsFunc(together, func(b Book) bool { return !slices.ContainsFunc(apart, b.SameNumber) })
}

// plus sums what two creates have written down.
func (e Entry) plus(o Entry) Entry {
	sum := Entry{Rows: e.Rows + o.Rows, Sums: maps.Clone(o.Sums)}
	for column, n := range e.Sums {
		sum.Sums[column] += n
	}
	return sum
}

// countsRequests matches words in what columns are called that may change with a request that creates nothing: one that is refused, or one
// that loses a race and has drawn a number by then.
var countsRequests = regexp.MustCompile(`^(version|revision|rev|lock|attempt|request|call|seen|visit|hit|view|access|login|try|tries|retry|retries|write|update|change|seq|sequence|serial|next|last)s?$`)

// CountsRequests reports that a column is called so that it may change with a request that creates nothing.
func CountsRequests(column string) bool {
	return slices.ContainsFunc(namedWords(column), countsRequests.MatchString)
}

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
			refers := slices.Contains(t.Refers, databases.Reference{Column: c.Name, Schema: of.Schema, Table: of.FullName(), Theirs: key}) || namesKey(c.Name, of.Name, key)
			if refers && quotable.MatchString(row[c.Name]) {
				all = append(all, Book{Of: of, Key: key, Value: row[c.Name], Entries: t, By: c.Name})
			}
		}
	}
	return all
}

// quotable matches a value that can stand between quotes in a query of any database.
var quotable = regexp.MustCompile(`^[\pL\pN ._@+/-]+$`)

// Varied reports that not all creates said the same amount. Where they did, another amount may change the number in another way.
func (b Book) Varied(postings []Posting) bool {
	return slices.ContainsFunc(postings, func(p Posting) bool { return p.Sums[b.Amount] != postings[0].Sums[b.Amount] })
}

// Amounts are other values of the numbers in the body, and then of those in a text, but for those that identify a thing. None is the
// altered body's.
func Amounts(f *File) []Other {
	var numbers, texts []Other
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		other := Other{pointer, larger(larger(value))}
		_, isText := value.(string)
		switch {
		case other.Value == nil || idLike.MatchString(name) || f.Draft.Templates[pointer] != "" || f.Draft.document(pointer):
		case isText:
			texts = append(texts, other)
		default:
			numbers = append(numbers, other)
		}
	})
	return append(numbers, texts...)
}

// namesKey reports that a column is called as the key of a table is, alone or behind the table's name in the singular.
func namesKey(column, table, key string) bool {
	table = strings.TrimSuffix(squeezed(table), "s")
	return squeezed(column) == squeezed(key) && squeezed(key) != "id" || squeezed(column) == table+squeezed(key)
}

// books writes the numbers that many creates have in common.
func books(f *File) {
	called := called(f)
	for i, b := range f.Proof.Books {
		name, amount := f.Dialect.Name, "count(*)"
		entries := f.Dialect.TableName(b.Entries)
		said := "rows of " + b.Entries.FullName()
		switch {
		case b.Amount != "":
			amount, said = fmt.Sprintf("coalesce(sum(%s.%s), 0)", entries, name(b.Amount)), b.Entries.FullName()+"."+b.Amount
		case b.Each != nil:
			amount, said = b.sum(f.Dialect), said+", of which each has changed it by "+b.Worths()+","
		}
		sign := "-"
		if b.Falls {
			sign = "+"
		}
		var conditions []string
		if b.By != "" {
			conditions = append(conditions, fmt.Sprintf("%s.%s = '%s'", entries, name(b.By), b.Value))
		}
		if b.Counted.Condition != "" {
			conditions = append(conditions, b.Counted.Condition)
		}
		if done := f.Proof.done(f.Dialect); done != "" && b.Counted.Condition == "" && b.Entries.FullName() == f.Proof.Table.FullName() {
			conditions = append(conditions, done)
		}
		where := ""
		if len(conditions) > 0 {
			where = " where " + strings.Join(conditions, " and ")
		}
		f.line("      - name: %s # it and %s stay the same together", literal(called[i]), inert.Comment(said))
		number, from := b.from(f.Dialect)
		f.line("        query: %s", literal(fmt.Sprintf("select %s from %s", b.exactly(f.Dialect, fmt.Sprintf("%s %s (select %s from %s%s)", number, sign, amount, entries, where)), from)))
		f.line("        delta: 0")
	}
}

// exactly is a number and the sum that goes with it such that nothing but a create's effect changes them: what is unsigned in MariaDB may not
// fall below zero, and floating-point numbers do not add up to the last digit.
func (b Book) exactly(d databases.Dialect, together string) string {
	switch {
	case b.whole():
		if d == databases.MariaDB {
			return "0.0 + " + together
		}
		return together
	case d == databases.PostgreSQL:
		return "round(cast(" + together + " as numeric), 4)"
	default:
		return "round(0.0 + " + together + ", 4)"
	}
}

// whole reports that the number, and what is summed up, are whole numbers.
func (b Book) whole() bool {
	if slices.ContainsFunc(b.Each, func(w Worth) bool { return w.By != math.Trunc(w.By) }) {
		return false
	}
	if fractional(b.Number) {
		return false
	}
	return !slices.ContainsFunc(append(slices.Clone(b.Of.Columns), b.Entries.Columns...), func(c databases.Column) bool {
		return (c.Name == b.Number || c.Name == b.Amount) && !wholeType.MatchString(c.Type)
	})
}

// wholeType matches the types of whole numbers.
var wholeType = regexp.MustCompile(`(?i)int|serial`)

// Coarse reports that the number is a floating-point number of few digits, which loses what many creates add to it.
func (b Book) Coarse(d databases.Dialect) bool {
	few := map[databases.Dialect]string{databases.PostgreSQL: "real", databases.MariaDB: "float"}[d]
	return slices.ContainsFunc(b.Of.Columns, func(c databases.Column) bool {
		return c.Name == b.Number && few != "" && strings.HasPrefix(strings.ToLower(c.Type), few)
	})
}

// Sure reports that only what the rows say changes the number. One that rises by one with each row may count all of them, where only some
// stand for something. One of what is held for a while falls when a row moves on.
func (b Book) Sure() bool {
	counts := b.Amount == "" && b.Each == nil && !b.Falls && b.Counted.Condition != ""
	return b.Counted.Told && !counts && !(b.Counted.Moves && passing.MatchString(b.Number))
}

// passing matches what numbers are called that stand for what is held until it moves on.
var passing = regexp.MustCompile(`(?i)held|hold|reserv|pend|block|fr[eo]ez|alloc|outstanding|progress|flight|transit|open|due|queue|wait|author`)
