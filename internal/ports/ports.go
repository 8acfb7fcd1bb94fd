// Package ports finds free ports for the servers that this program starts, and keeps them free of other servers.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports that systems do not hand out by themselves, on Linux and elsewhere: neither to clients nor to servers that ask for any port. Each has
// a guard, which is the port that is so many above it.
const (
	lowest    = 20000
	highest   = 25999
	guardedBy = 6000
	tries     = 100
)

// Port is a port that no other Port of this machine is, from when it is reserved until it is released: before its server listens, and
// while the server is killed and started again. A client of a server that is gone then reaches nobody, and not the next
// server. Programs that do not use this package are free to take it.
type Port struct {
	Number int
	guard  net.Listener // accepts nothing: it is there to be listened at by one process only
}

// Reserve finds a port at which nobody listens on the host, by its name or address. It is safe for concurrent use, also by several processes: a process that ends, however it does,
// leaves no reservation behind.
func Reserve(host string) (*Port, error) {
	var err error
	for range tries {
		var p *Port
		if p, err = reserve(host, lowest+rand.IntN(highest-lowest+1)); err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("find a free port of %s: %w", host, err)
}

// reserve reserves one port, if it is free.
func reserve(host string, number int) (*Port, error) {
	guard, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(number+guardedBy)))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
	if err != nil {
		guard.Close()
		return nil, err
	}
	return &Port{number, guard}, listener.Close()
}

// Release lets others have the port.
func (p *Port) Release() error { return p.guard.Close() }

// Address is the port of a host, as host:port.
func (p *Port) Address(host string) string { return net.JoinHostPort(host, strconv.Itoa(p.Number)) }
