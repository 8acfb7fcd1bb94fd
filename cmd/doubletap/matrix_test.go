package main

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// TestTheMatrixHasEveryDesignAndScenario holds docs/matrix.md, which make matrix writes, against what is
// built in.
func TestTheMatrixHasEveryDesignAndScenario(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/matrix.md")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	require.Contains(t, string(text), " | "+stores()[0].name+" |", "make matrix")
	for _, store := range stores() {
		if !strings.Contains(string(text), " | "+store.name+" |") {
			continue // it was not run on this store
		}
		for _, d := range orders.Designs() {
			place := store.name
			if d.Redis {
				place += redisSuffix
				if !strings.Contains(string(text), " | "+place+" |") {
					continue // nor was it run with Redis beside it
				}
			}
			stands := d.StandsOn(store.name)
			has := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+d.Name+" | "+place+" |") })
			require.Equal(t, stands, has, "%s on %s: make matrix", d.Name, place)
		}
	}
	library := scenarios.Library()
	_, listed, _ := strings.Cut(string(text), "## Scenarios")
	require.Equal(t, len(library), strings.Count(listed, ". "), "make matrix")
	for _, f := range library {
		require.Contains(t, listed, ". "+f.Scenario.Name+"\n", "make matrix")
	}
}

func TestAMatrixGoesOnWithWhatIsKnownToBeSo(t *testing.T) {
	t.Parallel()
	truth := checker.Truth{Shows: []checker.Kind{checker.Duplicate}, By: []string{"burst"}}
	all := []known{{target: "builtin:same", truth: truth}, {target: "builtin:declared-anew", truth: truth}, {target: "builtin:new", truth: truth}}
	played := func(k known) reports.MatrixRow {
		row := k.row()
		row.Add(1, nil)
		return row
	}
	other := known{target: "other.yaml", truth: truth}
	changed := played(all[1])
	changed.Correct = true
	o := matrixOptions{seeds: 1, parallel: 1}
	earlier, err := o.begin(nil, nil, nil)
	require.NoError(t, err)
	earlier.Rows = []reports.MatrixRow{played(other), changed, played(all[0])}
	m, err := o.begin(nil, all, &earlier)
	require.NoError(t, err)
	require.Equal(t, []reports.MatrixRow{played(all[0]), all[1].row(), all[2].row(), played(other)}, m.Rows)
	require.NoError(t, o.play(t.Context(), nil, all[:1], &m, streams{err: io.Discard}), "there is nothing left to play")

	m.Scenarios = []string{""}
	ended, end := context.WithCancel(t.Context())
	end()
	before := len(m.Rows[1].Played)
	require.ErrorIs(t, o.play(ended, []scenarios.File{{}}, all[:2], &m, streams{err: io.Discard}), context.Canceled)
	require.Len(t, m.Rows[1].Played, before, "what was interrupted is not on record")
}

// A row stands on the database that it names, whatever the environment says of others.
func TestARowOfSQLiteIsOnSQLite(t *testing.T) {
	t.Parallel()
	env := map[string]string{sut.DatabaseVariable: "postgres://127.0.0.1:1/shop"}
	got := callWith(t.Context(), env, "matrix", "--design", "unique-key", "plain-create")
	require.Equal(t, exitPass, got.code, "%s", got)
}

func TestCorrectTargetsAreSpreadAmongTheOthers(t *testing.T) {
	t.Parallel()
	broken, correct := known{truth: checker.Truth{}}, known{truth: checker.Truth{Correct: true}}
	require.Equal(t, []int{0, 1, 4, 2, 3, 5}, mixed([]known{broken, broken, broken, broken, correct, correct}))
	require.Equal(t, []int{0, 1}, mixed([]known{correct, correct}))
	require.Equal(t, []int{0}, mixed([]known{broken}))
	require.Empty(t, mixed(nil))
}

// TestDetectionKnowsNoDesign keeps the rooms that find defects from knowing which ones there are to find.
func TestDetectionKnowsNoDesign(t *testing.T) {
	t.Parallel()
	findings := []string{string(checker.MissingKeyAccepted), "replay-echoes-request"} // called like designs, and none of them
	for _, room := range []string{"scenarios", "driver", "proxy", "checker", "history"} {
		for _, path := range sourcesBelow(t, "../../"+room) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, d := range orders.Designs() {
				named := strings.Contains(string(text), `"`+d.Name+`"`) && !d.Correct && !slices.Contains(findings, d.Name)
				require.False(t, named || strings.Contains(string(text), sut.BuiltinPrefix+d.Name), "%s names %s", path, d.Name)
			}
		}
	}
}

// sourcesBelow lists the files below a folder that are Go code or scenarios, but no tests.
func sourcesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		source := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".yaml")
		if err == nil && source {
			paths = append(paths, path)
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}
