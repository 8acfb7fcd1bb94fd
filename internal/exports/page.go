package main

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// cell is what an export showed, in a few words.
func (p played) cell() string {
	switch {
	case p.right() && p.Tries > 1:
		return fmt.Sprintf("yes, in 1 of %d", p.Tries)
	case p.right():
		return "yes"
	case p.Cannot != "" && p.Broken.Verdict == no:
		return "**false**: said that nothing happened"
	case p.Cannot != "" && p.Broken.Verdict != yes && p.Twin.Verdict != yes:
		if p.Broken.Verdict == unclear {
			return "cannot"
		}
		return "cannot (not run)"
	case p.Twin.Verdict == yes:
		return "**false**: shown at the twin"
	case p.Broken.Verdict == yes:
		return "broken: shown, twin: " + string(cmp.Or(p.Twin.Verdict, "not played"))
	default:
		return "broken: " + string(cmp.Or(p.Broken.Verdict, "not played"))
	}
}

// right reports that it was shown at the broken design and not at its twin.
func (p played) right() bool { return p.Broken.Verdict == yes && p.Twin.Verdict == no }

// forms are the exports in the order of the page's columns.
func (r result) forms() []played { return []played{r.As, r.Go, r.Curl} }

// row is the design's line of the page.
func (r result) row() string {
	if r.Kind == "" {
		return fmt.Sprintf("| `%s` | `%s` | not found | | | | |", r.Design, r.Twin)
	}
	cells := []string{}
	for _, p := range r.forms() {
		cells = append(cells, p.cell())
	}
	return fmt.Sprintf("| `%s` | `%s` | `%s` by %s | %s | %s |", r.Design, r.Twin, r.Kind, r.Scenario, strings.Join(cells, " | "), r.Took.Round(time.Second))
}

// document is the whole page.
func document(all []result, database string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Exports, tried

What an export shows, it has to show at the broken service, and not at the mended one. `+"`make exports`"+` plays each broken built-in
design until a declared scenario catches it, shrinks the finding, and exports it as a scenario, a Go test and a shell script.
Each export then runs against the design and against its correct twin, which takes the same requests.

A format is right (yes) if the broken design shows the finding again, and its twin does not. "cannot" means that the export said
beforehand that its format cannot show it, and did not claim to; "not run", that it was not even run, for want of what it asks for.

Played on %s, %d cores, %s. `, database, runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	found, names := 0, []string{"scenario", "Go test", "script"}
	for _, r := range all {
		if r.Kind != "" {
			found++
		}
	}
	fmt.Fprintf(&b, "%d designs, %d with a finding.\n\n| | right | cannot, said so | not shown or unclear | false |\n|---|---|---|---|---|\n", len(all), found)
	for i, name := range names {
		counts := map[string]int{}
		for _, r := range all {
			if r.Kind == "" {
				continue
			}
			switch cell := r.forms()[i].cell(); {
			case strings.HasPrefix(cell, "yes") || strings.HasPrefix(cell, "cannot"):
				counts[cell[:min(len(cell), len("yes"))]]++
			case strings.HasPrefix(cell, "**"):
				counts["false"]++
			default:
				counts["else"]++
			}
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %d | %d | %d |\n", name, counts["yes"], found, counts["can"], counts["else"], counts["false"])
	}
	b.WriteString("\n| Design | Twin | Finding | Scenario | Go test | Script | Took |\n|---|---|---|---|---|---|---|\n")
	for _, r := range all {
		b.WriteString(r.row() + "\n")
	}
	b.WriteString("\n## What is not right, and why\n\n")
	for _, r := range all {
		for i, p := range r.forms() {
			if r.Kind != "" && !p.right() {
				why := cmp.Or(p.Cannot, p.Broken.Said+" / "+p.Twin.Said)
				fmt.Fprintf(&b, "- `%s`, %s: %s\n", r.Design, names[i], strings.ReplaceAll(strings.Join(strings.Fields(why), " "), "|", "\\|"))
			}
		}
	}
	return b.String()
}
