// Command museum plays published bugs of other people's packages (exhibits.yaml), each before and after its fix, and writes what
// doubletap said of them. It installs the packages by npm and go, into a cache outside of the repository.
//
//	museum -doubletap PROGRAM [-runs 5] [-whole 1] [-o PAGE] [EXHIBIT...]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/internal/ports"
)

// exhibit is a published bug, as exhibits.yaml has it, where each member is told.
type exhibit struct {
	Name, Package, Bad, Good, Target, Kind, Story, Reference string

	With, Beside, Scenarios []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := museum(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "museum:", err)
		os.Exit(2)
	}
	os.Exit(code)
}

// museum plays the exhibits. The code is 1 if one of them was not told from its fix, or its fix was not silent.
func museum(ctx context.Context, args []string, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("museum", flag.ContinueOnError)
	program := flags.String("doubletap", "bin/doubletap", "the command that plays")
	folder := flags.String("folder", "museum", "where exhibits.yaml is")
	runs := flags.Int("runs", 5, "how often each version is played with the scenarios that tell it")
	whole := flags.Int("whole", 1, "how often the mended version is played with the whole library")
	page := flags.String("o", "", "the page to write")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	all, err := read(filepath.Join(*folder, "exhibits.yaml"))
	if err != nil {
		return 0, err
	}
	m := player{folder: *folder, runs: *runs, whole: *whole}
	if m.program, err = filepath.Abs(*program); err != nil {
		return 0, err
	}
	if m.cache, err = os.UserCacheDir(); err != nil {
		return 0, err
	}
	m.cache = filepath.Join(m.cache, "doubletap-museum")
	code, rows := 0, []string{}
	for _, e := range all {
		if len(flags.Args()) > 0 && !slices.Contains(flags.Args(), e.Name) {
			continue
		}
		s, err := m.play(ctx, e)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		if !s.told(*runs) {
			code = 1
		}
		rows = append(rows, s.row(e, *runs, *whole))
		fmt.Fprintln(out, rows[len(rows)-1])
	}
	if *page == "" {
		return code, nil
	}
	return code, os.WriteFile(*page, []byte(heading+strings.Join(rows, "\n")+"\n"), 0o644)
}

// read reads exhibits.yaml.
func read(path string) ([]exhibit, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []exhibit
	return all, yaml.Unmarshal(text, &all)
}

// player plays exhibits.
type player struct {
	program, folder, cache string
	runs, whole            int
}

// seen is what was seen of an exhibit.
type seen struct {
	broken, of   int // intents of the bad version with the defect
	caught       int // runs of the bad version that found it
	silent       int // runs of the mended version that passed
	quiet        int // runs of the mended version with the whole library without a finding
	inconclusive []string
	noise        []string // findings in the mended version
}

// play plays the broken and the mended version with the same seeds, so that both get the same
// plan, and then the mended one with the whole library: there, each finding is a true one about the package or its wrapper, or
// a false alarm.
func (m player) play(ctx context.Context, e exhibit) (seen, error) {
	var s seen
	bad, err := m.install(ctx, e, e.Bad)
	if err != nil {
		return s, err
	}
	good, err := m.install(ctx, e, e.Good)
	if err != nil {
		return s, err
	}
	for seed := 1; seed <= m.runs; seed++ {
		r, err := m.run(ctx, e, bad, seed, e.Scenarios...)
		if err != nil {
			return s, fmt.Errorf("%s, seed %d: %w", e.Bad, seed, err)
		}
		broken := r.broken(e.Kind)
		s.broken, s.of = s.broken+broken, s.of+r.intents()
		if broken > 0 {
			s.caught++
		}
		if r, err = m.run(ctx, e, good, seed, e.Scenarios...); err != nil {
			return s, fmt.Errorf("%s, seed %d: %w", e.Good, seed, err)
		}
		if r.Verdict == "pass" {
			s.silent++
		}
		s.remember(r)
	}
	for seed := 1; seed <= m.whole; seed++ {
		r, err := m.run(ctx, e, good, seed)
		if err != nil {
			return s, fmt.Errorf("%s, the whole library, seed %d: %w", e.Good, seed, err)
		}
		if r.broken("") == 0 && r.Code <= 2 {
			s.quiet++
		}
		s.remember(r)
	}
	return s, nil
}

// remember keeps what the mended version was told.
func (s *seen) remember(r report) {
	if r.Code > 2 {
		s.noise = append(s.noise, fmt.Sprintf("exit %d (%s)", r.Code, r.Error))
	}
	for _, result := range r.Results {
		for _, f := range result.Findings {
			if text := f.Kind + " in " + result.Scenario; !slices.Contains(s.noise, text) {
				s.noise = append(s.noise, text)
			}
		}
		if result.Verdict == "inconclusive" && !slices.Contains(s.inconclusive, result.Scenario) {
			s.inconclusive = append(s.inconclusive, result.Scenario)
		}
	}
}

// told reports that the scenarios told the two versions apart in every run.
func (s seen) told(runs int) bool { return s.caught == runs && s.silent == runs }

// heading is what the page says before its rows.
const heading = `# The museum

Bugs that others have published, in packages that nobody here wrote. ` + "`make museum`" + ` installs each package in its last broken
version and in the version that mends it, puts a wrapper of some dozen lines around it ([museum](../museum)), and plays the
scenarios that tell the two apart. The mended version is then played with the whole library: what doubletap says
there is a true finding about package or wrapper, or a false alarm. It is not part of ` + "`make test`" + `.

| Exhibit | Package | Bug | Found in | Intents | Silent after the fix | Whole library, after the fix | Reference |
|---|---|---|---|---|---|---|---|
`

// row is the exhibit's line of the page.
func (s seen) row(e exhibit, runs, whole int) string {
	said := "not played"
	if whole > 0 {
		said = fmt.Sprintf("quiet in %d of %d", s.quiet, whole)
	}
	if len(s.noise) > 0 {
		said += "; " + strings.Join(s.noise, ", ")
	}
	if len(s.inconclusive) > 0 {
		said += "; inconclusive: " + strings.Join(s.inconclusive, ", ")
	}
	return fmt.Sprintf("| `%s` | `%s` %s → %s | %s (`%s`) | %d of %d runs | %d of %d | %d of %d runs | %s | %s |",
		e.Name, e.Package, e.Bad, e.Good, e.Story, e.Kind, s.caught, runs, s.broken, s.of, s.silent, runs, said, e.Reference)
}

// install puts a version of a package beside the exhibit's wrapper, and returns the folder.
func (m player) install(ctx context.Context, e exhibit, version string) (string, error) {
	dir := filepath.Join(m.cache, e.Name+"-"+version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	wrappers := filepath.Join(m.folder, filepath.Dir(e.Target))
	files, err := os.ReadDir(wrappers)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(wrappers, file.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file.Name()), text, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	wanted := []string{e.Package + "@" + version}
	for _, other := range e.With {
		wanted = append(wanted, other+"@"+version)
	}
	wanted = append(wanted, e.Beside...)
	if strings.HasPrefix(version, "v") {
		if err := command(ctx, dir, append([]string{"go", "get"}, wanted...)...); err != nil {
			return "", err
		}
		return dir, command(ctx, dir, "go", "build", "-mod=mod", "-o", "exhibit", ".")
	}
	done := filepath.Join(dir, "installed")
	if text, _ := os.ReadFile(done); string(text) == strings.Join(wanted, " ") {
		return dir, nil
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`), 0o644); err != nil {
		return "", err
	}
	if err := command(ctx, dir, append([]string{"npm", "install", "--no-audit", "--no-fund"}, wanted...)...); err != nil {
		return "", err
	}
	return dir, os.WriteFile(done, []byte(strings.Join(wanted, " ")), 0o644)
}

// command runs a program in a folder. The error has what it printed.
func command(ctx context.Context, dir string, words ...string) error {
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return nil
}

// report is what the museum reads of report.json.
type report struct {
	Verdict string
	Code    int    `json:"-"` // the exit code
	Error   string `json:"-"` // the last line of what the command said, if it did not come to a verdict
	Results []struct {
		Scenario, Verdict string
		Intents           int
		Findings          []struct{ Kind, Intent string }
	}
}

// intents counts those of all scenarios.
func (r report) intents() int {
	n := 0
	for _, result := range r.Results {
		n += result.Intents
	}
	return n
}

// broken counts the intents with a finding of a kind; empty: of any.
func (r report) broken(kind string) int {
	n := 0
	for _, result := range r.Results {
		intents := map[string]bool{}
		for _, f := range result.Findings {
			if kind == "" || f.Kind == kind {
				intents[f.Intent] = true
			}
		}
		n += len(intents)
	}
	return n
}

// run plays scenarios against an exhibit, or the whole library.
func (m player) run(ctx context.Context, e exhibit, dir string, seed int, scenarios ...string) (report, error) {
	var r report
	reports, err := os.MkdirTemp("", "museum")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(reports)
	ctx, stop := context.WithTimeout(ctx, 20*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, m.program, append([]string{"run", "--target", filepath.Join(m.folder, e.Target), "--seed", fmt.Sprint(seed), "--reports", reports}, scenarios...)...)
	c.Env = append(os.Environ(), "EXHIBIT="+dir)
	for _, variable := range []string{"PORT_A", "PORT_B"} {
		port, err := ports.Reserve("127.0.0.1")
		if err != nil {
			return r, err
		}
		defer port.Release()
		c.Env = append(c.Env, fmt.Sprint(variable, "=", port.Number))
	}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	out, ran := c.CombinedOutput()
	files, _ := filepath.Glob(filepath.Join(reports, "*", "report.json"))
	if len(files) != 1 {
		return r, fmt.Errorf("%w\n%s", errors.Join(ran, errors.New("there is no report")), out)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return r, err
	}
	if r.Code = c.ProcessState.ExitCode(); r.Code > 2 {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		r.Error = lines[len(lines)-1]
	}
	return r, json.Unmarshal(text, &r)
}
