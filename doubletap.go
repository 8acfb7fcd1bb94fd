// Package doubletap plays scenarios against an API inside go test: does what is wished once, and asked
// for more than once, happen exactly once, and is everybody told the same?
//
// [Test] takes a target file, which says how the API is asked to create something, how the rows are found
// that it has made, and what it promises. Everything else can be of the test itself: the API as an
// [net/http.Handler], the database as a [database/sql.DB].
//
//	func TestOrders(t *testing.T) {
//		db := open(t)
//		doubletap.Test(t, doubletap.Options{
//			Target:  "orders.yaml",
//			Handler: orders.Handler(db),
//			DB:      db,
//		})
//	}
//
// The target file of a handler needs nothing that is not true of it everywhere:
//
//	name: orders
//	base_url: http://orders.test # Handler takes its place
//	contract: {preset: ietf}
//	operations:
//	  create_order:
//	    request: {path: /orders, body: {note: "{{.Intent.Marker}}", amount: 1200}}
//	    key: {in: header, required: true}
//	    identity: /id
//	    rows: {query: select id from orders where note = :marker, identity: id}
//
// # What a test says
//
// Each scenario is a subtest with the scenario's name, so that -run picks it:
//
//	go test -run 'TestOrders/burst-same-key' -v
//
// It passes if it was exercised and no promise was broken, or if it fails as it is known to. It fails with the
// evidence if a promise was broken, and also if it could not be exercised, for then it has shown nothing. It
// is skipped if the target's contract has nothing for it. With -v it says how far it was exercised.
//
// A pass means: not seen in so many rounds. With -short only the first few intents of each scenario are played,
// and of the library, where Options name no scenarios, only a handful; the others are skipped. That
// finds what is plainly broken, and is worth little as a pass; it says so with -v.
//
// # Handler and DB
//
// Handler is served on a free port of the loopback interface, in HTTP/1.1 and in clear-text HTTP/2, until the
// test ends. Requests come over real connections, through toxiproxy, with the faults that a scenario asks
// for: [net/http/httptest.ResponseRecorder] would show nothing of that.
//
// DB is asked for the rows in place of database.url. Which of SQLite, PostgreSQL, MySQL and MariaDB it is, it is asked itself, so any driver
// will do. Its settings stay as they are, and doubletap does not close it. That the queries of a target file only
// read is then up to their author: only on PostgreSQL and MariaDB are snapshots taken in transactions that
// cannot write. A pool of one connection serves the handler and doubletap in turn. The writers of a
// database that was given are not held back (database.write_gate), so that scenario is skipped.
//
// # Tests of other kinds
//
// [Play] is for whoever has no *testing.T: it returns the report, as its programs read it.
package doubletap

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/cmd"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Options say what to play against what.
type Options struct {
	Target    string            // a target file, or builtin:NAME
	Handler   http.Handler      // the API, served while the test runs, in place of the target file's base_url; nil: that must be running
	DB        *sql.DB           // where the rows are, in place of the target file's database; nil: that
	Operation string            // of the target; empty: what the scenarios ask for, else its first by name
	Scenarios []string          // built-in ones by name, files and folders; none, without Source: all built-in ones
	Source    string            // one more scenario, as the text of its file
	Seed      uint64            // of the plans; 0: random
	Env       map[string]string // variables of the target file, before those of the process
	Reports   string            // directory for the runs' files; empty: one that goes with the test
}

// Intents of a scenario that are played with -short. Twins and neighbours of them come along.
const shortIntents = 4

// shortLibrary are the scenarios that are played with -short where none is named.
func shortLibrary() []string {
	return []string{"plain-create", "sequential-replay", "burst-same-key", "withheld-answer", "altered-after"}
}

// Test plays each scenario as a subtest. One that finds a broken promise fails with the evidence; one that
// could not be exercised fails as well, for it has shown nothing; one that the target's contract has
// nothing for is skipped; one that fails as it is known to passes. Without a Handler the target must be running.
func Test(t *testing.T, o Options) {
	t.Helper()
	all, err := o.scenarios(t.TempDir)
	if err != nil {
		t.Fatal(err)
	}
	base, stop, err := serve(o.Handler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	for _, one := range all {
		name := strings.TrimSuffix(filepath.Base(one), filepath.Ext(one))
		t.Run(name, func(t *testing.T) {
			if testing.Short() && len(o.Scenarios) == 0 && o.Source == "" && !slices.Contains(shortLibrary(), name) {
				t.Skip("left out with -short")
			}
			o.play(t, one, base)
		})
	}
}

// Play plays the scenarios in one run and returns what was found. The error says why there is nothing to
// tell: a mistake in a file, or a target that is not there. Without a Handler the target must be running.
func Play(ctx context.Context, o Options) (*checker.Report, error) {
	temporary, err := os.MkdirTemp("", "doubletap-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	all, err := o.scenarios(func() string { return temporary })
	if err != nil {
		return nil, err
	}
	base, stop, err := serve(o.Handler)
	if err != nil {
		return nil, err
	}
	defer stop()
	if o.Reports == "" {
		o.Reports = filepath.Join(temporary, "reports")
	}
	var complaints bytes.Buffer
	report, code := cmd.Run(ctx, o.call(all, base, &complaints))
	if report == nil {
		return nil, fmt.Errorf("exit %d: %s", code, strings.TrimSpace(complaints.String()))
	}
	return report, nil
}

// scenarios returns the arguments of run, one for each subtest. The Source is written to a folder.
func (o Options) scenarios(folder func() string) ([]string, error) {
	all := slices.Clone(o.Scenarios)
	if o.Source != "" {
		s, err := scenarios.Load("Source", []byte(o.Source))
		if err != nil {
			return nil, err
		}
		file := filepath.Join(folder(), s.Name+".yaml")
		return append(all, file), os.WriteFile(file, []byte(o.Source), 0o644)
	}
	if len(all) > 0 {
		return all, nil
	}
	library, err := scenarios.LoadFS(scenarios.Builtin(), ".")
	for _, f := range library {
		all = append(all, f.Scenario.Name)
	}
	return all, err
}

// call is a run of some scenarios against a target at base; empty: where the file says.
func (o Options) call(all []string, base string, complaints *bytes.Buffer) cmd.Call {
	args := append(slices.Clone(all), "--target", o.Target, "--reports", o.Reports)
	if o.Operation != "" {
		args = append(args, "--operation", o.Operation)
	}
	if o.Seed != 0 {
		args = append(args, "--seed", fmt.Sprint(o.Seed))
	}
	return cmd.Call{Args: args, Out: new(bytes.Buffer), Complaints: complaints, Getenv: o.getenv, BaseURL: base, DB: o.DB}
}

// play runs doubletap in this process and tells the test what it found.
func (o Options) play(t *testing.T, scenario, base string) {
	passing := o.Reports == "" // nobody finds these files once the test is over
	if passing {
		o.Reports = t.TempDir()
	}
	var complaints bytes.Buffer
	call := o.call([]string{scenario}, base, &complaints)
	if base != "" || o.DB != nil || passing {
		call.Again = again(t.Name())
	}
	if testing.Short() {
		call.Intents = shortIntents
		t.Logf("-short: at most the first %d intents: what happens rarely is hardly seen so", shortIntents)
	}
	report, code := cmd.Run(t.Context(), call)
	switch {
	case report == nil:
		t.Fatalf("exit %d\n%s", code, &complaints)
	case complaints.Len() > 0:
		t.Log(complaints.String())
	}
	for _, r := range report.Results {
		tell(t, *report, r)
	}
}

// again is the command that runs a test again.
func again(test string) string {
	return "go test -run '^" + strings.ReplaceAll(test, "/", "$/^") + "$'"
}

func (o Options) getenv(name string) (string, bool) {
	if value, found := o.Env[name]; found {
		return value, true
	}
	return os.LookupEnv(name)
}

// tell says of one scenario what a test says.
func tell(t *testing.T, report checker.Report, r checker.Result) {
	t.Helper()
	report.Results = []checker.Result{r}
	var text bytes.Buffer
	if err := reports.Text(&text, report, reports.Style{}); err != nil {
		t.Fatal(err)
	}
	switch r.Verdict {
	case checker.Pass, checker.Known:
		t.Log(reports.Line(r, reports.Style{}))
	case checker.NotApplicable:
		t.Skip(strings.Join(r.Reasons, "; "))
	default:
		t.Error(text.String())
	}
}
