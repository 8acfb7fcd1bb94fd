package driver

// releaseAll releases the members of a burst as close together as the machine allows: one right after the other, on one
// thread. Each is one short write. A second thread brings a burst no closer together on two cores, and waiting until it
// has a processor takes longer than the releases do. At real-time priority no thread that a write wakes gets in between.
func releaseAll(members []func(), realTime bool) {
	run := func(f func()) { f() }
	if realTime {
		run = runRealTime
	}
	run(func() {
		for _, release := range members {
			release()
		}
	})
}
