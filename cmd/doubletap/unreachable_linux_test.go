package main

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fullHouse returns the URL of a port that nobody answers at: what is sent there is dropped, as behind a firewall.
func fullHouse(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	name, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 16 { // those that fit into the queue
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return "http://" + address
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("a full queue accepted every connection")
	return ""
}

// TestAHostThatAnswersNobody tells a target that takes no connection at all from one that takes it and is silent.
func TestAHostThatAnswersNobody(t *testing.T) {
	t.Parallel()
	x := newShop(t, nil).trial(t, "--pilot-timeout", "300ms", "plain-create")
	x.env["SHOP_URL"] = fullHouse(t)
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "no connection to "+x.env["SHOP_URL"]+" came about within 300ms (--pilot-timeout): is that the right host")
	require.Equal(t, 1, lines(got.err), "one message: %s", got.err)
}
