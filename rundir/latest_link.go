package rundir

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/files"
)

// LatestName is the name, beside the runs, of a link to the latest one: for people, and for programs that open its report. Where there
// are no links, it is a file with the name of the run.
const LatestName = "latest"

// runID matches the name of a run as a line of its own: what [NewID] makes.
var runID = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[a-z2-7]{4}\n$`)

// MarkLatest has the link lead to this run. It replaces its own link or file, never follows one, and leaves anything else of that name
// alone. It is there for convenience: a run that cannot have it does without.
func (d Dir) MarkLatest() {
	runs, name := filepath.Split(filepath.Clean(d.Path))
	link := filepath.Join(runs, LatestName)
	if !ownLatest(link) {
		return
	}
	fresh := filepath.Join(runs, "."+LatestName+"-"+name)
	err := os.Symlink(name, fresh)
	if err == nil {
		err = os.Rename(fresh, link)
	}
	if err == nil {
		return
	}
	_ = os.Remove(fresh)
	if isLink(link) {
		return
	}
	_ = files.Replace(link, fileMode, func(w io.Writer) error { _, err := io.WriteString(w, name+"\n"); return err })
}

// ownLatest reports that nothing is there, or what a run has put there.
func ownLatest(link string) bool {
	info, err := os.Lstat(link)
	switch {
	case err != nil:
		return os.IsNotExist(err)
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(link)
		return err == nil && runID.MatchString(strings.TrimPrefix(to, "./")+"\n")
	default:
		text, err := files.Read(link, files.MostText)
		return err == nil && runID.Match(text)
	}
}

// manifests are the paths of what runs say about themselves, without the link that leads to one of them.
func manifests(runs string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(runs, "*", ManifestName))
	return slices.DeleteFunc(found, func(path string) bool { return isLatestLink(filepath.Dir(path)) }), err
}

// isLatestLink reports that a path is the link to the latest run, and no run of that name.
func isLatestLink(path string) bool { return filepath.Base(path) == LatestName && isLink(path) }

// isLink reports that a path is a symbolic link, wherever it leads.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// dropLatest removes a link that leads nowhere any more.
func dropLatest(runs string) {
	link := filepath.Join(runs, LatestName)
	if isLink(link) && ownLatest(link) && !Exists(link) {
		_ = os.Remove(link)
	}
}
