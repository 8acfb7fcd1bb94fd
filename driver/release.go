package driver

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// releaser releases the members of a burst together. One sender has one. The zero value touches no thread's
// scheduling and takes no lock but its own. Safe for concurrent use.
type releaser struct {
	realTime bool       // releases run at real-time priority, one at a time in the whole process
	alone    bool       // one thread releases all members
	mu       sync.Mutex // held during a release
}

// realTimeRelease is held during a release at real-time priority. Two of them at once would each hold a processor
// that the second thread of the other waits for, and the processors are those of the whole process.
var realTimeRelease sync.Mutex

// together releases members as close together as the machine allows: half of them each on
// two threads that start at the same moment. Measured on two cores, this halves the
// spread where a lane has latency or the machine is idle. More threads would compete with the target. Until the second
// one has a processor takes longer than a release does: where bursts follow each other at once, as in a hunt on the clean
// lane, it is not waited for, and up to three quarters more bursts of few members come in a second. It returns when all are released.
func (r *releaser) together(members []func()) {
	run, lock := runPlain, &r.mu
	if r.realTime {
		run, lock = runRealTime, &realTimeRelease
	}
	// One member needs no partner, and on one processor a second thread would only wait.
	half := len(members) / 2
	if half == 0 || r.alone || runtime.GOMAXPROCS(0) < 2 {
		run(func() { releaseAll(members) })
		return
	}
	lock.Lock()
	defer lock.Unlock()
	// Both threads run before either releases: waking one takes longer than a release
	// does.
	var ready, start atomic.Bool
	var other sync.WaitGroup
	run(func() {
		other.Go(func() {
			run(func() {
				ready.Store(true)
				spinUntil(&start)
				releaseAll(members[:half])
			})
		})
		napUntil(&ready)
		start.Store(true)
		releaseAll(members[half:])
	})
	other.Wait()
}

// runPlain runs f on whatever thread the runtime chose, as it is scheduled.
func runPlain(f func()) { f() }

// longestSpin is how long one thread waits for the other. It waits in vain where it holds the only processor.
const longestSpin = 20 * time.Millisecond

// soonReady is how long the other thread mostly takes to find a processor. While this one sleeps, the runtime gives its place to
// another goroutine, for whose end it would have to wait.
const soonReady = 200 * time.Microsecond

// napUntil waits for a thread that still has to find a processor, and yields its own if that takes longer than usual.
func napUntil(sign *atomic.Bool) {
	for begun := time.Now(); !sign.Load() && time.Since(begun) < longestSpin; {
		if time.Since(begun) > soonReady {
			nap()
		}
	}
}

// spinUntil waits without yielding: to be scheduled again would cost more than the wait.
func spinUntil(sign *atomic.Bool) {
	for begun := time.Now(); !sign.Load() && time.Since(begun) < longestSpin; {
		continue
	}
}

// releaseAll releases members one after the other. Each is one short write.
func releaseAll(members []func()) {
	for _, release := range members {
		release()
	}
}
