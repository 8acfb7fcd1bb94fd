// Command tables writes the tables of the code into the files that repeat them: the words that the JSON Schemas
// allow, and the tables of the docs. With a path it works there, else in the current directory.
//
// In a schema, "x-table": "NAME" stands before the "enum" that it fills. In a page, a table stands between
// <!-- table: NAME --> and <!-- end of table -->.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/proofs"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := write(root); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

// table is one table of the code, as files repeat it.
type table struct {
	words []string   // what a schema allows
	head  []string   // of the columns of a page
	rows  [][]string // cells, in Markdown
}

// files lists the files that repeat tables.
func files() []string {
	return []string{
		"scenarios/scenario.schema.json", "scenarios/known.schema.json",
		"docs/architecture.md", "docs/scenarios.md", "docs/findings.md", "docs/causes.md",
	}
}

// write brings every file up to date.
func write(root string) error {
	for _, file := range files() {
		path := filepath.Join(root, file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		current, err := fill(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if current == string(text) {
			continue
		}
		if err := os.WriteFile(path, []byte(current), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tables returns the tables by their names in files.
func tables() map[string]table {
	return map[string]table{"proofs": proofTable(), "needs": needTable(), "kinds": kindTable(), "causes": causeTable(), "measured": measuredTable(), "stated": statedTable()}
}

// proofTable has the proofs of exercise.
func proofTable() table {
	t := table{head: []string{"Proof", "Holds for an intent when"}}
	for _, p := range proofs.Table() {
		text := p.Sentence
		if p.Also != "" {
			text += ", or " + p.Also
		}
		t.words = append(t.words, string(p.Name))
		t.rows = append(t.rows, []string{code(p.Name), text})
	}
	return t
}

// needTable has what scenarios ask of a target file.
func needTable() table {
	t := table{head: []string{"Need", "Met by a target file with"}}
	for _, n := range scenarios.NeedTable() {
		t.words = append(t.words, string(n.Need))
		t.rows = append(t.rows, []string{code(n.Need), n.MetBy})
	}
	return t
}

// kindTable has the kinds of findings.
func kindTable() table {
	t := table{head: []string{"Kind, worst first", "Means", "Promise", "Checked against"}}
	for _, k := range checker.KindTable() {
		t.words = append(t.words, string(k.Kind))
		t.rows = append(t.rows, []string{code(k.Kind), k.Meaning, k.Promise, k.Against})
	}
	return t
}

// causeTable has the causes that a diagnosis knows, with the page that tells how to mend each.
func causeTable() table {
	t := table{head: []string{"Likely cause", "What the code does", "How it is mended", "Code"}}
	for _, d := range diagnosis.Defects() {
		page := ""
		if d.How != "" {
			page = fmt.Sprintf("[%s](../diagnosis/mends/%s.md)", d.How, d.How)
		}
		t.rows = append(t.rows, []string{code(d.Name), d.Does, d.Mend, page})
	}
	return t
}

// measured says how often the likely cause is right; it takes a while to work out.
var measured = sync.OnceValue(func() diagnosis.Measurement { return diagnosis.Measure(diagnosis.Observations()) })

// measuredTable says how often a diagnosis is right about a design that it has not seen.
func measuredTable() table {
	m := measured()
	of := func(n int) string { return fmt.Sprintf("%d of %d (%.0f%%)", n, m.Runs, 100*float64(n)/float64(m.Runs)) }
	return table{head: []string{"Where one design after the other is left out", "Runs"}, rows: [][]string{
		{"the true cause is named first", of(m.First)},
		{"it is among the first three", of(m.Three)},
		{"no known cause is named", of(m.Unknown)},
	}}
}

// statedTable holds the likelihood that a diagnosis states against how often it is right.
func statedTable() table {
	t := table{head: []string{"Stated likelihood of the first", "Runs", "Stated, on average", "Right"}}
	m := measured()
	for i, b := range m.Bins {
		if b.Count > 0 {
			width := 100 / len(m.Bins)
			t.rows = append(t.rows, []string{fmt.Sprintf("%d to %d%%", i*width, (i+1)*width), fmt.Sprint(b.Count), fmt.Sprintf("%.0f%%", 100*b.Mean()), fmt.Sprintf("%.0f%%", 100*float64(b.Right)/float64(b.Count))})
		}
	}
	return t
}

// code writes a word as Markdown writes code.
func code[T ~string](word T) string { return "`" + string(word) + "`" }

// fill returns a file's text with every table in it as the code has it. A table that the code does not have is an
// error, and so is a file without any.
func fill(text string) (string, error) {
	enums := regexp.MustCompile(`("x-table": "([a-z]+)",(\s*)"enum": \[)[^\]]*\]`)
	pages := regexp.MustCompile(`(?s)(<!-- table: ([a-z]+) -->\n).*?(<!-- end of table -->)`)
	var unknown error
	known, found := tables(), 0
	named := func(name string) table {
		t, is := known[name]
		if !is {
			unknown = fmt.Errorf("there is no table %s", name)
		}
		found++
		return t
	}
	text = enums.ReplaceAllStringFunc(text, func(match string) string {
		parts := enums.FindStringSubmatch(match)
		return parts[1] + named(parts[2]).enum(parts[3]) + "]"
	})
	text = pages.ReplaceAllStringFunc(text, func(match string) string {
		parts := pages.FindStringSubmatch(match)
		return parts[1] + named(parts[2]).markdown() + parts[3]
	})
	if found == 0 {
		return "", fmt.Errorf("no table is marked")
	}
	return text, unknown
}

// enum lists the words as JSON, two spaces deeper than the line break and the spaces before its key.
func (t table) enum(key string) string {
	const width = 110
	indent := key + "  "
	var b strings.Builder
	line := 0
	for i, word := range t.words {
		text := fmt.Sprintf("%q", word)
		if i < len(t.words)-1 {
			text += ","
		}
		if line == 0 || line+len(text) > width {
			b.WriteString(indent)
			line = 0
		} else {
			b.WriteString(" ")
		}
		b.WriteString(text)
		line += len(text) + 1
	}
	return b.String() + key
}

// markdown is the table as pages have it.
func (t table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(t.head, " | "), strings.Repeat("---|", len(t.head)))
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
}
