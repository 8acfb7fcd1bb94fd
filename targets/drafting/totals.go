package drafting

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Cell is a value in a column.
type Cell struct{ Column, Value string }

var (
	// periodWord matches words in what columns are called that say which day or hour it is, or another time: another row comes after it.
	periodWord = regexp.MustCompile(`^(day|date|hour|minute|month|week|quarter|year|period|bucket|window|slot|time|timestamp)s?$`)
	// periodValue matches texts that are a day or another time.
	periodValue = regexp.MustCompile(`^\d{4}-?(0\d|1[0-2])(-?[0-3]\d([T ].*)?)?$`)
	// numbering matches words in what tables, their columns and rows are called that give each thing its number: one that loses a race may have
	// drawn one by then.
	numbering = regexp.MustCompile(`^(seq|sequence|serial|number|no|nr|next|last)s?$`)
)

// period reports that a column says which time a row is for.
func period(c databases.Column, value string) bool {
	return moment.MatchString(c.Type) || slices.ContainsFunc(namedWords(c.Name), periodWord.MatchString) || periodValue.MatchString(value) && !c.HoldsNumber()
}

// SummedColumns are the columns that are read of a table to find totals in it; none: it holds no number that may be one.
func SummedColumns(t databases.Table) (columns []string) {
	holds := false
	keys := slices.Concat(t.Keys()...)
	for _, c := range t.Columns {
		key := slices.Contains(keys, c.Name)
		number := !key && (countsOrMeasures(t, c) || documents(c))
		holds = holds || number
		if key || number || moment.MatchString(c.Type) || slices.ContainsFunc(namedWords(c.Name), periodWord.MatchString) {
			columns = append(columns, c.Name)
		}
	}
	if !holds {
		return nil
	}
	return columns
}

// TotalsIn sums the numbers of a small table by what its rows are for. A row for a day is one of several, and another one comes after it, so
// that those for all days are summed. A row that no text can name is left out, and so is a table whose rows nothing tells apart.
func TotalsIn(t databases.Table, rows []map[string]string) (all []Standing) {
	for _, row := range rows {
		cells, known := cellsOf(t, row, len(rows) == 1)
		if !known {
			continue
		}
		b := Book{Of: t, Total: true, Where: cells}
		at := slices.IndexFunc(all, func(s Standing) bool { return slices.Equal(s.Where, cells) })
		if at < 0 {
			at, all = len(all), append(all, Standing{Book: b, Numbers: map[string]float64{}})
			if _, timed := toldApart(t, row); !timed { // of several rows, one may hold no number
				all[at].Numbers = gathered(t, row)
			}
		}
		for column, n := range numeric(t, row) {
			all[at].Numbers[column] = math.Round((all[at].Numbers[column]+n)*1e6) / 1e6 // in whatever order they are summed
		}
	}
	return all
}

// cellsOf is what a row of a table is for, but for the time.
func cellsOf(t databases.Table, row map[string]string, alone bool) (cells []Cell, known bool) {
	key, timed := toldApart(t, row)
	for _, c := range t.Columns {
		switch value, set := row[c.Name]; {
		case !slices.Contains(key, c.Name), timed && (period(c, value) || c.HoldsNumber()):
		case !set || !quotable.MatchString(value):
			return nil, false
		default:
			cells = append(cells, Cell{c.Name, value})
		}
	}
	return cells, len(cells) > 0 || timed || alone
}

// toldApart are the columns that tell the rows of a table apart, and whether they have a time among them: those that do come first, and then
// texts.
func toldApart(t databases.Table, row map[string]string) (key []string, timed bool) {
	column := func(name string) databases.Column { return databases.Column{Name: name, Type: t.TypeOf(name)} }
	keys := t.Keys()
	for _, key := range keys {
		if slices.ContainsFunc(key, func(name string) bool { return period(column(name), row[name]) }) {
			return key, true
		}
	}
	for _, c := range t.Columns { // a day that no constraint knows
		if strings.EqualFold(c.Type, "date") || slices.ContainsFunc(namedWords(c.Name), periodWord.MatchString) && periodValue.MatchString(row[c.Name]) && len(row[c.Name]) <= len("2026-11-27") {
			return []string{c.Name}, true
		}
	}
	for _, key := range keys {
		if !slices.ContainsFunc(key, func(name string) bool { return column(name).HoldsNumber() }) {
			return key, false
		}
	}
	if len(keys) > 0 {
		return keys[0], false
	}
	return nil, false
}

// SameRows reports that it is the same total, whatever number of it.
func (b Book) SameRows(o Book) bool {
	return b.Of.FullName() == o.Of.FullName() && slices.Equal(b.Where, o.Where)
}

// Moved are the totals that are not as they were.
func Moved(was, is []Standing) (moved []Standing) {
	for _, now := range is {
		if slices.ContainsFunc(was, func(before Standing) bool { return before.SameRows(now.Book) && !before.Unchanged(now) }) {
			moved = append(moved, now)
		}
	}
	return moved
}

// Over is a total of what the rows of a table say. Where such a row has a text that says what the total is for, only those that have it count.
func (b Book) Over(t databases.Table, row map[string]string) Book {
	b.Entries = t
	for _, cell := range b.Where {
		for _, c := range t.Columns {
			if b.By == "" && row[c.Name] == cell.Value && !plainNumber.MatchString(cell.Value) {
				b.By, b.Value = c.Name, cell.Value
			}
		}
	}
	return b
}

// which says what the row is that has the number, or what a total is for.
func (b Book) which() string {
	values := []string{}
	for _, cell := range b.Where {
		values = append(values, cell.Value)
	}
	if !b.Total {
		values = append(values, b.Value)
	}
	return strings.Join(values, " ")
}

// Changing are the numbers of a row that changed with each of several creates, but for those that are called as what counts requests. Those with
// another body may have changed another row.
func Changing(postings []Posting) (numbers []string) {
	if len(postings) == 0 {
		return nil
	}
	for _, number := range postings[0].Before.numberNames() {
		still := func(p Posting) bool { return p.Body == OwnBody && p.changed(number) == 0 }
		if !slices.ContainsFunc(postings, still) && (IsDate(number) && (len(postings) < ownToKnow || inItsUnit(postings, number)) || !IsDate(number) && !CountsRequests(number)) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// Drawn reports that a number which rises by one with each create may be what gives each its number: it is called so, or a column of each
// created row has it. One that the database itself numbers the rows in has it by chance. Made are the rows of the postings.
func (b Book) Drawn(postings []Posting, made []Seen, created databases.Table, numbered string) bool {
	if b.Amount != "" {
		return false
	}
	if b.Each != nil {
		made = nil // a number has another one after it
	}
	names := append(namedWords(b.Of.Name), namedWords(b.Number)...)
	if slices.ContainsFunc(append(names, namedWords(b.which())...), numbering.MatchString) {
		return true
	}
	return len(made) == len(postings) && slices.ContainsFunc(created.Columns, func(c databases.Column) bool {
		if c.Name == numbered {
			return false
		}
		return hasNumber(b.Number, c.Name, postings, made, func(p Posting) Standing { return p.Before }) ||
			hasNumber(b.Number, c.Name, postings, made, func(p Posting) Standing { return p.After })
	})
}

// numeral matches the numbers in a text.
var numeral = regexp.MustCompile(`\d+`)

// hasNumber reports that each created row has in a column the number that stood before it, or after it.
func hasNumber(number, column string, postings []Posting, made []Seen, of func(Posting) Standing) bool {
	for i, p := range postings {
		if !slices.ContainsFunc(numeral.FindAllString(made[i].Then[column], -1), func(text string) bool {
			n, err := strconv.ParseFloat(text, 64)
			return err == nil && n == of(p).Numbers[number]
		}) {
			return false
		}
	}
	return len(postings) > 0
}

// from is the number, or the sum of those of a total, and in which rows it is.
func (b Book) from(d databases.Dialect) (number, from string) {
	of := d.TableName(b.Of)
	number, from = numberIn(d, of, b.Number), of
	cells := b.Where
	if b.Total {
		number = fmt.Sprintf("coalesce(sum(%s), 0)", number)
	} else {
		cells = []Cell{{b.Key, b.Value}}
	}
	for i, cell := range cells {
		word := "and"
		if i == 0 {
			word = "where"
		}
		from += fmt.Sprintf(" %s %s.%s = '%s'", word, of, d.Name(cell.Column), cell.Value)
	}
	return number, from
}
