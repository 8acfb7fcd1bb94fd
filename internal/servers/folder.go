package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// sweeper removes a folder when descriptor 3 ends without a line. The processes that use the folder may
// still be ending then.
const sweeper = `read -r _ <&3 && exit
for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" && exit; sleep 0.1; done
`

// Folder is a temporary folder that does not outlive this process, even when it is killed.
type Folder struct {
	path    string
	sweeper *exec.Cmd
	line    *os.File
	once    sync.Once
	err     error
}

// TemporaryFolder makes a folder that only we can read.
func TemporaryFolder(prefix string) (*Folder, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer theirs.Close()
	path, err := leftovers.Folder("", prefix)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), ours.Close())
	}
	f := &Folder{path: path, line: ours}
	f.sweeper = exec.Command("/bin/sh", "-c", sweeper, "doubletap-sweeper", path)
	f.sweeper.Env = []string{"PATH=" + os.Getenv("PATH")} // and none of our secrets
	f.sweeper.ExtraFiles = []*os.File{theirs}
	f.sweeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := f.sweeper.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch over a temporary folder: %w", err), ours.Close(), os.RemoveAll(path))
	}
	return f, nil
}

// Path is where the folder is.
func (f *Folder) Path() string { return f.path }

// Remove removes the folder with all that is in it. Removing again does nothing.
func (f *Folder) Remove() error {
	f.once.Do(func() {
		err := os.RemoveAll(f.path)
		_, writeErr := f.line.WriteString("removed\n")
		f.err = errors.Join(err, writeErr, f.line.Close(), f.sweeper.Wait())
	})
	return f.err
}
