package rundir

import (
	"fmt"
	"path/filepath"
	"regexp"
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

// newest is the newest run below a directory of runs that has this file or folder and is no replay.
func newest(runs, with, none string) (Dir, error) {
	found, err := filepath.Glob(filepath.Join(runs, "*", ManifestName))
	if err != nil {
		return Dir{}, runerror.Config(fmt.Errorf("look for runs in %s: %w", runs, err))
	}
	var latest Dir
	var started time.Time
	for _, path := range found {
		d := Dir{filepath.Dir(path)}
		m, err := d.ReadManifest()
		if err == nil && !m.Replays && m.Started.After(started) && Exists(filepath.Join(d.Path, with)) {
			latest, started = d, m.Started
		}
	}
	if latest.Path == "" {
		return latest, runerror.Configf(none, runs)
	}
	return latest, nil
}
