package cmd

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// exportOptions are the flags of export.
type exportOptions struct {
	as, output, target, database, store, operation string
}

func newExport(s streams) *cobra.Command {
	o := exportOptions{}
	cmd := &cobra.Command{
		Use:   "export FINDING",
		Short: "Hand a finding over: as a shell script, a Go test or a scenario file",
		Long: `Export takes the directory of a finding and writes what shows it again, in one file that somebody
else can run: a shell script that takes bash and curl (curl), a Go test (go), or a scenario file
(scenario). If shrink has left a smaller scenario beside the finding, it is that one. What stands in
environment variables, and what is secret, stays in environment variables.`,
		Example: `  doubletap export reports/runs/20260102-150405-abcd/findings/F1 --as curl -o again.sh
  doubletap export reports/runs/20260102-150405-abcd/findings/F1 --as go -o again_test.go`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exportCommand(cmd.Context(), args[0], o, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.as, "as", "curl", "curl, go or scenario")
	f.StringVarP(&o.output, "output", "o", "", "file to write (default: standard output)")
	f.Var((*targetFlag)(&o.target), "target", "target file, or builtin:NAME (default: the finding's)")
	f.StringVar(&o.database, "database", "", "database of a built-in target, whose dialect a script is for")
	f.StringVar(&o.store, "store", "", storeUsage)
	f.StringVar(&o.operation, "operation", "", "operation of the target (default: the finding's)")
	return cmd
}

func exportCommand(ctx context.Context, dir string, o exportOptions, s streams) error {
	h, err := readHandover(dir, o)
	if err != nil {
		return err
	}
	var text []byte
	switch o.as {
	case "scenario":
		text, err = h.asScenario()
	case "go":
		text, err = h.asGo()
	case "curl":
		text, err = h.asCurl(ctx, s)
	default:
		return mistakef("--as is %q, expected curl, go or scenario", o.as)
	}
	if err != nil {
		return err
	}
	if o.output == "" {
		_, err = s.out.Write(text)
	} else {
		err = os.WriteFile(o.output, text, 0o644)
	}
	if err != nil {
		return surroundings(fmt.Errorf("write the export: %w", err))
	}
	return nil
}

// handover is a finding on its way to somebody else.
type handover struct {
	findingFile
	options  runOptions
	scenario scenarios.Scenario // with the intents of one round
}

// readHandover reads a finding, and the smallest scenario there is of it.
func readHandover(dir string, o exportOptions) (handover, error) {
	f, files, err := openFinding(dir)
	if err != nil {
		return handover{}, err
	}
	small := f.narrowed(files[0].Scenario)
	if shrunk := filepath.Join(dir, shrunkName); !gone(shrunk) {
		if files, err = findScenario(shrunk, nil); err != nil {
			return handover{}, mistake(err)
		}
		small = files[0].Scenario
		small.Intents = small.Family()
	}
	options := f.options(runOptions{target: o.target, database: o.database, store: o.store, operation: o.operation}, dir)
	return handover{findingFile: f, options: options, scenario: small}, nil
}

// title says in one line what is handed over.
func (h handover) title() string {
	return oneLine(fmt.Sprintf("%s: %s", h.Finding.Kind, h.Finding.Promise))
}

// origin says in one line where it comes from.
func (h handover) origin() string {
	return oneLine(fmt.Sprintf("Found by doubletap in the scenario %s, seed %d. Observed: %s", h.Scenario, h.Seed, h.Finding.Observed))
}

// oneLine keeps what a target said from ending a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// asScenario is the scenario as a file of its own.
func (h handover) asScenario() ([]byte, error) {
	source, err := scenarios.Source(h.scenario)
	if err != nil {
		return nil, surroundings(err)
	}
	head := fmt.Sprintf("# %s\n# %s\n# Run it: doubletap run THIS-FILE %s --operation %s --seed %d\n",
		h.title(), h.origin(), h.options.targetFlags(), quoted(h.options.operation), h.Seed)
	return append([]byte(head), source...), nil
}

//go:embed again_test.go.tmpl
var goTest string

// asGo is a Go test that fails for as long as the finding can be seen.
func (h handover) asGo() ([]byte, error) {
	source, err := scenarios.Source(h.scenario.WithIntents(testRounds * h.scenario.Family()))
	if err != nil {
		return nil, surroundings(err)
	}
	var text bytes.Buffer
	err = template.Must(template.New("test").Parse(goTest)).Execute(&text, map[string]any{
		"Title": h.title(), "Origin": h.origin(), "Name": camel(string(h.Finding.Kind) + "-" + h.Scenario),
		"Target": h.options.target, "Operation": h.options.operation, "Seed": h.Seed,
		"Source": strings.ReplaceAll(string(source), "`", "` + \"`\" + `"),
	})
	if err != nil {
		return nil, surroundings(err)
	}
	return text.Bytes(), nil
}

// testRounds is how often a Go test tries: a race is a matter of luck.
const testRounds = 12

// camel makes a part of a Go name of words with dashes.
func camel(words string) string {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(words, func(c rune) bool { return c == '-' || c == '_' || c == '.' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// asCurl is a script that sends what the driver would send.
func (h handover) asCurl(ctx context.Context, s streams) (text []byte, err error) {
	files := []scenarios.File{{Scenario: h.scenario}}
	sub, err := openSubject(ctx, files, h.options, s)
	if err != nil {
		return nil, err
	}
	defer func(opened *subject) { err = errors.Join(err, opened.close()) }(sub)
	if why := sub.beyondCurl(h.scenario); why != "" {
		return nil, mistakef("%s of %s has steps that a script cannot take; hand the finding over --as go or --as scenario", why, sub.name)
	}
	base, database, variables := sub.target.BaseURL, sub.databaseDeclared(), map[string]string{}
	if sub.builtIn() || sub.target.Process != nil {
		base = servedByDefault
	}
	if !sub.builtIn() {
		if sub, variables, err = sub.unexpanded(files, s); err != nil {
			return nil, err
		}
	}
	plan := scenarios.NewPlan(h.scenario, h.Seed)
	d := driver.Workload{
		Target: sub.target, Operations: sub.operations, Principals: sub.principals, Plan: plan, Logins: sub.loginVariables(variables),
		Names: driver.Names{Seed: h.Seed, Run: newRunID(time.Now()), Scenario: plan.Scenario},
		Base:  time.Now(),
	}
	requests, err := d.Rehearse()
	if err != nil {
		return nil, surroundings(err)
	}
	if sub.builtIn() {
		for id, r := range requests {
			r.Secret = nil // they are made up
			requests[id] = r
		}
	}
	script := curl.Script{
		Title: h.title(), Origin: h.origin(), Base: base, Plan: plan, Requests: requests, Lanes: h.scenario.Lanes, Links: h.scenario.Links,
		Normal: h.Normal.Duration(), Variables: variables, Rows: map[string]string{},
		Client: clients()[databases.DialectOf(database)], Broken: conditions()[h.Finding.Kind],
	}
	script.Files, script.Lacks = sub.reach()
	if u, err := url.Parse(database); err == nil && u.User == nil && !sub.builtIn() && sub.target.Database.URL != "" {
		script.Database = database
	}
	for _, o := range sub.operations {
		script.Rows[o.Name] = oneLine(o.Rows.Query)
	}
	var out bytes.Buffer
	if err := script.Write(&out); err != nil {
		return nil, surroundings(err)
	}
	return out.Bytes(), nil
}

// reach are the files that it takes to get through to the target, and what of it curl cannot do.
func (s *subject) reach() (files []curl.File, lacks []string) {
	t := s.target
	named := []curl.File{{Option: "--unix-socket", Variable: "SOCKET", Path: t.Socket}}
	if t.TLS != nil {
		named = append(named, curl.File{Option: "--cacert", Variable: "TLS_CA", Path: t.TLS.CA},
			curl.File{Option: "--cert", Variable: "TLS_CERTIFICATE", Path: t.TLS.Certificate}, curl.File{Option: "--key", Variable: "TLS_KEY", Path: t.TLS.Key})
		if t.TLS.ServerName != "" {
			lacks = append(lacks, fmt.Sprintf("the server name %s, which curl takes from BASE_URL alone", oneLine(t.TLS.ServerName)))
		}
	}
	for _, f := range named {
		if path, err := filepath.Abs(f.Path); err == nil && f.Path != "" { // the script works in a folder of its own
			f.Path = strings.ReplaceAll(path, "}", `\}`)
			files = append(files, f)
		}
	}
	if t.AsksItself() {
		lacks = append(lacks, "the target's own listing, by which the rows are known")
	}
	return files, lacks
}

// servedByDefault is where targets serve listens.
const servedByDefault = "http://127.0.0.1:8080"

func clients() map[databases.Dialect]curl.Client {
	return map[databases.Dialect]curl.Client{
		databases.SQLite: curl.SQLite, databases.PostgreSQL: curl.Postgres, databases.MariaDB: curl.MariaDB,
	}
}

// conditions say what rows show that a promise broke again, where rows alone can.
func conditions() map[checker.Kind]curl.Condition {
	return map[checker.Kind]curl.Condition{checker.Duplicate: curl.TooMany, checker.LostWrite: curl.None}
}
