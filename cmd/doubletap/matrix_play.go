package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/leftovers"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// row is the empty row of a target.
func (k known) row() reports.MatrixRow {
	row := reports.MatrixRow{Target: strings.TrimPrefix(k.target, sut.BuiltinPrefix), Truth: k.truth}
	if k.builtIn() {
		row.Store = string(dialectOf(k.database))
	}
	if k.store != "" {
		row.Store += redisSuffix
	}
	return row
}

// builtIn reports that the target is no file.
func (k known) builtIn() bool { return strings.HasPrefix(k.target, sut.BuiltinPrefix) }

// begin returns a matrix with a row for each target, in their order. What an earlier one has of it is kept,
// and so are its other rows, unless their truth has been declared anew.
func (o matrixOptions) begin(files []scenarios.File, all []known, earlier *reports.Matrix) (reports.Matrix, error) {
	m := reports.Matrix{Tool: "doubletap " + engine.Version(), Started: time.Now().UTC().Format(time.RFC3339), Cores: runtime.NumCPU(), Seeds: o.seeds, Sparing: o.sparing}
	for _, f := range files {
		m.Scenarios = append(m.Scenarios, f.Scenario.Name)
	}
	for _, k := range all {
		m.Rows = append(m.Rows, k.row())
	}
	if earlier == nil {
		return m, nil
	}
	gone := slices.DeleteFunc(slices.Clone(earlier.Scenarios), func(name string) bool { return slices.Contains(m.Scenarios, name) })
	switch {
	case m.Tool != earlier.Tool:
		return m, runerror.Configf("--resume %s: it was made by %s, not by %s", o.resume, earlier.Tool, m.Tool)
	case len(gone) > 0:
		return m, runerror.Configf("--resume %s: it has scenarios that are not among those of now: %s", o.resume, strings.Join(gone, ", "))
	}
	m.Started, m.Sparing = earlier.Started, m.Sparing || earlier.Sparing
	for _, old := range earlier.Rows {
		at := slices.IndexFunc(m.Rows, func(r reports.MatrixRow) bool { return r.Target == old.Target && r.Store == old.Store })
		switch {
		case at < 0:
			m.Rows = append(m.Rows, old)
		case m.Rows[at].Same(old.Truth):
			m.Rows[at].Played = old.Played
		}
		for _, p := range old.Played {
			m.Seeds = max(m.Seeds, int(p.Seed))
		}
	}
	return m, nil
}

// play runs the scenarios against every target with every seed that is not there yet, so many at once. What
// has been played by the time of an error is in the matrix.
func (o matrixOptions) play(ctx context.Context, files []scenarios.File, all []known, m *reports.Matrix, s streams) error {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	// The threads that let a burst go keep a place among those that run Go to themselves. With no more places than
	// processors the other runs of a matrix, and their targets, would wait for them.
	usual := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(max(usual, o.parallel))
	defer runtime.GOMAXPROCS(usual)
	shown := newProgress(s.err, "matrix")
	defer shown.done()
	runs := o.unplayed(files, all, *m)
	total := o.seeds * len(all)
	done, left := total-len(runs), map[uint64]int{}
	for _, g := range runs {
		left[g.seed]++
	}
	var mu sync.Mutex
	var playing sync.WaitGroup
	slots := make(chan struct{}, o.parallel)
	for _, g := range runs {
		slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-slots }()
			k := all[g.row]
			results, err := k.decide(ctx, g.files, g.seed, s)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				halt(fmt.Errorf("%s: %w", k.target, err))
				return
			}
			m.Rows[g.row].Add(g.seed, results)
			done++
			shown.update(done, total)
			shown.tellAtTimes(fmt.Sprintf("%d of %d runs are done", done, total))
			if left[g.seed]--; left[g.seed] == 0 {
				shown.tell(fmt.Sprintf("seed %d of %d is done", g.seed, o.seeds))
			}
		})
	}
	playing.Wait()
	return context.Cause(ctx)
}

// matrixRun is one seed against the target of one row, with these scenarios.
type matrixRun struct {
	row   int
	seed  uint64
	files []scenarios.File
}

// unplayed are the runs that are not in the matrix yet, or not with all scenarios, seed by seed.
func (o matrixOptions) unplayed(files []scenarios.File, all []known, m reports.Matrix) []matrixRun {
	var runs []matrixRun
	for seed := uint64(1); seed <= uint64(o.seeds); seed++ {
		for _, i := range mixed(all) {
			owed := m.Rows[i].Owed(m.Scenarios, seed, o.sparing)
			lacking := slices.DeleteFunc(slices.Clone(files), func(f scenarios.File) bool {
				return !slices.Contains(owed, f.Scenario.Name) || m.Rows[i].Has(seed, f.Scenario.Name)
			})
			if len(lacking) > 0 {
				runs = append(runs, matrixRun{i, seed, lacking})
			}
		}
	}
	return runs
}

// mixed returns the indices of the targets, with the correct ones, which run every scenario and load the machine
// most, spread evenly among the others.
func mixed(all []known) []int {
	var correct, broken []int
	for i, k := range all {
		if k.truth.Correct {
			correct = append(correct, i)
		} else {
			broken = append(broken, i)
		}
	}
	var order []int
	n := len(correct)
	for i := range all {
		from := &broken
		if n*(i+1)/len(all) > n*i/len(all) {
			from = &correct
		}
		order, *from = append(order, (*from)[0]), (*from)[1:]
	}
	return order
}

// tries is how often a scenario is run until it decides something.
const tries = 3

// decide runs the scenarios, and those again that decided nothing: a busy machine may have left
// them unexercised, or something was in the way, such as at a port. It returns the results of all
// runs, since a finding of an earlier try is a finding. A scenario that was left out because a plain
// create is in doubt is not tried again: the doubt stays.
func (k known) decide(ctx context.Context, files []scenarios.File, seed uint64, s streams) (all []checker.Result, err error) {
	for range tries {
		var results []checker.Result
		if results, err = k.run(ctx, files, seed, s); err != nil && ctx.Err() == nil {
			continue
		}
		all = append(all, results...)
		files = slices.DeleteFunc(slices.Clone(files), func(f scenarios.File) bool {
			return !slices.ContainsFunc(results, func(r checker.Result) bool {
				undecided := r.Verdict == checker.Inconclusive && !slices.Contains(r.Reasons, engine.LeftToControl) || r.Verdict == checker.Broken
				return r.Scenario == f.Scenario.Name && undecided
			})
		})
		if err != nil || len(files) == 0 {
			break
		}
	}
	return all, err
}

// run runs the scenarios against one target and leaves nothing behind.
func (k known) run(ctx context.Context, files []scenarios.File, seed uint64, s streams) ([]checker.Result, error) {
	var all []checker.Result
	for _, p := range k.portions(files) {
		results, err := k.perform(ctx, p, seed, s)
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

// portion is scenarios of a matrix that are run against a target in one way.
type portion struct {
	target, database string
	instances        int // 0: as the target says
	files            []scenarios.File
}

// several is how many instances a built-in design has for scenarios that need more than one.
const several = 2

// portions deals the scenarios out. Those that kill a process, or need several instances, are run against the
// built-in design as a process of its own; so are all of a design that takes processes of its own.
func (k known) portions(files []scenarios.File) []portion {
	if !k.builtIn() {
		return []portion{{target: k.target, database: k.database, files: files}}
	}
	name := strings.TrimPrefix(k.target, sut.BuiltinPrefix)
	served := sut.ServedPrefix + name
	if d, _ := orders.Named(name); d.Instances > 0 {
		return []portion{{target: served, database: k.database, files: files}}
	}
	within := portion{target: k.target, database: k.database}
	killed, spread := portion{target: served, database: k.database}, portion{target: served, database: k.database, instances: several}
	for _, f := range files {
		to := &within
		switch needs := f.Scenario.Needs; {
		case slices.Contains(needs, scenarios.NeedsInstances):
			to = &spread
		case slices.Contains(needs, scenarios.NeedsProcess):
			to = &killed
		}
		to.files = append(to.files, f)
	}
	return []portion{within, killed, spread}
}

// perform runs a portion, if it has any scenario.
func (k known) perform(ctx context.Context, p portion, seed uint64, s streams) ([]checker.Result, error) {
	if err := context.Cause(ctx); err != nil || len(p.files) == 0 {
		return nil, err
	}
	dir, err := leftovers.Folder("", "doubletap-matrix-")
	if err != nil {
		return nil, runerror.Environment(err)
	}
	defer os.RemoveAll(dir)
	getenv := func(name string) (string, bool) {
		if k.builtIn() && name == sut.DatabaseVariable { // the row says where it stands
			return "", false
		}
		return s.getenv(name)
	}
	o := targetFlags{target: p.target, database: p.database, store: k.store}.options(streams{getenv: getenv, program: s.program})
	o.Instances = p.instances
	report, err := engine.Run(ctx, engine.Config{SUT: o, Scenarios: p.files, Seed: seed, Seeded: true, Reports: dir, Private: true, RealTime: true})
	switch cause := context.Cause(ctx); {
	case cause != nil: // what there is is not whole
		return nil, cause
	case report == nil:
		return nil, err
	default:
		return report.Results, nil
	}
}
