// Package doubletap plays scenarios against an API inside go test: does what is wished once, and asked
// for more than once, happen exactly once?
//
//	func TestOrders(t *testing.T) {
//		server := httptest.NewServer(orders.Handler(db))
//		t.Cleanup(server.Close)
//		doubletap.Test(t, doubletap.Options{
//			Target:    "orders.yaml",
//			Env:       map[string]string{"ORDERS_URL": server.URL},
//			Scenarios: []string{"burst-same-key", "withheld-answer"},
//		})
//	}
package doubletap

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
	Operation string            // of the target; empty: what the scenarios ask for, else its first by name
	Scenarios []string          // built-in ones by name, files and folders; none, without Source: all built-in ones
	Source    string            // one more scenario, as the text of its file
	Seed      uint64            // of the plans; 0: random
	Env       map[string]string // variables of the target file, before those of the process
	Reports   string            // directory for the runs' files; empty: one that goes with the test
}

// Test plays each scenario as a subtest. One that finds a broken promise fails with the evidence; one that
// could not be exercised fails as well, for it has shown nothing; one that the target's contract has
// nothing for is skipped; one that fails as it is known to passes. The target must be running.
func Test(t *testing.T, o Options) {
	t.Helper()
	for _, one := range o.scenarios(t) {
		name := strings.TrimSuffix(filepath.Base(one), filepath.Ext(one))
		t.Run(name, func(t *testing.T) { o.play(t, one) })
	}
}

// scenarios returns the arguments of run, one for each subtest.
func (o Options) scenarios(t *testing.T) []string {
	all := o.Scenarios
	if o.Source != "" {
		s, err := scenarios.Load("Source", []byte(o.Source))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), s.Name+".yaml")
		if err := os.WriteFile(file, []byte(o.Source), 0o644); err != nil {
			t.Fatal(err)
		}
		return append(all, file)
	}
	if len(all) > 0 {
		return all
	}
	library, err := scenarios.LoadFS(scenarios.Builtin(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range library {
		all = append(all, f.Scenario.Name)
	}
	return all
}

// play runs doubletap in this process and tells the test what it found.
func (o Options) play(t *testing.T, scenario string) {
	dir := o.Reports
	if dir == "" {
		dir = t.TempDir()
	}
	args := []string{scenario, "--target", o.Target, "--reports", dir}
	if o.Operation != "" {
		args = append(args, "--operation", o.Operation)
	}
	if o.Seed != 0 {
		args = append(args, "--seed", fmt.Sprint(o.Seed))
	}
	var out, complaints bytes.Buffer
	report, code := cmd.Run(t.Context(), args, &out, &complaints, o.getenv)
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
