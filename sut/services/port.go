package services

import (
	"net"
	"time"
)

// Taken reports whether a server accepts connections at an address, host:port.
func Taken(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
