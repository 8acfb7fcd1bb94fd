package rundir

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/files"
)

// shrunkName is the file beside a finding that says what is left of it.
const shrunkName = "shrunk.json"

// shrunk is what the file says: whose finding it is, as a later doubletap may number findings otherwise, and what is left.
type shrunk struct {
	Scenario string         `json:"scenario"`
	Kind     checker.Kind   `json:"kind"`
	Detail   string         `json:"detail,omitempty"`
	Intent   string         `json:"intent"`
	Shrunk   checker.Shrunk `json:"shrunk"`
}

// WriteShrunk notes beside a finding, and in the reports of its run, what is left of it. A finding that was taken out of its run has no
// reports to write.
func WriteShrunk(dir string, f Finding, left checker.Shrunk) error {
	beside := Dir{Path: dir}
	err := beside.WriteJSON(shrunk{f.Scenario, f.Finding.Kind, f.Finding.Detail, f.Finding.Intent, left}, shrunkName)
	run := Dir{Path: filepath.Dir(filepath.Dir(dir))}
	if err != nil || filepath.Base(filepath.Dir(dir)) != FindingsName || !Exists(filepath.Join(run.Path, reportName)) {
		return err
	}
	report, err := run.ReadReport()
	if err != nil {
		return err
	}
	run.addShrunk(report.Results)
	return run.writeForms(slices.DeleteFunc(forms(report, nil), func(one form) bool { return one.name == gitLabName })) // which does not tell it, and has paths
}

// addShrunk adds to findings of the run what is left of them. A file that cannot be read, or is of another finding, adds nothing.
func (d Dir) addShrunk(results []checker.Result) {
	for _, r := range results {
		for i := range r.Findings {
			f := &r.Findings[i]
			text, err := files.Read(filepath.Join(d.Path, FindingsName, f.ID, shrunkName), files.MostText)
			if err != nil || !findingID.MatchString(f.ID) {
				continue
			}
			var of shrunk
			if json.Unmarshal(text, &of) == nil && of.Scenario == r.Scenario && of.Kind == f.Kind && of.Detail == f.Detail && of.Intent == f.Intent {
				f.Shrunk = &of.Shrunk
			}
		}
	}
}
