package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// How much of the answers is shown side by side.
const (
	mostAnswers     = 4
	mostAnswerLines = 40
	widestAnswer    = 120
)

// answerView is one answer and the attempts that got it.
type answerView struct {
	Attempts string
	Tone     tone
	Lines    []answerLine
	first    int // index of the first attempt that got it
	differs  bool
}

// answerLine is a line of an answer. One that differs is marked.
type answerLine struct {
	Text    string
	Differs bool
}

// answerViews puts the answers of a finding side by side, like ones together, and counts those that
// there is no room for. It takes the finding as it was recorded: sanitized JSON is no JSON any more.
func answerViews(f checker.Finding) ([]answerView, int) {
	where := map[string]bool{}
	for _, d := range f.Differs {
		where[d.Where] = true
	}
	var all []answerView
	at, ids := map[string]int{}, [][]string{}
	for i, a := range f.Attempts {
		if a.Status == 0 && a.Content == "" {
			continue
		}
		lines := append(answerHead(a, outcome(f, i), where), contentLines(a.Content, where)...)
		id := fmt.Sprint(a.Complete, lines)
		if _, known := at[id]; !known {
			at[id] = len(all)
			all, ids = append(all, answerView{Tone: toneOf(a), Lines: lines, first: i}), append(ids, nil)
		}
		n := at[id]
		ids[n] = append(ids[n], clean(name(a.ID)))
		all[n].differs = all[n].differs || differing(f, a.ID)
	}
	for n := range all {
		all[n].Attempts = listed(ids[n])
	}
	return leading(all), max(len(all)-mostAnswers, 0)
}

// differing reports that the answer of an attempt differs from the first one.
func differing(f checker.Finding, id string) bool {
	return slices.ContainsFunc(f.Differs, func(d checker.Difference) bool { return d.Attempt == id })
}

// listed names a few and counts the others.
func listed(ids []string) string {
	const most = 6
	if more := len(ids) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), more)
	}
	return strings.Join(ids, ", ")
}

// leading keeps the answers that matter most: the first one, and those that differ from it.
func leading(all []answerView) []answerView {
	if len(all) <= mostAnswers {
		return all
	}
	first := all[0].first
	slices.SortStableFunc(all, func(a, b answerView) int { return cmp.Compare(answerRank(a, first), answerRank(b, first)) })
	all = all[:mostAnswers]
	slices.SortFunc(all, func(a, b answerView) int { return cmp.Compare(a.first, b.first) })
	return all
}

// answerRank puts the first answer and those that differ from it before the others.
func answerRank(a answerView, first int) int {
	if a.first == first || a.differs {
		return 0
	}
	return 1
}

// answerHead is the status of an answer, and the headers that differ.
func answerHead(a history.Attempt, judged string, where map[string]bool) []answerLine {
	status := "no status"
	if a.Status != 0 {
		status = fmt.Sprint(a.Status)
	}
	lines := []answerLine{{Text: joined([]string{status, judged}, " "), Differs: where["status"]}}
	if !a.Complete {
		lines = append(lines, answerLine{Text: answerText("cut short: " + reason(a))})
	}
	var names []string
	for name := range a.Header {
		if where[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, header := range names[:min(len(names), mostDifferences)] {
		lines = append(lines, answerLine{Text: answerText(header + ": " + a.Header[header]), Differs: true})
	}
	return lines
}

// answerText sanitizes and cuts one line of an answer.
func answerText(s string) string { return fit(clean(head(s, longest)), widestAnswer) }

// contentLines spreads a body over lines, JSON with a member on each.
func contentLines(content string, where map[string]bool) []answerLine {
	if content == "" {
		return nil
	}
	p := printer{decoder: json.NewDecoder(strings.NewReader(content)), where: where}
	p.decoder.UseNumber()
	if err := p.value("", "", 0); err != nil && !errors.Is(err, errFull) {
		return plainLines(content, where["body"])
	}
	if _, err := p.decoder.Token(); len(p.lines) < mostAnswerLines && !errors.Is(err, io.EOF) {
		return plainLines(content, where["body"])
	}
	for i := range p.lines {
		p.lines[i].Differs = p.lines[i].Differs || where["body"]
	}
	return p.lines
}

// plainLines shows the first lines of an answer that is not JSON.
func plainLines(content string, differs bool) []answerLine {
	const most = 6
	var lines []answerLine
	for line := range strings.Lines(head(content, longest)) {
		if len(lines) == most {
			return append(lines, answerLine{Text: "…"})
		}
		lines = append(lines, answerLine{Text: answerText(strings.TrimRight(line, "\r\n")), Differs: differs})
	}
	return lines
}

// errFull ends the printing of a value that is longer than there is room.
var errFull = errors.New("no more lines")

// printer writes a JSON value with one member on a line, in the order in which it came, and knows
// the pointer of each.
type printer struct {
	decoder *json.Decoder
	where   map[string]bool
	lines   []answerLine
}

// add writes one line. Where there is no more room, it ends the value with an ellipsis.
func (p *printer) add(depth int, text, pointer string) error {
	if len(p.lines) == mostAnswerLines {
		p.lines = append(p.lines, answerLine{Text: "…"})
		return errFull
	}
	indent := strings.Repeat("  ", min(depth, 8))
	p.lines = append(p.lines, answerLine{Text: indent + answerText(text), Differs: p.marked(pointer)})
	return nil
}

// marked reports whether the member at this pointer differs, or is a part of one that does.
func (p *printer) marked(pointer string) bool {
	for pointer != "" {
		if p.where[pointer] {
			return true
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return false
}

// value writes the value that comes next; label stands before it.
func (p *printer) value(label, pointer string, depth int) error {
	token, err := p.decoder.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		text, err := json.Marshal(token)
		if err != nil {
			return err
		}
		return p.add(depth, label+unescaped(text), pointer)
	}
	if err := p.add(depth, label+open.String(), pointer); err != nil {
		return err
	}
	for i := 0; p.decoder.More(); i++ {
		if i > 0 {
			p.lines[len(p.lines)-1].Text += ","
		}
		if err := p.member(open, pointer, i, depth+1); err != nil {
			return err
		}
	}
	end, err := p.decoder.Token()
	if err != nil {
		return err
	}
	return p.add(depth, fmt.Sprint(end), pointer)
}

// member writes one member of an object, or one item of a list.
func (p *printer) member(open json.Delim, pointer string, i, depth int) error {
	if open == '[' {
		return p.value("", fmt.Sprintf("%s/%d", pointer, i), depth)
	}
	key, err := p.decoder.Token()
	if err != nil {
		return err
	}
	text, err := json.Marshal(key)
	if err != nil {
		return err
	}
	return p.value(unescaped(text)+": ", pointer+jsonpointer.Of(key), depth)
}

// unescaped undoes what json.Marshal does for browsers; the template escapes what it must.
func unescaped(text []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}
