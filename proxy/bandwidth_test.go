package proxy_test

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/log"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
)

// limited is a lane that lets 20 kB pass in a second, to a target that sends what it is given and closes.
func limited(t *testing.T, answer []byte) *proxy.Lanes {
	address := rawTarget(t, func(c *net.TCPConn) {
		defer c.Close()
		_, _ = io.ReadFull(c, make([]byte, 1))
		_, _ = c.Write(answer)
	})
	return faulty(t, address, faults.Fault{Bandwidth: &faults.Bandwidth{Rate: 20, Way: faults.ResponseWay}})
}

func TestBandwidthLimitsTheFlow(t *testing.T) {
	t.Parallel()
	answer := bytes.Repeat([]byte("0123456789"), 1000)
	c, _ := dial(t, limited(t, answer), "faulty")
	begun := time.Now()
	_, err := c.Write([]byte("x"))
	require.NoError(t, err)
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, answer, got)
	require.GreaterOrEqual(t, time.Since(begun), 480*time.Millisecond, "10 kB at 20 kB/s")
}

func TestTheLoggerOfTheProcessIsLeftAlone(t *testing.T) { // not parallel: it replaces the global logger
	var written bytes.Buffer
	level, usual := zerolog.GlobalLevel(), log.Logger
	log.Logger = zerolog.New(zerolog.SyncWriter(&written))
	defer func() { log.Logger = usual }()
	lanes := limited(t, make([]byte, 100_000))
	c, _ := dial(t, lanes, "faulty")
	_, err := c.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(c, make([]byte, 1000))
	require.NoError(t, err)
	require.NoError(t, lanes.Close(), "while bytes are on their way")
	require.Empty(t, written.String())
	require.Equal(t, level, zerolog.GlobalLevel())
}
