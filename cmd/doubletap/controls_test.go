package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// seedsVariable says with how many seeds every design is tried, on every store and with the whole library.
const seedsVariable = "DOUBLETAP_SEEDS"

// TestEveryDesignGetsItsVerdict runs the library against every built-in design: a broken design must be
// caught, by a finding that it is declared to show, and a correct one must pass, with nothing left
// inconclusive. Without DOUBLETAP_SEEDS one design of sixteen is tried once, on one store or the other: broken ones with two of
// the scenarios that are declared to catch them, and the correct ones play the library once between them. Those with a sink
// have a test of their own.
func TestEveryDesignGetsItsVerdict(t *testing.T) {
	seeds, everywhere := 1, os.Getenv(seedsVariable) != ""
	if everywhere {
		n, err := strconv.Atoi(os.Getenv(seedsVariable))
		require.NoError(t, err)
		seeds = n
	}
	table := &controlTable{right: map[[2]string]int{}}
	t.Cleanup(func() { t.Log("\n" + table.String(seeds)) })
	tried := orders.Designs()
	if !everywhere {
		tried = some(t, tried)
	}
	var correct []string // of those that are tried
	for _, d := range tried {
		if d.Correct {
			correct = append(correct, d.Name)
		}
	}
	for i, d := range tried {
		on := slices.DeleteFunc(stores(), func(s store) bool { return !d.StandsOn(s.name) })
		if !everywhere {
			on = on[i%len(on):][:1]
		}
		for _, store := range on {
			for seed := 1; seed <= seeds; seed++ {
				t.Run(fmt.Sprintf("%s/%s/seed=%d", d.Name, store.name, seed), func(t *testing.T) {
					t.Parallel() // a run mostly waits; -parallel bounds how many do so at once
					judgeDesign(t, d, store, seed, part(t, d, correct, everywhere))
					table.add(d.Name, store.name)
				})
			}
		}
	}
}

// some are one of sixteen designs, of those that show in rows, and in few rounds.
func some(t *testing.T, all []orders.Design) []orders.Design {
	sinks := sunk(t)
	all = slices.DeleteFunc(all, func(d orders.Design) bool {
		return slices.Contains(rare(), d.Name) || slices.ContainsFunc(sinks, func(s orders.Design) bool { return s.Name == d.Name })
	})
	var dealt []orders.Design
	for i := 0; i < len(all); i += 16 {
		dealt = append(dealt, all[i])
	}
	return dealt
}

// rare are broken designs that show their defect in few rounds: it takes more of them than an ordinary test plays.
func rare() []string { return []string{"lock-misses-a-stripe"} }

type store struct{ name, url string }

func stores() []store {
	return []store{{"sqlite", ""}, {"postgres", os.Getenv(postgresVariable)}, {"mariadb", os.Getenv(mariadbVariable)}}
}

// flag names the database, unless it is the SQLite file that is taken without.
func (s store) flag() []string {
	if s.url == "" {
		return nil
	}
	return []string{"--database", s.url}
}

// judgeDesign runs scenarios, or the whole library if there are none, against a design.
//
// Where only a part is tried, a busy machine may leave something unexercised, and a broken design has three seeds to be caught
// with: who wins a race is chance, whose rate make controls tells. A correct design has one: it is never flagged.
func judgeDesign(t *testing.T, d orders.Design, on store, seed int, names []string) {
	part := len(names) > 0
	var got designRun
	for ; ; seed++ {
		got = runDesign(t, d, on, seed, names)
		if d.Correct || !part || got.code != exitPass || seed == 3 {
			break
		}
		t.Logf("missed with seed %d", seed)
	}
	if part && got.code == exitInconclusive {
		t.Log("a busy machine left something unexercised: make controls holds more")
		return
	}
	if d.Correct {
		require.Equal(t, exitPass, got.code, "a correct design passes everything that applies to it\n%s", got.out)
		return
	}
	require.Equal(t, exitFinding, got.code, "a broken design is caught\n%s", got.out)
	kinds := findingKinds(t, got.dir)
	require.True(t, slices.ContainsFunc(d.Shows, func(k string) bool { return slices.Contains(kinds, k) }),
		"caught by %v, declared %v", kinds, d.Shows)
}

// designRun is what came of one run against a design.
type designRun struct {
	code     int
	out, dir string
}

// runDesign runs scenarios, or the whole library, against a design, and sees that every request is on record.
func runDesign(t *testing.T, d orders.Design, on store, seed int, names []string) designRun {
	got := designRun{dir: t.TempDir()}
	prefix := sut.BuiltinPrefix
	killed := d.Instances == 1 || slices.ContainsFunc(d.By, func(name string) bool { return strings.HasPrefix(name, "crash-") })
	if d.Instances > 1 || killed {
		prefix = sut.ServedPrefix
	}
	args := append([]string{"run", "--target", prefix + d.Name, "--seed", fmt.Sprint(seed), "--reports", got.dir}, on.flag()...)
	command := exec.CommandContext(t.Context(), usual(t), patient(append(args, names...))...)
	printed, _ := command.CombinedOutput() // its exit code tells
	require.NotNil(t, command.ProcessState)
	got.code, got.out = command.ProcessState.ExitCode(), string(printed)
	if !killed { // else what it had counted went with it
		requireEveryRequestOnRecord(t, onlyRun(t, got.dir))
	}
	return got
}

// part lists the scenarios that a design is tried with, one of these that play the library between them; none is the whole library,
// which make controls has each of them play.
func part(t *testing.T, d orders.Design, between []string, whole bool) []string {
	switch {
	case whole:
		return nil
	case !d.Correct:
		require.NotEmpty(t, d.By, "it is declared what catches it")
		return slices.Compact(append([]string{"plain-create"}, d.By[:min(len(d.By), 2)]...))
	}
	files := scenarios.Library()
	names := []string{"plain-create", "burst-same-key"} // which apply to all of them
	for i, f := range files {
		if i%len(between) == slices.Index(between, d.Name) && !slices.Contains(append(names, "sweep", "burst-under-load"), f.Scenario.Name) {
			names = append(names, f.Scenario.Name)
		}
	}
	return names
}

// findingKinds returns the kinds of finding in the only run below dir.
func findingKinds(t *testing.T, dir string) []string {
	report := onlyReport(t, dir)
	var kinds []string
	for _, r := range report.Results {
		for _, f := range r.Findings {
			kinds = append(kinds, string(f.Kind))
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func onlyReport(t *testing.T, dir string) checker.Report {
	found, err := filepath.Glob(filepath.Join(dir, "2*", "report.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	file, err := os.Open(found[0])
	require.NoError(t, err)
	defer file.Close()
	report, err := reports.ReadJSON(file)
	require.NoError(t, err)
	return report
}

// controlTable counts right verdicts by design and store. Safe for concurrent use.
type controlTable struct {
	mu    sync.Mutex
	right map[[2]string]int
}

func (c *controlTable) add(design, store string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.right[[2]string{design, store}]++
}

func (c *controlTable) String(seeds int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text strings.Builder
	fmt.Fprintf(&text, "%-36s %-8s", "right verdicts", "design")
	for _, s := range stores() {
		fmt.Fprintf(&text, " %10s", s.name)
	}
	for _, d := range orders.Designs() {
		kind := map[bool]string{true: "correct", false: "broken"}[d.Correct]
		fmt.Fprintf(&text, "\n%-36s %-8s", d.Name, kind)
		for _, s := range stores() {
			fmt.Fprintf(&text, " %7d/%-2d", c.right[[2]string{d.Name, s.name}], seeds)
		}
	}
	return text.String()
}
