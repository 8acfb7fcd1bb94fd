package reports

import (
	"io"
	"strings"

	"github.com/doubletap-harness/doubletap/diagnosis"
)

// Mend writes for a terminal what a defect is, where to look for it and how it is mended, with the code for some stacks.
func Mend(w io.Writer, d diagnosis.Defect, code []diagnosis.Section, s Style) error {
	how, _ := d.Page()
	p := &page{style: s}
	p.line(p.style.bold(d.Name))
	for _, n := range []note{
		{"What the code does", d.Does},
		{"Where to look", "Look for " + d.Look + "."},
		{"What shows it", "doubletap run " + strings.Join(d.Play, " ")},
		{"How it is mended", joined([]string{d.Mend, how.Intro}, " ")},
	} {
		p.title(n.Label)
		p.wrapped("  ", n.Text)
	}
	for _, section := range code {
		p.title(section.Stack)
		if section.Note != "" {
			p.wrapped("  ", section.Note)
		}
		p.line()
		for line := range strings.Lines(section.Code) {
			p.line("    ", strings.TrimRight(line, "\n"))
		}
	}
	return p.flush(w)
}
