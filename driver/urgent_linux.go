package driver

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// realTime is the scheduling policy under which a thread keeps its processor until it is done (sched(7)).
const realTime = 1 // SCHED_FIFO

// nap is a very short sleep of the thread, which keeps its place among those that run Go.
func nap() { _ = unix.Nanosleep(&unix.Timespec{Nsec: 20_000}, nil) } // interrupted, it was shorter

// urgently runs f, which must be short, at real-time priority where the system permits it (CAP_SYS_NICE),
// so that those whom f wakes do not take its processor. Elsewhere it just runs f.
func urgently(f func()) {
	runtime.LockOSThread()
	usual, err := unix.SchedGetAttr(0, 0)
	if err != nil || unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: realTime, Priority: 1}, 0) != nil {
		runtime.UnlockOSThread()
		f()
		return
	}
	defer func() {
		if unix.SchedSetAttr(0, usual, 0) == nil {
			runtime.UnlockOSThread() // a thread that stays locked ends with its goroutine
		}
	}()
	f()
}
