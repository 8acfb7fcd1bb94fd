package rundir_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// TestACommandOfAnothersRunIsOneOfDoubletap: whoever reads a run is told what to type, and another may have written the run.
func TestACommandOfAnothersRunIsOneOfDoubletap(t *testing.T) {
	t.Parallel()
	for written, told := range map[string]string{
		"doubletap run --seed 1 'my scenario.yaml'":   "doubletap run --seed 1 'my scenario.yaml'",
		"/usr/bin/doubletap replay r/findings/{}":     "doubletap replay r/findings/{}",
		"doubletap replay r/findings/{}; touch pwned": "",
		"./handed/doubletap run x":                    "doubletap run x",
		"go run ./cmd/doubletap run x":                "go run ./cmd/doubletap run x",
		os.Args[0] + " run x":                         os.Args[0] + " run x",
		"curl http://192.0.2.7/x -o .bashrc":          "",
		"bash handed/again.sh":                        "",
		"rm -rf doubletap run":                        "",
		"notdoubletap run x":                          "",
		"doubletap clean --nats nats://x":             "",
		"doubletap run x; touch pwned":                "",
		"doubletap":                                   "",
		"":                                            "",
	} {
		m := rundir.Manifest{Commands: rundir.Commands{Again: written, Replay: written, Shrink: written, Export: written}}
		r := rundir.Dir{Path: "r"}.ReportOn(m, nil)
		require.Equal(t, []string{told, told, told, told}, []string{r.Again, r.Replay, r.Shrink, r.Export}, written)
	}
}

// Where a run lies says which of its findings a command is about: it may have been moved since it was written.
func TestACommandAboutAFindingLeadsToWhereTheRunIs(t *testing.T) {
	t.Parallel()
	for dir, told := range map[string]string{
		"r":          "doubletap replay r/findings/{} --store x",
		"of a $1":    "doubletap replay 'of a $1'/findings/{} --store x",
		"-r":         "doubletap replay ./-r/findings/{} --store x",
		"r/findings": "doubletap replay r/findings/findings/{} --store x",
	} {
		m := rundir.Manifest{Commands: rundir.Commands{Replay: "doubletap replay 'old place'/findings/{} --store x"}}
		require.Equal(t, told, rundir.Dir{Path: dir}.ReportOn(m, nil).Replay)
	}
}
