package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// registerHead stands at the beginning of a register that a run has written.
const registerHead = `Known bugs, as "doubletap run --write-known" found them. Put the link of its issue in place of
each link that leads to tracker.example.com: one bug has one link, in whatever scenarios it shows.`

// registerOutput is the file of --write-known. One that is there may hold links of a person: it is only brought up to date.
func (o runFlags) registerOutput() (files.Output, error) {
	out := files.Output{Path: o.writeKnown, Force: o.writeKnown == o.known}
	if folder := filepath.Dir(o.writeKnown); o.writeKnown != "" && !rundir.Exists(folder) {
		return out, runerror.Configf("--write-known: there is no folder %s", folder)
	}
	if o.writeKnown == "" || out.Force || !rundir.Exists(o.writeKnown) {
		return out, nil
	}
	name := shell.Quote(o.writeKnown)
	return out, runerror.Configf("--write-known: %s is there already; to bring it up to date, read it too: --known %s --write-known %s", o.writeKnown, name, name)
}

// writeRegister writes the known bugs of these reports: those of the register that were not seen to be fixed, and each new cause.
func (o runFlags) writeRegister(out files.Output, old scenarios.Register, played []checker.Report, every bool, s streams) error {
	if len(played) == 0 {
		return nil
	}
	parts := stillKnown(old, played, every)
	fresh, own := newlyKnown(played)
	text, err := scenarios.RegisterSource(registerHead, append(parts, fresh...))
	if err == nil {
		err = out.Write(func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("--write-known: %w", err))
	}
	fmt.Fprintf(s.err, "%s has %s; from now on: --known %s\n", out.Path, added(len(fresh), len(parts) > 0), shell.Quote(out.Path))
	for _, name := range slices.Sorted(maps.Keys(own)) {
		fmt.Fprintf(s.err, "%s is a scenario of yours: its known bugs go into its own file, under the key known (%s)\n", name, english.List(own[name], "and"))
	}
	return nil
}

// added says how many causes came into a register.
func added(n int, before bool) string {
	if before {
		return english.Plural(n, "new cause") + ", and what it had and was not seen to be fixed"
	}
	return english.Plural(n, "cause")
}

// stillKnown are the lines of a register that no run showed to be fixed. Every says that each operation was played.
func stillKnown(old scenarios.Register, played []checker.Report, every bool) []scenarios.RegisterPart {
	byLink := map[string]*scenarios.RegisterPart{}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		for _, bug := range old[name] {
			if fixed(played, name, bug, every) && !shows(played, bug.Link) {
				continue
			}
			if byLink[bug.Link] == nil {
				byLink[bug.Link] = new(scenarios.RegisterPart)
			}
			byLink[bug.Link].Lines = append(byLink[bug.Link].Lines, scenarios.Registered{Scenario: name, KnownBug: bug})
		}
	}
	var parts []scenarios.RegisterPart
	for _, link := range slices.Sorted(maps.Keys(byLink)) {
		parts = append(parts, *byLink[link])
	}
	return parts
}

// fixed reports that a scenario did not show a known bug any more, at an operation that may have it. A line that names none speaks of any
// operation: where every one was played, all that the scenario applies to have to be without it.
func fixed(played []checker.Report, scenario string, bug scenarios.KnownBug, every bool) bool {
	var of []checker.Verdict
	for _, report := range played {
		for _, r := range report.Results {
			if bug.Concerns(report.Operation) && r.Scenario == scenario && r.Verdict != checker.NotApplicable {
				of = append(of, r.Verdict)
			}
		}
	}
	if bug.Operation == "" && every {
		return len(of) > 0 && !slices.ContainsFunc(of, func(v checker.Verdict) bool { return v != checker.Pass && v != checker.Mended })
	}
	return slices.Contains(of, checker.Mended)
}

// fixedEverywhere are sentences of the known bugs that name no operation and that none showed, where every one was played.
func fixedEverywhere(known scenarios.Register, played []checker.Report) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(known)) {
		for _, bug := range known[name] {
			if bug.Operation == "" && fixed(played, name, bug, true) && !shows(played, bug.Link) {
				all = append(all, fmt.Sprintf("a known %s of %s was not seen at any operation: take it out of the register (%s)", bug.Expect, name, bug.Link))
			}
		}
	}
	return all
}

// shows reports that a known bug was seen.
func shows(played []checker.Report, link string) bool {
	return slices.ContainsFunc(played, func(report checker.Report) bool {
		return slices.ContainsFunc(report.Results, func(r checker.Result) bool {
			return slices.ContainsFunc(r.Findings, func(f checker.Finding) bool { return f.Known == link })
		})
	})
}

// newlyKnown makes lines of the new causes of runs, which name the operation where the target has several. Own has, by the name of a scenario that is not built in, what it showed.
func newlyKnown(played []checker.Report) (parts []scenarios.RegisterPart, own map[string][]string) {
	own = map[string][]string{}
	for _, report := range played {
		sentences := reports.CauseSentences(report)
		operation := report.Operation
		if len(report.NotPlayed) == 0 && len(played) == 1 {
			operation = ""
		}
		for i, c := range checker.Causes(report.Results) {
			if c.Known != "" || c.Excused != "" {
				continue
			}
			part := scenarios.RegisterPart{Comment: strings.Join(strings.Fields(sentences[i]), " ")}
			link := "https://tracker.example.com/" + report.Run + "/" + c.ID
			for _, p := range c.Members {
				r := report.Results[p.Result]
				f := r.Findings[p.Finding]
				bug := scenarios.KnownBug{Operation: operation, Expect: string(f.Kind), Detail: f.Detail, Link: link}
				if !engine.BuiltInScenario(r.Scenario) {
					if text := strings.TrimSpace(bug.Expect + " " + bug.Detail); !slices.Contains(own[r.Scenario], text) {
						own[r.Scenario] = append(own[r.Scenario], text)
					}
					continue
				}
				part.Lines = append(part.Lines, scenarios.Registered{Scenario: r.Scenario, KnownBug: bug})
			}
			if len(part.Lines) > 0 {
				parts = append(parts, part)
			}
		}
	}
	return parts, own
}
