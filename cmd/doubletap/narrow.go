package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/reports"
)

// narrowHelp lays the help of a command and of those below it out anew where the terminal is narrower than it was written for.
func narrowHelp(root *cobra.Command, s streams) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		width := styleOf(s).Width
		if !isNarrow(width) {
			help(cmd, args)
			return
		}
		var text bytes.Buffer
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(s.bytes)
		_, _ = io.WriteString(s.bytes, narrow(text.String(), width))
	})
}

// isNarrow reports that a terminal is narrower than what is written for one; 0: it is none.
func isNarrow(width int) bool { return width != 0 && width < reports.DefaultWidth }

// fitted is a line with a line feed, broken where the terminal is narrow. What it says begins behind so many columns, and so do the
// lines below.
func fitted(line string, before int, style reports.Style) string {
	if !isNarrow(style.Width) {
		return line + "\n"
	}
	return reports.Wrap(line, strings.Repeat(" ", before), max(style.Width-before, before))
}

// row matches a row of a list: what it is about, and what is said of it.
var row = regexp.MustCompile(`^( +\S.*?  +)(\S.*)$`)

// narrow breaks lines that are too long: paragraphs as a whole, and what is said in rows of lists below its beginning. Examples are
// commands, and stay as they are.
func narrow(text string, width int) string {
	var b strings.Builder
	paragraph, examples := "", false
	end := func() {
		if paragraph != "" {
			b.WriteString(reports.Wrap(paragraph, "", width))
			paragraph = ""
		}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		examples = line == "Examples:" || examples && line != ""
		if heading := len(line) < 20 && strings.HasSuffix(line, ":"); line != "" && !strings.HasPrefix(line, " ") && !heading {
			paragraph += " " + line
			continue
		}
		end()
		found := row.FindStringSubmatch(line)
		switch {
		case len(line) <= width || examples || found == nil:
			b.WriteString(line + "\n")
		case len(found[1]) > width/2:
			const below = "      "
			b.WriteString(strings.TrimRight(found[1], " ") + "\n" + below + reports.Wrap(found[2], below, width-len(below)))
		default:
			b.WriteString(found[1] + reports.Wrap(found[2], strings.Repeat(" ", len(found[1])), width-len(found[1])))
		}
	}
	end()
	return b.String()
}
