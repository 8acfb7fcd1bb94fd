package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// everyOperation is --operation for each of them in turn, unless one has this name.
const everyOperation = "all"

// inTurn is what is played of each operation, if that was asked for.
func (o runFlags) inTurn(ctx context.Context, all turn, s streams) ([]turn, error) {
	if o.operation != everyOperation {
		return []turn{all}, nil
	}
	system, err := sut.Load(ctx, o.options(s))
	if err != nil {
		return nil, err
	}
	names := system.Target.OperationNames()
	if slices.Contains(names, everyOperation) {
		return []turn{all}, system.Close()
	}
	for _, f := range all.files {
		if wanted := f.Scenario.Operation; wanted != "" && !slices.Contains(names, wanted) {
			err := runerror.Configf("%s asks for the operation %q, and %s has %s", f.Path, wanted, system.Name, strings.Join(names, ", "))
			return nil, errors.Join(err, system.Close())
		}
	}
	var each []turn
	for _, name := range names {
		each = append(each, turn{operation: name, args: all.args, files: ofOperation(all.files, name)})
	}
	return each, system.Close()
}

// played reports whether there is something to play: no scenario at all would be the whole library.
func (t turn) played() bool { return len(t.files) > 0 }

// ofOperation leaves out the scenarios that are for another operation.
func ofOperation(files []scenarios.File, operation string) []scenarios.File {
	return slices.DeleteFunc(slices.Clone(files), func(f scenarios.File) bool {
		return f.Scenario.Operation != "" && f.Scenario.Operation != operation
	})
}

// playEach plays the operations one after the other, and says what came of each. The first one
// draws the seed for all, so that one number repeats them. The error is that of the worst; the
// others are printed.
func (o runFlags) playEach(ctx context.Context, each []turn, play func(context.Context, turn, runFlags) (*checker.Report, error), s streams) error {
	var lines []string
	var worst error
	for _, t := range each {
		if ctx.Err() != nil {
			lines = append(lines, t.operation+": not played")
			continue
		}
		if !t.played() {
			lines = append(lines, t.operation+": no scenario is for it")
			continue
		}
		one := o
		one.eachOperation = true
		report, err := play(ctx, t, one)
		said := "not played"
		if report != nil {
			said = report.Verdict.String()
			o.seed, o.seeded = report.Seed, true
		}
		lines = append(lines, fmt.Sprintf("%s: %s", t.operation, said))
		if severity(err) > severity(worst) {
			worst, err = err, worst
		}
		complain(s.err, err)
	}
	if !o.dryRun && !o.json {
		fmt.Fprintln(s.out, "\nOperations")
		for _, line := range lines {
			fmt.Fprintln(s.out, "  "+line)
		}
	}
	return worst
}

// jsonList writes JSON texts, each of which comes in one write, as one list.
type jsonList struct {
	to   io.Writer
	some bool
}

func (l *jsonList) Write(text []byte) (int, error) {
	before := "[\n"
	if l.some {
		before = ",\n"
	}
	l.some = true
	if _, err := io.WriteString(l.to, before); err != nil {
		return 0, err
	}
	return l.to.Write(text)
}

// end closes the list.
func (l *jsonList) end() error {
	last := "]\n"
	if !l.some {
		last = "[]\n"
	}
	_, err := io.WriteString(l.to, last)
	return err
}

// registered are the known bugs of the register, and of the scenarios' own files.
func registered(register scenarios.Register, each []turn) scenarios.Register {
	all := maps.Clone(register)
	if all == nil {
		all = scenarios.Register{}
	}
	for _, t := range each {
		for _, f := range t.files {
			for _, bug := range f.Scenario.Known {
				if !slices.Contains(all[f.Scenario.Name], bug) {
					all[f.Scenario.Name] = append(slices.Clone(all[f.Scenario.Name]), bug)
				}
			}
		}
	}
	return all
}

// settleEvery says which known bugs no operation has any more, which no run of one operation can say, and returns the error of the
// worst.
func (o runFlags) settleEvery(fixed []string, worst error, s streams) error {
	for _, sentence := range fixed {
		if !o.json {
			fmt.Fprintln(s.out, "  fixed: "+sentence)
		}
	}
	if len(fixed) > 0 && o.gate.fixed == "fail" && worst == nil {
		return exit{code: exitFixed}
	}
	return worst
}

// severity orders what may end runs: a finding is worse than what could not be told, and a signal is the worst.
func severity(err error) int {
	ranked := []int{exitPass, exitFixed, exitInconclusive, exitEnvironment, exitConfig, exitFinding}
	if rank := slices.Index(ranked, codeOf(err)); rank >= 0 {
		return rank
	}
	return codeOf(err)
}
