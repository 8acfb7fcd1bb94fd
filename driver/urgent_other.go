//go:build !linux

package driver

// urgently runs f. Only Linux is asked for real-time priority.
func urgently(f func()) { f() }
