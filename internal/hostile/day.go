package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What no day may exceed.
const (
	longestDay = 150 * time.Second // with few file descriptors, each connection is waited for
	mostMemory = 800 << 20         // bytes: rows of 20 MiB, in three scenarios beside each other
)

// day is one bad day: what is done to doubletap, and how it must end.
type day struct {
	class, name string
	exits       []int                                     // codes that are right; -1: by the signal that was sent
	says        string                                    // regular expression that the output must match; empty: any will do
	set         func(ctx context.Context, b *bench) error // makes what the command meets, and the command's arguments
}

// codes are the exit codes that are right, for reading.
func (d day) codes() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(d.exits), " ", ", "), "[]")
}

// end is how a day ended. The zero value says nothing.
type end struct {
	code  int
	took  time.Duration
	wrong []string
}

// bench is where a day happens: folders of its own, and the command with its surroundings.
type bench struct {
	binary  string
	finding string // a run with a finding, for copying
	dir     string
	args    []string
	env     []string
	stdout  *os.File                  // nil: it is kept
	shell   string                    // the command as a shell has it, with "$@" for the arguments; empty: it is started as it is
	meet    func(p *os.Process) error // is done while the command runs; nil: nothing is
	wait    []func()                  // ends what the day has set up
	secrets []string                  // that may stand in no file and no output
	killed  bool                      // the command does not end by itself, and what it left is cleaned up
}

// path returns the path of a file of the day.
func (b *bench) path(name string) string { return filepath.Join(b.dir, "work", name) }

// write writes a file of the day and returns its path.
func (b *bench) write(name, content string) (string, error) {
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(content), 0o644)
}

// mark is in the environment of everything that a day starts.
func (b *bench) mark() string { return "HOSTILE_DAY=" + b.dir }

// pwned is the file that texts of enemies ask for.
const pwned = "pwned"

// play has the day.
func (d day) play(ctx context.Context, b *bench) (e end) {
	defer func() {
		for _, stop := range slices.Backward(b.wait) {
			stop()
		}
		_ = os.RemoveAll(b.dir)
	}()
	for _, folder := range []string{"work", "tmp", "home"} {
		if err := os.MkdirAll(filepath.Join(b.dir, folder), 0o755); err != nil {
			return end{code: -2, wrong: []string{err.Error()}}
		}
	}
	if err := d.set(ctx, b); err != nil {
		return end{code: -2, wrong: []string{"the day could not be set up: " + err.Error()}}
	}
	began := time.Now()
	out, state, problems := b.run(ctx)
	e = end{code: codeOf(state), took: time.Since(began), wrong: problems}
	if state == nil { // it could not be started
		return e
	}
	if !slices.Contains(d.exits, e.code) {
		e.wrong = append(e.wrong, fmt.Sprintf("exit code %d, expected %s: %s", e.code, d.codes(), last(out)))
	}
	if d.says != "" && !regexp.MustCompile(d.says).MatchString(out) {
		e.wrong = append(e.wrong, fmt.Sprintf("it does not say %q: %s", d.says, last(out)))
	}
	e.wrong = append(e.wrong, b.broken(out, state)...)
	return e
}

// codeOf is the exit code; -1: it was ended by a signal, -2: it was never started.
func codeOf(state *os.ProcessState) int {
	if state == nil {
		return -2
	}
	return state.ExitCode()
}

// last is the end of what a command printed, on one line.
func last(out string) string {
	const most = 400
	if len(out) > most {
		out = "..." + out[len(out)-most:]
	}
	return fmt.Sprintf("%q", out)
}

// run runs the command until it ends, or for as long as a day may take.
func (b *bench) run(ctx context.Context) (out string, state *os.ProcessState, wrong []string) {
	ctx, cancel := context.WithTimeout(ctx, longestDay)
	defer cancel()
	command := exec.CommandContext(ctx, b.binary, b.args...)
	if b.shell != "" {
		command = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", b.shell, b.binary}, b.args...)...)
	}
	command.Dir = filepath.Join(b.dir, "work")
	command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(b.dir, "home"), "TMPDIR=" + filepath.Join(b.dir, "tmp"), b.mark(),
	}, b.env...)
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	if b.stdout != nil {
		command.Stdout = b.stdout
	}
	command.WaitDelay = 5 * time.Second
	if err := command.Start(); err != nil {
		return "", nil, []string{err.Error()}
	}
	met := make(chan error, 1)
	go func() {
		if b.meet == nil {
			met <- nil
			return
		}
		met <- b.meet(command.Process)
	}()
	err := command.Wait()
	if ctx.Err() != nil {
		wrong = append(wrong, fmt.Sprintf("it did not end within %s", longestDay))
	} else if errors.Is(err, exec.ErrWaitDelay) {
		wrong = append(wrong, "what it started kept its output open")
	}
	if err := <-met; err != nil {
		wrong = append(wrong, err.Error())
	}
	return printed.String(), command.ProcessState, wrong
}

// A crash of Go's runtime, and what a terminal or a CI server takes for more than text.
var (
	crash     = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+ \[)`)
	unescaped = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]|(?m)^::(set-output|add-mask|error|warning)[ :].*" + pwned)
)

// broken says what of the promises of every day was broken.
func (b *bench) broken(out string, state *os.ProcessState) (wrong []string) {
	if found := crash.FindString(out); found != "" {
		wrong = append(wrong, "it crashed: "+found)
	}
	if found := unescaped.FindString(out); found != "" {
		wrong = append(wrong, fmt.Sprintf("it printed %q", found))
	}
	if usage, known := state.SysUsage().(*syscall.Rusage); known && usage.Maxrss<<10 > mostMemory { // a process begins with what its parent has
		wrong = append(wrong, fmt.Sprintf("it took %d MiB", usage.Maxrss>>10))
	}
	if alive := b.alive(); alive != "" {
		wrong = append(wrong, "it left a process behind: "+alive)
	}
	if b.killed {
		cleaning := exec.Command(b.binary, "clean")
		cleaning.Env = append(os.Environ(), "TMPDIR="+filepath.Join(b.dir, "tmp"), "HOME="+filepath.Join(b.dir, "home"))
		if said, err := cleaning.CombinedOutput(); err != nil {
			wrong = append(wrong, fmt.Sprintf("doubletap clean: %v: %s", err, last(string(said))))
		}
	}
	if left, _ := os.ReadDir(filepath.Join(b.dir, "tmp")); len(left) > 0 {
		wrong = append(wrong, fmt.Sprintf("it left %s in the folder for temporary files", left[0].Name()))
	}
	return append(wrong, b.read(out)...)
}

// read looks for secrets and for what an enemy's text asks for in the output and in all files.
func (b *bench) read(out string) (wrong []string) {
	for _, secret := range b.secrets {
		if strings.Contains(out, secret) {
			wrong = append(wrong, "it printed the secret "+secret)
		}
	}
	_ = filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if entry.Name() == pwned {
			wrong = append(wrong, "an enemy's text was obeyed: "+path)
		}
		if len(b.secrets) == 0 || !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), "given-") {
			return nil
		}
		content, _ := os.ReadFile(path)
		for _, secret := range b.secrets {
			if bytes.Contains(content, []byte(secret)) {
				wrong = append(wrong, fmt.Sprintf("the secret %s is in %s", secret, entry.Name()))
			}
		}
		return nil
	})
	return wrong
}

// alive names a process of the day that still runs; empty: none does. One that was just ended may still be going.
func (b *bench) alive() string {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		name := b.processes()
		if name == "" || time.Now().After(deadline) {
			return name
		}
	}
}

// processes names one process that has the day's mark in its environment, which what it starts
// inherits; empty: there is none.
func (b *bench) processes() string {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		content, err := os.ReadFile(path)
		if err == nil && bytes.Contains(content, []byte(b.mark()+"\x00")) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			return string(bytes.ReplaceAll(name, []byte{0}, []byte{' '}))
		}
	}
	return ""
}

// recordFinding makes a run with a finding, and returns its folder.
func recordFinding(ctx context.Context, binary, dir string) (string, error) {
	command := exec.CommandContext(ctx, binary, "run", "--target", "builtin:replay-status-changed", "--reports", dir, "--seed", "1", "sequential-replay")
	said, err := command.CombinedOutput()
	if command.ProcessState == nil || command.ProcessState.ExitCode() != 1 {
		return "", fmt.Errorf("no finding to begin with: %w: %s", err, last(string(said)))
	}
	runs, err := filepath.Glob(filepath.Join(dir, "2*"))
	if err != nil || len(runs) != 1 {
		return "", fmt.Errorf("no single run in %s: %w", dir, err)
	}
	return runs[0], nil
}
