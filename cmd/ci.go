package cmd

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

// onGitHub reports whether this is a step of GitHub Actions.
func onGitHub(s streams) bool {
	value, _ := s.getenv("GITHUB_ACTIONS")
	return value == "true"
}

// muteCommands keeps GitHub Actions from obeying what a target says: any line of a step's output may
// be a workflow command. It returns the line that ends this; empty: nobody would obey.
func muteCommands(s streams) string {
	if !onGitHub(s) {
		return ""
	}
	token := rand.Text()
	fmt.Fprintf(s.out, "::stop-commands::%s\n", token)
	return "::" + token + "::\n"
}

// tellGitHub writes annotations and the job summary. A summary that cannot be written changes no
// verdict. A replay is somebody's experiment and has no annotations.
func (r *runner) tellGitHub(report checker.Report) {
	if r.unmute == "" {
		return
	}
	fmt.Fprint(r.streams.out, r.unmute)
	if r.options.finding != "" {
		return
	}
	err := reports.GitHub(r.streams.out, report, r.scenarioFiles())
	complain(r.streams.err, errors.Join(err, summarise(report, r.streams)))
}

// summarise appends the report to the job's summary, if there is one.
func summarise(report checker.Report, s streams) error {
	path, _ := s.getenv("GITHUB_STEP_SUMMARY")
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
		text.WriteByte('\n') // a heading must not end up in somebody's last line
	}
	if err := reports.MarkdownAfter(&text, report, info.Size()); err != nil {
		return err
	}
	if _, err := file.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	return nil
}

// scenarioFiles returns the scenarios' files by name, relative to the root of the checkout. Those that
// are built in, or outside of it, have none.
func (r *runner) scenarioFiles() map[string]string {
	root, files := checkout(r.streams), map[string]string{}
	for _, f := range r.files {
		source, err := os.ReadFile(f.Path)
		if err != nil || !bytes.Equal(source, f.Source) {
			continue
		}
		if path, inside := within(root, f.Path); inside {
			files[f.Scenario.Name] = path
		}
	}
	return files
}

// checkout is the root of the repository that a CI server has checked out, or where we are.
func checkout(s streams) string {
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if root, _ := s.getenv(name); root != "" {
			return root
		}
	}
	return "."
}

// within returns a path relative to root, with slashes, if it is inside.
func within(root, path string) (string, bool) {
	var absolute [2]string
	for i, p := range []string{root, path} {
		var err error
		if absolute[i], err = filepath.Abs(p); err != nil {
			return "", false
		}
	}
	inner, err := filepath.Rel(absolute[0], absolute[1])
	return filepath.ToSlash(inner), err == nil && filepath.IsLocal(inner)
}
