// Package services starts the system under test as a process of its own: it turns a command line into a
// service that is ready, can be killed in the middle and started again, and leaves no process behind, even
// when the process that asked for it is killed.
//
// The parts: service.go is one service over its lives, life.go one process with its keeper, fleet.go several
// instances, log.go what they print, reason.go why one has ended, and port.go finds an address that stays free
// between two lives.
package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	pollEvery   = 10 * time.Millisecond // between two questions whether it is ready
	waitDelay   = time.Second           // for child processes that keep its output open after its end
	startsAgain = 3                     // how often one that ended by itself is started, until it is ready
	restPause   = 500 * time.Millisecond
)

// Options says what is started, and how.
type Options struct {
	Command []string                    // the program and its arguments
	Dir     string                      // where it runs
	Env     []string                    // NAME=value, beside our own environment
	Ready   func(context.Context) error // nil when it takes requests; asked again and again
	Within  time.Duration               // after which it counts as not starting
	Signal  syscall.Signal              // by which it is asked to end
	Grace   time.Duration               // after which it is killed
	Log     *Log                        // takes what it prints
}

// Service is a process that was started, and perhaps started again. Safe for concurrent use.
type Service struct {
	options Options
	program string
	turn    sync.Mutex // of who starts it again
	lock    sync.Mutex
	life    *life
	deaths  []Death // that Deaths has not given yet
}

// Death is one time that a service ended by itself after it was ready, and was started again.
type Death struct {
	Instance int // of a fleet of several, from 1
	At       time.Time
	How      string    // "exit status 2", "signal: killed"
	Said     []string  // lines of what it printed that tell why
	Ready    time.Time // it took requests again
	Err      error     // why it does not
}

// Start starts a service and returns when it is ready. The context bounds the start only; the service runs
// until Stop or until this process ends.
func Start(ctx context.Context, o Options) (*Service, error) {
	program, err := find(o)
	if err != nil {
		return nil, err
	}
	s := &Service{options: o, program: program}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// find returns the path of the program: by its name in PATH, or from where it is to run.
func find(o Options) (string, error) {
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("there is no directory %s to start it in", o.Dir)
	}
	name := o.Command[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		dir, err := filepath.Abs(o.Dir) // ./shop in the directory . would become shop, which is looked for in PATH
		if err != nil {
			return "", err
		}
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no program %s: %w", o.Command[0], errors.Unwrap(err))
	}
	return filepath.Abs(path)
}

// begin starts the process and waits until it is ready.
func (s *Service) begin(ctx context.Context) error {
	s.options.Log.Begin()
	l, err := begin(s.program, s.options)
	if err != nil {
		return err
	}
	s.lock.Lock()
	s.life = l
	s.lock.Unlock()
	return s.await(ctx, l)
}

// await waits until a process is ready. What answers may be another one that has the address, and
// so an answer counts only while the process runs.
func (s *Service) await(ctx context.Context, l *life) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Within, errLate)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var why error // the last one that is not of our own patience
	for {
		err := s.options.Ready(ctx)
		if ctx.Err() == nil || why == nil {
			why = err
		}
		select {
		case <-l.ended: // another process answers now
			return fmt.Errorf("it ended before it was ready (%s)%s", l.how(), s.options.Log)
		default:
		}
		if err == nil {
			l.ready.Store(true)
			return nil
		}
		select {
		case <-l.ended:
		case <-ticker.C:
		case <-ctx.Done():
			l.left.Store(true)
			if cause := context.Cause(ctx); !errors.Is(cause, errLate) {
				return cause
			}
			return fmt.Errorf("it was not ready within %s: %w%s%s", s.options.Within, why, nobodyListens(why), s.options.Log)
		}
	}
}

var errLate = errors.New("not ready in time")

// nobodyListens asks about the port where a process runs and nobody listens at its address; empty: that is not why it is not ready.
func nobodyListens(why error) string {
	if strings.Contains(why.Error(), syscall.ECONNREFUSED.Error()) {
		return " (nobody listens there: does it take the port from {{.Port}}?)"
	}
	return ""
}

// current is the process that was started last.
func (s *Service) current() *life {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.life
}

// Ended says on one line how the service ended, with the last that it printed. The error is nil while it runs.
func (s *Service) Ended() error {
	l := s.current()
	if !l.over() {
		return nil
	}
	said := "it printed nothing"
	if lines := reasonIn(s.options.Log.Last(keptLines)); len(lines) > 0 {
		said = "the last that it printed: " + strings.Join(lines, " | ")
	}
	return fmt.Errorf("the process has ended (%s); %s", l.how(), said)
}

// Kill ends the process and everything it has started at once, and returns when it has ended. It gives an
// error if the process had ended by itself.
func (s *Service) Kill() error {
	l := s.current()
	if l.over() {
		return s.Ended()
	}
	l.end(syscall.SIGKILL, s.options.Grace)
	return l.err
}

// Restart starts a service again that has ended, and returns when it is ready. One that ended by itself gets several
// tries: what it left behind, such as its port, may be in its way for a moment.
func (s *Service) Restart(ctx context.Context) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	l := s.current()
	if !l.over() { // somebody else has started it again
		return s.await(ctx, l)
	}
	if !l.died() {
		return s.begin(ctx)
	}
	d := Death{At: l.at, How: l.how() + signalFromOutside(l), Said: reasonIn(s.options.Log.Last(keptLines))}
	for try := range startsAgain {
		if try > 0 {
			time.Sleep(restPause)
		}
		if d.Err = s.begin(ctx); d.Err == nil || ctx.Err() != nil {
			break
		}
	}
	if d.Ready = time.Now(); d.Err != nil {
		d.Ready = time.Time{}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.deaths = append(s.deaths, d)
	return d.Err
}

// signalFromOutside tells of a signal that a program does not send itself; empty: it was none.
func signalFromOutside(l *life) string {
	if status, ok := l.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return ": by the system for want of memory, or by somebody else"
	}
	return ""
}

// tend starts the service again if it ended by itself, and returns the deaths that were not told yet.
func (s *Service) tend(ctx context.Context) []Death {
	if s.current().died() {
		_ = s.Restart(ctx) // a failure is told with the death
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	told := s.deaths
	s.deaths = nil
	return told
}

// down reports that the service is being started, or ended by itself and is about to be. One whose start was not waited
// for to the end is not: it may take requests or not.
func (s *Service) down() bool {
	l := s.current()
	return l.died() || !l.over() && !l.ready.Load() && !l.left.Load()
}

// Stop asks the service to end, kills it if it does not, and returns when nothing of it is left. Stopping
// again does nothing.
func (s *Service) Stop() error {
	l := s.current()
	if l == nil {
		return nil
	}
	l.end(s.options.Signal, s.options.Grace)
	return errors.Join(l.err, s.options.Log.Flush())
}
