//go:build linux && (amd64 || arm64)

package crashcode

import (
	"syscall"
	"unsafe"
)

// action is what the kernel takes for a signal.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// What the flags mean: the handler runs on the stack for signals, and the restorer is set, which amd64 asks for.
const (
	onStack  = 0x08000000
	restorer = 0x04000000
)

// exit ends the process with Code. It is the handler of a signal, and no Go function: there may be no memory for one.
//
//lint:ignore U1000 exitAddress, which is no Go either, takes its address
func exit()

// exitAddress returns where exit is.
func exitAddress() uintptr

// exitOnAbort has the kernel call exit at SIGABRT, past Go's own handlers.
func exitOnAbort() {
	a := action{handler: exitAddress(), flags: onStack | restorer, restorer: exitAddress()}
	// The signal has a name, and the address is that of code, so that this cannot fail.
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGABRT), uintptr(unsafe.Pointer(&a)), 0, unsafe.Sizeof(a.mask), 0, 0)
}
