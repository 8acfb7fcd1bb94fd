package main

import "syscall"

// diesWithParent has the kernel end the process with the thread that started it, should this program be killed.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
