// Package crashcode gives a process that the Go runtime ends an exit code of its own. The runtime's is 2, for a panic in any
// goroutine, for memory that is not to be had and for whatever else it calls fatal; the command's 2 means "inconclusive".
package crashcode

import "runtime/debug"

// Code is the exit code of a process that the Go runtime ends, on Linux on amd64 and arm64. Elsewhere it ends by SIGABRT,
// which a shell shows as 134.
const Code = 4

// Set makes the runtime end this process with Code. The traceback that it prints before then has all goroutines.
func Set() {
	debug.SetTraceback("crash") // it ends by SIGABRT
	exitOnAbort()
}
