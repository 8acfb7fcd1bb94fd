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

// Charts are drawn in percent of their width and in pixels of their height, so that they fit a phone
// and a wide screen and their texts keep their size.

// percentOf returns a part of a whole as the number of a percentage, held between 0 and 100.
func percentOf(part, whole float64) string {
	p := 100 * part / whole
	if math.IsNaN(p) || p < 0 {
		p = 0
	}
	return strconv.FormatFloat(min(p, 100), 'f', 2, 64)
}

// stack is one bar that is made of parts of a whole.
type stack struct {
	Label string
	Parts []part
}

// part is one piece of a stack, and its line in the legend.
type part struct {
	Class, Mark, Text string
	Count             int
	X, Width          string // in percent
}

// newStack lays the parts out side by side. It is nil where there is nothing to show.
func newStack(label string, parts []part) *stack {
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.Count <= 0 })
	var total, before float64
	for _, p := range parts {
		total += float64(p.Count)
	}
	for i := range parts {
		p := &parts[i]
		p.X, p.Width = percentOf(before, total), percentOf(float64(p.Count), total)
		before += float64(p.Count)
	}
	if len(parts) == 0 {
		return nil
	}
	return &stack{Label: label, Parts: parts}
}

// verdictStack draws how many scenarios got each verdict.
func verdictStack(count map[checker.Verdict]int) *stack {
	var parts []part
	for _, v := range byAttention() {
		view := newVerdictView(v)
		parts = append(parts, part{Class: "v-" + view.Class, Mark: view.Mark, Text: view.Word, Count: count[v]})
	}
	return newStack("Scenarios by verdict", parts)
}

// outcomeStack draws how requests were answered, those that had an effect first.
func outcomeStack(count map[checker.Outcome]int) *stack {
	var parts []part
	for _, o := range []checker.Outcome{
		checker.Acknowledged, checker.Accepted, checker.Exists, checker.InProgress, checker.Declined, checker.Rejected,
		checker.Throttled, checker.Unknown, checker.NotSent,
	} {
		parts = append(parts, part{Class: answerClass(o.String()), Text: words(o), Count: count[o]})
	}
	return newStack("Requests by answer", parts)
}

// answerClass is the class of an answer's colour. Its text is that of an outcome, or of a phase, which
// begins with one.
func answerClass(text string) string {
	if strings.HasSuffix(text, "with another thing") {
		return "o-another"
	}
	outcome, _, _ := strings.Cut(text, " ")
	switch outcome {
	case "acknowledged", "accepted", "exists", "in-progress", "declined", "rejected", "throttled", "not-sent":
		return "o-" + outcome
	default:
		return "o-unknown"
	}
}

// bar is one value of a bar chart.
type bar struct{ Label, Value, Width, Class string }

// timeBars draws times against the longest of them.
func timeBars(labels []string, times []history.Offset, classes []string) []bar {
	longest := float64(slices.Max(times))
	var bars []bar
	for i, t := range times {
		bars = append(bars, bar{Label: labels[i], Value: micros(t), Width: percentOf(float64(t), longest), Class: classes[i]})
	}
	return bars
}

// burstBars draws how tight bursts were, and how short a window they hit where that is known.
func burstBars(b *checker.Bursts) []bar {
	labels := []string{"half of the bursts released within", "90% within", "all within"}
	times := []history.Offset{b.Median, b.P90, b.Most}
	classes := []string{"measured", "measured", "measured"}
	if h := b.Hits; h != nil {
		labels = append(labels, "window hit by half of them", "window hit by 95 of 100")
		times = append(times, h.Half, h.Most)
		classes = append(classes, "calibrated", "calibrated")
	}
	return timeBars(labels, times, classes)
}

// histogram counts how often each value was seen.
type histogram struct {
	Label, Low, High string
	Columns          []column
}

// column is one bar of a histogram, in percent of its width and height.
type column struct{ X, Width, Y, Height, Text string }

// mostColumns is how many bars a histogram has at most; neighbouring values share one beyond that.
const mostColumns = 40

// newHistogram draws how many writers waited. It is nil where the database does not count them.
func newHistogram(values []int) *histogram {
	if len(values) == 0 {
		return nil
	}
	low, high := slices.Min(values), slices.Max(values)
	span := float64(high) - float64(low) + 1
	counts := make([]int, int(min(span, mostColumns)))
	for _, v := range values {
		at := (float64(v) - float64(low)) / span * float64(len(counts))
		counts[min(int(at), len(counts)-1)]++
	}
	h := &histogram{Low: strconv.Itoa(low), High: strconv.Itoa(high)}
	h.Label = fmt.Sprintf("Blocked writers, %d to %d, in %s", low, high, english.Plural(len(values), "burst"))
	n, most := float64(len(counts)), float64(slices.Max(counts))
	for i, count := range counts {
		h.Columns = append(h.Columns, column{
			X: percentOf(float64(i)+0.1, n), Width: percentOf(0.8, n), Text: english.Plural(count, "burst"),
			Y: percentOf(most-float64(count), most), Height: percentOf(float64(count), most),
		})
	}
	return h
}

// strip shows how the second of two requests was answered, by its delay after the first.
type strip struct {
	Label, From, To string
	Stretches       []phaseView
	More            int
}

// phaseView is one phase of a sweep, on the strip and in the table under it.
type phaseView struct {
	Number            int
	Class, Answer     string
	X, Width          string // in percent
	Middle            string // where its number stands; empty: it would not fit
	From, To, Offsets string
}

// leastStretch is the part of a strip's width that a single offset has, so that it is seen.
const leastStretch = 1.0 / 250

// mostStretches bounds how many phases a strip shows.
const mostStretches = 24

// newStrip draws the phases of a sweep; nil: there were none.
func newStrip(phases []checker.Phase) *strip {
	if len(phases) == 0 {
		return nil
	}
	shown := phases[:min(len(phases), mostStretches)]
	from, to := shown[0].From, shown[0].To
	for _, p := range shown {
		from, to = min(from, p.From), max(to, p.To)
	}
	whole := max(float64(to)-float64(from), 1)
	s := &strip{Label: "Answer to the second request, by its delay", From: tenths(from), To: tenths(to), More: len(phases) - len(shown)}
	for i, p := range shown {
		left, length := float64(p.From)-float64(from), float64(p.To)-float64(p.From)
		v := phaseView{
			Number: i + 1, Class: answerClass(p.Answer), Answer: prose(p.Answer), Offsets: strconv.Itoa(p.Count),
			X: percentOf(left, whole), Width: percentOf(max(length, leastStretch*whole), whole), From: millis(p.From), To: millis(p.To),
		}
		if length/whole > 0.05 {
			v.Middle = percentOf(left+length/2, whole)
		}
		s.Stretches = append(s.Stretches, v)
	}
	return s
}
