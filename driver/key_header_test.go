package driver_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// rawHeads answers each request with 204 and returns the lines of their heads, as they come.
func rawHeads(t *testing.T) (address string, heads <-chan []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	all := make(chan []string, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			in, lines := bufio.NewReader(conn), []string{}
			for line, _ := in.ReadString('\n'); strings.TrimSpace(line) != ""; line, _ = in.ReadString('\n') {
				lines = append(lines, strings.TrimSpace(line))
			}
			all <- lines
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
			conn.Close()
		}
	}()
	return listener.Addr().String(), all
}

// keyLines are the lines of a head that name the key.
func keyLines(head []string) (lines []string) {
	for _, line := range head {
		if strings.HasPrefix(strings.ToLower(line), "idempotency-key:") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheNameOfTheKeysHeaderInLowerCase(t *testing.T) {
	t.Parallel()
	address, heads := rawHeads(t)
	h := newRig(t, address, send(), respelled(scenarios.SpellingHeaderCase)).drive(t)
	first, then := <-heads, <-heads
	key := h.Attempts[0].Key
	require.Equal(t, key, h.Attempts[1].Key)
	require.Equal(t, []string{"Idempotency-Key: " + key}, keyLines(first))
	require.Equal(t, []string{"idempotency-key: " + key}, keyLines(then))
	require.Len(t, then, len(first))
	require.Equal(t, history.Original, history.Meaning(h.Attempts[1].Body))
}

// The final retry brings both keys as well: to a target that takes the second, the first is another key.
func TestTwoKeysComeInTwoHeadersEachTime(t *testing.T) {
	t.Parallel()
	address, heads := rawHeads(t)
	r := newRig(t, address, respelled(scenarios.SpellingTwoHeaders), respelled(scenarios.SpellingTwoHeaders))
	h := r.drive(t)
	first, then := keyLines(<-heads), keyLines(<-heads)
	require.Len(t, first, 2)
	require.Equal(t, "Idempotency-Key: "+h.Attempts[0].Key, first[0])
	require.Regexp(t, "^Idempotency-Key: [0-9a-f-]{36}$", first[1])
	require.NotEqual(t, first[0], first[1])
	require.Equal(t, first, then)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, false, func(history.Attempt) bool { return true }))
	require.Equal(t, first, keyLines(<-heads), "the final retry")
}
