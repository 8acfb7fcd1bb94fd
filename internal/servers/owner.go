package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// owner is the user of the operating system as whom a server runs. The zero owner is ourselves.
type owner struct {
	credential *syscall.Credential
}

// findOwner returns the user with the name if we are root, and ourselves otherwise: PostgreSQL
// refuses to run as root, and only root can become another user.
func findOwner(name string) (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	account, err := user.Lookup(name)
	if err != nil {
		return owner{}, fmt.Errorf("look for the user who runs the server: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return owner{}, fmt.Errorf("read the ids of user %s: %w", name, err)
	}
	return owner{credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// makeDir makes a temporary folder that only its owner can read.
func (o owner) makeDir(parent, prefix string) (string, error) {
	_, _ = leftovers.Sweep() // what others have left does not keep us from beginning
	dir, err := leftovers.Folder(parent, prefix)
	if err != nil {
		return "", fmt.Errorf("make the server's folder: %w", err)
	}
	if o.credential == nil {
		return dir, nil
	}
	if err := os.Chown(dir, int(o.credential.Uid), int(o.credential.Gid)); err != nil {
		return "", errors.Join(fmt.Errorf("hand over the server's folder: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

// writeFile writes a file that only the owner can read.
func (o owner) writeFile(path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	if o.credential == nil {
		return nil
	}
	return os.Chown(path, int(o.credential.Uid), int(o.credential.Gid))
}

// adopt makes a command run as the owner, in the folder, with messages in English.
func (o owner) adopt(command *exec.Cmd, dir string) {
	command.Dir = dir
	command.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH") + ":/usr/sbin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	// A group of its own, so that Ctrl-C in a terminal reaches us and not the server.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: o.credential}
}

// run runs one command to its end; what it printed is in the error.
func (s site) run(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	s.owner.adopt(command, s.dir)
	printed, err := command.CombinedOutput()
	if errors.Is(err, os.ErrPermission) && s.owner.credential != nil {
		return fmt.Errorf("run %s as user %d, who must be allowed to enter %s: %w", program, s.owner.credential.Uid, s.dir, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, strings.TrimSpace(string(printed)))
	}
	return nil
}

// abandon removes the folder of a server that never ran, and lets others have its ports.
func (s site) abandon(err error) error { return errors.Join(err, os.RemoveAll(s.dir), s.release()) }

// findProgram looks in the folder if one is given, else in the usual folders and in PATH.
func findProgram(folder, name string, usual ...string) (string, error) {
	if folder != "" {
		return exec.LookPath(filepath.Join(folder, name))
	}
	for _, dir := range usual {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}
