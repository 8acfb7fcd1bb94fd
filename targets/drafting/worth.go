package drafting

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Body is which body a create had.
type Body int

// The bodies that creates have which are sent to find shared numbers.
const (
	OwnBody     Body = iota // the draft's
	OtherAmount             // one with another amount, which runs do not send
	OtherBody               // the one that runs send as another body
)

// Worth is by how much a create changes a number where no column of its row says it. Cell is what its row has, and those of other bodies have
// not; none: all bodies change it by as much.
type Worth struct {
	By float64
	Cell
}

// ownToKnow is how many creates with the same body have to change a number by as much.
const ownToKnow = 3

// WorthIn finds by how much creates change a number that they do not change by what they write down: creates with the same body do so by the
// same. Where those with another body do otherwise, a column has to tell their rows apart. SentToo says that such a one was done; false: none was,
// though runs may send it. None: it is not known.
func WorthIn(postings []Posting, number, column string, sentToo bool) (b Book, known bool) {
	own, by := allBy(postings, number, OwnBody)
	other, otherBy := allBy(postings, number, OtherBody)
	if len(own) < ownToKnow || by == 0 || math.IsNaN(by) || math.IsNaN(otherBy) || !sentToo || carries(postings, number) {
		return Book{}, false
	}
	b = own[0].Before.Book
	b.Number = number
	b.Each = []Worth{{By: by}}
	if len(other) > 0 && math.Abs(otherBy-by) > 1e-6 {
		of := column != "" && databases.Column{Name: column, Type: b.Entries.TypeOf(column)}.Type != ""
		mine, others := oneValue(own, column), oneValue(other, column)
		if !of || mine == "" || others == "" || mine == others || fewDigits.MatchString(b.Entries.TypeOf(column)) {
			return Book{}, false
		}
		b.Each = []Worth{{by, Cell{column, mine}}, {otherBy, Cell{column, others}}}
	}
	if b.Falls = by < 0; b.Falls {
		for n := range b.Each {
			b.Each[n].By = -b.Each[n].By
		}
	}
	return b, true
}

// carries reports that creates with one body have changed a number differently, as where what is left over from one counts for the next.
func carries(postings []Posting, number string) bool {
	return slices.ContainsFunc(postings, func(a Posting) bool {
		return slices.ContainsFunc(postings, func(b Posting) bool {
			return a.Said == b.Said && math.Abs(a.changed(number)-b.changed(number)) > 1e-6
		})
	})
}

// Halfway are other values of the numbers in the body: larger by half of what goes with one of a number that creates change. Of two such creates,
// one changes it by one more where what is left over from the first counts for the second.
func Halfway(f *File, p Posting, number string) (others []Other) {
	by := math.Abs(p.changed(number))
	for _, other := range Amounts(f) {
		value, _ := jsonpointer.Resolve(f.Draft.Body, other.Pointer)
		whole, is := value.(int64)
		if half := math.Floor(math.Abs(float64(whole)) / by / 2); is && half >= 1 && half < 1e12 {
			others = append(others, Other{other.Pointer, whole + int64(half)})
		}
	}
	return others
}

// fewDigits matches types of floating-point numbers of few digits: a value that is read from them is not what they hold.
var fewDigits = regexp.MustCompile(`(?i)^(real|float)`)

// allBy are the postings of creates with a body, and by how much each row of theirs has changed a number; NaN: not all by the same, or by what
// has too many digits to be added up.
func allBy(postings []Posting, number string, body Body) (all []Posting, by float64) {
	for _, p := range postings {
		if p.Body != body || p.Rows == 0 {
			continue
		}
		each := p.changed(number) / float64(p.Rows)
		rounded := math.Round(each*1e4) / 1e4
		if math.Abs(each-rounded) > 1e-6 || len(all) > 0 && rounded != by {
			return all, math.NaN()
		}
		all, by = append(all, p), rounded
	}
	return all, by
}

// oneValue is what all rows of creates have in a column, where it can stand in a query; empty: they have not.
func oneValue(postings []Posting, column string) string {
	value := postings[0].Row[column]
	if !quotable.MatchString(value) || slices.ContainsFunc(postings, func(p Posting) bool { return p.Row[column] != value }) {
		return ""
	}
	return value
}

// BodySays reports that creates with different bodies have changed a number differently, so that it does not count requests.
func BodySays(postings []Posting, number string) bool {
	return slices.ContainsFunc(postings, func(p Posting) bool {
		return p.Body != OwnBody && math.Abs(p.changed(number)-postings[0].changed(number)) > 1e-6
	})
}

// sum is what all rows of a table are worth.
func (b Book) sum(d databases.Dialect) string {
	entries := d.TableName(b.Entries)
	if len(b.Each) == 1 {
		return digitsOf(b.Each[0].By) + " * count(*)"
	}
	var cases []string
	for _, w := range b.Each {
		value := "'" + w.Value + "'"
		if d != databases.PostgreSQL && (databases.Column{Type: b.Entries.TypeOf(w.Column)}).HoldsNumber() {
			value = w.Value
		}
		cases = append(cases, fmt.Sprintf("when %s.%s = %s then %s", entries, d.Name(w.Column), value, digitsOf(w.By)))
	}
	return fmt.Sprintf("coalesce(sum(case %s else 0 end), 0)", strings.Join(cases, " "))
}

// Worths says by how much a create changes the number.
func (b Book) Worths() string {
	var said []string
	for _, w := range b.Each {
		by := w.By
		if b.Falls {
			by = -by
		}
		one := digitsOf(by)
		if w.Column != "" {
			one += fmt.Sprintf(" (%s %s)", w.Column, w.Value)
		}
		said = append(said, one)
	}
	return strings.Join(said, " or ")
}

// digitsOf writes a number without an exponent.
func digitsOf(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// Met are the rows of other tables that a row may name by what tells theirs apart, such as a customer by the e-mail address, although no constraint
// and no column's name says so: by a text that all creates have in common.
func Met(f *File, tables []databases.Table, t databases.Table, row map[string]string) (all []Book) {
	for _, of := range tables {
		if of.FullName() == t.FullName() || of.FullName() == f.Proof.Table.FullName() {
			continue
		}
		for _, key := range of.Keys() {
			if len(key) != 1 || (databases.Column{Type: of.TypeOf(key[0])}).HoldsNumber() {
				continue
			}
			for _, c := range t.Columns {
				value := row[c.Name]
				if !c.HoldsNumber() && !moment.MatchString(c.Type) && quotable.MatchString(value) && !plainNumber.MatchString(value) && inCommon(f, t, c.Name, value) {
					all = append(all, Book{Of: of, Key: key[0], Value: value, Entries: t, By: c.Name})
				}
			}
		}
	}
	return all
}

// inCommon reports that the rows of all creates have a value in a column: the first one's had it, or the body says it.
func inCommon(f *File, t databases.Table, column, value string) bool {
	if t.FullName() == f.Proof.Table.FullName() {
		return f.Proof.Row[column] == value
	}
	said := false
	Scalars("", f.Draft.Body, func(pointer string, member any) {
		said = said || f.Draft.Templates[pointer] == "" && fmt.Sprint(member) == value
	})
	return said
}

// AtATime reports that a column is called as one that holds when something was: it changes with each create, and by no amount.
func AtATime(column string) bool { return itsOwn.MatchString(column) }
