package proxy

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
)

// FuzzWire has a target and its database say anything on a link, in turns: the sizes say how the text is cut into questions and answers. Nothing is kept
// back before the strike and nothing passes after it, and there is no more on record than has passed.
func FuzzWire(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08\x04\xd2\x16\x2fNQ\x00\x00\x00\x0bBEGIN\x00Z"), []byte{8, 1, 12, 1}, uint8(0))
	f.Add([]byte("Q\x00\x00\x00\x0bcommit;\x00C\x00\x00\x00\x0fCOMMIT\x00"), []byte{12, 14}, uint8(1))
	f.Add([]byte("\x03insert into orders values ('dtabc')\x01"), []byte{36, 1}, uint8(2))
	f.Add([]byte("start transaction\xffwrite"), []byte{0, 255, 1}, uint8(3))
	moments := []faults.Moment{faults.AtCommit, faults.AtCommitted, faults.AtWrite, faults.AtWritten, "3", ""}
	f.Fuzz(func(t *testing.T, text, sizes []byte, which uint8) {
		l := &LinkProxy{name: "database"}
		p := &linkConnection{link: l, answered: true}
		base := time.Now()
		l.Note(base, "dtabc")
		moment := moments[int(which)%len(moments)]
		strike := l.Strike(base, moment, time.Hour, "dtabc")
		struck, parts := false, 0
		for i, size := range sizes {
			part := text[:min(int(size), len(text))]
			text = text[len(part):]
			if passed := l.passes(p, i%2 == 1, part); !passed {
				struck = true
				p.broken = true // the connection is not among those that are open here, which a strike breaks
			} else {
				require.False(t, struck, "what comes after the strike")
				parts++
			}
		}
		cut := strike.Over()
		require.Equal(t, struck, cut.At != 0)
		require.LessOrEqual(t, len(l.Noted().Exchanges), parts/2+1)
		require.LessOrEqual(t, l.Moments(), len(sizes))
	})
}

// FuzzTap has a target answer anything at an upstream tap, in parts of any size. No more of it is kept than is looked at for the status.
func FuzzTap(f *testing.F) {
	f.Add([]byte("HTTP/1.1 201 Created\r\n\r\n{}"), uint16(5))
	f.Add([]byte("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), uint16(1))
	f.Add([]byte("HTTP/1.1 -99 \r\n\r\nHTTP/1.1 099"), uint16(900))
	f.Fuzz(func(t *testing.T, text []byte, size uint16) {
		tap := newTap(time.Now(), new(atomic.Bool))
		for rest := text; len(rest) > 0; {
			part := rest[:min(int(size)+1, len(rest))]
			rest = rest[len(part):]
			tap.recordAnswer(part)
			require.LessOrEqual(t, len(tap.head), headLimit)
		}
		facts := tap.observed()
		require.EqualValues(t, len(text), facts.Down)
		require.True(t, facts.Status == 0 || facts.Status >= 101 && facts.Status <= 999, facts.Status)
	})
}
