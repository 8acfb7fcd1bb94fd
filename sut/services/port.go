package services

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// Ports that systems do not hand out to clients by themselves, on Linux and elsewhere.
const (
	lowestPort  = 20000
	highestPort = 32000
	portTries   = 100
)

// FreePort finds a port of a host that is not in use. A connection of another process must not take it by
// chance while the service is being started again, so it is none of those that clients get.
func FreePort(host string) (int, error) {
	for range portTries {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("find a free port of " + host)
}

// Taken reports whether a server accepts connections at an address, host:port.
func Taken(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
