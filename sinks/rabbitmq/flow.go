package rabbitmq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
)

// What of the messages may be in memory. The library keeps all that it has read and nobody has taken, and the whole of a message,
// however long the server says that it is.
const (
	mostMessage = 64 << 20 // bytes of a message: RabbitMQ 4 takes 16 MiB unless it is told otherwise
	mostWaiting = 16 << 20 // bytes of messages that are read, and not taken; no more is read meanwhile
)

// Frames of AMQP 0-9-1 (its specification, section 4.2).
const (
	frameHead   = 7 // bytes: kind, channel and length
	frameEnd    = 1
	headerFrame = 2
	bodyFrame   = 3
	sizeEnds    = 12 // bytes of a header frame: class, weight, and the length of the body
)

// errLong ends a connection on which a message comes that is too long to keep.
var errLong = fmt.Errorf("a message has more than %d MiB", mostMessage>>20)

// flow is a connection from which no more is read than there is room for. It reads the frames of the server as they pass.
type flow struct {
	net.Conn

	// For the goroutine that reads.
	begun []byte // of a frame: its head, and of a header frame what says how long the body is
	rest  uint64 // bytes of the frame that are to come, and of no interest
	left  uint64 // bytes of the message's body that are to come
	size  uint64 // of the message so far, with its frames
	last  bool   // the message ends with this frame

	mu      sync.Mutex
	room    sync.Cond
	waiting []uint64 // sizes of the messages that were read, and not taken
	sum     uint64   // of them
	closed  bool
}

// newFlow counts what comes on a connection.
func newFlow(conn net.Conn) *flow {
	f := &flow{Conn: conn}
	f.room.L = &f.mu
	return f
}

// Read reads when there is room.
func (f *flow) Read(p []byte) (int, error) {
	f.mu.Lock()
	for f.sum > mostWaiting && !f.closed {
		f.room.Wait()
	}
	f.mu.Unlock()
	n, err := f.Conn.Read(p)
	if long := f.pass(p[:n]); long != nil {
		return 0, errors.Join(long, f.Conn.Close())
	}
	return n, err
}

// Close also ends a Read that waits for room.
func (f *flow) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.room.Broadcast()
	return f.Conn.Close()
}

// took makes room: the message that came first was taken.
func (f *flow) took() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) > 0 {
		f.sum -= f.waiting[0]
		f.waiting = f.waiting[1:]
	}
	f.room.Broadcast()
}

// pass reads on in the frames. The error says that a message is too long.
func (f *flow) pass(text []byte) error {
	for len(text) > 0 {
		if f.rest > 0 {
			n := min(f.rest, uint64(len(text)))
			text, f.rest = text[n:], f.rest-n
			if f.rest == 0 && f.last {
				f.whole()
			}
			continue
		}
		n := min(f.wanted()-len(f.begun), len(text))
		f.begun, text = append(f.begun, text[:n]...), text[n:]
		if len(f.begun) == f.wanted() {
			if err := f.frame(); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted is how many bytes of a frame are read.
func (f *flow) wanted() int {
	if len(f.begun) >= frameHead && f.begun[0] == headerFrame && f.length() >= sizeEnds {
		return frameHead + sizeEnds
	}
	return frameHead
}

// length is that of the frame's payload.
func (f *flow) length() uint64 { return uint64(binary.BigEndian.Uint32(f.begun[3:])) }

// frame knows of a frame what is wanted of it.
func (f *flow) frame() error {
	length := f.length()
	f.rest = length + frameEnd
	f.size += length
	switch {
	case len(f.begun) > frameHead:
		f.rest -= sizeEnds
		f.left = binary.BigEndian.Uint64(f.begun[frameHead+sizeEnds-8:])
		if f.left > mostMessage {
			return errLong
		}
		f.last = f.left == 0
	case f.begun[0] == bodyFrame && f.left > 0:
		f.left -= min(f.left, length)
		f.last = f.left == 0
	}
	f.begun = f.begun[:0]
	return nil
}

// whole notes that a message has come to its end.
func (f *flow) whole() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting, f.sum, f.size, f.last = append(f.waiting, f.size), f.sum+f.size, 0, false
}
