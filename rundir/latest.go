package rundir

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
)

// reportName is the file that has a run's report as JSON.
const reportName = "report.json"

// Latest is the newest run below a directory of runs that came as far as its report. Replays are none.
func Latest(runs string) (Dir, error) {
	return newest(runs, reportName, "no run in %s has a report")
}

// LatestOfEach is the latest run that has a report. If a command played each operation in turn, in runs with one seed, it is the
// latest of each, by the names of the operations.
func LatestOfEach(runs string) ([]Dir, error) {
	latest, err := Latest(runs)
	if err != nil {
		return nil, err
	}
	of, err := latest.ReadManifest()
	if err != nil {
		return nil, err
	}
	if !of.Together {
		return []Dir{latest}, nil
	}
	found, err := manifests(runs)
	if err != nil {
		return nil, runerror.Config(fmt.Errorf("look for runs in %s: %w", runs, err))
	}
	dirs, started := map[string]Dir{}, map[string]time.Time{}
	for _, path := range found {
		d := Dir{filepath.Dir(path)}
		m, err := d.ReadManifest()
		same := err == nil && m.Together && !m.Replays && m.Target == of.Target && m.Seed == of.Seed && m.Shard == of.Shard
		if same && m.Started.After(started[m.Operation]) && Exists(filepath.Join(d.Path, reportName)) {
			dirs[m.Operation], started[m.Operation] = d, m.Started
		}
	}
	var all []Dir
	for _, operation := range slices.Sorted(maps.Keys(dirs)) {
		all = append(all, dirs[operation])
	}
	return all, nil
}

// ReadReport reads the report of a run.
func (d Dir) ReadReport() (checker.Report, error) {
	path := filepath.Join(d.Path, reportName)
	file, err := files.Open(path, files.MostRecorded)
	if err != nil {
		return checker.Report{}, runerror.Config(runerror.Unreadable("report", path, err))
	}
	defer file.Close()
	report, err := reports.ReadJSON(file)
	if err != nil {
		return checker.Report{}, runerror.Config(fmt.Errorf("read %s: %w", path, err))
	}
	return report, nil
}

// LastFinding names the first finding of the latest run that has one.
const LastFinding = "last"

// findingID matches the number of a finding in its run.
var findingID = regexp.MustCompile(`^F[0-9]+$`)

// FindFinding is the directory of a finding that a reader names: by its path, by its number in the latest run that has
// findings, such as F3, or as [LastFinding], which is the first of that run.
func FindFinding(name, runs string) (string, error) {
	if name == LastFinding {
		name = "F1"
	}
	if !findingID.MatchString(name) || Exists(name) {
		return name, nil
	}
	run, err := newest(runs, FindingsName, "no run in %s has a finding")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(run.Path, FindingsName, name)
	if !Exists(dir) {
		return "", runerror.Configf("the latest run with findings, %s, has no %s", run.Path, name)
	}
	return dir, nil
}

// LastRun names the latest run that has a report.
const LastRun = "last"

// FindRun is the directory of a run that a reader names: by its path, or as [LastRun].
func FindRun(name, runs string) (Dir, error) {
	if name == LastRun && !Exists(name) {
		return Latest(runs)
	}
	return Dir{name}, nil
}

// lastsFor is how long a run without a report may still be going on.
const lastsFor = 24 * time.Hour

// Prune removes the runs below a directory of runs but for the newest, and returns what it removed. Replays are runs as well. What
// is no run's directory stays, and so does a run without a report that began less than a day ago: it may still be going on.
func Prune(runs string, keep int, now time.Time) ([]string, error) {
	found, err := manifests(runs)
	if err != nil {
		return nil, runerror.Config(fmt.Errorf("look for runs in %s: %w", runs, err))
	}
	type run struct {
		path    string
		started time.Time
	}
	var all []run
	for _, path := range found {
		d := Dir{filepath.Dir(path)}
		m, err := d.ReadManifest()
		if info, unseen := os.Lstat(d.Path); err == nil && unseen == nil && info.IsDir() && m.Run == filepath.Base(d.Path) {
			all = append(all, run{d.Path, m.Started})
		}
	}
	slices.SortFunc(all, func(a, b run) int { return b.started.Compare(a.started) })
	var removed []string
	for _, r := range all[min(keep, len(all)):] {
		if !Exists(filepath.Join(r.path, reportName)) && now.Sub(r.started) < lastsFor {
			continue
		}
		if err := os.RemoveAll(r.path); err != nil {
			return removed, runerror.Environment(fmt.Errorf("remove a run: %w", err))
		}
		removed = append(removed, r.path)
	}
	dropLatest(runs)
	return removed, nil
}

// newest is the newest run below a directory of runs that has this file or folder and is no replay. Shards that a merged run
// has are parts of that.
func newest(runs, with, none string) (Dir, error) {
	found, err := manifests(runs)
	if err != nil {
		return Dir{}, runerror.Config(fmt.Errorf("look for runs in %s: %w", runs, err))
	}
	all, merged := map[Dir]Manifest{}, map[string]bool{}
	for _, path := range found {
		d := Dir{filepath.Dir(path)}
		m, err := d.ReadManifest()
		if err != nil || m.Replays || !Exists(filepath.Join(d.Path, with)) {
			continue
		}
		all[d] = m
		for _, shard := range m.Merged {
			merged[shard.Run] = true
		}
	}
	var latest Dir
	var started time.Time
	for d, m := range all {
		if !merged[m.Run] && m.Started.After(started) {
			latest, started = d, m.Started
		}
	}
	if latest.Path == "" {
		return latest, runerror.Configf(none, runs)
	}
	return latest, nil
}
