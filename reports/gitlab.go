package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
)

// mostIssues bounds a code quality report: a merge request shows the first few, and GitLab reads all.
const mostIssues = 1000

// codeQuality is one entry of a GitLab code quality report.
type codeQuality struct {
	Description string       `json:"description"`
	CheckName   string       `json:"check_name"`
	Fingerprint string       `json:"fingerprint"`
	Severity    string       `json:"severity"`
	Location    codeLocation `json:"location"`
}

// codeLocation is where GitLab shows an entry: GitLab requires a path and a line.
type codeLocation struct {
	Path  string    `json:"path"`
	Lines codeLines `json:"lines"`
}

// codeLines has the first line. A finding concerns a whole scenario, so it is always line 1.
type codeLines struct {
	Begin int `json:"begin"`
}

// GitLab writes a code quality report, by which a merge request shows what it breaks and what it mends.
// Findings of one cause are one entry: GitLab takes entries with one fingerprint for the same. The path is the file of its
// simplest scenario where files has one, and else its name.
func GitLab(w io.Writer, r checker.Report, files map[string]string) error {
	v := newView(r)
	list := []codeQuality{}
	for _, one := range v.Causes[:min(len(v.Causes), mostIssues)] {
		issue := one.issue(files[one.First.Scenario])
		if v.Caveat != "" {
			issue.Description += "; " + v.Caveat
		}
		list = append(list, issue)
	}
	text, err := indented(list)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write code quality report: %w", err)
	}
	return nil
}

// issue makes one entry of a cause. One that is known or excused has the lowest severity.
func (c causeView) issue(file string) codeQuality {
	f := c.First
	if file == "" {
		file = f.Scenario
	}
	description := fmt.Sprintf("%s: %s; %s; %s", name(f.Kind), c.Sentence, c.seenIn(), fit(f.Expectation, 4*widestCell))
	severity := codeSeverity(f.finding.Kind)
	switch {
	case f.Known != "":
		description, severity = description+"; known: "+fit(f.Known, 4*widestCell), "info"
	case f.Excused != "":
		description, severity = description+"; "+f.allowed(), "info"
	}
	description = strings.Join(append([]string{description}, f.evidence().inBrief()...), "; ")
	return codeQuality{
		Description: description,
		CheckName:   "doubletap/" + f.Kind,
		Fingerprint: c.fingerprint(),
		Severity:    severity,
		Location:    codeLocation{Path: file, Lines: codeLines{Begin: 1}},
	}
}

// fingerprint is the same in every run that sees the cause under the same circumstances.
func (c causeView) fingerprint() string {
	parts := []string{string(c.cause.Kind), c.First.recorded.Detail}
	for _, one := range c.cause.Circumstances {
		parts = append(parts, string(one))
	}
	for _, why := range []string{c.cause.Excused, c.cause.Known} {
		if why != "" {
			parts = append(parts, why)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// codeSeverity is the severity of a kind in GitLab's words.
func codeSeverity(k checker.Kind) string {
	switch k {
	case checker.Leak, checker.Duplicate, checker.Diverged, checker.TargetDied, checker.LostWrite:
		return "blocker"
	case checker.PhantomRow, checker.AlteredBody, checker.EffectMismatch, checker.EffectBeforeCommit, checker.DownstreamKeyChanged, checker.StuckKey, checker.StoredError:
		return "critical"
	case checker.MissingKeyAccepted:
		return "minor"
	default:
		return "major"
	}
}
