package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// MostFindings is the number of findings that get a directory of their own.
const MostFindings = 1000

// Finding is what a finding's directory says: what was found, and what it takes, beside the
// scenario, to send the same plan again for the intent that broke.
type Finding struct {
	Version    int             `json:"version"`
	Run        string          `json:"run"`
	Scenario   string          `json:"scenario"`
	Seed       uint64          `json:"seed"`
	Intents    []int           `json:"intents"`
	Target     string          `json:"target"` // builtin:NAME, or the target file as it was named
	Operation  string          `json:"operation"`
	Instances  int             `json:"instances,omitempty"` // of it, by flag; 0: as it says itself
	Database   string          `json:"database,omitempty"`  // kind of database that a built-in target stood on; empty: SQLite, or that of the target file
	Toxiproxy  string          `json:"toxiproxy,omitempty"`
	Normal     history.Offset  `json:"normal"`               // of a plain create; spans that are shares are of this
	Confidence float64         `json:"confidence,omitempty"` // by which the number of intents was chosen
	Shown      int             `json:"shown,omitempty"`      // intents of the run that broke in this way,
	Of         int             `json:"of,omitempty"`         // out of so many; 0: not known
	Finding    checker.Finding `json:"finding"`
}

// Alike reports that another finding is of the same kind and says the same of another intent.
func (f Finding) Alike(other checker.Finding) bool {
	return f.Finding.Kind.Covers(other.Kind) && other.Detail == f.Finding.Detail
}

// ShownIn counts the intents of a result that have a finding like this one.
func (f Finding) ShownIn(r checker.Result) int {
	intents := map[string]bool{}
	for _, other := range r.Findings {
		if f.Alike(other) {
			intents[other.Intent] = true
		}
	}
	if intents[checker.EveryIntent] {
		return r.Intents
	}
	return len(intents)
}

// Seen is in how many separate runs of so many rounds something showed. The zero value is of no run.
type Seen struct{ Shown, Runs, Rounds int }

// Count counts one more run.
func (s *Seen) Count(shown bool) {
	s.Runs++
	if shown {
		s.Shown++
	}
}

// Rounds is how often something that showed in k of n rounds of one run has to be tried until it shows in 99 of 100 cases, if other
// runs are like that one, 1 to 1000. Of n rounds of which k showed it, (k+1)/(n+2) is the rate (Laplace's rule of succession): what
// showed in each of a few may still be chance. Whether other runs are like it, one run does not tell: see [Seen]. Of an unknown
// rate, n is 0.
func Rounds(k, n int) int {
	missed := 1 - float64(k+1)/float64(n+2)
	return min(mostRounds, int(math.Ceil(math.Log(0.01)/math.Log(missed))))
}

// mostRounds keeps an export from going on for hours.
const mostRounds = 1000

// IntentsOf returns the numbers of the intents that a finding is about.
func IntentsOf(f checker.Finding, r checker.Result) []int {
	if f.Intent != checker.EveryIntent {
		n, _ := strconv.Atoi(strings.TrimPrefix(f.Intent, "i")) // as driver names them
		return []int{n}
	}
	var all []int
	for n := range r.Intents {
		all = append(all, n+1)
	}
	return all
}

// ReadFinding reads what a finding's directory says.
func ReadFinding(dir string) (Finding, error) {
	var f Finding
	path := filepath.Join(dir, FindingName)
	text, err := files.Read(path, files.MostText)
	if Missing(err) {
		return f, runerror.Configf("%s is not the directory of a finding: it has no %s", dir, FindingName)
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err == nil && (f.Version != 1 || f.Target == "" || len(f.Intents) == 0) {
		err = errors.New("it is no finding that this doubletap can read")
	}
	if err != nil {
		return f, runerror.Config(fmt.Errorf("read %s: %w", path, err))
	}
	return f, nil
}

// WriteFinding gives a finding a directory of its own: what it says, its scenario, the plan of the intents that broke, and
// the target file; nil: that may not be read by others.
func (d Dir) WriteFinding(f Finding, source []byte, plan scenarios.Plan, target []byte) error {
	var text bytes.Buffer
	if _, err := plan.Only(f.Intents).WriteTo(&text); err != nil {
		return runerror.Environment(err)
	}
	err := d.WriteJSON(f, FindingsName, f.Finding.ID, FindingName)
	if err == nil {
		err = d.Write(source, FindingsName, f.Finding.ID, ScenarioName)
	}
	if err == nil {
		err = d.Write(text.Bytes(), FindingsName, f.Finding.ID, PlanName)
	}
	if err == nil && target != nil {
		err = d.Write(target, FindingsName, f.Finding.ID, TargetName)
	}
	return err
}

// Narrowed is the scenario of a finding with one family of intents, and with a sweep, a crash, or the break of a link,
// fixed where it broke. A crash that comes when the request is over is not fixed: another machine may take longer.
func (f Finding) Narrowed(s scenarios.Scenario) scenarios.Scenario {
	s.Intents = s.GroupSize()
	s.Steps = slices.Clone(s.Steps)
	for i, step := range s.Steps {
		for _, a := range f.Finding.Attempts {
			if step.Sweep != nil && a.Step == i && a.After > 0 && a.Intent == f.Finding.Intent {
				there := *step.Sweep
				there.From = spanOf(a.After)
				there.To = there.From
				s.Steps[i].Sweep = &there
			}
			if c := step.Crash; c != nil && c.At == "" && c.From.Share < 1 && a.Step == i && a.Intent == f.Finding.Intent {
				if n := slices.IndexFunc(f.Finding.Crashes, func(c history.Crash) bool { return c.Attempt == a.ID }); n >= 0 {
					there := *c
					there.From = spanOf(f.Finding.Crashes[n].After)
					there.To = there.From
					s.Steps[i].Crash = &there
				}
			}
			if step.Send != nil && step.Send.Cut != nil && a.Step == i && a.Cut != nil && a.Intent == f.Finding.Intent {
				send, cut := *step.Send, *step.Send.Cut
				cut.Moment = faults.Moment(a.Cut.Moment)
				send.Cut = &cut
				s.Steps[i].Send = &send
			}
		}
	}
	return s
}

// spanOf is a time as a scenario has it, without digits that nobody can keep to.
func spanOf(at history.Offset) scenarios.Span {
	return scenarios.Span{Fixed: at.Duration().Round(100 * time.Microsecond)}
}

// TargetIn is the target of a finding: as it was named, or the copy beside the finding where that is not there any more.
func (f Finding) TargetIn(dir string) string {
	copied := filepath.Join(dir, TargetName)
	if !Exists(f.Target) && Exists(copied) {
		return copied
	}
	return f.Target
}

// HandedOver reports that a target file came with a finding: it is in the finding's run. Whoever wrote the one wrote the other.
func HandedOver(target, dir string) bool {
	run := dir
	if filepath.Base(filepath.Dir(dir)) == FindingsName {
		run = filepath.Dir(filepath.Dir(dir))
	}
	way, err := filepath.Rel(real(run), real(target))
	return err == nil && filepath.IsLocal(way) && Exists(target)
}

// real is a path without symbolic links.
func real(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	return path
}

// Exists reports that there is something at a path, or that this cannot be told.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !Missing(err)
}
