package services

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// gate lets the program begin when a line comes on descriptor 3. Were we killed before the keeper knows of
// it, the line never comes.
const gate = `read -r _ <&3 || exit 1
exec 3<&-
exec "$@"
`

// keeper kills the process group $1 when descriptor 3 comes to its end without a word. The other end is ours
// alone: the kernel closes it even when we are killed.
const keeper = `read -r _ <&3 || kill -s KILL -- "-$1"
`

// life is one process, from its start to its end.
type life struct {
	command *exec.Cmd
	keeper  *exec.Cmd
	line    *os.File      // to the keeper: a word means that there is nothing to kill any more
	ended   chan struct{} // closed when nothing of the process is left
	err     error         // of tidying up; read it after ended
	at      time.Time     // it ended; likewise
	struck  atomic.Bool   // we ended it, or were about to
	ready   atomic.Bool   // it took requests
	left    atomic.Bool   // nobody waited to the end for it to take them
}

// begin starts a program in a process group of its own, and returns at once.
func begin(program string, o Options) (*life, error) {
	theirs, opener, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer theirs.Close()
	defer opener.Close()
	l := &life{ended: make(chan struct{})}
	l.command = exec.Command("/bin/sh", append([]string{"-c", gate, "doubletap", program}, o.Command[1:]...)...)
	l.command.Dir, l.command.Env = o.Dir, append(os.Environ(), o.Env...)
	l.command.Stdout, l.command.Stderr = o.Log, o.Log
	l.command.ExtraFiles = []*os.File{theirs}
	l.command.WaitDelay = waitDelay
	l.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := l.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Command[0], err)
	}
	if err := l.keep(); err != nil {
		l.signal(syscall.SIGKILL)
		_ = l.command.Wait()
		return nil, err
	}
	go l.bury()
	if _, err := opener.WriteString("go\n"); err != nil {
		l.end(syscall.SIGKILL, 0)
		return nil, fmt.Errorf("start %s: %w", o.Command[0], err)
	}
	return l, nil
}

// bury waits for the end of the process and kills what it has left behind. This is done at once: later its
// number may belong to another process.
func (l *life) bury() {
	defer close(l.ended)
	_ = l.command.Wait() // how it ended is in ProcessState
	l.at = time.Now()
	l.signal(syscall.SIGKILL)
	_, writeErr := l.line.WriteString("ended\n")
	l.err = errors.Join(writeErr, l.line.Close(), l.keeper.Wait())
}

// keep makes sure that the process ends with us.
func (l *life) keep() error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer theirs.Close()
	l.keeper = exec.Command("/bin/sh", "-c", keeper, "doubletap-keeper", strconv.Itoa(l.command.Process.Pid))
	l.keeper.Env = []string{"PATH=" + os.Getenv("PATH")} // and none of our secrets
	l.keeper.ExtraFiles = []*os.File{theirs}
	// A group of its own, so that neither Ctrl-C nor the end of the process reaches it.
	l.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := l.keeper.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the keeper of the process: %w", err), ours.Close())
	}
	l.line = ours
	return nil
}

// over reports that the process has ended and was waited for.
func (l *life) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// died reports that the process was ready and then ended by itself.
func (l *life) died() bool { return l.over() && l.ready.Load() && !l.struck.Load() }

// how says how the process ended, which it has.
func (l *life) how() string { return l.command.ProcessState.String() }

// signal reaches the process and everything it has started.
func (l *life) signal(s syscall.Signal) { _ = syscall.Kill(-l.command.Process.Pid, s) }

// end asks the process to end, kills it after the grace, and returns when nothing of it is left.
func (l *life) end(by syscall.Signal, grace time.Duration) {
	if l.over() {
		return
	}
	l.struck.Store(true)
	l.signal(by)
	select {
	case <-l.ended:
	case <-time.After(grace):
		l.signal(syscall.SIGKILL)
		<-l.ended
	}
}
