package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// KnownBug is a broken promise that is registered and expected. Without a link it is not known.
type KnownBug struct {
	Expect Kind   `json:"expect"`
	Detail string `json:"detail,omitempty"` // of the finding; empty: any
	Link   string `json:"link"`             // where it is told

	Elsewhere bool `json:"elsewhere,omitempty"` // it may be of another operation: not to be seen at this one says nothing
}

// String names the bug in a few words: "replay-mismatch (status)".
func (k KnownBug) String() string {
	if k.Detail == "" {
		return string(k.Expect)
	}
	return fmt.Sprintf("%s (%s)", k.Expect, k.Detail)
}

// explains reports that a finding is of this bug: of its kind, or of one that its kind covers.
func (k KnownBug) explains(f Finding) bool {
	return k.Expect.Covers(f.Kind) && (k.Detail == "" || k.Detail == f.Detail)
}

// explaining returns the index of the bug that explains a finding; -1: none. One that names the detail comes first.
func explaining(known []KnownBug, f Finding) int {
	named := slices.IndexFunc(known, func(k KnownBug) bool { return k.Detail != "" && k.explains(f) })
	if named >= 0 {
		return named
	}
	return slices.IndexFunc(known, func(k KnownBug) bool { return k.explains(f) })
}

// isNew reports that a finding fails a run: nobody has registered it, and the contract does not
// allow it.
func (f Finding) isNew() bool { return f.Known == "" && f.Excused == "" }

// isKnown reports that a finding is of a registered bug.
func (f Finding) isKnown() bool { return f.Known != "" }

// markKnown gives findings of known bugs their links.
func markKnown(e *evaluation) {
	for i, f := range e.found.findings {
		if at := explaining(e.whole.known, f); at >= 0 {
			e.found.findings[i].Known = e.whole.known[at].Link
		}
	}
}

// fixedReasons says of the known bugs that they were not seen, in how many rounds.
func (w *whole) fixedReasons(rounds int) []string {
	var reasons []string
	for _, k := range w.known {
		if !k.Elsewhere {
			reasons = append(reasons, k.fixedReason(rounds))
		}
	}
	return reasons
}

// fixedReason says that the bug did not show although the run did what would have shown it, and
// what to do about it.
func (k KnownBug) fixedReason(rounds int) string {
	return fmt.Sprintf("a known %s was not seen in %s: take it out of the register (%s)", k, count(rounds, "exercised round"), k.Link)
}

// notSeenHere warns that a scenario did not show a known bug.
func (k KnownBug) notSeenHere(text string) Warning {
	return Warning{Kind: "known-not-seen", Text: fmt.Sprintf("a known %s was not seen%s (%s)", k, text, k.Link)}
}

// SettleFixed takes back that a bug is fixed where another scenario of the run still shows it: a bug is what its link names. Known
// are the bugs of each scenario, by its name.
func SettleFixed(results []Result, known map[string][]KnownBug) {
	shown := map[string]bool{}
	for _, r := range results {
		for _, f := range r.Findings {
			shown[f.Known] = true
		}
	}
	for i := range results {
		r := &results[i]
		if r.Verdict != Mended {
			continue
		}
		rounds := Rounds(r.Exercise)
		for _, k := range known[r.Scenario] {
			if at := slices.Index(r.Reasons, k.fixedReason(rounds)); at >= 0 && shown[k.Link] {
				r.Reasons = slices.Delete(r.Reasons, at, at+1)
				r.Warnings = append(r.Warnings, k.notSeenHere(" here, but in another scenario"))
			}
		}
		if len(r.Reasons) == 0 {
			r.Verdict, r.Reasons = Pass, nil
		}
	}
}

// notSeen warns of known bugs that a scenario did not show while it broke in another way. Only a complete judgement
// says that they are not there.
func (w *whole) notSeen(s standing, reasons []string) []Warning {
	if len(reasons) > 0 {
		return nil
	}
	var warnings []Warning
	for i, k := range w.known {
		if !s.seen[i] {
			text := ""
			if k.Elsewhere {
				text = " at this operation, which may not be the one that has it: with operation in the register, it is said when it is fixed"
			}
			warnings = append(warnings, k.notSeenHere(text))
		}
	}
	return warnings
}

// Rounds returns the number of intents for which every proof of exercise held.
func Rounds(exercise []Exercise) int {
	if len(exercise) == 0 {
		return 0
	}
	return slices.MinFunc(exercise, func(a, b Exercise) int { return cmp.Compare(a.Held, b.Held) }).Held
}
