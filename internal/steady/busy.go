package main

import (
	"fmt"
	"os"
	"os/exec"
)

// busyArgument makes this program one of the busy processes.
const busyArgument = "busy"

// spin computes for ever. The kernel ends it with the process that started it.
func spin() {
	for n := uint64(1); ; n = n*6364136223846793005 + 1442695040888963407 {
		_ = n
	}
}

// keepBusy starts so many processes that do nothing but compute, and returns what ends them.
func keepBusy(load int) (idle func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	var started []*exec.Cmd
	idle = func() {
		for _, c := range started {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	for range load {
		c := exec.Command(self, busyArgument)
		c.Env = append(os.Environ(), "GOMAXPROCS=1")
		c.SysProcAttr = diesWithParent()
		if err := c.Start(); err != nil {
			idle()
			return nil, fmt.Errorf("start a busy process: %w", err)
		}
		started = append(started, c)
	}
	return idle, nil
}
