package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// player plays designs with the command.
type player struct {
	program, folder string
	database, store string
	budget          time.Duration
}

// result is what became of one design.
type result struct {
	Design   string
	Twin     string
	Scenario string // that the finding is of
	Kind     string // of the finding; empty: there was none
	Shrunk   string // what shrink said in the end
	Curl     played
	Go       played
	As       played // a scenario
	Took     time.Duration
}

// played is what one export showed.
type played struct {
	Cannot string // why the format cannot show it, as the export says itself; empty: it can
	Broken shown
	Tries  int // against the broken design, until it was shown
	Twin   shown
}

// shown is what one run of an export showed.
type shown struct {
	Verdict verdict
	Said    string // its last word
}

// verdict is what a run of an export came to.
type verdict string

// The verdicts. The zero value is that it was not played.
const (
	yes      verdict = "shown"
	no       verdict = "not shown"
	unclear  verdict = "inconclusive"
	mistaken verdict = "error"
)

// The exit codes of the command and of scripts.
const (
	exitPass    = 0
	exitFinding = 1
	exitUnclear = 2
)

// tries is how often an export is played until it shows its finding: it has 99 %, and a busy machine is not the one that the rate
// was measured on.
const tries = 3

// seeds is how often a design is played until its defect shows.
const seeds = 3

// patience is how long one command may take.
const patience = 5 * time.Minute

// dialect names the database as designs name those that they stand on.
func (p player) dialect() string {
	scheme, _, _ := strings.Cut(p.database, ":")
	switch scheme {
	case "":
		return "sqlite"
	case "postgresql":
		return "postgres"
	case "mysql":
		return "mariadb"
	default:
		return scheme
	}
}

// said is what a command wrote, and how it ended.
type said struct {
	code int
	text string
}

// last is the last line, in which a command says what it came to.
func (s said) last() string {
	lines := strings.Split(strings.TrimSpace(s.text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// call runs a command to its end. The error says that it could not be run.
func (p player) call(ctx context.Context, dir string, env []string, program string, args ...string) (said, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = dir, slices.Concat(os.Environ(), env)
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, 10*time.Second
	text, err := c.CombinedOutput()
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		err = nil
	}
	if ctx.Err() != nil {
		return said{code: -1, text: "it did not end in " + patience.String()}, context.Cause(ctx)
	}
	if err != nil {
		return said{}, err
	}
	return said{c.ProcessState.ExitCode(), string(text)}, nil
}

// play plays one design: its finding, the shrunk scenario, and the exports.
func (p player) play(ctx context.Context, d orders.Design) (result, error) {
	began := time.Now()
	r := result{Design: d.Name, Twin: d.Twin}
	dir := filepath.Join(p.folder, d.Name)
	finding, err := p.find(ctx, d, dir)
	if err != nil || finding == "" {
		return r, err
	}
	f, err := rundir.ReadFinding(finding)
	if err != nil {
		return r, err
	}
	r.Scenario, r.Kind = f.Scenario, string(f.Finding.Kind)
	if r.Shrunk, err = p.shrink(ctx, finding); err != nil {
		return r, err
	}
	for _, form := range []struct {
		as   string
		to   *played
		play func(ctx context.Context, file, design string, f rundir.Finding) (shown, error)
	}{{"scenario", &r.As, p.asScenario}, {"curl", &r.Curl, p.asCurl}, {"go", &r.Go, p.asGo}} {
		file := filepath.Join(dir, "again."+map[string]string{"scenario": "yaml", "curl": "sh", "go": "go"}[form.as])
		made, err := p.call(ctx, "", p.place(), p.program, "export", finding, "--as", form.as, "--force", "--output", file)
		if err != nil {
			return r, err
		}
		if made.code != exitPass {
			form.to.Cannot = made.last()
			continue
		}
		form.to.Cannot = beforehand(made.text)
		for form.to.Tries < tries && form.to.Broken.Verdict != yes {
			form.to.Tries++
			if form.to.Broken, err = form.play(ctx, file, d.Name, f); err != nil {
				return r, err
			}
			if form.to.Cannot != "" {
				break
			}
		}
		if form.to.Twin, err = form.play(ctx, file, d.Twin, f); err != nil {
			return r, err
		}
		if form.as == "curl" && form.to.Cannot == "" && form.to.Twin.Verdict == unclear {
			if form.to.Twin, err = p.asCurlOf(ctx, finding, d.Twin, f); err != nil {
				return r, err
			}
		}
	}
	r.Took = time.Since(began)
	return r, nil
}

// cannot begins the line in which an export says that its format cannot show the finding.
var cannot = regexp.MustCompile(`(?m)^it (?:cannot|may not) show it: (.*)$`)

// beforehand is why an export cannot show its finding, as it says itself; empty: it can.
func beforehand(said string) string {
	if found := cannot.FindStringSubmatch(said); found != nil {
		return found[1]
	}
	return ""
}

// place names the database and the store in the environment.
func (p player) place() []string {
	return []string{"DOUBLETAP_DATABASE=" + p.database, "DOUBLETAP_STORE=" + p.store}
}

// find plays the scenarios that catch a design until one does, and returns the directory of its finding; empty: none did.
func (p player) find(ctx context.Context, d orders.Design, dir string) (string, error) {
	pattern := filepath.Join(dir, "runs", "*", rundir.FindingsName, "F*")
	for seed := range seeds {
		for _, name := range d.By {
			if finding, err := caught(pattern, d); finding != "" || err != nil {
				return finding, err
			}
			target, err := startedFor(d, name)
			if err != nil {
				return "", err
			}
			args := append([]string{"run", name, "--seed", fmt.Sprint(seed + 1), "--operation", "create_order", "--reports", filepath.Join(dir, "runs")}, target...)
			if _, err := p.call(ctx, "", p.place(), p.program, args...); err != nil {
				return "", err
			}
		}
	}
	return caught(pattern, d)
}

// caught is the first finding of a kind by which the design can be caught; empty: there is none.
func caught(pattern string, d orders.Design) (string, error) {
	all, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
	for _, kind := range d.Shows {
		for _, dir := range all {
			f, err := rundir.ReadFinding(dir)
			if err == nil && checker.Kind(kind).Covers(f.Finding.Kind) {
				return dir, nil
			}
		}
	}
	return "", nil
}

// startedFor is how a design is started for a scenario: inside of the command, or as processes that can be killed.
func startedFor(d orders.Design, name string) ([]string, error) {
	source, err := fs.ReadFile(scenarios.Builtin(), name+".yaml")
	if err != nil {
		return nil, err
	}
	scenario, err := scenarios.Load(name, source)
	if err != nil {
		return nil, err
	}
	needs := scenario.Needs
	switch {
	case slices.Contains(needs, scenarios.NeedsInstances) && d.Instances == 0:
		return []string{"--target", "served:" + d.Name, "--instances", "2"}, nil
	case d.Instances > 1:
		return []string{"--target", "served:" + d.Name, "--instances", fmt.Sprint(d.Instances)}, nil
	case d.Instances > 0 || slices.Contains(needs, scenarios.NeedsProcess):
		return []string{"--target", "served:" + d.Name}, nil
	default:
		return []string{"--target", "builtin:" + d.Name}, nil
	}
}

// shrink shrinks a finding, unless that was done, and returns its last word.
func (p player) shrink(ctx context.Context, finding string) (string, error) {
	log := filepath.Join(finding, "shrink.log")
	if text, err := os.ReadFile(log); err == nil {
		return sum(string(text)), nil
	}
	got, err := p.call(ctx, "", p.place(), p.program, "shrink", finding, "--budget", p.budget.String())
	if err != nil {
		return "", err
	}
	return sum(got.text), os.WriteFile(log, []byte(got.text), 0o644)
}

// sum is the line of shrink that says what is left.
func sum(text string) string {
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, " trial") && strings.Contains(line, " in ") || strings.HasPrefix(line, "not reproduced") {
			return line
		}
	}
	return said{text: text}.last()
}

// targetOf is another design started in the way of the finding.
func targetOf(f rundir.Finding, design string) string {
	how, _, _ := strings.Cut(f.Target, ":")
	return how + ":" + design
}

// asScenario plays an exported scenario against a design. It is shown only where the command says
// the finding's kind: another finding is another bug.
func (p player) asScenario(ctx context.Context, file, design string, f rundir.Finding) (shown, error) {
	dir, err := os.MkdirTemp("", "doubletap-exports-")
	if err != nil {
		return shown{}, err
	}
	defer os.RemoveAll(dir)
	args := []string{"run", file, "--seed", "1", "--operation", f.Operation, "--reports", dir, "--target", targetOf(f, design)}
	if f.Instances > 0 {
		args = append(args, "--instances", fmt.Sprint(f.Instances))
	}
	got, err := p.call(ctx, "", p.place(), p.program, args...)
	if err != nil {
		return shown{}, err
	}
	said := regexp.MustCompile(`(?m)^[✓✗?–!~] .*$`).FindString(got.text)
	return shown{map[bool]verdict{true: yes, false: otherwise(got.code)}[got.code == exitFinding && strings.Contains(said, string(f.Finding.Kind)+" in ")], said}, nil
}

// otherwise is the verdict of an export that did not show its finding.
func otherwise(code int) verdict {
	switch code {
	case exitPass:
		return no
	case exitUnclear:
		return unclear
	default:
		return mistaken
	}
}

// asCurl runs a script against a freshly served design.
func (p player) asCurl(ctx context.Context, file, design string, _ rundir.Finding) (shown, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"1"}`)
	}))
	defer outside.Close()
	served := exec.CommandContext(ctx, p.program, "targets", "serve", design, "--listen", "127.0.0.1:0", "--outside", outside.URL)
	served.Env = append(os.Environ(), p.place()...)
	served.Cancel = func() error { return served.Process.Signal(syscall.SIGINT) }
	var complaints strings.Builder
	served.Stderr = &complaints
	out, err := served.StdoutPipe()
	if err != nil {
		return shown{}, err
	}
	if err := served.Start(); err != nil {
		return shown{}, err
	}
	defer func() { cancel(); _ = served.Wait() }()
	var lines strings.Builder
	buffer := make([]byte, 4096)
	for strings.Count(lines.String(), "\n") < 2 {
		n, err := out.Read(buffer)
		lines.Write(buffer[:n])
		if err != nil {
			return shown{mistaken, fmt.Sprintf("%s could not be served: %s%s", design, lines.String(), complaints.String())}, nil
		}
	}
	env := []string{}
	for line := range strings.Lines(lines.String()) {
		env = append(env, strings.TrimSpace(strings.Replace(line, "ORDERS_URL=", "BASE_URL=", 1)))
	}
	got, err := p.call(ctx, "", env, "bash", file)
	if err != nil {
		return shown{}, err
	}
	if got.code == exitFinding {
		return shown{yes, got.last()}, nil
	}
	return shown{otherwise(got.code), got.last()}, nil
}

// asCurlOf exports a finding for another design, and runs that script against it: a PATCH that says what an amount is to be, in place of
// how much to add, is another request.
func (p player) asCurlOf(ctx context.Context, finding, design string, f rundir.Finding) (shown, error) {
	file := filepath.Join(p.folder, f.Target[strings.Index(f.Target, ":")+1:], "twin.sh")
	made, err := p.call(ctx, "", p.place(), p.program, "export", finding, "--as", "curl", "--force", "--output", file, "--target", targetOf(f, design))
	if err != nil || made.code != exitPass {
		return shown{mistaken, made.last()}, err
	}
	return p.asCurl(ctx, file, design, f)
}

// asGo builds an exported test for a design and runs it.
func (p player) asGo(ctx context.Context, file, design string, f rundir.Finding) (shown, error) {
	root, err := os.Getwd()
	if err != nil {
		return shown{}, err
	}
	dir, err := os.MkdirTemp("", "doubletap-exports-")
	if err != nil {
		return shown{}, err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(file)
	if err != nil {
		return shown{}, err
	}
	test := strings.Replace(string(text), `"`+f.Target+`"`, "target", 1)
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		return shown{}, err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return shown{}, err
	}
	const module = "github.com/doubletap-harness/doubletap"
	_, requirements, _ := strings.Cut(string(ours), "\n")
	for name, text := range map[string]string{
		"go.mod": "module again\n" + requirements + "\nrequire " + module + " v0.0.0\nreplace " + module + " => " + root + "\n",
		"go.sum": string(sums), "again_test.go": test,
		"target_test.go": "package again_test\n\nimport \"os\"\n\nvar target = os.Getenv(\"AGAIN_TARGET\")\n", // so that both are one program
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return shown{}, err
		}
	}
	program := file + ".test"
	if design == f.Target[strings.Index(f.Target, ":")+1:] {
		got, err := p.call(ctx, dir, nil, "go", "test", "-mod=mod", "-c", "-ldflags=-s -w", "-o", program, ".")
		if err != nil || got.code != exitPass {
			return shown{mistaken, got.last()}, err
		}
	} else {
		defer os.Remove(program)
	}
	got, err := p.call(ctx, dir, append(p.place(), "AGAIN_TARGET="+targetOf(f, design)), program, "-test.v")
	if err != nil {
		return shown{}, err
	}
	kind := strings.ToUpper(string(f.Finding.Kind))
	line := regexp.MustCompile(`(?m)^\s*(\S+_test\.go:\d+: .*|--- .*)$`).FindString(got.text)
	switch {
	case got.code == exitPass:
		return shown{no, line}, nil
	case strings.Contains(got.text, kind) || strings.Contains(line, string(f.Finding.Kind)+" in "):
		return shown{yes, line}, nil
	case strings.Contains(got.text, "inconclusive"):
		return shown{unclear, line}, nil
	default:
		return shown{mistaken, got.last()}, nil
	}
}
