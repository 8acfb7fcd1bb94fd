package driver

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// salvo lets the members of a burst go as close together as the machine allows: half of them each on two
// threads that begin together and that nothing interrupts. Measured on two cores, that is half as far apart
// as on one thread. Two salvos at once would each hold a processor that the other's second thread waits for,
// so there is one at a time. It returns when all have been let go.
func salvo(members []func()) {
	half := len(members) / 2
	if half == 0 || runtime.GOMAXPROCS(0) < 2 {
		urgently(func() { letGoAll(members) })
		return
	}
	firing.Lock()
	defer firing.Unlock()
	var ready, fire atomic.Bool
	var other sync.WaitGroup
	urgently(func() {
		other.Go(func() {
			urgently(func() {
				ready.Store(true)
				await(&fire)
				letGoAll(members[:half])
			})
		})
		standBy(&ready)
		fire.Store(true)
		letGoAll(members[half:])
	})
	other.Wait()
}

var firing sync.Mutex

// standBy waits for a thread that has yet to find a processor, and keeps none from it.
func standBy(sign *atomic.Bool) {
	for begun := time.Now(); !sign.Load() && time.Since(begun) < longestAim; {
		nap()
	}
}

// await waits without giving way, which would cost more than the wait.
func await(sign *atomic.Bool) {
	for begun := time.Now(); !sign.Load() && time.Since(begun) < longestAim; {
		continue
	}
}

// longestAim is how long one thread waits for the other: in vain, where it holds the only processor.
const longestAim = 20 * time.Millisecond

func letGoAll(members []func()) {
	for _, letGo := range members {
		letGo()
	}
}
