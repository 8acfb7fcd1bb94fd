// Package reports renders one [checker.Report] for its readers: a terminal, a browser, a program, a CI server
// and a CI job summary. Every renderer is a pure function of the report, and what a target or a
// database said is never trusted: it reaches no reader as a control character or as markup.
//
//	checker.Report -> sanitize -> view -> Text, Markdown, HTML, JUnit, GitHub, GitLab
//	checker.Report ------------------> JSON
//
// The view (view*.go) has all words: headline, sentences, notes, tables, commands. A renderer only lays it out and cuts what
// its readers have no room for, so that all reports say the same. Renderers share no state, and are safe for concurrent use.
package reports

import (
	"os"
	"strconv"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// Widths of a terminal report, in columns.
const (
	DefaultWidth = 100
	leastWidth   = 60
	mostWidth    = 160
)

// Style is how the terminal is written to. The zero value is plain text of the default width.
type Style struct {
	Color bool
	Width int // columns, held between 60 and 160; 0 is DefaultWidth
	Names int // columns for scenario names in Line; 0 is a fifth of the width
}

// StyleFor returns the style for a file. Colour needs a terminal, and no NO_COLOR; FORCE_COLOR
// gives it to a pipe, as CI logs want. The width is the terminal's, COLUMNS where there is none.
func StyleFor(f *os.File, getenv func(string) string) Style {
	terminal := isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
	return Style{Color: colored(terminal, getenv), Width: widthOf(f, terminal, getenv)}
}

// colored decides about colour. NO_COLOR (no-color.org) outranks FORCE_COLOR, and both outrank the terminal.
func colored(terminal bool, getenv func(string) string) bool {
	switch force := getenv("FORCE_COLOR"); {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0" && force != "false":
		return true
	default:
		return terminal && getenv("TERM") != "dumb"
	}
}

// widthOf asks the terminal, then COLUMNS.
func widthOf(f *os.File, terminal bool, getenv func(string) string) int {
	if terminal {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	columns, err := strconv.Atoi(getenv("COLUMNS"))
	if err != nil || columns <= 0 {
		return DefaultWidth
	}
	return columns
}

// width is the columns of a line, held between the least and the most that the layout is made for.
func (s Style) width() int {
	if s.Width == 0 {
		return DefaultWidth
	}
	return min(max(s.Width, leastWidth), mostWidth)
}

// names is the columns for the name of a scenario: never so many that the rest has no room.
func (s Style) names() int {
	if s.Names == 0 {
		return s.width() / 5
	}
	most := s.width() / 3
	if s.width() < narrowLine { // the evidence stands below
		most = s.width() / 2
	}
	return min(max(s.Names, 8), most)
}

// ink colours text. The colour library looks at the process's own output; only Style decides here.
func (s Style) ink(text string, attributes ...color.Attribute) string {
	if !s.Color || text == "" {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor()
	return c.Sprint(text)
}

// bold is for what a reader looks for, and faint for what one may pass over. Without color neither
// changes a text.
func (s Style) bold(text string) string  { return s.ink(text, color.Bold) }
func (s Style) faint(text string) string { return s.ink(text, color.Faint) }
