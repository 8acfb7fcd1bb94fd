package rundir

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// InOtherShards is why a scenario does not apply in a run that shares its intents with others: it has fewer than there are runs.
const InOtherShards = "its intents are in other shards"

// MostShards bounds the number of shards of a run: more are a mistake.
const MostShards = 10_000

// shard is the directory of one of several runs that share their intents, and its place among them.
type shard struct {
	Dir
	Manifest
	number, of int
}

// Merged are runs that share their intents: the shards of one.
type Merged struct {
	shards  []shard // by number
	missing []int
	whole   *Whole // nil: as the first shard says
}

// Whole is what the report of merged runs says of all, where the shards were played on other machines: their paths are of no use
// here.
type Whole struct {
	Target   string // as named here
	Digest   string // SHA-256 of its text, in hexadecimal digits: no other text may stand beside a finding
	Commands Commands
}

// As makes the shards one run that was asked for here.
func (m *Merged) As(w Whole) { m.whole = &w }

// Merge takes the directories of shards, in any order, for one run. They have to be of one seed and one target, and each another
// shard. Some may be missing.
func Merge(dirs []Dir) (*Merged, error) {
	var m Merged
	for _, d := range dirs {
		s := shard{Dir: d}
		var err error
		if s.Manifest, err = d.ReadManifest(); err != nil {
			return nil, err
		}
		if len(s.Merged) > 0 {
			return nil, runerror.Configf("%s is a merged run: name the directories of its shards, or judge it again with doubletap check", d.Path)
		}
		// A run that was not shared is taken for the only shard.
		if s.Shard == "" && len(dirs) == 1 {
			s.Shard = "1/1"
		}
		if _, err := fmt.Sscanf(s.Shard, "%d/%d", &s.number, &s.of); err != nil || s.number < 1 || s.number > s.of || s.of > MostShards {
			return nil, runerror.Configf("%s is not a shard of at most %d: its run was not begun with --shard", d.Path, MostShards)
		}
		m.shards = append(m.shards, s)
	}
	slices.SortStableFunc(m.shards, func(a, b shard) int { return cmp.Compare(a.number, b.number) })
	first := m.shards[0]
	for n, s := range m.shards {
		if why := first.differs(s); why != "" {
			return nil, runerror.Configf("%s and %s are not shards of one run: %s", first.Path, s.Path, why)
		}
		if n > 0 && m.shards[n-1].number == s.number {
			return nil, runerror.Configf("%s and %s are both shard %s", m.shards[n-1].Path, s.Path, s.Shard)
		}
	}
	for number := range first.of {
		if !slices.ContainsFunc(m.shards, func(s shard) bool { return s.number == number+1 }) {
			m.missing = append(m.missing, number+1)
		}
	}
	return &m, nil
}

// differs says in what another run is not the same; empty: it is.
func (s shard) differs(other shard) string {
	names := func(s shard) []string {
		var all []string
		for _, e := range s.Scenarios {
			all = append(all, e.Scenario)
		}
		return all
	}
	switch {
	case s.of != other.of:
		return fmt.Sprintf("shard %s, and %s", s.Shard, other.Shard)
	case s.Seed != other.Seed:
		return fmt.Sprintf("seed %d, and %d", s.Seed, other.Seed)
	case s.Subject == other.Subject && s.Operation != other.Operation:
		return fmt.Sprintf("%s, and %s; merge those of one operation at a time", s.Operation, other.Operation)
	case s.Subject != other.Subject:
		return fmt.Sprintf("%s of %s, and %s of %s", s.Operation, s.Subject, other.Operation, other.Subject)
	case !slices.Equal(names(s), names(other)):
		return "other scenarios"
	case !reflect.DeepEqual(s.Terms, other.Terms):
		return "other contracts"
	case s.Tool != other.Tool:
		return fmt.Sprintf("doubletap %s, and %s", s.Tool, other.Tool)
	default:
		return ""
	}
}

// Manifest is what a run says about itself that has this directory and consists of the shards.
func (m *Merged) Manifest(into Dir) Manifest {
	whole := m.shards[0].Manifest
	whole.Shard, whole.Run, whole.Commands = "", filepath.Base(into.Path), m.commands(into)
	whole.Instances, whole.BaseURL, whole.Toxiproxy = 0, "", ""
	if m.whole != nil {
		whole.Target = m.whole.Target
	}
	for _, s := range m.shards {
		if s.Started.Before(whole.Started) {
			whole.Started = s.Started
		}
		whole.Merged = append(whole.Merged, ShardPlace{Run: s.Run, Dir: files.Relative(into.Path, s.Dir.Path)})
	}
	return whole
}

// remerge takes the shards of a merged run once more.
func (d Dir) remerge(m Manifest) (*Merged, error) {
	var dirs []Dir
	var gone []string
	for _, place := range m.Merged {
		path := place.Dir
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.Path, path)
		}
		if s, err := (Dir{path}).ReadManifest(); err != nil || s.Run != place.Run {
			gone = append(gone, path)
		}
		dirs = append(dirs, Dir{path})
	}
	if len(gone) > 0 {
		const most = 3
		if more := len(gone) - most; more > 0 {
			gone = append(gone[:most], fmt.Sprintf("%d more", more))
		}
		return nil, runerror.Configf("%s was merged from %s, and has their histories where they were, but not any more at %s\nput them back, or read its %s",
			d.Path, english.Plural(len(dirs), "shard"), english.List(gone, "and"), reportName)
	}
	merged, err := Merge(dirs)
	if err != nil {
		return nil, err
	}
	merged.As(Whole{Target: m.Target, Commands: m.Commands})
	return merged, nil
}

// Report judges the scenarios of all shards, each as one, as a run that has this directory. What is missing makes it
// inconclusive where nothing broke.
func (m *Merged) Report(into Dir, told Told) *checker.Report {
	whole := m.Manifest(into)
	var results []checker.Result
	for i := range whole.Scenarios {
		results = append(results, m.judge(i, told))
	}
	return into.ReportOn(whole, results)
}

// collected is what all shards have of one scenario.
type collected struct {
	parts   []checker.Parts
	close   []func() error // of parts, when they were judged
	lacking []string       // why something of the scenario is not there
	broken  bool           // something failed
	idle    string         // why the scenario does not apply; empty: it does
}

// collect opens what all shards have of the nth scenario. That a shard has none of its intents is
// nothing that is lacking: others have them.
func (m *Merged) collect(n int, told Told) collected {
	var c collected
	for _, s := range m.shards {
		of := s.Scenarios[n]
		if of.Verdict == checker.NotApplicable && of.Why != "" {
			if of.Why != InOtherShards {
				c.idle = of.Why
			}
			continue
		}
		if of.Why != "" {
			c.broken = c.broken || of.Verdict == checker.Broken
			c.lacking = append(c.lacking, fmt.Sprintf("shard %s: %s", s.Shard, of.Why))
		}
		part, done, err := s.index(of.Scenario, told)
		switch {
		case Missing(err) && of.Why == "":
			c.lacking = append(c.lacking, fmt.Sprintf("shard %s: it was not run: the run ended before it", s.Shard))
		case Missing(err):
		case err != nil:
			c.broken = true
			c.lacking = append(c.lacking, fmt.Sprintf("shard %s: %v", s.Shard, err))
		default:
			c.close = append(c.close, done)
			c.parts = append(c.parts, part)
		}
	}
	return c
}

// judge judges the nth scenario of all shards as one. What is lacking leaves the verdict open, and
// never takes a finding back: what broke in one shard broke.
func (m *Merged) judge(n int, told Told) checker.Result {
	first := m.shards[0]
	e := first.Scenarios[n]
	result := checker.Result{Scenario: e.Scenario, Summary: e.Summary, Seed: first.Seed}
	c := m.collect(n, told)
	defer func() {
		for _, done := range c.close {
			_ = done() // what was read is judged
		}
	}()
	switch {
	case c.idle != "" && len(c.parts) == 0 && len(c.lacking) == 0:
		result.Verdict, result.Reasons = checker.NotApplicable, []string{c.idle}
		return result
	case len(c.parts) > 0:
		judged, err := checker.CheckShards(c.parts, first.Terms, e.Known...)
		if err != nil {
			c.broken = true
			c.lacking = append(c.lacking, err.Error())
			break
		}
		result = judged
	}
	if len(m.missing) > 0 {
		c.lacking = append(c.lacking, fmt.Sprintf("shards are missing: %s of %d", numbers(m.missing), first.of))
	}
	result.Reasons = append(c.lacking, result.Reasons...)
	switch {
	case len(c.lacking) == 0 || result.Verdict == checker.Fail:
	case c.broken:
		result.Verdict = checker.Broken
	case result.Verdict != checker.Broken:
		result.Verdict = checker.Inconclusive
	}
	return result
}

// WriteFindings copies the findings of the shards into the directory of the whole, by their names in its report.
func (m *Merged) WriteFindings(into Dir, report checker.Report) error {
	type key struct{ scenario, kind, detail, intent, moment string }
	of := func(scenario string, f checker.Finding) key {
		return key{scenario, string(f.Kind), f.Detail, f.Intent, f.Moment}
	}
	type brought struct {
		finding Finding
		dir     string
	}
	found := map[key]brought{}
	for _, s := range m.shards {
		all, err := filepath.Glob(filepath.Join(s.Path, FindingsName, "F*", FindingName))
		if err != nil {
			return runerror.Config(err)
		}
		for _, path := range all {
			f, err := ReadFinding(filepath.Dir(path))
			if err != nil {
				return err
			}
			found[of(f.Scenario, f.Finding)] = brought{f, filepath.Dir(path)}
		}
	}
	for _, r := range report.Results {
		for _, finding := range r.Findings {
			if b, ok := found[of(r.Scenario, finding)]; ok {
				if err := into.copyFinding(b.finding, b.dir, finding, r, m.whole); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copyFinding copies a finding and its directory, with its name and its share of another report.
func (d Dir) copyFinding(f Finding, from string, as checker.Finding, r checker.Result, whole *Whole) error {
	f.Finding.ID, f.Run = as.ID, filepath.Base(d.Path)
	f.Shown, f.Of = f.ShownIn(r), r.Of()
	if whole != nil {
		f.Target, f.Toxiproxy, f.Instances = whole.Target, "", 0
	}
	if err := d.WriteJSON(f, FindingsName, as.ID, FindingName); err != nil {
		return err
	}
	for _, name := range []string{ScenarioName, PlanName, TargetName} {
		text, err := files.Read(filepath.Join(from, name), files.MostRecorded)
		if Missing(err) {
			continue
		}
		if err == nil && name == TargetName && whole != nil && fmt.Sprintf("%x", sha256.Sum256(text)) != whole.Digest {
			continue // a target file can start a process: another machine may not bring one in
		}
		if err == nil {
			err = d.Write(text, FindingsName, as.ID, name)
		}
		if err != nil {
			return runerror.Environment(err)
		}
	}
	return nil
}

// commands are those of the first shard, about the whole in its directory: the whole run once more has no shard.
func (m *Merged) commands(into Dir) Commands {
	if m.whole != nil {
		return m.whole.Commands
	}
	first := m.shards[0]
	again := strings.Replace(first.Again, " --shard "+first.Shard, "", 1)
	return Commands{Again: again, Replay: into.here(first.Replay), Shrink: into.here(first.Shrink), Export: into.here(first.Export)}
}

// numbers lists numbers.
func numbers(all []int) string {
	var texts []string
	for _, n := range all {
		texts = append(texts, fmt.Sprint(n))
	}
	return english.List(texts, "and")
}
