package reports

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// matrixPage is a matrix as its page shows it.
type matrixPage struct {
	Matrix
	Method  string
	Summary []string
	Tables  []matrixTable
	Marks   []string
}

// matrixTable is the correct targets, or the broken ones.
type matrixTable struct {
	Title string
	Rows  []matrixLine
}

// matrixLine is one target on one database.
type matrixLine struct {
	Target, Store, Shows string
	Right                int
	Wrong                bool
	Cells                []matrixCell
}

// matrixCell is what one scenario made of a target. The title says it in words.
type matrixCell struct{ Text, Class, Title string }

// MatrixHTML writes a matrix as one file for any browser.
func MatrixHTML(w io.Writer, m Matrix) error {
	layout, err := template.ParseFS(htmlFiles, "html/matrix.html")
	if err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	page := matrixPage{Matrix: m, Method: m.method(), Summary: m.summary(), Marks: meanings()}
	for _, correct := range []bool{false, true} {
		page.Tables = append(page.Tables, matrixTable{Title: titleOf(correct), Rows: m.lines(correct)})
	}
	if err := layout.Execute(w, page); err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	return nil
}

// lines are the targets that are correct, or broken.
func (m Matrix) lines(correct bool) (lines []matrixLine) {
	for _, row := range m.Rows {
		if row.Correct != correct {
			continue
		}
		line := matrixLine{Target: row.Target, Store: row.store(), Shows: row.shows(), Right: m.right(row), Wrong: m.right(row) != m.Seeds}
		for _, name := range m.Scenarios {
			text, mark := m.cell(row, name)
			line.Cells = append(line.Cells, matrixCell{
				Text: text, Class: strings.ReplaceAll(string(mark), " ", "-"), Title: row.Target + ", " + name + ": " + string(mark),
			})
		}
		lines = append(lines, line)
	}
	return lines
}

// titleOf is the title above the targets that are correct, or broken.
func titleOf(correct bool) string {
	if correct {
		return "Correct targets"
	}
	return "Broken targets"
}

// meanings says what the symbols mean.
func meanings() (lines []string) {
	for _, one := range symbols() {
		lines = append(lines, strings.TrimSpace(one.symbol+" "+one.meaning))
	}
	return lines
}

// shows lists the findings that a target is known by.
func (r MatrixRow) shows() string {
	kinds := make([]string, 0, len(r.Shows))
	for _, k := range r.Shows {
		kinds = append(kinds, string(k))
	}
	return strings.Join(kinds, ", ")
}
