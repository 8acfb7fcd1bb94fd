package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// Matrix is what scenarios made of targets of which the truth is known: the confusion matrix of a release.
type Matrix struct {
	Tool      string      `json:"tool"`
	Started   string      `json:"started"` // RFC 3339
	Cores     int         `json:"cores"`
	Seeds     int         `json:"seeds"`   // how many every target is to be run with, from 1
	Sparing   bool        `json:"sparing"` // from the second seed on, broken targets were run with what is declared to catch them
	Scenarios []string    `json:"scenarios"`
	Rows      []MatrixRow `json:"rows"`
}

// MatrixRow is one target on one database.
type MatrixRow struct {
	Target string `json:"target"`
	Store  string `json:"store"` // sqlite, postgres or mariadb; empty: its own
	checker.Truth
	Played []MatrixSeed `json:"played"` // in any order
}

// MatrixSeed is what the scenarios made of a target with one seed.
type MatrixSeed struct {
	Seed    uint64                  `json:"seed"`
	Marks   map[string]checker.Mark `json:"marks"` // by scenario
	First   history.Offset          `json:"first"` // time in scenarios up to the first finding; zero: there was none
	Elapsed history.Offset          `json:"elapsed"`
	Again   int                     `json:"again,omitempty"`   // runs of a scenario after one that decided nothing
	Pattern *diagnosis.Pattern      `json:"pattern,omitempty"` // of the first cause at a broken target; nil: there was none
}

// Add adds what one seed showed. What a scenario showed last counts.
func (r *MatrixRow) Add(seed uint64, results []checker.Result) {
	at := r.seed(seed)
	if at < 0 {
		at = len(r.Played)
		r.Played = append(r.Played, MatrixSeed{Seed: seed, Marks: map[string]checker.Mark{}})
	}
	played := &r.Played[at]
	if decided := diagnosis.Decided(results); !r.Correct {
		if causes := checker.Causes(decided); len(causes) > 0 {
			pattern := diagnosis.PatternOf(causes[0], decided)
			played.Pattern = &pattern
		}
	}
	for _, result := range results {
		mark := r.Mark(result)
		if _, before := played.Marks[result.Scenario]; before {
			played.Again++
		}
		played.Marks[result.Scenario] = mark
		played.Elapsed += result.Elapsed
		if mark == checker.Caught && played.First == 0 {
			played.First = played.Elapsed
		}
	}
}

// Has reports whether a scenario has been played with a seed.
func (r MatrixRow) Has(seed uint64, scenario string) bool {
	at := r.seed(seed)
	return at >= 0 && r.Played[at].Marks[scenario] != checker.Unplayed
}

// seed returns the index of what was played with a seed; -1: nothing.
func (r MatrixRow) seed(seed uint64) int {
	return slices.IndexFunc(r.Played, func(p MatrixSeed) bool { return p.Seed == seed })
}

// Owed returns those of the scenarios that a row is to be played with: sparingly, a broken one is played from the
// second seed on with what is declared to catch it, if any of that is among them.
func (r MatrixRow) Owed(scenarios []string, seed uint64, sparing bool) []string {
	if !sparing || seed == 1 || r.Correct {
		return scenarios
	}
	declared := slices.DeleteFunc(slices.Clone(scenarios), func(name string) bool { return !slices.Contains(r.By, name) })
	if len(declared) == 0 {
		return scenarios
	}
	return declared
}

// right counts the seeds in which all was played, and as it should be.
func (m Matrix) right(r MatrixRow) (n int) {
	for _, p := range r.Played {
		lacks := slices.ContainsFunc(r.Owed(m.Scenarios, p.Seed, m.Sparing), func(name string) bool { return p.Marks[name] == checker.Unplayed })
		if !lacks && r.Right(slices.Collect(maps.Values(p.Marks))) {
			n++
		}
	}
	return n
}

// marks counts what a scenario made of the target, over the seeds.
func (r MatrixRow) marks(scenario string) map[checker.Mark]int {
	n := map[checker.Mark]int{}
	for _, p := range r.Played {
		if mark := p.Marks[scenario]; mark != checker.Unplayed {
			n[mark]++
		}
	}
	return n
}

// total counts a mark over all cells of rows that are correct, or broken.
func (m Matrix) total(correct bool, mark checker.Mark) int {
	n := 0
	for _, row := range m.Rows {
		for _, p := range row.Played {
			for _, m := range p.Marks {
				if row.Correct == correct && m == mark {
					n++
				}
			}
		}
	}
	return n
}

// rows counts the rows that are correct, or broken, and those of them that were right with every seed.
func (m Matrix) rows(correct bool) (all, right, designs int) {
	var names []string
	for _, row := range m.Rows {
		if row.Correct == correct {
			all++
			names = append(names, row.Target)
			if m.right(row) == m.Seeds {
				right++
			}
		}
	}
	slices.Sort(names)
	return all, right, len(slices.Compact(names))
}

// Right reports whether every target was judged rightly with every seed.
func (m Matrix) Right() bool {
	return !slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return m.right(r) != m.Seeds })
}

// middle is the median of some times.
func middle(times []history.Offset) history.Offset {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// firsts are the times to the first finding of every broken row and seed, where all scenarios were run.
func (m Matrix) firsts() (all []history.Offset) {
	for _, row := range m.Rows {
		all = append(all, m.firstsOf(row)...)
	}
	return all
}

// firstsOf are those of one row.
func (m Matrix) firstsOf(row MatrixRow) (all []history.Offset) {
	for _, p := range row.Played {
		if p.First > 0 && (p.Seed == 1 || !m.Sparing) {
			all = append(all, p.First)
		}
	}
	return all
}

// summary says in sentences what the matrix shows.
func (m Matrix) summary() []string {
	broken, caught, defects := m.rows(false)
	correct, clean, designs := m.rows(true)
	lines := []string{
		fmt.Sprintf("%d of %d broken targets were caught in %s, by a finding that was declared before (%s).",
			caught, broken, everySeed(m.Seeds), english.Plural(defects, "defect")),
		fmt.Sprintf("%d of %d correct targets passed all that applied to them in %s (%s): %s, %s.",
			clean, correct, everySeed(m.Seeds), english.Plural(designs, "design"),
			english.Plural(m.total(true, checker.FalseAlarm), "false alarm"), english.Plural(m.total(true, checker.Unsure), "inconclusive verdict")),
	}
	again := 0
	for _, row := range m.Rows {
		for _, p := range row.Played {
			again += p.Again
		}
	}
	if again > 0 {
		lines = append(lines, fmt.Sprintf("%s of a scenario came after one that had decided nothing, as on a busy machine.", english.Plural(again, "run")))
	}
	if firsts := m.firsts(); len(firsts) > 0 {
		lines = append(lines, fmt.Sprintf("A broken target had its first finding after %s (median).", duration(middle(firsts))))
	}
	return lines
}

// everySeed says with how many seeds.
func everySeed(n int) string {
	if n == 1 {
		return "the one seed"
	}
	return fmt.Sprintf("each of %d seeds", n)
}

// cell is what a scenario made of a target in one character, or in a number where seeds differ, and the
// mark that stands for it.
func (m Matrix) cell(row MatrixRow, scenario string) (string, checker.Mark) {
	marks, all := row.marks(scenario), 0
	for _, n := range marks {
		all += n
	}
	for _, one := range symbols() {
		switch n := marks[one.mark]; {
		case n == 0:
		case n == all || one.mark != checker.Caught:
			return one.symbol, one.mark
		default:
			return fmt.Sprint(n), one.mark
		}
	}
	return unplayed, checker.Unplayed
}

// unplayed stands for a scenario that a target has not been played with.
const unplayed = "…"

// symbol stands for a mark in a table.
type symbol struct {
	mark            checker.Mark
	symbol, meaning string
}

// symbols lists the marks, those first that hide the others.
func symbols() []symbol {
	return []symbol{
		{checker.FalseAlarm, "‼", "false alarm: a finding at a correct target"},
		{checker.Unjudged, "✕", "the harness or its surroundings failed"},
		{checker.Caught, "●", "caught; a number: with so many of the seeds, not with all"},
		{checker.Misnamed, "◆", "caught by another name than declared"},
		{checker.Missed, "○", "missed, though it was declared to be caught here"},
		{checker.Unsure, "?", "inconclusive"},
		{checker.Clean, "·", "clean"},
		{checker.Idle, "", "empty: does not apply"},
		{checker.Unplayed, unplayed, "not played yet"},
	}
}

// MatrixText writes a matrix for a terminal: a line for each target.
func MatrixText(w io.Writer, m Matrix) error {
	var b strings.Builder
	width := 0
	for _, row := range m.Rows {
		width = max(width, len(row.Target))
	}
	for _, row := range m.Rows {
		mark, right := "✓", m.right(row)
		if right != m.Seeds {
			mark = "✗"
		}
		fmt.Fprintf(&b, "%s %d/%d  %-*s  %-8s  %s\n", mark, right, m.Seeds, width, row.Target, row.store(), m.found(row))
	}
	fmt.Fprintln(&b)
	for _, line := range m.summary() {
		fmt.Fprintln(&b, line)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	return nil
}

// store is the database that a target stands on.
func (r MatrixRow) store() string { return cmp.Or(r.Store, "its own") }

// found says in words what the scenarios made of a target.
func (m Matrix) found(r MatrixRow) string {
	by := map[checker.Mark]int{}
	for _, scenario := range m.Scenarios {
		marks := r.marks(scenario)
		for mark := range marks {
			by[mark]++
		}
		if len(marks) == 0 {
			by[checker.Unplayed]++
		}
	}
	var parts []string
	for _, one := range symbols() {
		if n := by[one.mark]; n > 0 && one.mark != checker.Idle {
			parts = append(parts, fmt.Sprintf("%s in %s", cmp.Or(string(one.mark), "not played"), english.Plural(n, "scenario")))
		}
	}
	if firsts := m.firstsOf(r); len(firsts) > 0 {
		parts = append(parts, "first after "+duration(middle(firsts)))
	}
	return strings.Join(parts, ", ")
}

// MatrixJSON writes a matrix for programs. New members may come without another version.
func MatrixJSON(w io.Writer, m Matrix) error {
	text, err := indented(m)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	return nil
}

// ReadMatrix reads what MatrixJSON wrote.
func ReadMatrix(in io.Reader) (m Matrix, err error) {
	if err := json.NewDecoder(in).Decode(&m); err != nil {
		return m, fmt.Errorf("read matrix: %w", err)
	}
	return m, nil
}

// MatrixMarkdown writes a matrix as a page: the sum, the targets, and each target with each scenario.
func MatrixMarkdown(w io.Writer, m Matrix) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What doubletap catches\n\n%s %s, %s, %s.\n\n", m.method(), m.Tool, m.Started, english.Plural(m.Cores, "core"))
	for _, line := range m.summary() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, correct := range []bool{false, true} {
		fmt.Fprintf(&b, "\n## %s\n\n", titleOf(correct))
		m.table(&b, correct)
	}
	fmt.Fprintf(&b, "\n## Marks\n\n")
	for _, line := range meanings() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	fmt.Fprintf(&b, "\n## Scenarios\n\n")
	for i, name := range m.Scenarios {
		fmt.Fprintf(&b, "%d. %s\n", i+1, name)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write matrix: %w", err)
	}
	return nil
}

// method says how the matrix was made.
func (m Matrix) method() string {
	how := "Each target was run with all scenarios that apply to it, with each seed."
	if m.Sparing && m.Seeds > 1 {
		how = "Each target was run with all scenarios that apply to it; broken ones, from the second seed on, with those that are declared to catch them."
	}
	return how + " What is wrong with a target, and which finding shows it, was declared before."
}

// table writes a row for each target that is correct, or broken, and a column for each scenario.
func (m Matrix) table(b *strings.Builder, correct bool) {
	fmt.Fprintf(b, "| target | on | right | known by |")
	for i := range m.Scenarios {
		fmt.Fprintf(b, " %d |", i+1)
	}
	fmt.Fprintf(b, "\n|---|---|---|---|%s\n", strings.Repeat("---|", len(m.Scenarios)))
	for _, row := range m.Rows {
		if row.Correct != correct {
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %d/%d | %s |", row.Target, row.store(), m.right(row), m.Seeds, row.shows())
		for _, name := range m.Scenarios {
			text, _ := m.cell(row, name)
			fmt.Fprintf(b, " %s |", text)
		}
		fmt.Fprintln(b)
	}
}
