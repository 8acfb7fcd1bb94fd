package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// fate is what became of a mutant. The empty fate is that no test failed.
type fate struct {
	mutant
	by     string // first failing test
	broken string // why it is not a program
}

// tryAll runs the tests of every mutant, several at a time, and those of the code as it is first.
func tryAll(ctx context.Context, s settings, mutants []mutant, progress io.Writer) ([]fate, error) {
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	sound, err := s.try(ctx, "", mutant{})
	if err != nil {
		return nil, err
	}
	if sound.by != "" || sound.broken != "" {
		return nil, fmt.Errorf("the tests fail without a mutation: %s%s", sound.by, sound.broken)
	}
	fates, errs := make([]fate, len(mutants)), make([]error, len(mutants))
	var workers sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				fates[i], errs[i] = s.tryOne(ctx, filepath.Join(scratch, fmt.Sprint(i)), mutants[i])
				fmt.Fprint(progress, mark(fates[i]))
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	workers.Wait()
	fmt.Fprintln(progress)
	return fates, errors.Join(errs...)
}

// mark is what the progress shows of a mutant.
func mark(f fate) string {
	switch {
	case f.by != "":
		return "."
	case f.broken != "":
		return "-"
	default:
		return "\nsurvived: " + f.String() + "\n"
	}
}

// tryOne puts a mutant in the place of its file and runs the tests.
func (s settings) tryOne(ctx context.Context, name string, m mutant) (fate, error) {
	if ctx.Err() != nil {
		return fate{}, ctx.Err()
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {m.path: name + ".go"}})
	if err != nil {
		return fate{}, err
	}
	err = errors.Join(os.WriteFile(name+".go", m.source, 0o600), os.WriteFile(name+".json", overlay, 0o600))
	if err != nil {
		return fate{}, err
	}
	f, err := s.try(ctx, name+".json", m)
	f.broken = strings.ReplaceAll(f.broken, name+".go", filepath.Base(m.path))
	return f, err
}

// try runs the tests with an overlay, or without one. The error says that nothing is known of the
// mutant, as the go command itself failed or the run was interrupted.
func (s settings) try(ctx context.Context, overlay string, m mutant) (fate, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute+s.timeout) // for the compiler, which has no deadline of its own
	defer cancel()
	args := []string{"test", "-json", "-vet=off", "-ldflags=-s -w", "-timeout=" + s.timeout.String()}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	test := exec.CommandContext(ctx, "go", append(append(args, "."), s.args...)...)
	test.Dir, test.WaitDelay = s.dir, time.Second
	out, err := test.CombinedOutput()
	if err == nil {
		return fate{mutant: m}, nil
	}
	if _, failed := errors.AsType[*exec.ExitError](err); !failed || ctx.Err() != nil {
		return fate{}, fmt.Errorf("test %s: %w", m, errors.Join(err, ctx.Err()))
	}
	f := verdict(out)
	if f.mutant = m; f.by == "" && f.broken == "" {
		return fate{}, fmt.Errorf("test %s: %w: %s", m, err, out)
	}
	return f, nil
}

// event is one line of go test -json.
type event struct {
	Action, Test, Output string
}

// verdict reads why the tests of a mutant failed.
func verdict(out []byte) fate {
	var f fate
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		switch {
		case e.Action == "build-output" && !strings.HasPrefix(e.Output, "#") && f.broken == "":
			f.broken = strings.TrimSpace(e.Output)
		case e.Action == "output" && strings.HasPrefix(e.Output, "panic: test timed out"):
			return fate{by: "timeout"}
		case e.Action == "fail" && (f.by == "" && e.Test != "" || strings.HasPrefix(e.Test, f.by+"/")):
			f.by = e.Test
		case e.Action == "fail" && f.by == "" && f.broken == "":
			f.by = "the test program"
		}
	}
	return f
}
