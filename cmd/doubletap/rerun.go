package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// rerun is a command line that does a run or a replay once more.
type rerun struct {
	sessionFlags
	finding    string       // directory of the finding that is replayed; empty: a run, or a hunt
	tries      []string     // flags that say how often it is replayed
	hunt       *engine.Hunt // nil: it is no hunt
	args       []string     // of run
	seed       uint64       // likewise
	known      string
	confidence share
	budget     time.Duration
	moreRounds string // what was asked for; empty: nothing
	gate       gate
	skip       []string
	failFast   bool
	parallel   int
	shard      shardFlag

	ignoreEffects bool
}

// commands are what a report of a run tells its reader to type.
func (r rerun) commands(dir string) rundir.Commands {
	about := func(command string) string {
		words := []string{program(), command, rundir.AboutFinding(dir)}
		return strings.Join(append(words, r.placeFlags()...), " ")
	}
	return rundir.Commands{Again: r.String(), Replay: about("replay"), Shrink: about("shrink"), Export: about("export")}
}

// String is the command that does the whole run once more.
func (r rerun) String() string {
	words := []string{program()}
	if r.finding != "" {
		words = append(words, "replay", shell.Operand(r.finding))
		switch { // what is left out is that of the finding
		case r.target != "":
			words = append(words, r.targetWords())
		case r.instances > 0:
			words = append(words, r.instancesWords())
		}
		words = append(append(words, r.tries...), r.flags()...)
		return strings.Join(append(words, r.gate.again()...), " ")
	}
	if r.hunt != nil {
		words = append(words, "hunt")
	} else {
		words = append(words, "run")
	}
	for _, arg := range r.args {
		words = append(words, shell.Operand(arg))
	}
	words = append(append(words, r.targetWords()), r.flags()...)
	for _, name := range r.skip {
		words = append(words, "--skip", shell.Quote(name))
	}
	if r.ignoreEffects {
		words = append(words, "--ignore-effects")
	}
	if r.failFast {
		words = append(words, "--fail-fast")
	}
	if r.shard.Several() {
		words = append(words, "--shard", r.shard.String())
	}
	if r.parallel > 0 {
		words = append(words, "--parallel", fmt.Sprint(r.parallel))
	}
	words = append(append(words, r.huntFlags()...), "--seed", fmt.Sprint(r.seed))
	return strings.Join(append(words, r.gate.again()...), " ")
}

// plain is the command that plays the same scenarios at the same target, without what else the command line had.
func (o sessionFlags) plain(scenarios ...string) string {
	words := []string{program(), "run"}
	for _, name := range scenarios {
		words = append(words, shell.Operand(name))
	}
	words = append(words, o.targetWords())
	return strings.Join(append(words, rerun{sessionFlags: o}.flags()...), " ")
}

// flags are those that run and replay share, but for the target. A flag that has its default is
// left out, so that the command stays short enough to be read.
func (r rerun) flags() []string {
	words := append(r.placeFlags(), r.operationFlag()...)
	if r.toxiproxy != "" {
		words = append(words, "--toxiproxy", shell.Quote(sut.WithoutPassword(r.toxiproxy)))
	}
	if r.reports != engine.DefaultReports {
		words = append(words, "--reports", shell.Quote(r.reports))
	}
	if usual := map[bool]int{false: engine.DefaultMaxRequests, true: engine.DefaultHuntRequests}[r.hunt != nil]; r.maxRequests != usual {
		words = append(words, "--max-requests", fmt.Sprint(r.maxRequests))
	}
	if r.known != "" {
		words = append(words, "--known", shell.Quote(r.known))
	}
	if r.confidence > 0 && r.finding == "" {
		words = append(words, "--confidence", r.confidence.String())
	}
	if r.budget > 0 && r.finding == "" {
		words = append(words, "--budget", fmt.Sprint(r.budget))
	}
	if r.moreRounds != "" && r.finding == "" {
		words = append(words, "--more-rounds", r.moreRounds)
	}
	if r.pilotTimeout != engine.DefaultPilotTimeout {
		words = append(words, "--pilot-timeout", fmt.Sprint(r.pilotTimeout))
	}
	return words
}

// huntFlags are those of a hunt.
func (r rerun) huntFlags() (words []string) {
	if r.hunt == nil {
		return nil
	}
	if r.hunt.For > 0 {
		words = append(words, "--for", r.hunt.For.String())
	}
	if r.hunt.Until > 0 {
		words = append(words, "--until", share(r.hunt.Until).String())
	}
	return words
}

// targetWords name the target, and how many instances of it, if that was asked for.
func (o sessionFlags) targetWords() string {
	words := "--target " + shell.Quote(o.target)
	if o.instances > 0 {
		words += " " + o.instancesWords()
	}
	return words
}

// instancesWords say how many instances of the target there are.
func (o sessionFlags) instancesWords() string { return fmt.Sprintf("--instances %d", o.instances) }

// operationFlag names the operation, if one was asked for.
func (t targetFlags) operationFlag() []string {
	if t.operation == "" {
		return nil
	}
	return []string{"--operation", shell.Quote(t.operation)}
}

// placeFlags name the database and the store of a built-in target.
func (t targetFlags) placeFlags() []string {
	return append(placeWords("--database", t.database, sut.DatabaseVariable), placeWords("--store", t.store, sut.StoreVariable)...)
}

// placeWords give a flag an address. A password is left to the environment, which is asked anyway where
// there is no flag.
func placeWords(flag, address, variable string) []string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err == nil && u.User == nil && u.RawQuery == "":
		return []string{flag, shell.Quote(address)}
	default:
		return []string{flag, `"$` + variable + `"`}
	}
}

// resentOperation is the operation that a command has to name, so that the one of the finding is played. Where the target
// cannot be read now, it is taken to be as it was.
func resentOperation(ctx context.Context, o sut.Options) (string, error) {
	system, err := sut.Load(ctx, o)
	if err != nil {
		return cmp.Or(o.Operation, o.Resent), nil
	}
	asked, err := system.Asked()
	return asked, errors.Join(err, system.Close())
}

// program is how this program was called, as far as it can be called so again. A test that plays scenarios is no doubletap.
func program() string {
	if strings.HasSuffix(os.Args[0], ".test") {
		return "doubletap"
	}
	if strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		return "go run ./cmd/doubletap"
	}
	return shell.Quote(os.Args[0])
}
