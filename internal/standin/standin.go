// Package standin writes scripts that tests run in place of programs.
package standin

import (
	"os"
	"syscall"
)

// Program writes a script, with the line that names its interpreter, that can be run at once. The system runs no file that a process has open for writing, as has a child that
// another goroutine begins at that moment, until it is another program: so none may begin meanwhile. Safe for concurrent use.
func Program(path, script string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(script), 0o755)
}
