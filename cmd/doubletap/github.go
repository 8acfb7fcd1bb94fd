package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

// github shows a run to GitHub Actions: annotations and the job's summary. Elsewhere, and as the zero value, it does nothing.
type github struct {
	streams streams
	end     string // line that lets GitHub Actions take workflow commands again; empty: it never stopped
}

// mute keeps GitHub Actions from obeying what a target says: any line of a step's output may be a workflow command. It comes
// first of all, where the output is for people: in a file for programs, the line would be in the way.
func (g *github) mute(args []string) {
	if g.streams.getenv == nil || g.streams.env("GITHUB_ACTIONS") != "true" || len(args) == 0 || slices.Contains(args, "--json") {
		return
	}
	switch args[0] {
	case "run", "demo", "replay", "shrink", "doctor", "check", "diff", "matrix", "validate", "explain":
		token := rand.Text()
		fmt.Fprintf(g.streams.bytes, "::stop-commands::%s\n", token)
		g.end = "::" + token + "::\n"
	}
}

// unmute ends what mute began.
func (g *github) unmute() {
	if g.end != "" {
		fmt.Fprint(g.streams.bytes, g.end)
		g.end = ""
	}
}

// report writes annotations and the job's summary. Workflow commands are taken again while
// annotations are written, and are stopped afterwards. A summary that cannot be written changes no
// verdict. A replay is an experiment and has no annotations.
func (g *github) report(report checker.Report, files map[string]string, replay bool) {
	if g.end == "" || replay {
		return
	}
	end := g.end
	g.unmute()
	err := reports.GitHub(g.streams.bytes, report, files)
	g.end = end
	fmt.Fprintf(g.streams.bytes, "::stop-commands::%s\n", strings.Trim(end, ":\n"))
	complain(g.streams.err, errors.Join(err, summarise(report, g.streams)))
}

// summarise appends the report to the job's summary, if there is one.
func summarise(report checker.Report, s streams) error {
	path := s.env("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	var text bytes.Buffer
	if info.Size() > 0 {
		text.WriteByte('\n') // a heading must not end up in another text's last line
	}
	if err := reports.MarkdownAfter(&text, report, info.Size()); err != nil {
		return err
	}
	if _, err := file.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	return nil
}
