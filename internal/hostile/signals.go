package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// canary is what every secret of a day begins with.
const canary = "hunter22-"

// talkerFile is the target file of a service that doubletap starts, and that prints every secret which it gives and gets.
const talkerFile = `name: talker
base_url: http://127.0.0.1:0
process: {command: [PROGRAM, talker, "127.0.0.1:{{.Port}}"], env: {STAGE: "STAGED"}}
principals: {alice: {Token: hunter22-token-of-alice}}
operations:
  create:
    prepare: [{request: {path: "/secret?prepare", body: {note: "{{.Intent.Marker}}"}}, extract: {Secret: {cookie: secret}}}]
    request:
      path: /things
      headers: {Authorization: "Bearer {{.Principal.Token}}", Cookie: "secret={{.Prepared.Secret}}", X-API-Key: hunter22-of-the-file}
      body: {note: "{{.Intent.Marker}}"}
    key: {in: header}
    identity: /id
    cleanup: [{request: {path: "/secret?cleanup"}, extract: {Secret: {cookie: secret}}}]
`

// busyScenario goes on for as long as a day.
const busyScenario = `name: busy
summary: Hundreds of creates, one after the other.
intents: 600
concurrency: 2
steps: [{send: {}}, {wait: 300ms}]
exercised: [acknowledged]
`

// phase is a moment of a run that can be seen from outside.
type phase struct {
	name    string
	stage   string // that the service stays in; empty: it gets ready
	reached func(reports string) bool
}

// phases lists them. Each is seen by what the run or its service has written, since a sleep would
// hit another one on a slower machine.
func phases() []phase {
	return []phase{
		{"the service does not get ready", "never-ready", func(reports string) bool {
			_, err := os.Stat(filepath.Join(filepath.Dir(reports), "started"))
			return err == nil
		}},
		{"the pilot waits for an answer", "silent", func(reports string) bool { return printed(reports, "pilot*/history.jsonl", `"begun"`, 1) }},
		{"requests are under way", "", func(reports string) bool { return printed(reports, "busy/history.jsonl", `"begun"`, 10) }},
		{"the run is just begun", "", func(reports string) bool {
			found, _ := filepath.Glob(filepath.Join(reports, "*"))
			return len(found) > 0
		}},
	}
}

// printed reports that a file of a run has a text so many times.
func printed(reports, file, text string, times int) bool {
	found, _ := filepath.Glob(filepath.Join(reports, "*", file))
	for _, path := range found {
		content, _ := os.ReadFile(path)
		if bytes.Count(content, []byte(text)) >= times {
			return true
		}
	}
	return false
}

// waitFor waits for a phase.
func waitFor(reached func() bool) error {
	for deadline := time.Now().Add(longestDay / 2); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("the phase was never seen")
		}
	}
	return nil
}

// daysOfSignals send each signal in each phase. No secret may be in a file, whenever the run ends.
func daysOfSignals() []day {
	var days []day
	for _, p := range phases() {
		for _, s := range []struct {
			name   string
			signal syscall.Signal
			exit   int
		}{
			{"SIGINT", syscall.SIGINT, 130}, {"SIGTERM", syscall.SIGTERM, 143}, {"SIGHUP", syscall.SIGHUP, 129},
			{"SIGQUIT", syscall.SIGQUIT, 131}, {"SIGKILL", syscall.SIGKILL, -1},
		} {
			days = append(days, day{class: "signals", name: s.name + " while " + p.name, exits: []int{s.exit}, set: func(_ context.Context, b *bench) error {
				err := talkerRun(b, p.stage)
				b.killed = s.signal == syscall.SIGKILL
				b.meet = func(process *os.Process) error {
					if err := waitFor(func() bool { return p.reached(b.path("reports")) }); err != nil {
						return errors.Join(err, process.Kill())
					}
					return process.Signal(s.signal)
				}
				return err
			}})
		}
	}
	return days
}

// talkerRun has the command run the busy scenario against a service that talks.
func talkerRun(b *bench, stage string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	scenario, err := b.write("busy.yaml", busyScenario)
	if err != nil {
		return err
	}
	target, err := b.write("given-target.yaml", strings.NewReplacer("PROGRAM", program, "STAGED", stage).Replace(talkerFile))
	b.args = []string{"run", "--target", target, "--reports", b.path("reports"), "--seed", "1", scenario}
	b.secrets = []string{canary}
	return err
}
