package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
)

// Manifest is what a run's directory says about itself: enough to judge its histories again. It holds
// no secrets: requests, whose headers may, are left out of the terms.
type Manifest struct {
	Version   int           `json:"version"`
	Run       string        `json:"run"`
	Tool      string        `json:"tool"`
	Seed      uint64        `json:"seed"`
	Shard     string        `json:"shard,omitempty"` // 3/8: the third of eight runs that share the intents; empty: all are in this one
	Started   time.Time     `json:"started"`
	Target    string        `json:"target"`  // as named on the command line
	Subject   string        `json:"subject"` // the target's own name
	BaseURL   string        `json:"base_url"`
	Instances int           `json:"instances,omitempty"` // that were started of it; 0: none was
	Operation string        `json:"operation"`
	NotPlayed []string      `json:"not_played,omitempty"` // the target's other operations, by name
	Together  bool          `json:"together,omitempty"`   // the others are played in runs of their own, of one command
	Terms     checker.Terms `json:"terms"`
	Grounds
	Toxiproxy string `json:"toxiproxy,omitempty"`
	Replays   bool   `json:"replays,omitempty"` // a finding of another run
	Commands
	Scenarios []Entry       `json:"scenarios"`        // in the order of the run
	Hunt      *checker.Hunt `json:"hunt,omitempty"`   // nil: it was none
	Merged    []ShardPlace  `json:"merged,omitempty"` // the runs whose histories are its own; empty: it has histories itself
}

// Grounds are what the verdicts of a run rest on, where that is little.
type Grounds struct {
	OwnWord bool `json:"own_word,omitempty"` // the rows are what the target itself says there is
	NoRows  bool `json:"no_rows,omitempty"`  // nothing tells the rows
	Unsure  int  `json:"unsure,omitempty"`   // things that the target file lists of which init was unsure
}

// ShardPlace is where a merged run has one of its shards.
type ShardPlace struct {
	Run string `json:"run"`
	Dir string `json:"dir"` // relative to the directory of the merged run
}

// Commands are what a user types to go on with a run. Where they are about a finding, {} stands for its number.
type Commands struct {
	Again  string `json:"again"` // the whole run once more
	Replay string `json:"replay"`
	Shrink string `json:"shrink"`
	Export string `json:"export"`
}

// Entry is one scenario of a run, with what its history cannot say.
type Entry struct {
	Scenario string             `json:"scenario"`
	Summary  string             `json:"summary"`
	Known    []checker.KnownBug `json:"known,omitempty"`
	Verdict  checker.Verdict    `json:"verdict"` // where Why is set
	Untried  *checker.Untried   `json:"untried,omitempty"`
	Why      string             `json:"why,omitempty"` // it was not played, or not to its end; empty: ask the history
}

// ReadManifest reads what a run's directory says about itself.
func (d Dir) ReadManifest() (Manifest, error) {
	var m Manifest
	path := filepath.Join(d.Path, ManifestName)
	text, err := files.Read(path, files.MostRecorded)
	if Missing(err) && Exists(filepath.Join(d.Path, ShardsName)) {
		return m, runerror.Configf("%s has shards, and no %s: whoever collected them ended before they were judged; doubletap merge %s judges those that are there",
			d.Path, ManifestName, filepath.Join(d.Path, ShardsName, "*"))
	}
	if Missing(err) {
		return m, runerror.Configf("%s is not the directory of a run: it has no %s", d.Path, ManifestName)
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && m.Version != ManifestVersion {
		err = fmt.Errorf("version %d, this doubletap reads version %d", m.Version, ManifestVersion)
	}
	if err != nil {
		return m, runerror.Config(fmt.Errorf("read %s: %w", path, err))
	}
	if len(m.Scenarios) == 0 {
		return m, runerror.Configf("%s holds no scenario", d.Path)
	}
	return m, nil
}

// Rejudge judges a run once more by what its directory holds, or by what those of its shards hold if it was merged. It tells how far it
// is; nil: nobody asks. The error says why it cannot be judged, such as a shard that is not there any more.
func (d Dir) Rejudge(told Told) (*checker.Report, Manifest, error) {
	m, err := d.ReadManifest()
	if err != nil {
		return nil, m, err
	}
	if len(m.Merged) == 0 {
		return d.ReportTelling(m, told), m, nil
	}
	merged, err := d.remerge(m)
	if err != nil {
		return nil, m, err
	}
	return merged.Report(d, told), m, nil
}

// Report judges every scenario of a run by what is on disk. Run and check both come through here, so
// that they cannot differ.
func (d Dir) Report(m Manifest) *checker.Report { return d.ReportTelling(m, nil) }

// Told hears how far the judging of a scenario is, now and then, in hundredths: first its history is read, then it is judged.
// It may be called at once by several goroutines.
type Told func(scenario string, hundredths int)

// ReportTelling does what Report does, and tells how far it is; nil: nobody asks.
func (d Dir) ReportTelling(m Manifest, told Told) *checker.Report {
	var results []checker.Result
	for _, e := range m.Scenarios {
		results = append(results, d.judge(e, m, told))
	}
	return d.ReportOn(m, results)
}

// ReportOn makes a report of some results of a run, and numbers their findings.
func (d Dir) ReportOn(m Manifest, results []checker.Result) *checker.Report {
	numberFindings(results)
	d.addShrunk(results)
	known := map[string][]checker.KnownBug{}
	for _, e := range m.Scenarios {
		known[e.Scenario] = e.Known
	}
	checker.SettleFixed(results, known)
	verdict := Overall(results)
	if m.Hunt != nil {
		verdict = m.Hunt.Verdict(results, verdict)
	}
	return &checker.Report{
		Version: 1, Run: m.Run, Tool: m.Tool, Target: m.Subject, Seed: m.Seed, Started: stamp(m.Started),
		Dir: d.Path, BaseURL: m.BaseURL, Replay: own(d.here(m.Replay)), Shrink: own(d.here(m.Shrink)), Export: own(d.here(m.Export)), Again: own(m.Again), OwnWord: m.OwnWord,
		Operation: m.Operation, NotPlayed: m.NotPlayed, Together: m.Together, Results: results, Verdict: verdict, Hunt: m.Hunt, NoRows: m.NoRows, Unsure: m.Unsure,
	}
}

// AboutFinding names a finding of a run in a command; {} stands for its number.
func AboutFinding(run string) string { return shell.Operand(run) + "/" + FindingsName + "/{}" }

// about matches a command about a finding, up to what names it and from there on.
var about = regexp.MustCompile(`^(.+? (?:replay|shrink|export) ).+/` + FindingsName + `/\{\}( .*)?$`)

// here is a command about a finding of this directory, whatever directory it was written for: that of the run may have been
// moved since, or was a shard's.
func (d Dir) here(command string) string {
	if parts := about.FindStringSubmatch(command); parts != nil {
		return parts[1] + AboutFinding(d.Path) + parts[2]
	}
	return command
}

// ours matches a command of doubletap, wherever the program was.
var ours = regexp.MustCompile(`^(?:[^ ']*/)?doubletap(?:\.exe)? ((?:demo|run|hunt|replay|shrink|export) .*)$`)

// own returns a command of a manifest if it is one command of words, and one of doubletap: a reader may type it, and others may have
// written it. Theirs is of the program that the reader has. Empty: it is none.
func own(command string) string {
	parts := ours.FindStringSubmatch(command)
	switch {
	case !shell.Simple(command):
		return ""
	case strings.HasPrefix(command, shell.Quote(os.Args[0])+" "), strings.HasPrefix(command, "go run ./cmd/doubletap "):
		return command
	case parts != nil:
		return "doubletap " + parts[1]
	default:
		return ""
	}
}

// Played reports whether a scenario has a history.
func (d Dir) Played(scenario string) bool {
	return Exists(filepath.Join(d.Path, scenario, HistoryName))
}

// Judge judges one scenario. A history that does not bear a verdict takes nothing from the others.
func (d Dir) Judge(e Entry, m Manifest) checker.Result { return d.judge(e, m, nil) }

// judge judges one scenario. What the manifest says of it, such as that it was not played to its
// end, outranks a pass, and never a finding: that is in the history, whatever came later.
func (d Dir) judge(e Entry, m Manifest, told Told) checker.Result {
	result := checker.Result{
		Scenario: e.Scenario, Summary: e.Summary, Seed: m.Seed, Verdict: e.Verdict, Reasons: []string{e.Why}, Untried: e.Untried,
	}
	checked, err := d.check(e, m.Terms, told)
	switch {
	case Missing(err) && e.Why == "":
		result.Verdict, result.Reasons = checker.Inconclusive, []string{"it was not run: the run ended before it"}
		return result
	case Missing(err):
		return result
	case err != nil:
		result.Verdict, result.Reasons = checker.Broken, []string{err.Error()}
		return result
	}
	result = checked
	if e.Why != "" {
		if !slices.ContainsFunc(result.Reasons, func(said string) bool { return strings.HasSuffix(e.Why, said) }) {
			result.Reasons = append([]string{e.Why}, result.Reasons...)
		}
		if result.Verdict != checker.Fail {
			result.Verdict = e.Verdict
		}
	}
	return result
}

// check judges the history of a scenario, in parts where it is long.
func (d Dir) check(e Entry, t checker.Terms, told Told) (checker.Result, error) {
	parts, done, err := d.index(e.Scenario, told)
	if err != nil {
		return checker.Result{}, err
	}
	defer done()
	result, err := checker.CheckParts(parts, t, e.Known...)
	if err != nil {
		return checker.Result{}, runerror.Config(fmt.Errorf("%s: %w", filepath.Join(d.Path, e.Scenario, HistoryName), err))
	}
	return result, nil
}

// index opens the history of a scenario, until the function that it returns is called.
func (d Dir) index(scenario string, told Told) (checker.Parts, func() error, error) {
	path := filepath.Join(d.Path, scenario, HistoryName)
	file, err := open(path, files.MostHistory)
	if err != nil {
		return nil, nil, err
	}
	tell := func(int) {}
	if told != nil {
		tell = func(hundredths int) { told(scenario, hundredths) }
	}
	h, err := history.Index(file, file.Size(), history.IndexOptions{Progress: func(read, all int64) { tell(int(30 * read / max(all, 1))) }})
	if err != nil {
		_ = file.Close() // what is wrong with it is said
		return nil, nil, runerror.Config(fmt.Errorf("%s: %w", path, err))
	}
	return &toldParts{File: h, tell: tell}, file.Close, nil
}

// toldParts tells how many of its parts were read.
type toldParts struct {
	*history.File
	tell func(hundredths int)
	read atomic.Int64
}

// Part reads a part.
func (p *toldParts) Part(i int) (*history.History, error) {
	read := int(p.read.Add(1))
	if read%16 == 0 {
		p.tell(30 + min(70*read/p.Len(), 70))
	}
	return p.File.Part(i)
}

// open opens a history. One that was never begun is missing.
func open(path string, most int64) (*files.File, error) {
	file, err := files.Open(path, most)
	if err != nil {
		return nil, runerror.Config(runerror.Unreadable("history", path, err))
	}
	if file.Size() == 0 {
		return nil, errors.Join(runerror.Config(fmt.Errorf("history %s is empty: %w", path, fs.ErrNotExist)), file.Close())
	}
	return file, nil
}

// ReadHistory reads a scenario's history back from the disk. One that was never begun is missing.
func (d Dir) ReadHistory(scenario string) (*history.History, error) {
	path := filepath.Join(d.Path, scenario, HistoryName)
	file, err := open(path, files.MostRecorded)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h, err := history.Read(file)
	if err != nil {
		return nil, runerror.Config(fmt.Errorf("%s: %w", path, err))
	}
	return h, nil
}

// numberFindings gives every finding of a run its name: F1 is the one that a reader should see first. Those of one cause
// follow each other.
func numberFindings(results []checker.Result) {
	n := 0
	for _, c := range checker.Causes(results) {
		for _, p := range c.Members {
			n++
			results[p.Result].Findings[p.Finding].ID = fmt.Sprintf("F%d", n)
		}
	}
}

// Missing reports that an error is about a file that is not there.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Overall is the verdict on a run: the worst of its scenarios. One that fails as expected is as good as
// a pass. Nothing but scenarios that do not apply has tested nothing.
func Overall(results []checker.Result) checker.Verdict {
	rank := map[checker.Verdict]int{
		checker.NotApplicable: 0, checker.Known: 1, checker.Pass: 2, checker.Mended: 3,
		checker.Inconclusive: 4, checker.Broken: 5, checker.Fail: 6,
	}
	worst := checker.NotApplicable
	for _, r := range results {
		if rank[r.Verdict] > rank[worst] {
			worst = r.Verdict
		}
	}
	switch worst {
	case checker.NotApplicable:
		return checker.Inconclusive
	case checker.Known:
		return checker.Pass
	default:
		return worst
	}
}

// stamp renders a time for the report.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
