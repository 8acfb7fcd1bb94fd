//go:build !linux

package driver

import "time"

// urgently runs f. Only Linux is asked for real-time priority.
func urgently(f func()) { f() }

// nap is a very short sleep.
func nap() { time.Sleep(20 * time.Microsecond) }
