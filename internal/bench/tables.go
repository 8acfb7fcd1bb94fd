package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table has one line of heads and rows as long as it.
type table struct {
	title string
	notes []string
	heads []string
	rows  [][]string
}

// row adds a row.
func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// document is what a run has to say, in the order of reading.
type document struct {
	title  string
	facts  []string
	tables []table
}

// write writes it for a terminal.
func (d document) write(out io.Writer) {
	fmt.Fprintln(out, d.title)
	for _, fact := range d.facts {
		fmt.Fprintln(out, fact)
	}
	for _, t := range d.tables {
		fmt.Fprintf(out, "\n%s\n", strings.ToUpper(t.title))
		for _, note := range t.notes {
			fmt.Fprintln(out, note)
		}
		columns := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		for _, row := range append([][]string{t.heads}, t.rows...) {
			fmt.Fprintln(columns, strings.Join(row, "\t"))
		}
		columns.Flush()
	}
}

// markdown is the document as a page of the docs has it.
func (d document) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n", d.title)
	for _, fact := range d.facts {
		fmt.Fprintf(&text, "- %s\n", fact)
	}
	for _, t := range d.tables {
		fmt.Fprintf(&text, "\n## %s\n\n", t.title)
		for _, note := range t.notes {
			fmt.Fprintf(&text, "%s\n\n", note)
		}
		line := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
		line(t.heads)
		fmt.Fprintf(&text, "|%s\n", strings.Repeat("---|", len(t.heads)))
		for _, row := range t.rows {
			line(row)
		}
	}
	return text.String()
}

// short writes a time in µs or ms.
func short(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%d µs", d.Microseconds())
	}
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}

// times writes a ratio; without a divisor there is none.
func times(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3gx", a/b)
}

// percent writes a share without decimals.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// kilo writes bytes in KiB.
func kilo(bytes float64) string { return fmt.Sprintf("%.1f KiB", bytes/1024) }
