// Package standin has what tests take in place of others: scripts for programs, and an address for a server that is not there.
package standin

import (
	"errors"
	"net"
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

// Nobody returns an address of this machine without a listener, and without one until release is called: it is that of the near end of an
// open connection. A port that was merely closed may be another test's in the next moment. Safe for concurrent use.
func Nobody() (address string, release func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return "", nil, err
	}
	far, err := listener.Accept() // unaccepted, it would be reset with the listener, and the port be free
	if err != nil {
		return "", nil, errors.Join(err, conn.Close())
	}
	return conn.LocalAddr().String(), func() error { return errors.Join(conn.Close(), far.Close()) }, nil
}
