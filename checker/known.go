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
}

// String names the bug in a few words: "replay-mismatch (status)".
func (k KnownBug) String() string {
	if k.Detail == "" {
		return string(k.Expect)
	}
	return fmt.Sprintf("%s (%s)", k.Expect, k.Detail)
}

func (k KnownBug) explains(f Finding) bool {
	return k.Expect.Covers(f.Kind) && (k.Detail == "" || k.Detail == f.Detail)
}

func (f Finding) isNew() bool { return f.Known == "" && f.Excused == "" }

func (f Finding) isKnown() bool { return f.Known != "" }

// markKnown gives findings of known bugs their links.
func markKnown(e *evaluation) {
	for i, f := range e.found.findings {
		at := slices.IndexFunc(e.whole.known, func(k KnownBug) bool { return k.explains(f) })
		if at >= 0 {
			e.found.findings[i].Known = e.whole.known[at].Link
		}
	}
}

// fixedReasons says of the known bugs that they were not seen, in how many rounds.
func (w *whole) fixedReasons(rounds int) []string {
	var reasons []string
	for _, k := range w.known {
		reasons = append(reasons, fmt.Sprintf("a known %s was not seen in %s: take it out of the register (%s)", k, count(rounds, "exercised round"), k.Link))
	}
	return reasons
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
			warnings = append(warnings, Warning{Kind: "known-not-seen", Text: fmt.Sprintf("a known %s was not seen (%s)", k, k.Link)})
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
