//go:build !linux

package driver

import "time"

// runRealTime runs f. Only Linux is asked for real-time priority.
func runRealTime(f func()) { f() }

// nap sleeps for about 20 us.
func nap() { time.Sleep(20 * time.Microsecond) }
