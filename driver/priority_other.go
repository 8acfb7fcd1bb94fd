//go:build !linux

package driver

// runRealTime runs f. Only Linux is asked for real-time priority.
func runRealTime(f func()) { f() }
