package reports

import (
	"fmt"
	"io"
	"strings"
)

// page is a text report as it grows.
type page struct {
	strings.Builder
	style Style
	each  bool // it has a page for each cause, and not only for the first
}

// line writes one line, without the spaces at its end that padding leaves.
func (p *page) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// title begins a part of the page.
func (p *page) title(text string) {
	p.line()
	p.line(p.style.bold(text))
}

// wrapped writes prose behind a label, later lines under the first. A target may say pages; a
// paragraph of it is enough here, and the history holds the rest.
func (p *page) wrapped(label, text string) {
	const paragraph, least = 8, 90 // lines, of so many columns on a narrow terminal too
	indent := cells(label)
	room := max(p.style.width()-indent, 20)
	for i, line := range wrap(fit(text, paragraph*max(room, least)), room) {
		if i > 0 {
			label = strings.Repeat(" ", indent)
		}
		p.line(label, line)
	}
}

// section lists notes under a title. Without notes it writes nothing.
func (p *page) section(s section) {
	if len(s.Notes) == 0 {
		return
	}
	p.title(s.Title)
	for _, n := range s.Notes {
		p.wrapped("  ", n.Label+": "+n.Text)
	}
}

// flush writes the page at once. The safe writer is the last line of defence: texts are sanitized before.
func (p *page) flush(w io.Writer) error {
	if _, err := io.WriteString(NewSafeWriter(w, p.style.Color), p.String()); err != nil {
		return fmt.Errorf("write text report: %w", err)
	}
	return nil
}
