package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// greeting is how a client begins AMQP 0-9-1.
const greeting = "AMQP\x00\x00\x09\x01"

// Kinds of frames and what else of AMQP 0-9-1 is known here (its specification, sections 2.3 and 4.2).
const (
	methodFrame, headerFrame, bodyFrame = 1, 2, 3
	frameHead, frameEnd                 = 7, 0xCE
	basicPublish                        = 60<<16 | 40
	mostBody                            = 4 << 20 // of a body that is kept
)

// content is a message that has not come whole.
type content struct {
	message Message
	left    uint64 // bytes of the body that are to come
	held    int    // bytes of it that are kept
}

// frame reads a frame. A message is there with the last frame of its body.
func (r *Reader) frame(b []byte) (int, Said, error) {
	if len(b) < frameHead {
		return 0, Said{}, errLater
	}
	size := uint64(binary.BigEndian.Uint32(b[3:]))
	if size > mostPending {
		return 0, Said{}, errOpaque
	}
	whole := frameHead + int(size) + 1
	if len(b) < whole {
		return 0, Said{}, errLater
	}
	if b[whole-1] != frameEnd {
		return 0, Said{}, errOpaque
	}
	message, err := r.take(b[0], binary.BigEndian.Uint16(b[1:]), b[frameHead:whole-1])
	return whole, Said{Message: message}, err
}

// take takes what a frame holds, and returns the message that is complete with it; nil: none is. A client may begin a message on each
// of its 65,535 channels: all of them together have a bound.
func (r *Reader) take(kind byte, channel uint16, payload []byte) (*Message, error) {
	p := fields{b: payload}
	c := r.contents[channel]
	switch {
	case kind == methodFrame && p.uint(4) == basicPublish:
		p.uint(2)
		if c != nil {
			r.held -= c.held
		}
		r.contents[channel] = &content{message: Message{Exchange: p.short(), RoutingKey: p.short(), Fields: map[string]string{}}}
		return nil, p.err
	case kind == headerFrame && c != nil:
		p.uint(4)
		c.left = p.uint(8)
		p.properties(c.message.Fields)
		if p.err != nil {
			return nil, p.err
		}
		r.hold(c, len(payload))
	case kind == bodyFrame && c != nil:
		n := uint64(len(payload))
		if n > c.left {
			return nil, errOpaque
		}
		c.left -= n
		some := payload[:min(len(payload), mostBody-len(c.message.Body))]
		c.message.Body = append(c.message.Body, some...)
		r.hold(c, len(some))
	default:
		return nil, nil
	}
	if c.left > 0 {
		if r.held > mostPending {
			return nil, errOpaque
		}
		return nil, nil
	}
	r.held -= c.held
	delete(r.contents, channel)
	return &c.message, nil
}

// hold counts bytes that a message keeps until it is whole.
func (r *Reader) hold(c *content, bytes int) {
	c.held += bytes
	r.held += bytes
}

// fields reads what stands one behind the other. After an error everything is empty.
type fields struct {
	b   []byte
	err error
}

// bytes reads so many bytes. They are part of what was given, and not a copy.
func (f *fields) bytes(n uint64) []byte {
	if f.err != nil || n > uint64(len(f.b)) {
		f.b, f.err = nil, errOpaque
		return nil
	}
	some := f.b[:n]
	f.b = f.b[n:]
	return some
}

// uint reads a number of so many bytes, the most significant first.
func (f *fields) uint(size uint64) (value uint64) {
	for _, one := range f.bytes(size) {
		value = value<<8 | uint64(one)
	}
	return value
}

// short and long read a text with its length before it, in one byte or in four (AMQP 0-9-1,
// section 4.2.5.3).
func (f *fields) short() string { return string(f.bytes(f.uint(1))) }

func (f *fields) long() string { return string(f.bytes(f.uint(4))) }

// properties reads those of a message (class basic), in the order of their flags, and its headers.
func (f *fields) properties(into map[string]string) {
	flags := f.uint(2)
	for i, name := range []string{
		"content-type", "content-encoding", "headers", "delivery-mode", "priority", "correlation-id", "reply-to", "expiration", "message-id", "timestamp",
		"type", "user-id", "app-id",
	} {
		if flags&(1<<(15-i)) == 0 {
			continue
		}
		switch name {
		case "headers":
			table := fields{b: []byte(f.long()), err: f.err}
			for len(table.b) > 0 {
				key := table.short()
				into[key] = table.value()
			}
			if f.err == nil {
				f.err = table.err
			}
		case "delivery-mode", "priority":
			f.uint(1)
		case "timestamp":
			f.uint(8)
		default:
			into[name] = f.short()
		}
	}
}

// value reads a value with its type before it (as RabbitMQ has the types), as a text. Of what is made of several the bytes are that.
func (f *fields) value() string {
	kind := f.uint(1)
	switch kind {
	case 'S', 'x', 'A', 'F':
		return f.long()
	case 't':
		return strconv.FormatBool(f.uint(1) != 0)
	case 'b':
		return fmt.Sprint(int8(f.uint(1)))
	case 's':
		return fmt.Sprint(int16(f.uint(2)))
	case 'I':
		return fmt.Sprint(int32(f.uint(4)))
	case 'l', 'L':
		return fmt.Sprint(int64(f.uint(8)))
	case 'B', 'u', 'i', 'T':
		return strconv.FormatUint(f.uint(map[uint64]uint64{'B': 1, 'u': 2, 'i': 4, 'T': 8}[kind]), 10)
	case 'f':
		return fmt.Sprint(math.Float32frombits(uint32(f.uint(4))))
	case 'd':
		return fmt.Sprint(math.Float64frombits(f.uint(8)))
	case 'D':
		f.bytes(5)
	case 'V':
	default:
		f.b, f.err = nil, errOpaque
	}
	return ""
}
