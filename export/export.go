// Package export hands a finding over to people who do not have doubletap: as a shell script with
// curl, a Go test, or a scenario file that shows it again. All are written from the same plan and
// requests as the run's. Where the target file takes a value from an environment variable, so do
// they: the value itself stays here.
//
// judge.go says by what a script sees that it happened again; the script itself is written by the
// package curl, and the Go test from go_test.go.tmpl. What a form cannot show is told, and never
// left out without a word.
package export

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Finding is a finding to be handed over, with what it takes to show it again.
type Finding struct {
	rundir.Finding
	Scenario scenarios.Scenario // the smallest there is of it, with as many rounds as it was seen to take
	SUT      sut.Options        // of the target that it is shown against
	Flags    string             // of the command that name that target and its operation
	Shrunk   bool               // nothing is known that could be left out of Scenario
	Seen     string             // how often Scenario showed it, in a sentence; empty: it is not known
}

// Mark stands at the beginning of all that is exported.
const Mark = "Found by doubletap"

// title says in one line what is handed over.
func (f Finding) title() string {
	return inert.Comment(fmt.Sprintf("%s: %s", f.Finding.Finding.Kind, f.Finding.Finding.Promise))
}

// origin says in one line where it comes from.
func (f Finding) origin() string {
	return inert.Comment(fmt.Sprintf(Mark+" in the scenario %s, seed %d. Observed: %s", f.Finding.Scenario, f.Seed, f.Finding.Finding.Observed))
}

// AsScenario is the scenario as a file of its own.
func (f Finding) AsScenario() ([]byte, error) {
	source, err := scenarios.Source(f.Scenario)
	if err != nil {
		return nil, runerror.Environment(err)
	}
	head := fmt.Sprintf("# %s\n# %s\n%s# Run it: doubletap run THIS-FILE %s --seed %d\n",
		f.title(), f.origin(), commentLine("#", f.Seen), inert.Comment(f.Flags), f.Seed)
	return append([]byte(head), source...), nil
}

// commentLine is a line of a comment; none, where there is nothing to say.
func commentLine(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + " " + inert.Comment(text) + "\n"
}

//go:embed go_test.go.tmpl
var goTest string

// AsGo is a Go test that fails for as long as the finding can be seen.
func (f Finding) AsGo() ([]byte, error) {
	source, err := scenarios.Source(f.Scenario)
	if err != nil {
		return nil, runerror.Environment(err)
	}
	var text bytes.Buffer
	err = template.Must(template.New("test").Parse(goTest)).Execute(&text, map[string]any{
		"Title": f.title(), "Origin": f.origin(), "Seen": commentLine("//", f.Seen), "Name": inert.GoName(string(f.Finding.Finding.Kind) + "-" + f.Finding.Scenario),
		"Target": inert.GoText(f.SUT.Target), "Operation": inert.GoText(f.SUT.Operation), "Seed": f.Seed, "Instances": f.SUT.Instances,
		"Source": inert.GoText("\n" + string(source)),
	})
	if err != nil {
		return nil, runerror.Environment(err)
	}
	return text.Bytes(), nil
}

// GoCannot is why the Go test cannot show the finding; empty: it can.
func (f Finding) GoCannot() string {
	if strings.HasPrefix(f.SUT.Target, sut.ServedPrefix) {
		return "a Go test does not start " + f.SUT.Target + ", which is a process of this command; a target file with process is started"
	}
	return ""
}

// BesideCurl says which other forms show the finding: "--as go and --as scenario have".
func (f Finding) BesideCurl() string {
	if f.GoCannot() != "" {
		return "--as scenario has"
	}
	return "--as go and --as scenario have"
}

// AsCurl is a script that sends what the driver would send, and what it cannot show the finding without; none: it can.
func (f Finding) AsCurl(ctx context.Context) (text []byte, cannot []string, err error) {
	files := []scenarios.File{{Scenario: f.Scenario}}
	system, err := sut.Open(ctx, f.SUT, files)
	if err != nil {
		return nil, nil, err
	}
	defer func(opened *sut.System) { err = errors.Join(err, opened.Close()) }(system)
	base, database, variables := system.Target.BaseURL, system.DatabaseKind(), map[string]string{}
	if system.BuiltIn() || system.Target.Process != nil {
		base = servedByDefault
	}
	if !system.BuiltIn() {
		if system, variables, err = system.Unexpanded(files); err != nil {
			return nil, nil, err
		}
	}
	if base == system.Target.BaseURL && base != sut.PublicBase(system) {
		base = "" // a variable stands in it
	}
	script, err := f.script(system, variables)
	if err != nil {
		return nil, nil, err
	}
	script.Base, script.Client = base, clients()[databases.DialectOf(database)]
	if u, err := url.Parse(database); err == nil && u.User == nil && !system.BuiltIn() && system.Target.Database.URL != "" {
		script.Database = database
	}
	var out bytes.Buffer
	if err := script.Write(&out); err != nil {
		return nil, nil, runerror.Environment(err)
	}
	return out.Bytes(), script.Limits(), nil
}

// script is what a script sends and shows, but for where its target and its database are. It has
// one group of intents, which the script then plays as many rounds of as there were.
func (f Finding) script(system *sut.System, variables map[string]string) (curl.Script, error) {
	round := f.Scenario
	round.Intents = round.GroupSize()
	plan := scenarios.NewPlan(round, f.Seed)
	d := driver.Workload{
		Target: system.Target, Operations: system.Operations, Ways: system.Ways, Principals: system.Principals, Plan: plan,
		Names: driver.Names{Seed: f.Seed, Run: rundir.NewID(time.Now()), Scenario: plan.Scenario},
		Base:  time.Now(),
	}
	requests, err := d.Rehearse()
	if err != nil {
		return curl.Script{}, runerror.Environment(err)
	}
	steps, err := stepsOf(system, d, variables)
	if err != nil {
		return curl.Script{}, err
	}
	if system.BuiltIn() {
		for id, r := range requests {
			r.Secret = nil // they are made up
			requests[id] = r
		}
	}
	script := curl.Script{
		Title: f.title(), Origin: f.origin(), Plan: plan, Requests: requests, Steps: steps, Options: options(system.Target), Lanes: f.Scenario.Lanes, Links: f.Scenario.Links,
		Normal: f.Normal.Duration(), Variables: variables, Rows: map[string]string{},
		Tries: curl.Tries{Rounds: f.Scenario.Intents / f.Scenario.GroupSize(), Seen: f.Seen}, Minimal: f.Shrunk, Concurrency: f.Scenario.Concurrency,
	}
	var told bool
	script.Adds, told = additions(system, requests)
	script.Judge, script.Cannot = f.judge(system, plan, told)
	script.Files, script.Lacks = reach(system)
	for _, o := range slices.Concat(system.Operations, system.Ways) {
		script.Rows[o.Name] = o.Rows.Query
	}
	return script, nil
}

// reach are the files that it takes to get through to the target, and what of it curl cannot do.
func reach(s *sut.System) (files []curl.File, lacks []string) {
	t := s.Target
	named := []curl.File{{Option: "--unix-socket", Variable: "SOCKET", Path: t.Socket}}
	if t.TLS != nil {
		named = append(named, curl.File{Option: "--cacert", Variable: "TLS_CA", Path: t.TLS.CA},
			curl.File{Option: "--cert", Variable: "TLS_CERTIFICATE", Path: t.TLS.Certificate}, curl.File{Option: "--key", Variable: "TLS_KEY", Path: t.TLS.Key})
		if t.TLS.ServerName != "" {
			lacks = append(lacks, fmt.Sprintf("the server name %s, which curl takes from BASE_URL alone", inert.Comment(t.TLS.ServerName)))
		}
	}
	for _, f := range named {
		if path, err := filepath.Abs(f.Path); err == nil && f.Path != "" { // the script works in a folder of its own
			f.Path = path
			files = append(files, f)
		}
	}
	if l := t.RateLimit; l != nil {
		lacks = append(lacks, fmt.Sprintf("the pauses for the target's rate limit, %d in %s", l.Requests, time.Duration(l.Per)))
	}
	if t.AsksItself() {
		lacks = append(lacks, "the target's own listing, by which the rows are known")
	}
	return files, lacks
}

// servedByDefault is where targets serve listens.
const servedByDefault = "http://127.0.0.1:8080"

// clients are the programs that a script counts rows with, by the kind of the database.
func clients() map[databases.Dialect]curl.Client {
	return map[databases.Dialect]curl.Client{
		databases.SQLite: curl.SQLite, databases.PostgreSQL: curl.Postgres, databases.MariaDB: curl.MariaDB,
	}
}

// stepsOf are the steps that a script sends. It is no shell script's work to read any page.
func stepsOf(s *sut.System, w driver.Workload, variables map[string]string) ([]driver.RehearsedRun, error) {
	if !s.BuiltIn() { // whose secrets are made up
		w = sut.WithoutStepSecrets(w, variables)
	}
	runs, err := w.RehearseSteps()
	if err != nil {
		return nil, runerror.Environment(err)
	}
	for _, run := range runs {
		for n, step := range run.Steps {
			for _, name := range step.Step.Names() {
				if why := curl.CannotTake(step.Step.Extract[name]); why != "" {
					return nil, runerror.Configf("%s[%d] of %s takes what a script cannot take: %s; hand the finding over --as go or --as scenario", run.Place, n, s.Name, why)
				}
			}
			if s.BuiltIn() {
				run.Steps[n].Secret = nil
			}
		}
	}
	return runs, nil
}

// options are those of curl that it takes to speak the target's version of HTTP.
func options(t targets.Target) []string {
	switch {
	case t.Protocol != targets.HTTP2:
		return nil
	case strings.HasPrefix(t.BaseURL, "https:"):
		return []string{"--http2"}
	default:
		return []string{"--http2-prior-knowledge"}
	}
}
