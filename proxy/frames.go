package proxy

import "encoding/binary"

// frames tells, in one direction of an HTTP/2 connection, which bytes are of a request or its answer: frames of a stream with a head or
// a body, and not those of the connection (RFC 9113, section 4.1). Where several streams share the connection, they are of all of them.
type frames struct {
	preface int    // bytes of the client's preface that are still to come
	head    []byte // of the frame that is under way, until it is whole
	left    int    // bytes of its payload that are still to come
	counts  bool
}

const (
	frameHead     = 9
	clientPreface = 24 // bytes
)

// Types of frames that carry a head or a body (section 6).
const (
	frameData         = 0
	frameHeaders      = 1
	frameContinuation = 9
)

// of returns how many of the next bytes are of a request or its answer.
func (f *frames) of(b []byte) int {
	n := 0
	for len(b) > 0 {
		switch {
		case f.preface > 0:
			taken := min(f.preface, len(b))
			f.preface, b = f.preface-taken, b[taken:]
		case f.left > 0:
			taken := min(f.left, len(b))
			f.left, b = f.left-taken, b[taken:]
			if f.counts {
				n += taken
			}
		default:
			taken := min(frameHead-len(f.head), len(b))
			f.head, b = append(f.head, b[:taken]...), b[taken:]
			if len(f.head) == frameHead {
				n += f.begin()
			}
		}
	}
	return n
}

// begin reads the head of a frame, and returns its size if it counts.
func (f *frames) begin() int {
	f.left = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
	// The highest bit of a stream ID is reserved (section 4.1).
	kind, stream := f.head[3], binary.BigEndian.Uint32(f.head[5:])&(1<<31-1)
	f.counts = stream != 0 && (kind == frameData || kind == frameHeaders || kind == frameContinuation)
	f.head = f.head[:0]
	if f.counts {
		return frameHead
	}
	return 0
}
