// Package doubletaptest plays doubletap's scenarios inside go test: one bring-up, and a subtest for each scenario.
//
//	func TestOrders(t *testing.T) {
//		db := open(t)
//		doubletaptest.Test(t, doubletap.Config{
//			Target:  "orders.yaml",
//			Handler: orders.Handler(db),
//			DB:      db,
//		})
//	}
//
// Each scenario is a subtest with the scenario's name, so that -run picks it:
//
//	go test -run 'TestOrders/burst-same-key' -v
//
// It passes if it was exercised and no promise was broken, or if it fails as it is known to. It fails with the
// evidence if a promise was broken, and also if it could not be exercised, for then it has shown nothing. It
// is skipped if the target's contract has nothing for it. With -v it says how far it was exercised.
//
// A pass means: not seen in so many rounds. With -short only the first few intents of each scenario are played,
// and of the library, where the config names no scenarios, only a handful; the others are skipped. That
// finds what is plainly broken, and is worth little as a pass; it says so with -v.
package doubletaptest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/doubletap-harness/doubletap"
	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

// shortIntents are the intents of a scenario that are played with -short. Twins and neighbours of them come along.
const shortIntents = 4

// shortLibrary are the scenarios that are played with -short where none is named.
func shortLibrary() []string {
	return []string{"plain-create", "sequential-replay", "burst-same-key", "withheld-answer", "altered-after"}
}

// Test brings the target up once and plays each scenario as a subtest. Without a Handler the target must be running. A mistake in
// a file, or a target that cannot be reached, fails the test itself.
func Test(t *testing.T, c doubletap.Config) {
	t.Helper()
	whole := len(c.Scenarios) == 0 && c.Source == ""
	if testing.Short() && c.Intents == 0 {
		c.Intents = shortIntents
	}
	if c.Again == "" {
		c.Again = again(t.Name())
	}
	session, err := doubletap.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Helper()
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range session.Scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			if testing.Short() {
				if whole && !slices.Contains(shortLibrary(), name) {
					t.Skip("left out with -short")
				}
				t.Logf("-short: at most the first %d intents: what happens rarely is hardly seen so", c.Intents)
			}
			play(t, session, name, c.Reports != "")
		})
	}
	if c.Reports == "" {
		return
	}
	report, err := session.Report()
	if err != nil {
		t.Error(err)
	}
	if report != nil && report.Replay != "" && report.Verdict == checker.Fail {
		t.Logf("send a finding again:\n  %s", strings.ReplaceAll(report.Replay, "{}", "F1"))
	}
}

// again is the command that runs a test again.
func again(test string) string {
	return "go test -run '^" + strings.ReplaceAll(test, "/", "$/^") + "$'"
}

// play plays one scenario and says what a test says.
func play(t *testing.T, session *doubletap.Session, name string, kept bool) {
	t.Helper()
	r, err := session.Play(context.WithoutCancel(t.Context()), name)
	if err != nil {
		t.Fatal(err)
	}
	switch r.Verdict {
	case checker.Pass, checker.Known:
		t.Log(reports.Line(r, reports.Style{}))
	case checker.NotApplicable:
		t.Skip(strings.Join(r.Reasons, "; "))
	default:
		t.Error(evidence(t, session.ReportOn(r), kept))
	}
}

// evidence is the report on one scenario.
func evidence(t *testing.T, r doubletap.Report, kept bool) string {
	t.Helper()
	r.Again, r.Replay, r.Shrink, r.Export = again(t.Name()), "", "", "" // its findings have other numbers than those of the run
	if !kept {                                                          // nothing finds these files once the test is over
		r.Dir = ""
	}
	var text bytes.Buffer
	if err := reports.Text(&text, r, reports.Style{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
