package driver_test

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// peer2 is the server's end of an HTTP/2 connection.
type peer2 struct {
	*peer
	*http2.Framer
	began []uint32 // streams, in order
	ended []uint32 // streams whose requests have come whole
	given []uint32 // streams that the client has given up
}

// serveRaw2 gives every connection to script, once its preface and its SETTINGS have come and the server's
// have been sent.
func serveRaw2(t testing.TB, script func(*peer2), settings ...http2.Setting) string {
	return serveRaw(t, func(p *peer) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(p.in, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		two := &peer2{peer: p, Framer: http2.NewFramer(p, p.in)}
		_ = two.WriteSettings(settings...)
		script(two)
	})
}

// requests reads until so many requests have come whole. It reports whether they did.
func (p *peer2) requests(n int) bool {
	for len(p.ended) < n {
		frame, err := p.ReadFrame()
		if err != nil {
			return false
		}
		switch f := frame.(type) {
		case *http2.HeadersFrame:
			p.began = append(p.began, f.StreamID)
			if f.StreamEnded() {
				p.ended = append(p.ended, f.StreamID)
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				p.ended = append(p.ended, f.StreamID)
			}
		case *http2.RSTStreamFrame:
			p.given = append(p.given, f.StreamID)
		}
	}
	return true
}

// answer sends the head of an answer: names and values in turn.
func (p *peer2) answer(id uint32, ends bool, fields ...string) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for pair := range slices.Chunk(fields, 2) {
		_ = encoder.WriteField(hpack.HeaderField{Name: pair[0], Value: pair[1]})
	}
	rest := block.Bytes()
	part := rest[:min(len(rest), 16<<10)]
	rest = rest[len(part):]
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: part, EndStream: ends, EndHeaders: len(rest) == 0})
	for len(rest) > 0 {
		part = rest[:min(len(rest), 16<<10)]
		rest = rest[len(part):]
		if p.WriteContinuation(id, len(rest) == 0, part) != nil {
			return
		}
	}
}

// answers2 says what becomes of an attempt in HTTP/2, given what the server does once it has the request,
// which is stream 1.
var answers2 = map[string]struct {
	answer func(*peer2)
	want   history.Attempt
}{
	"an answer with a body": {
		func(p *peer2) {
			p.answer(1, false, ":status", "201", "content-length", "8", "x-id", "7")
			_ = p.WriteData(1, false, []byte(`{"id"`))
			_ = p.WriteDataPadded(1, true, []byte(`:7}`), make([]byte, 9))
		},
		history.Attempt{Status: 201, Header: map[string]string{"Content-Length": "8", "X-Id": "7"}, Content: `{"id":7}`, Length: 8, Complete: true},
	},
	"a body without a length, and trailers": {
		func(p *peer2) {
			p.answer(1, false, ":status", "200", "trailer", "x-sum")
			_ = p.WriteData(1, false, []byte("abc"))
			p.answer(1, true, "x-sum", "9")
		},
		history.Attempt{Status: 200, Header: map[string]string{"Trailer": "x-sum"}, Content: "abc", Length: 3, Complete: true},
	},
	"no content": {
		func(p *peer2) { p.answer(1, true, ":status", "204") }, history.Attempt{Status: 204, Complete: true},
	},
	"no content, although it names a length": {
		func(p *peer2) { p.answer(1, true, ":status", "304", "content-length", "5") },
		history.Attempt{Status: 304, Header: map[string]string{"Content-Length": "5"}, Complete: true},
	},
	"informational answers are skipped": {
		func(p *peer2) {
			p.answer(1, false, ":status", "103", "link", "</a>")
			p.answer(1, true, ":status", "201")
		},
		history.Attempt{Status: 201, Complete: true},
	},
	"questions and other streams in between": {
		func(p *peer2) {
			_ = p.WritePing(false, [8]byte{7})
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
			_ = p.WriteWindowUpdate(0, 9)
			_ = p.WriteRSTStream(3, http2.ErrCodeCancel)
			_ = p.WriteRawFrame(0xbe, 0, 0, []byte("of some extension"))
			p.answer(1, false, ":status", "200")
			_ = p.WriteData(1, true, nil)
		},
		history.Attempt{Status: 200, Complete: true},
	},
	"a goodbye that does not concern it": {
		func(p *peer2) {
			_ = p.WriteGoAway(1, http2.ErrCodeNo, nil)
			p.answer(1, true, ":status", "200")
		},
		history.Attempt{Status: 200, Complete: true},
	},
	"refused": {
		func(p *peer2) { _ = p.WriteRSTStream(1, http2.ErrCodeRefusedStream) }, history.Attempt{ErrorKind: history.Reset},
	},
	"a goodbye before it was looked at": {
		func(p *peer2) { _ = p.WriteGoAway(0, http2.ErrCodeNo, nil) }, history.Attempt{ErrorKind: history.Closed},
	},
	"closed before an answer": {func(p *peer2) { _ = p.CloseWrite() }, history.Attempt{ErrorKind: history.Closed}},
	"reset before an answer":  {func(p *peer2) { p.reset() }, history.Attempt{ErrorKind: history.Reset}},
	"an informational answer is no reply": {
		func(p *peer2) { p.answer(1, false, ":status", "103"); _ = p.CloseWrite() }, history.Attempt{ErrorKind: history.Closed},
	},
	"closed inside the answer": {
		func(p *peer2) {
			p.answer(1, false, ":status", "200")
			_ = p.WriteData(1, false, []byte("abc"))
			_ = p.CloseWrite()
		},
		history.Attempt{Status: 200, Content: "abc", Length: 3, ErrorKind: history.Truncated},
	},
	"closed inside a frame": {
		func(p *peer2) {
			p.answer(1, false, ":status", "200")
			p.say("\x00\x00\x09\x00\x01\x00\x00\x00\x01abc")
			_ = p.CloseWrite()
		},
		history.Attempt{Status: 200, ErrorKind: history.Truncated},
	},
	"a stream that is reset inside the answer": {
		func(p *peer2) {
			p.answer(1, false, ":status", "200")
			_ = p.WriteData(1, false, []byte("abc"))
			_ = p.WriteRSTStream(1, http2.ErrCodeInternal)
		},
		history.Attempt{Status: 200, Content: "abc", Length: 3, ErrorKind: history.Truncated},
	},
	"a body shorter than its length": {
		func(p *peer2) {
			p.answer(1, false, ":status", "200", "content-length", "9")
			_ = p.WriteData(1, true, []byte("abc"))
		},
		history.Attempt{Status: 200, Header: map[string]string{"Content-Length": "9"}, Content: "abc", Length: 3, ErrorKind: history.Truncated},
	},
	"a body longer than its length": {
		func(p *peer2) {
			p.answer(1, false, ":status", "200", "content-length", "2")
			_ = p.WriteData(1, true, []byte("abc"))
		},
		history.Attempt{Status: 200, Header: map[string]string{"Content-Length": "2"}, Content: "abc", Length: 3, ErrorKind: history.Garbage},
	},
	"a length that is none": {
		func(p *peer2) { p.answer(1, true, ":status", "200", "content-length", "ten") },
		history.Attempt{Status: 200, Header: map[string]string{"Content-Length": "ten"}, ErrorKind: history.Garbage},
	},
	"a status that is none": {
		func(p *peer2) { p.answer(1, true, ":status", "000") }, history.Attempt{ErrorKind: history.Garbage},
	},
	"an answer without a status": {
		func(p *peer2) { p.answer(1, true, "x-id", "7") }, history.Attempt{ErrorKind: history.Garbage},
	},
	"an informational answer that is all": {
		func(p *peer2) { p.answer(1, true, ":status", "103") }, history.Attempt{ErrorKind: history.Garbage},
	},
	"informational answers without end": {
		func(p *peer2) {
			for range 11 {
				p.answer(1, false, ":status", "103")
			}
		},
		history.Attempt{ErrorKind: history.Garbage},
	},
	"a body without a head": {
		func(p *peer2) { _ = p.WriteData(1, true, []byte("abc")) }, history.Attempt{ErrorKind: history.Garbage},
	},
	"a second head": {
		func(p *peer2) { p.answer(1, false, ":status", "200"); p.answer(1, false, ":status", "200") },
		history.Attempt{Status: 200, ErrorKind: history.Garbage},
	},
	"a head that is not for HTTP/2": {
		func(p *peer2) { p.answer(1, true, ":status", "200", "Upper", "case") }, history.Attempt{ErrorKind: history.Garbage},
	},
	"a head without end": {
		func(p *peer2) { p.answer(1, true, ":status", "200", "x-long", strings.Repeat("\x7f", 2<<20)) },
		history.Attempt{ErrorKind: history.Garbage},
	},
	"a frame that is too large": {
		func(p *peer2) { p.say("\xff\x00\x00\x00\x00\x00\x00\x00\x01") }, history.Attempt{ErrorKind: history.Garbage},
	},
	"frames in the wrong order": {
		func(p *peer2) { _ = p.WriteContinuation(1, true, nil) }, history.Attempt{ErrorKind: history.Garbage},
	},
}

func TestAnHTTP2AnswerIsRecordedAsItWas(t *testing.T) {
	t.Parallel()
	for name, row := range answers2 {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var streams ledger
			left := make(chan struct{}, 1)
			address := serveRaw2(t, func(p *peer2) {
				p.requests(1)
				for _, id := range p.began {
					streams.add(strconv.Itoa(int(id)))
				}
				row.answer(p)
				p.stay()
				left <- struct{}{}
			})
			a := newRig2(t, address, send()).only(t)
			require.Equal(t, row.want, recorded(a), a.Error)
			require.Equal(t, row.want.ErrorKind == "", a.Error == "", a.Error)
			if a.ErrorKind != history.Garbage { // where the connection is garbage, nothing is an answer
				require.Equal(t, a.Status != 0, a.Replied != 0)
			}
			require.NotZero(t, a.Sent)
			require.NotZero(t, a.Wrote)
			require.LessOrEqual(t, max(a.Wrote, a.Replied), a.End)
			require.Equal(t, []string{"1"}, streams.all(), "nothing is sent again")
			within(t, left, "the end of the connection")
		})
	}
}

func TestWhatBecomesOfOneMemberBecomesOfNoOther(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		breaks func(p *peer2, id uint32)
		kind   history.ErrorKind
		says   string
		given  int // streams that the client gives up
	}{
		"refused": {
			func(p *peer2, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, history.Reset, "REFUSED_STREAM", 0,
		},
		"malformed": {
			func(p *peer2, id uint32) { p.answer(id, true, ":status", "x") }, history.Garbage, "malformed", members / 2,
		},
		"malformed for the protocol": {
			func(p *peer2, id uint32) { p.answer(id, true, ":status", "200", "X", "y") }, history.Garbage, "stream error", members / 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen ledger
			left := make(chan int, 1)
			address := serveRaw2(t, func(p *peer2) {
				if p.requests(members) {
					for n, id := range p.ended {
						seen.add("request")
						if n%2 == 0 {
							row.breaks(p, id)
						} else {
							p.answer(id, true, ":status", "201")
						}
					}
				}
				p.requests(members + 1)
				left <- len(p.given)
			})
			kinds := map[history.ErrorKind]int{}
			for _, a := range newRig2(t, address, burst(members)).drive(t).Attempts {
				kinds[a.ErrorKind]++
				if a.Status != 201 {
					require.Contains(t, a.Error, row.says)
				}
			}
			require.Equal(t, map[history.ErrorKind]int{"": members / 2, row.kind: members / 2}, kinds)
			require.Equal(t, row.given, within(t, left, "the end of the connection"))
			require.Equal(t, members, seen.tally()["request"], "nothing is sent again")
		})
	}
}

// A server that goes away names the last stream that it has looked at.
func TestAGoodbyeEndsOnlyTheStreamsThatWereNotLookedAt(t *testing.T) {
	t.Parallel()
	var connections ledger
	address := serveRaw2(t, func(p *peer2) {
		connections.add("connection")
		if p.requests(4) {
			_ = p.WriteGoAway(3, http2.ErrCodeNo, nil)
			p.answer(1, true, ":status", "201")
			p.answer(3, true, ":status", "201")
		}
		p.stay()
	})
	kinds := map[history.ErrorKind]int{}
	for _, a := range newRig2(t, address, burst(4)).drive(t).Attempts {
		kinds[a.ErrorKind]++
	}
	require.Equal(t, map[history.ErrorKind]int{"": 2, history.Closed: 2}, kinds)
	require.Equal(t, []string{"connection"}, connections.all(), "nothing is sent again")
}

func TestAConnectionEndsWithItsLastStream(t *testing.T) {
	t.Parallel()
	var connections ledger
	left := make(chan struct{}, 2)
	address := serveRaw2(t, func(p *peer2) {
		if connections.add("connection") == 2 {
			<-left
		}
		if p.requests(1) {
			p.answer(1, true, ":status", "201")
		}
		p.stay()
		left <- struct{}{}
	})
	for _, a := range newRig2(t, address, send(), send()).drive(t).Attempts {
		require.Equal(t, 201, a.Status, a.Error)
	}
}

func TestAStreamThatIsGivenUpIsCancelled(t *testing.T) {
	t.Parallel()
	inBurst := burst(1)
	inBurst.Burst.Timeout = fixed(2 * time.Second)
	for name, row := range map[string]struct {
		step   scenarios.Step
		begins bool
		resets bool // else the connection ends, which a lane can keep from the target
	}{
		"before the answer":            {inBurst, false, true},
		"inside the answer":            {inBurst, true, true},
		"alone on its connection":      {sendWithin(2 * time.Second), false, false},
		"alone, and inside the answer": {sendWithin(2 * time.Second), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan bool, 1)
			address := serveRaw2(t, func(p *peer2) {
				p.requests(1)
				if row.begins {
					p.answer(1, false, ":status", "200")
				}
				reset := false
				for {
					frame, err := p.ReadFrame()
					if err != nil {
						ended <- reset
						return
					}
					if f, is := frame.(*http2.RSTStreamFrame); is {
						reset = f.ErrCode == http2.ErrCodeCancel
					}
				}
			})
			a := newRig2(t, address, row.step).only(t)
			require.Equal(t, history.Timeout, a.ErrorKind)
			require.Equal(t, row.resets, within(t, ended, "the end of the connection"))
			require.GreaterOrEqual(t, a.End-a.Start, a.Deadline)
			require.Equal(t, row.begins, a.Replied != 0)
		})
	}
}

// A lane that lets nothing come back does not keep a request from its target.
func TestARequestAloneGoesAheadOfTheServersSettings(t *testing.T) {
	t.Parallel()
	came := make(chan bool, 1)
	address := serveRaw(t, func(p *peer) {
		_, _ = p.in.Discard(len(http2.ClientPreface))
		came <- (&peer2{peer: p, Framer: http2.NewFramer(io.Discard, p.in)}).requests(1)
		p.stay()
	})
	a := newRig2(t, address, sendWithin(2*time.Second)).only(t)
	require.Equal(t, history.Timeout, a.ErrorKind, a.Error)
	require.NotZero(t, a.Wrote)
	require.True(t, within(t, came, "the request"))
}

func TestABurstWaitsForTheServersSettings(t *testing.T) {
	t.Parallel()
	var once sync.Once
	early := make(chan int, 1)
	address := serveRaw(t, func(p *peer) {
		_, _ = p.in.Discard(len(http2.ClientPreface))
		framer := http2.NewFramer(p, p.in)
		_, _ = framer.ReadFrame() // SETTINGS
		_, _ = framer.ReadFrame() // WINDOW_UPDATE
		once.Do(func() { early <- p.in.Buffered() })
		p.stay()
	})
	hasty := burst(3)
	hasty.Burst.Timeout = fixed(200 * time.Millisecond)
	for _, a := range newRig2(t, address, hasty).drive(t).Attempts {
		require.Equal(t, history.Timeout, a.ErrorKind, a.Error)
		require.Zero(t, a.Sent)
	}
	require.Zero(t, within(t, early, "the client's settings"))
}

// A window may shrink below nothing: what was sent under the old one is not taken back (section 6.9.2).
func TestTheServersWindowsAreKept(t *testing.T) {
	t.Parallel()
	const window = 100
	got := make(chan int, 1)
	address := serveRaw2(t, func(p *peer2) {
		received, granted := 0, window
		for {
			frame, err := p.ReadFrame()
			if err != nil {
				return
			}
			data, is := frame.(*http2.DataFrame)
			if !is {
				continue
			}
			received += len(data.Data())
			if received > granted {
				p.reset()
				return
			}
			if data.StreamEnded() {
				got <- received
				p.answer(1, true, ":status", "201")
			} else if received == granted {
				granted += 2 * window
				_ = p.WriteWindowUpdate(1, window)
				_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 2 * window})
			}
		}
	}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	r := newRig2(t, address, burst(1))
	r.Operations[0].Request.Body["pad"] = strings.Repeat("x", 150)
	require.Equal(t, 201, r.only(t).Status)
	require.Greater(t, within(t, got, "the request"), window)
}
