package ports_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/ports"
)

// other is set where this is a process that reserves so many ports and tells them.
const other = "DOUBLETAP_TEST_RESERVES"

func TestMain(m *testing.M) {
	if n, _ := strconv.Atoi(os.Getenv(other)); n > 0 {
		for range n {
			p, err := ports.Reserve("127.0.0.1")
			if err != nil {
				panic(err)
			}
			println(p.Number)
		}
		_, _ = os.Stdin.Read(make([]byte, 1)) // it holds them until it is told
		return
	}
	os.Exit(m.Run())
}

// TestAReservedPortIsNoOthers has two processes reserve so many ports that two dozen would be of both, were they found by chance.
func TestAReservedPortIsNoOthers(t *testing.T) {
	const each = 400
	self, err := os.Executable()
	require.NoError(t, err)
	process := exec.Command(self)
	process.Env = append(os.Environ(), other+"="+strconv.Itoa(each))
	input, err := process.StdinPipe()
	require.NoError(t, err)
	told := &strings.Builder{}
	process.Stderr = told
	require.NoError(t, process.Start())
	mine := map[string]bool{}
	for range each {
		p, err := ports.Reserve("127.0.0.1")
		require.NoError(t, err)
		defer p.Release()
		mine[strconv.Itoa(p.Number)] = true
	}
	require.Len(t, mine, each)
	require.NoError(t, input.Close())
	require.NoError(t, process.Wait())
	theirs := strings.Fields(told.String())
	require.Len(t, theirs, each)
	for _, port := range theirs {
		require.NotContains(t, mine, port)
	}
}

func TestAPortIsFreeForItsServer(t *testing.T) {
	p, err := ports.Reserve("127.0.0.1")
	require.NoError(t, err)
	for range 2 { // it may be started again
		server, err := net.Listen("tcp", p.Address("127.0.0.1"))
		require.NoError(t, err)
		require.NoError(t, server.Close())
	}
	require.NoError(t, p.Release())
}

func TestAHostThatIsNotHere(t *testing.T) {
	_, err := ports.Reserve("192.0.2.1")
	require.ErrorContains(t, err, "find a free port of 192.0.2.1: listen tcp 192.0.2.1:")
}
