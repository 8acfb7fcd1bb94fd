package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/internal/standin"
)

// actionFile is what we need of action.yml.
type actionFile struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Steps []struct {
			ID, If, Uses, Run, Shell string
			Env, With                map[string]string
		}
	}
}

// job stands in for the runner of GitHub Actions: it runs the shell steps of the composite action with
// the variables and files that the runner gives them.
type job struct {
	action  actionFile
	inputs  map[string]string
	temp    string
	path    string // of programs; what a step appends to $GITHUB_PATH comes first in the next one
	outputs map[string]string
	log     bytes.Buffer
}

// newJob is a job in a checkout of its own. Inputs that are not given have their defaults.
// module is the path of this module.
const module = "github.com/doubletap-harness/doubletap"

func newJob(t *testing.T, inputs map[string]string) *job {
	t.Helper()
	j := &job{inputs: inputs, temp: t.TempDir(), path: os.Getenv("PATH"), outputs: map[string]string{}}
	installed := filepath.Join(built.dir, "action") // of all jobs: go install links once
	require.NoError(t, os.MkdirAll(installed, 0o755))
	require.NoError(t, os.Symlink(installed, filepath.Join(j.temp, "doubletap-bin")))
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &j.action))
	for name := range inputs {
		require.Contains(t, j.action.Inputs, name)
	}
	return j
}

// run runs the shell steps until one fails, and returns that one's exit code.
func (j *job) run(t *testing.T) int {
	t.Helper()
	for _, s := range j.action.Runs.Steps {
		if s.Run == "" {
			continue
		}
		require.Equal(t, "bash", s.Shell)
		if code := j.step(t, s.Run, s.Env); code != 0 {
			return code
		}
	}
	return 0
}

func (j *job) step(t *testing.T, script string, env map[string]string) int {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	file := filepath.Join(j.temp, "step.sh")
	require.NoError(t, os.WriteFile(file, []byte(script), 0o644))
	command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	command.Dir, command.Stdout, command.Stderr = j.checkout(t), &j.log, &j.log
	command.Env = append(os.Environ(), "PATH="+j.path, "CI=true", "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+root,
		"GITHUB_WORKSPACE="+j.checkout(t), "RUNNER_TEMP="+j.temp, "GITHUB_STEP_SUMMARY="+j.file("summary"),
		"GITHUB_OUTPUT="+j.file("output"), "GITHUB_PATH="+j.file("path"))
	for name, value := range env {
		command.Env = append(command.Env, name+"="+j.evaluated(t, value))
	}
	err = command.Run()
	for line := range strings.Lines(j.read("path")) {
		j.path = strings.TrimSpace(line) + ":" + j.path
	}
	for line := range strings.Lines(j.read("output")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		j.outputs[name] = value
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// evaluated fills in inputs, the only expressions that variables of a step may have.
func (j *job) evaluated(t *testing.T, text string) string {
	t.Helper()
	name := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`).FindStringSubmatch(text)
	require.NotNil(t, name, text)
	require.Contains(t, j.action.Inputs, name[1])
	if value, given := j.inputs[name[1]]; given {
		return value
	}
	return j.action.Inputs[name[1]].Default
}

func (j *job) file(name string) string { return filepath.Join(j.temp, "github-"+name) }

func (j *job) read(name string) string {
	text, _ := os.ReadFile(j.file(name))
	return string(text)
}

func (j *job) checkout(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(j.temp, "checkout")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func TestTheActionPassesTheExitCodeOn(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{
		"target": "builtin:check-then-insert", "seed": "7", "args": "--max-requests 5000\n--pilot-timeout 20s",
		"scenarios": "burst-same-key\nmine.yaml",
	})
	require.NoError(t, os.WriteFile(filepath.Join(j.checkout(t), "mine.yaml"),
		[]byte("name: mine\nsummary: A race of two.\nintents: 4\nsteps: [{burst: {copies: 2}}]\nexercised: [overlapped]\n"), 0o644))
	code := j.run(t)
	log := j.log.String()
	require.Equal(t, exitFinding, code, log)
	require.Contains(t, log, "seed 7")
	require.Regexp(t, `::error file=mine.yaml,title=C1 duplicate%3A [^\n]*::[^\n]*burst-same-key \(`, log, "one cause, in two scenarios")
	require.Contains(t, j.read("summary"), "## ✗ doubletap: fail")
	require.Equal(t, "1", j.outputs["exit-code"])
	runs, err := filepath.Glob(filepath.Join(j.outputs["runs"], "*", "report.json"))
	require.NoError(t, err)
	require.Len(t, runs, 1, "the directory that is uploaded holds the run")
	require.Contains(t, log, "again   doubletap run burst-same-key mine.yaml --target", "the program is called as those who repeat it call theirs")
}

func TestTheActionPassesAMistakeOn(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{"scenarios": "plain-create"})
	require.Equal(t, exitConfig, j.run(t), j.log.String())
	require.Contains(t, j.log.String(), "expected a target file")
	j = newJob(t, map[string]string{"target": "$(touch pwned)", "scenarios": "plain-create"})
	require.Equal(t, exitConfig, j.run(t), j.log.String())
	require.Contains(t, j.log.String(), "$(touch pwned)", "an input is a word and no code")
	require.NoFileExists(t, filepath.Join(j.checkout(t), "pwned"))
	require.Equal(t, "3", j.outputs["exit-code"])
}

// fakeGo is a go command that only says what it was asked for.
func fakeGo(t *testing.T) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	log = filepath.Join(dir, "asked")
	require.NoError(t, standin.Program(filepath.Join(dir, "go"), "#!/bin/sh\necho \"$GOBIN $*\" >> "+log+"\n"))
	return dir, log
}

func TestTheActionInstallsAVersion(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{"version": "v1.2.3"})
	fake, log := fakeGo(t)
	j.path = fake + ":" + j.path
	for _, s := range j.action.Runs.Steps {
		if s.ID == "install" {
			require.Zero(t, j.step(t, s.Run, s.Env), j.log.String())
		}
	}
	asked, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, j.temp+"/doubletap-bin install "+module+"/cmd/doubletap@v1.2.3\n", string(asked))
	require.Equal(t, j.temp+"/doubletap-bin\n", j.read("path"))
}

func TestTheActionUploadsWhateverHappened(t *testing.T) {
	t.Parallel()
	j := newJob(t, nil)
	steps := j.action.Runs.Steps
	last := steps[len(steps)-1]
	require.Equal(t, "always()", last.If)
	require.Regexp(t, `^actions/upload-artifact@v\d+$`, last.Uses)
	require.Equal(t, j.action.Outputs["runs"].Value, last.With["path"])
	require.NotContains(t, steps[1].Run+steps[2].Run, "${{", "an expression in a script is code from the outside")
}

// gitlabJob is what we need of the job in docs/ci.md.
type gitlabJob struct {
	Script    []string
	Artifacts struct {
		When    string
		Paths   []string
		Reports struct{ JUnit, Codequality string }
	}
}

func readGitLabJob(t *testing.T) gitlabJob {
	t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "## GitLab")
	_, block, _ := strings.Cut(section, "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var file map[string]gitlabJob
	require.NoError(t, yaml.Unmarshal([]byte(block), &file))
	return file["doubletap"]
}

func TestTheGitLabJobLeavesItsReports(t *testing.T) {
	t.Parallel()
	docs := readGitLabJob(t)
	bin, _ := fakeGo(t)
	putOnPath(t, bin)
	checkout := t.TempDir()
	s := newShop(t, nil)
	x := s.trial(t)
	require.NoError(t, os.WriteFile(filepath.Join(checkout, "orders.yaml"), []byte(x.file), 0o644))
	script := strings.Join(docs.Script, "\n")
	require.Contains(t, script, "doubletap run")
	command := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
	command.Dir = checkout
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CI=true", "GITLAB_CI=true", "CI_PROJECT_DIR="+checkout, "GITHUB_ACTIONS=")
	for name, value := range x.env {
		command.Env = append(command.Env, name+"="+value)
	}
	out, err := command.CombinedOutput()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &failed, string(out))
		require.Contains(t, []int{exitFinding, exitInconclusive}, failed.ExitCode(), string(out))
	}
	require.NotContains(t, string(out), "\n::")

	require.Equal(t, "always", docs.Artifacts.When)
	require.DirExists(t, filepath.Join(checkout, docs.Artifacts.Paths[0]))
	require.NoError(t, xml.Unmarshal(only(t, checkout, docs.Artifacts.Reports.JUnit), new(struct{ XMLName xml.Name })))
	var issues []any
	require.NoError(t, json.Unmarshal(only(t, checkout, docs.Artifacts.Reports.Codequality), &issues))
}

// only reads the one file that a pattern names. GitLab takes no second code quality file.
func only(t *testing.T, dir, pattern string) []byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	text, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	return text
}
