package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// keeper runs a server as its child, ends it when descriptor 3 comes to its end, and removes the
// folder. The other end of descriptor 3 is ours alone: the kernel closes it even when we are killed,
// which a parent-death signal would not survive as well: that one is sent when the thread ends which
// started the child, and the folder would never be removed. The keeper prints nothing after
// the start: a word to a log whose reader is gone would kill it.
const keeper = `signal=$1 dir=$2
shift 2
"$@" 3<&- &
server=$!
{ read -r _; kill -s "$signal" "$server"; } <&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&- >/dev/null 2>&1
wait "$server"
kill "$watcher" 2>/dev/null
cd /
rm -rf "$dir"
`

const (
	stopTimeout = 10 * time.Second
	pollEvery   = 50 * time.Millisecond
	logLimit    = 32 << 10
)

// process is a server under its keeper.
type process struct {
	where    site
	command  *exec.Cmd
	lifeline *os.File // closing it ends the server
	log      *tail
	ended    chan struct{}
	once     sync.Once
	stopErr  error
}

// launch starts the server and returns at once. The signal ends it.
func launch(where site, signal string, line []string, log io.Writer) (*process, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the server's lifeline: %w", err)
	}
	defer theirs.Close()
	p := &process{where: where, lifeline: ours, log: &tail{also: log}, ended: make(chan struct{})}
	p.command = exec.Command("/bin/sh", append([]string{"-c", keeper, "keeper", signal, where.dir}, line...)...)
	where.owner.adopt(p.command, where.dir)
	p.command.ExtraFiles = []*os.File{theirs}
	p.command.Stdout, p.command.Stderr = p.log, p.log
	p.command.WaitDelay = time.Second
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server's keeper: %w", err), ours.Close())
	}
	go func() {
		defer close(p.ended)
		// Its error is ignored: a signal ends it.
		_ = p.command.Wait()
	}()
	return p, nil
}

// waitUntil asks until ready returns nil, the server ends or the context is done.
func (p *process) waitUntil(ctx context.Context, ready func() error) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended by itself: %s", p.log)
		case <-ctx.Done():
			return fmt.Errorf("it took no queries (%w): %w: %s", err, ctx.Err(), p.log)
		case <-ticker.C:
		}
	}
}

// stop ends the server and removes its folder, once.
func (p *process) stop() error {
	p.once.Do(func() { p.stopErr = p.end() })
	return p.stopErr
}

// end closes the lifeline and waits for the keeper. One that takes too long is killed with all
// that it started.
func (p *process) end() error {
	err := p.lifeline.Close()
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		// The keeper leads its own group, in which all of the server's processes are.
		err = errors.Join(err, syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL))
		<-p.ended
	}
	return errors.Join(err, os.RemoveAll(p.where.dir), p.where.release())
}

// tail keeps the end of what a server printed. It is safe for concurrent use.
type tail struct {
	also io.Writer
	lock sync.Mutex
	kept bytes.Buffer
}

// Write never fails: the server's messages are no reason to stop it.
func (t *tail) Write(text []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.also != nil {
		_, _ = t.also.Write(text)
	}
	t.kept.Write(text)
	if t.kept.Len() > logLimit {
		t.kept.Next(t.kept.Len() - logLimit)
	}
	return len(text), nil
}

// String is what is kept.
func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return strings.TrimSpace(t.kept.String())
}
