package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/inert"
)

// JSON writes the whole report, nothing cut, as indented JSON. The members are those of
// [checker.Report] and the types under it, listed in FORMAT.md; besides them every attempt of a
// finding carries its passage. The member "version" changes when a member changes its meaning or
// goes; new members may come without. Control characters are written as escapes. It is one write.
func JSON(w io.Writer, r checker.Report) error {
	text, err := indented(packed(r))
	if err == nil {
		_, err = w.Write(escaped(text))
	}
	if err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

// indented encodes a value for programs and for people who look at it.
func indented(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return b.Bytes(), err
}

// ReadJSON reads what JSON wrote. A report of another version is an error.
func ReadJSON(in io.Reader) (checker.Report, error) {
	var file reportFile
	if err := json.NewDecoder(in).Decode(&file); err != nil {
		return checker.Report{}, fmt.Errorf("read JSON report: %w", err)
	}
	if file.Version != formatVersion {
		return checker.Report{}, fmt.Errorf("read JSON report: version %d, this doubletap reads version %d",
			file.Version, formatVersion)
	}
	return unpacked(file), nil
}

const formatVersion = 1

// reportFile and the types below add to a report the passages, which a history keeps apart. The
// outer members hide the inner ones of the same name.
type reportFile struct {
	checker.Report
	Causes  []causeFile  `json:"causes"`
	Results []resultFile `json:"results"`
}

// causeFile is a cause with what is likely behind it.
type causeFile struct {
	checker.Cause
	Likely *diagnosis.Diagnosis `json:"likely,omitempty"` // nil: its findings are not new, or no known cause fits
}

// causeFiles makes the part of the causes.
func causeFiles(results []checker.Result) []causeFile {
	causes, files := checker.Causes(results), []causeFile{}
	for i, d := range diagnosis.Of(results, causes) {
		file := causeFile{Cause: causes[i]}
		if causes[i].Known == "" && causes[i].Excused == "" && len(d.Guesses) > 0 {
			file.Likely = &d
		}
		files = append(files, file)
	}
	return files
}

// resultFile is a result whose findings are [findingFile].
type resultFile struct {
	checker.Result
	Findings []findingFile `json:"findings"`
}

// findingFile is a finding whose attempts are [attemptFile].
type findingFile struct {
	checker.Finding
	Attempts []attemptFile `json:"attempts"`
}

// attemptFile is an attempt with its passage.
type attemptFile struct {
	history.Attempt
	Passage *history.Passage `json:"passage,omitempty"`
}

// packed makes the file of a report.
func packed(r checker.Report) reportFile {
	file := reportFile{Report: r, Causes: causeFiles(r.Results), Results: []resultFile{}}
	if file.Version == 0 {
		file.Version = formatVersion
	}
	for _, res := range r.Results {
		file.Results = append(file.Results, packedResult(res))
	}
	return file
}

// packedResult makes the part of one result. Lists that readers loop over are never null.
func packedResult(res checker.Result) resultFile {
	res.Exercise = list(res.Exercise)
	if res.Outcomes == nil {
		res.Outcomes = map[checker.Outcome]int{}
	}
	res.Warnings = slices.Clone(res.Warnings)
	for i := range res.Warnings {
		res.Warnings[i].Intents = list(res.Warnings[i].Intents)
	}
	file := resultFile{Result: res, Findings: []findingFile{}}
	for _, f := range res.Findings {
		file.Findings = append(file.Findings, packedFinding(f))
	}
	return file
}

// packedFinding makes the part of one finding.
func packedFinding(f checker.Finding) findingFile {
	f.Outcomes, f.Rows = list(f.Outcomes), list(slices.Clone(f.Rows))
	for i := range f.Rows {
		f.Rows[i].Rows = list(f.Rows[i].Rows)
	}
	file := findingFile{Finding: f, Attempts: []attemptFile{}}
	for _, a := range f.Attempts {
		file.Attempts = append(file.Attempts, attemptFile{Attempt: a, Passage: a.Passage})
	}
	return file
}

// list is never nil, so that no reader meets a null where it loops.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// unpacked puts the passages back where the checker has them.
func unpacked(file reportFile) checker.Report {
	r := file.Report
	for _, resFile := range file.Results {
		res := resFile.Result
		for _, fFile := range resFile.Findings {
			f := fFile.Finding
			for _, aFile := range fFile.Attempts {
				aFile.Attempt.Passage = aFile.Passage
				f.Attempts = append(f.Attempts, aFile.Attempt)
			}
			res.Findings = append(res.Findings, f)
		}
		r.Results = append(r.Results, res)
	}
	return r
}

// escaped writes the characters that may control a terminal, and that JSON allows, as \u escapes. In JSON they
// occur only inside strings.
func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, mustEscape) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if mustEscape(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.Bytes()
}

// mustEscape is true for hidden characters of the Basic Multilingual Plane, which has all control characters and all
// that turn the direction of text.
func mustEscape(r rune) bool { return r != '\n' && r < 0x10000 && inert.Hidden(r) }
