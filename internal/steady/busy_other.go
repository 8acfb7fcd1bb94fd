//go:build !linux

package main

import "syscall"

// diesWithParent is what this system does by itself: nothing. A killed program leaves its busy processes.
func diesWithParent() *syscall.SysProcAttr { return nil }
