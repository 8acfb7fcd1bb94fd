package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// Pixels of a time line from its top.
const (
	laneHeight = 48
	axisHeight = 40
)

// Percent of a time line's width.
const (
	scaleEnd     = 96.0 // the rest is for the rows that are read last
	cutWidth     = 5.0
	leastWide    = 7.0
	labelSpacing = 17.0
	lastLook     = 99.0
)

// mostTicks is how many labels fit between two ends of an axis.
const mostTicks = 7

// mostCuts is how often idle time is left out of a time line.
const mostCuts = 4

// timeline is the attempts of a finding as lanes on one time axis.
type timeline struct {
	Anchor      string
	Title, Desc string
	Height      int
	Ticks       []tick
	Cuts        []string
	Looks       []look
	Reads       bool // one of them is not that at which the finding showed, so that the legend explains it
	Lanes       []lane
	Legend      []glyph
	More        string       // how many attempts it does not draw; empty: it draws all
	All         *findingLink // where they are drawn; nil: in the report as JSON
}

// tick is a labelled moment of the axis.
type tick struct{ X, Anchor, Text string }

// look is a snapshot of the database.
type look struct {
	X, Anchor, Text string
	Shown           bool // it is the one at which the finding showed
}

// lane is one attempt.
type lane struct {
	Top                       int
	ID, Network, Sent, Answer string
	Tone                      tone
	Spans                     []span
	Marks                     []glyph
}

// span is something that took a while.
type span struct{ Class, X, Width, Text string }

// newTimeline draws the attempts of a finding.
func newTimeline(f checker.Finding, e evidence, anchor string) *timeline {
	n := len(e.Attempts)
	x := newScale(recorded(e.Attempts), e.Start)
	t := &timeline{Anchor: anchor, Height: axisHeight + laneHeight*n + 4, Ticks: x.ticks(), Cuts: x.cuts()}
	if e.MoreAttempts > 0 {
		t.More = english.Plural(e.MoreAttempts, "more attempt")
	}
	t.Title = fmt.Sprintf("Time line of %s on one axis", english.Plural(n, "attempt"))
	var texts []string
	for i, a := range e.Attempts {
		l := x.lane(a)
		l.Top = axisHeight + i*laneHeight
		t.Lanes = append(t.Lanes, l)
		texts = append(texts, laneText(a, x.zero))
	}
	t.Looks = x.looks(f, recorded(e.Attempts))
	t.Reads = slices.ContainsFunc(t.Looks, func(l look) bool { return !l.Shown })
	t.Desc = strings.Join(texts, " ")
	t.Legend = legendOf(t.Lanes)
	return t
}

// laneText describes a lane for readers who do not see it.
func laneText(a attemptView, zero history.Offset) string {
	parts := []string{fmt.Sprintf("%s, %s, over %s", name(a.ID), a.Sent, name(a.Lane))}
	add := func(what string, o history.Offset) {
		if o != 0 {
			parts = append(parts, what+" "+clock(o-zero))
		}
	}
	add("started", a.attempt.Start)
	if p := a.attempt.Passage; p != nil {
		add("at the target", p.Arrived)
		add("answered by it", p.Answered)
	}
	add("ended", a.attempt.End)
	return strings.Join(append(parts, a.Answer), ", ") + "."
}

// scale is the time axis in percent of the width. Idle time is cut out, as on the terminal's axis.
type scale struct {
	zero   history.Offset
	pieces []stretch
}

// stretch is a piece of time in which something was under way, and where it is drawn.
type stretch struct {
	from, to    history.Offset
	left, right float64
}

// newScale deals out the width: each piece gets the same least part, the rest goes by its duration.
func newScale(attempts []history.Attempt, zero history.Offset) scale {
	x := scale{zero: zero}
	pieces := busy(attempts)
	if len(pieces) == 0 {
		return x
	}
	const columnsPerCut = 16 // merge allows so many
	var total float64
	for _, p := range merge(pieces, mostCuts*columnsPerCut) {
		x.pieces = append(x.pieces, stretch{from: p.from, to: p.to})
		total += lasts(p.from, p.to)
	}
	n := float64(len(x.pieces))
	spare := scaleEnd - n*leastWide - (n-1)*cutWidth
	next := 0.0
	for i := range x.pieces {
		p := &x.pieces[i]
		portion := 1 / n
		if total > 0 {
			portion = lasts(p.from, p.to) / total
		}
		p.left, p.right = next, next+leastWide+portion*spare
		next = p.right + cutWidth
	}
	return x
}

// lasts is a duration as a float: a difference of offsets from elsewhere may overflow an integer.
func lasts(from, to history.Offset) float64 { return float64(to) - float64(from) }

// at returns where a moment stands, in percent.
func (x scale) at(o history.Offset) float64 {
	for i, p := range x.pieces {
		if o > p.to && i < len(x.pieces)-1 {
			continue
		}
		length := lasts(p.from, p.to)
		if length <= 0 || o <= p.from {
			return p.left
		}
		return min(p.left+lasts(p.from, o)/length*(p.right-p.left), p.right)
	}
	return 0
}

// place is where a moment stands, as an SVG attribute has it.
func (x scale) place(o history.Offset) string { return decimal(x.at(o)) }

// decimal writes a number with two digits, which is finer than a pixel.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// cuts returns where idle time was left out.
func (x scale) cuts() []string {
	var all []string
	for i := 1; i < len(x.pieces); i++ {
		all = append(all, decimal((x.pieces[i-1].right+x.pieces[i].left)/2))
	}
	return all
}

// ticks labels the beginning of every piece, and round times in between, as far as there is room.
func (x scale) ticks() []tick {
	var all []tick
	last := -labelSpacing
	add := func(o history.Offset) {
		if at := x.at(o); at-last >= labelSpacing {
			all = append(all, tick{X: decimal(at), Anchor: anchorAt(at), Text: clock(o - x.zero)})
			last = at
		}
	}
	for _, p := range x.pieces {
		add(p.from)
		step := roundStep(lasts(p.from, p.to) * labelSpacing / (p.right - p.left))
		if step <= 0 {
			continue
		}
		first := math.Ceil(lasts(x.zero, p.from)/step) * step
		for k := range mostTicks {
			if o := x.zero + history.Offset(first+float64(k)*step); o > p.from && o < p.to {
				add(o)
			}
		}
	}
	return all
}

// roundStep returns the least round number of nanoseconds that is not under least.
func roundStep(least float64) float64 {
	if least < 1 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= least {
			return digit * power
		}
	}
	return 10 * power
}

// anchorAt keeps a text at this place inside the picture.
func anchorAt(at float64) string {
	switch {
	case at < 5:
		return "start"
	case at > 90:
		return "end"
	default:
		return "middle"
	}
}

// looks marks the snapshots. A report knows their order and not their times: the first was taken before the
// final retry, the second after it.
func (x scale) looks(f checker.Finding, attempts []history.Attempt) []look {
	var before, last []history.Offset
	for _, a := range attempts {
		if a.Probe {
			last = append(last, moments(a)...)
			continue
		}
		before = append(before, moments(a)...)
	}
	end := f.Moment
	var all []look
	if len(before) > 0 && len(last) > 0 && slices.Max(before) < slices.Min(last) {
		all = append(all, newLook(history.T1Name, (x.at(slices.Max(before))+x.at(slices.Min(last)))/2, f.Moment))
		end = history.T2Name
	}
	if end == history.T1Name || end == history.T2Name {
		all = append(all, newLook(end, lastLook, f.Moment))
	}
	return all
}

// newLook marks a snapshot. Its label stands left of the line, so that those of two lines do not overlap.
func newLook(snapshot string, at float64, shown string) look {
	l := look{X: decimal(at), Anchor: "end", Text: "rows read " + momentWords(snapshot), Shown: snapshot == shown}
	if at < labelSpacing {
		l.Anchor = "start"
	}
	return l
}

// lane draws one attempt.
func (x scale) lane(a attemptView) lane {
	const short, long = 18, 34
	l := lane{ID: fit(a.ID, short), Network: fit(a.Lane, short), Sent: fit(a.Sent, long), Answer: fit(a.Answer, long), Tone: a.Tone}
	m := moments(a.attempt)
	if len(m) == 0 || len(x.pieces) == 0 {
		return l
	}
	l.Spans = x.spans(a.attempt, m)
	l.Marks = x.marks(a.attempt, m[0])
	return l
}

// spans draws what took a while: the exchange, the wait in front of the target, and the time inside it.
func (x scale) spans(a history.Attempt, m []history.Offset) []span {
	over := a.End
	class := "flight"
	if over == 0 {
		over, class = x.pieces[len(x.pieces)-1].to, "flight endless"
	}
	all := []span{x.span(class, "", m[0], over)}
	p := a.Passage
	if p == nil {
		return all
	}
	if p.Held != 0 && p.Released > p.Held {
		all = append(all, x.span(momentHeld, momentText(momentHeld), p.Held, p.Released))
	}
	switch {
	case p.Arrived == 0:
	case p.Answered == 0:
		all = append(all, x.span(momentUnanswered, momentText(momentUnanswered), p.Arrived, max(p.Arrived, over)))
	case a.End != 0 && p.Answered > a.End:
		all = append(all, x.span(momentInside, momentText(momentInside), p.Arrived, max(p.Arrived, a.End)),
			x.span(momentGone, "inside the target, "+momentText(momentGone), max(p.Arrived, a.End), p.Answered))
	default:
		all = append(all, x.span(momentInside, momentText(momentInside), p.Arrived, p.Answered))
	}
	return all
}

// span draws one of them. What explains it to readers who point at it; empty: nothing.
func (x scale) span(class, what string, from, to history.Offset) span {
	s := span{Class: class, X: x.place(from), Width: decimal(max(x.at(to)-x.at(from), 0))}
	if what != "" {
		s.Text = fmt.Sprintf("%s, %s to %s", what, clock(from-x.zero), clock(to-x.zero))
	}
	return s
}

// marks draws the moments of an attempt that were observed.
func (x scale) marks(a history.Attempt, first history.Offset) []glyph {
	var all []glyph
	add := func(name string, o history.Offset) {
		if o != 0 {
			all = append(all, glyph{Name: name, X: x.place(o), Text: momentText(name) + ", " + clock(o-x.zero)})
		}
	}
	add(firstMoment(a), first)
	add(momentWritten, a.Wrote)
	if p := a.Passage; p != nil {
		add(momentArrived, p.Arrived)
		add(momentAnswered, p.Answered)
	}
	add(lastMoment(a), a.End)
	return all
}
