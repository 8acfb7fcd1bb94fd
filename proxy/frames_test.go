package proxy

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

func TestFramesOfStreamsAreCounted(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	f := http2.NewFramer(&wire, nil)
	wire.WriteString(http2.ClientPreface)
	require.NoError(t, f.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}))
	require.NoError(t, f.WriteWindowUpdate(0, 1))
	require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 30)}))
	require.NoError(t, f.WriteContinuation(1, true, make([]byte, 20)))
	require.NoError(t, f.WriteWindowUpdate(1, 1))
	require.NoError(t, f.WriteData(1, true, make([]byte, 300)))
	require.NoError(t, f.WriteRSTStream(1, http2.ErrCodeCancel))
	for size := 1; size <= wire.Len(); size++ {
		count, n := &frames{preface: clientPreface}, 0
		for rest := wire.Bytes(); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			n += count.of(rest[:min(size, len(rest))])
		}
		require.Equal(t, 9+30+9+20+9+300, n, "%d bytes at a time", size)
	}
}
