package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Count is how many rows a create has made in a table.
type Count struct {
	Rows      int
	Different int // of them, by what they hold; 0: not known
}

// MayCount reports that a create was seen to make rows in other tables that may be effects of it.
func MayCount(f File) bool {
	return slices.ContainsFunc(f.Children, Child.counts) || f.Proof != nil && slices.ContainsFunc(f.Proof.Others, Beside.counts)
}

// counts reports that the rows may be effects of a create, and are no log.
func (c Child) counts() bool {
	return c.Rows > 0 && (!bookkeeping.MatchString(c.Table.Name) || HoldsMessages(c.Table))
}

func (b Beside) counts() bool { return b.Rows > 0 && HoldsMessages(b.Table) }

func (c Child) atMost() bool { return atMost(c.Table, c.Rows, c.Again, c.Uneven) }

func (b Beside) atMost() bool { return atMost(b.Table, b.Rows, b.Again, b.Uneven) }

// Fewer takes the least of the rows that equal creates have made for those of one create. A create that makes one has a row of its own, that
// its answer may name.
func Fewer(f *File, rows []int) {
	p, least := f.Proof, slices.Min(rows)
	if least == slices.Max(rows) {
		return
	}
	how := "The row query takes each row for one create; if one may make more, let it give one row for each create"
	if least > 1 {
		how = fmt.Sprintf("The file has the least, %d", least)
	}
	f.Doubt("%s. %s.", uneven(p.Table.FullName(), rows), how)
	switch s := p.Several; {
	case least > 1:
		p.Several.Rows = s.Rows[:min(least, len(s.Rows))]
	case s.identity != "":
		p.Identity, p.Shown, p.Several = s.identity, s.shown, Several{}
	default:
		p.Several = Several{}
	}
}

// SettleChild takes what equal creates have made in a table that refers to the created row for what one is to make: the least, where some made
// more. That is not known where more came all the while, or some made none.
func SettleChild(f *File, n int, counts []Count, quiet bool) {
	c := &f.Children[n]
	rows := made(counts, HoldsMessages(c.Table))
	if !c.counts() || len(rows) == 0 {
		return
	}
	switch least := slices.Min(rows); {
	case least == slices.Max(rows):
		c.Rows = least
	case least == 0:
		f.Doubt("%s. So they are not counted.", uneven(c.Table.FullName(), rows))
		c.Varies = true
	case !quiet:
		f.Doubt("How many rows a create makes in %s: their number changes by itself, so they are not counted.", c.Table.FullName())
		c.Varies = true
	default:
		f.Doubt("%s. The file has the least, %d; if there may be more, leave the effect out.", uneven(c.Table.FullName(), rows), least)
		c.Rows, c.Uneven = least, true
	}
	if different := differentIn(f, c.Table, c.Rows, counts); different > 0 && !c.Varies {
		c.Rows, c.Uneven = different, true
	}
}

// SettleOther does that for another table that holds the marker, if its rows are messages.
func SettleOther(f *File, n int, counts []Count, quiet bool) {
	o := &f.Proof.Others[n]
	rows := made(counts, true)
	if !o.counts() || len(rows) == 0 {
		return
	}
	switch least := slices.Min(rows); {
	case least == slices.Max(rows):
		o.Rows = least
	case quiet:
		f.Doubt("%s. The file has the least, %d; if there may be more, leave the effect out.", uneven(o.Table.FullName(), rows), least)
		o.Rows, o.Uneven = least, true
	}
	if different := differentIn(f, o.Table, o.Rows, counts); different > 0 {
		o.Rows, o.Uneven = different, true
	}
}

// made are the numbers of rows, without those of messages of which there are none: they may have been taken away.
func made(counts []Count, messages bool) (all []int) {
	for _, c := range counts {
		if c.Rows > 0 || !messages {
			all = append(all, c.Rows)
		}
	}
	return all
}

// differentIn is how many of the messages of one create differ, where it made some of them again though it was sent once; 0: it did not.
func differentIn(f *File, t databases.Table, rows int, counts []Count) int {
	most := 0
	for _, c := range counts {
		most = max(most, c.Different)
	}
	if most == 0 || most >= rows {
		return 0
	}
	f.Doubt("How many rows a create makes in %s: each that was sent once made %d, of which some differ in nothing but their numbers and times. The file has those that differ, %d; if there may be more, leave the effect out.", t.FullName(), rows, most)
	return most
}

// itsOwn matches names of columns by which rows that say the same differ.
var itsOwn = regexp.MustCompile(`(?i)^at$|_at$|[a-z]At$|time|date`)

// Different counts the messages of one create that differ by what they hold, besides by what refers to the created row. Their numbers and times
// say nothing; 0: they hold nothing else, or the table has no messages that are sent.
func Different(t databases.Table, refers string, rows []map[string]string) int {
	if !sending.MatchString(t.Name) || !HoldsMessages(t) {
		return 0
	}
	own := append([]string{refers}, t.Primary...)
	for _, unique := range t.Unique {
		own = append(own, unique...)
	}
	different, holds := map[string]bool{}, false
	for _, row := range rows {
		var said []string
		for _, c := range t.Columns {
			if !slices.Contains(own, c.Name) && !moment.MatchString(c.Type) && !itsOwn.MatchString(c.Name) {
				said = append(said, row[c.Name])
				holds = holds || row[c.Name] != ""
			}
		}
		different[fmt.Sprintf("%q", said)] = true
	}
	if !holds {
		return 0
	}
	return len(different)
}

// uneven begins a doubt about how many rows a create makes.
func uneven(table string, rows []int) string {
	var different []string
	for _, n := range slices.Compact(slices.Sorted(slices.Values(rows))) {
		different = append(different, fmt.Sprint(n))
	}
	last := len(different) - 1
	return fmt.Sprintf("How many rows a create makes in %s: equal creates made %s and %s rows: of creates that were each sent once, some made more than others",
		table, strings.Join(different[:last], ", "), different[last])
}
