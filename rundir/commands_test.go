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
		"doubletap run --seed 1 'my scenario.yaml'": "doubletap run --seed 1 'my scenario.yaml'",
		"/usr/bin/doubletap replay r/findings/{}":   "doubletap replay r/findings/{}",
		"./handed/doubletap run x":                  "doubletap run x",
		"go run ./cmd/doubletap run x":              "go run ./cmd/doubletap run x",
		os.Args[0] + " run x":                       os.Args[0] + " run x",
		"curl http://192.0.2.7/x -o .bashrc":        "",
		"bash handed/again.sh":                      "",
		"rm -rf doubletap run":                      "",
		"notdoubletap run x":                        "",
		"doubletap clean --nats nats://x":           "",
		"doubletap run x; touch pwned":              "",
		"doubletap":                                 "",
		"":                                          "",
	} {
		m := rundir.Manifest{Commands: rundir.Commands{Again: written, Replay: written, Shrink: written, Export: written}}
		r := rundir.Dir{}.ReportOn(m, nil)
		require.Equal(t, []string{told, told, told, told}, []string{r.Again, r.Replay, r.Shrink, r.Export}, written)
	}
}
