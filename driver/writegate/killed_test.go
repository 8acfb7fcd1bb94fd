package writegate_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver/writegate"
)

// holderURL and its fellows make this test program hold a gate until it is killed.
const (
	holderURL     = "DOUBLETAP_TEST_HOLDER_URL"
	holderTable   = "DOUBLETAP_TEST_HOLDER_TABLE"
	holderLongest = "DOUBLETAP_TEST_HOLDER_LONGEST"
)

func holdUntilKilled(address string) {
	longest, err := time.ParseDuration(os.Getenv(holderLongest))
	if err == nil {
		var g *writegate.Gate
		if g, err = writegate.Open(context.Background(), address, os.Getenv(holderTable)); err == nil {
			_, err = g.Hold(context.Background(), longest)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("held")
	select {}
}

// holder is another process that holds the table's gate.
func (on table) holder(t *testing.T, longest time.Duration) *os.Process {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holderURL+"="+on.url, holderTable+"="+on.name, holderLongest+"="+longest.String())
	child.Stderr = os.Stderr
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held\n", line)
	return child.Process
}

func TestAKilledHarnessHoldsNothing(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		child := on.holder(t, 10*soon)
		ended := on.inserts(t, 1)
		select {
		case err := <-ended:
			t.Fatalf("an insert went on although the gate is held: %v", err)
		case <-time.After(pause):
		}
		require.NoError(t, child.Kill())
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(soon):
			t.Fatal("an insert still waits long after the process that held the gate was killed")
		}
	})
}

// A process that is stopped keeps its sockets, as a machine that has vanished seems to.
func TestAServerTakesBackWhatASilentHarnessHolds(t *testing.T) {
	for _, kind := range []string{"postgres", "mariadb"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			on := newTable(t, kind)
			child := on.holder(t, 2*time.Second)
			require.NoError(t, child.Signal(syscall.SIGSTOP))
			on.free(t, "1")
		})
	}
}
