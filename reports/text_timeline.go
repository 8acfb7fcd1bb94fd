package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// Marks on a bar.
const (
	begins   = '├'
	wrote    = 'w'
	arrived  = '▼'
	answered = '▲'
	heard    = '┤'
	unknown  = '╳'
	flying   = '─'
	beyond   = '·' // the target went on after the client gave up
	endless  = '┄'
	cut      = '┊'
)

// Columns of the pieces of an axis.
const (
	cutColumns   = 3
	leastColumns = 6
)

// axis is one scale for all attempts of a finding. Idle time, as between a race and the final
// retry, is cut out: what matters may be a thousandth of it.
type axis struct {
	zero    history.Offset
	pieces  []piece
	columns int
}

// piece is a stretch of time in which something was under way, and the columns that show it.
type piece struct {
	from, to    history.Offset
	first, last int
}

// newAxis returns an axis on which all moments of these attempts have a column. Its labels count
// from zero.
func newAxis(attempts []history.Attempt, zero history.Offset, columns int) axis {
	x := axis{columns: columns, zero: zero, pieces: busy(attempts)}
	if len(x.pieces) > 0 {
		x.pieces = merge(x.pieces, columns)
		x.lay()
	}
	return x
}

// busy returns the stretches of time in which an attempt was under way, disjoint and in order.
func busy(attempts []history.Attempt) []piece {
	var spans []piece
	for _, a := range attempts {
		if m := moments(a); len(m) > 0 {
			spans = append(spans, piece{from: slices.Min(m), to: slices.Max(m)})
		}
	}
	slices.SortFunc(spans, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	var disjoint []piece
	for _, s := range spans {
		if n := len(disjoint); n > 0 && s.from <= disjoint[n-1].to {
			disjoint[n-1].to = max(disjoint[n-1].to, s.to)
			continue
		}
		disjoint = append(disjoint, s)
	}
	return disjoint
}

// merge closes all gaps but those that are long beside the busy time, and of these keeps only as
// many as the columns can show.
func merge(pieces []piece, columns int) []piece {
	var active float64
	var gaps []history.Offset
	for i, p := range pieces {
		active += float64(p.to - p.from)
		if i > 0 {
			gaps = append(gaps, p.from-pieces[i-1].to)
		}
	}
	slices.SortFunc(gaps, func(a, b history.Offset) int { return cmp.Compare(b, a) })
	gaps = gaps[:min(len(gaps), columns/16)]
	merged := pieces[:1]
	for _, p := range pieces[1:] {
		last := &merged[len(merged)-1]
		gap := p.from - last.to
		if at := slices.Index(gaps, gap); at >= 0 && float64(gap) > active/2 {
			gaps = slices.Delete(gaps, at, at+1)
			merged = append(merged, p)
			continue
		}
		last.to = p.to
	}
	return merged
}

// lay deals the columns out: each piece gets a few, the rest goes by the time that a piece lasts.
func (x *axis) lay() {
	var total float64
	for _, p := range x.pieces {
		total += float64(p.to - p.from)
	}
	spare := x.columns - len(x.pieces)*leastColumns - (len(x.pieces)-1)*cutColumns
	next := 0
	for i := range x.pieces {
		p := &x.pieces[i]
		share := 1 / float64(len(x.pieces))
		if total > 0 {
			share = float64(p.to-p.from) / total
		}
		p.first = next
		p.last = next + leastColumns + int(share*float64(spare)) - 1
		next = p.last + 1 + cutColumns
	}
	x.pieces[len(x.pieces)-1].last = x.columns - 1
}

// column returns where a moment stands.
func (x axis) column(o history.Offset) int {
	for i, p := range x.pieces {
		if o > p.to && i < len(x.pieces)-1 {
			continue
		}
		length := float64(p.to) - float64(p.from)
		if length <= 0 || o <= p.from {
			return p.first
		}
		at := (float64(o) - float64(p.from)) / length * float64(p.last-p.first)
		return min(p.first+int(at+0.5), p.last)
	}
	return 0
}

// header labels the pieces with the time since the first attempt started.
func (x axis) header() string {
	line := []rune(strings.Repeat(" ", x.columns))
	for i, p := range x.pieces {
		from, to := []rune(duration(p.from-x.zero)), []rune(duration(p.to-x.zero))
		copy(line[p.first:p.last+1], from)
		if room := p.last - p.first - len(from); len(to) < room && p.to > p.from {
			copy(line[p.last+1-len(to):], to)
		}
		if i > 0 {
			line[p.first-cutColumns/2-1] = cut
		}
	}
	return string(line)
}

// bar draws one attempt, always over all columns of the axis.
func (x axis) bar(a history.Attempt) string {
	line := []rune(strings.Repeat(" ", x.columns))
	for _, p := range x.pieces[min(1, len(x.pieces)):] {
		line[p.first-cutColumns/2-1] = cut
	}
	m := moments(a)
	if len(m) == 0 || len(x.pieces) == 0 {
		return string(line)
	}
	x.flight(line, a, m)
	x.passage(line, a)
	line[x.column(m[0])] = begins
	if a.End != 0 {
		line[x.column(a.End)] = ending(a)
	}
	return string(line)
}

// ending is the mark at which an attempt is over for its client.
func ending(a history.Attempt) rune {
	if a.Complete {
		return heard
	}
	return unknown
}

// flight draws how long an attempt took. Without an end it runs to the edge; the target may go on after its client.
func (x axis) flight(line []rune, a history.Attempt, m []history.Offset) {
	over := a.End
	if over == 0 {
		over = slices.Max(m)
		fill(line, x.column(over), x.columns-1, endless)
	}
	fill(line, x.column(over), x.column(slices.Max(m)), beyond)
	fill(line, x.column(m[0]), x.column(over), flying)
}

// passage marks what the proxy saw. Without a passage there is nothing to mark but the written request.
func (x axis) passage(line []rune, a history.Attempt) {
	set := func(at history.Offset, mark rune) {
		if at != 0 {
			line[x.column(at)] = mark
		}
	}
	set(a.Wrote, wrote)
	if p := a.Passage; p != nil {
		set(p.Arrived, arrived)
		set(p.Answered, answered)
	}
}

// fill repeats a mark from one column to another, both included.
func fill(line []rune, from, to int, with rune) {
	for i := from; i <= to && i < len(line); i++ {
		line[i] = with
	}
}

// legend explains the marks that stand on the bars.
func legend(bars []string) string {
	var parts []string
	drawn := strings.Join(bars, "")
	for _, entry := range []struct {
		mark rune
		text string
	}{
		{begins, momentText(momentBegun)}, {wrote, momentText(momentWritten)}, {arrived, momentText(momentArrived)},
		{answered, momentText(momentAnswered)}, {heard, momentText(momentHeard)}, {unknown, "client gets no answer"},
		{beyond, momentText(momentGone)}, {endless, momentText(momentEndless)}, {cut, idleText},
	} {
		if strings.ContainsRune(drawn, entry.mark) {
			parts = append(parts, fmt.Sprintf("%c %s", entry.mark, entry.text))
		}
	}
	return strings.Join(parts, "   ")
}
