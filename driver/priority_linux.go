package driver

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// schedFIFO is the real-time policy under which a thread keeps its processor until it blocks (sched(7)).
const schedFIFO = 1

// nap sleeps for 20 us in the kernel. An interrupted nap is shorter, which does no harm.
func nap() { _ = unix.Nanosleep(&unix.Timespec{Nsec: 20_000}, nil) }

// runRealTime runs f, which must be short, at real-time priority, so that the threads that f wakes do not take
// its processor. Without CAP_SYS_NICE it just runs f. The thread gets its old policy back, or ends.
func runRealTime(f func()) {
	runtime.LockOSThread()
	usual, err := unix.SchedGetAttr(0, 0)
	if err != nil || unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: schedFIFO, Priority: 1}, 0) != nil {
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
