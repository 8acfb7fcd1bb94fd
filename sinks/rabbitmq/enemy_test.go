package rabbitmq_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/sinks/rabbitmq"
	"github.com/doubletap-harness/doubletap/targets"
)

// frame is one of AMQP 0-9-1 (section 4.2.3).
func frame(kind byte, channel uint16, payload ...[]byte) []byte {
	var text []byte
	for _, part := range payload {
		text = append(text, part...)
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16([]byte{kind}, channel), uint32(len(text)))
	return append(append(head, text...), 0xce)
}

func short(n uint16) []byte  { return binary.BigEndian.AppendUint16(nil, n) }
func long(n uint32) []byte   { return binary.BigEndian.AppendUint32(nil, n) }
func length(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
func word(s string) []byte   { return append([]byte{byte(len(s))}, s...) }

// method is the beginning of a method's arguments.
func method(class, number uint16) []byte { return append(short(class), short(number)...) }

// impostor is a server that lets a client in, and then sends frames of its own to whoever reads its queue.
func impostor(t *testing.T, frames func(tag string) []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go speak(c, frames)
		}
	}()
	return "amqp://u:p@" + listener.Addr().String() + "/"
}

// speak answers each method of a client.
func speak(c net.Conn, frames func(tag string) []byte) {
	defer c.Close()
	in := bufio.NewReader(c)
	_, _ = io.ReadFull(in, make([]byte, 8)) // the protocol's name
	_, _ = c.Write(frame(1, 0, method(10, 10), []byte{0, 9}, long(0), long(5), []byte("PLAIN"), long(5), []byte("en_US")))
	for {
		head := make([]byte, 7)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		text := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
		if _, err := io.ReadFull(in, text); err != nil {
			return
		}
		if head[0] != 1 {
			continue
		}
		channel := binary.BigEndian.Uint16(head[1:])
		answers := map[[2]uint16][]byte{
			{10, 11}: frame(1, 0, method(10, 30), short(0), long(0), short(0)), // no limit of any kind
			{10, 40}: frame(1, 0, method(10, 41), word("")),
			{20, 10}: frame(1, channel, method(20, 11), long(0)),
			{50, 10}: frame(1, channel, method(50, 11), word("q"), long(0), long(0)),
			{50, 20}: frame(1, channel, method(50, 21)),
			{10, 50}: frame(1, 0, method(10, 51)),
		}
		called := [2]uint16{binary.BigEndian.Uint16(text), binary.BigEndian.Uint16(text[2:])}
		if called == [2]uint16{60, 20} {
			queue := int(text[6])
			tag := string(text[8+queue : 8+queue+int(text[7+queue])])
			_, _ = c.Write(append(frame(1, channel, method(60, 21), word(tag)), frames(tag)...))
		}
		_, _ = c.Write(answers[called])
	}
}

// TestAServerThatLiesAboutItsMessages has an enemy in place of RabbitMQ: a message that is said to be longer than memory, and frames that come when none should.
func TestAServerThatLiesAboutItsMessages(t *testing.T) {
	t.Parallel()
	deliver := func(tag string) []byte {
		return frame(1, 1, method(60, 60), word(tag), length(1), []byte{0}, word("x"), word("y"))
	}
	for name, frames := range map[string]func(tag string) []byte{
		"a message longer than memory": func(tag string) []byte {
			return append(append(deliver(tag), frame(2, 1, short(60), short(0), length(1<<62), short(0))...), frame(3, 1, []byte("x"))...)
		},
		"a body without a head": func(tag string) []byte { return append(deliver(tag), frame(3, 1, []byte("x"))...) },
		"a heartbeat in a head": func(tag string) []byte { return append(deliver(tag), frame(8, 1)...) },
		"a head that comes twice": func(tag string) []byte {
			head := frame(2, 1, short(60), short(0), length(9), short(0))
			return append(append(append(deliver(tag), head...), head...), frame(3, 1, []byte("x"))...)
		},
		"a frame of an unknown kind": func(string) []byte { return frame(99, 1, []byte("x")) },
		"a frame longer than memory": func(string) []byte { return []byte{1, 0, 1, 0xff, 0xff, 0xff, 0xff} },
		"a channel that is not open": func(tag string) []byte {
			return frame(1, 77, method(60, 60), word(tag), length(1), []byte{0}, word("x"), word("y"))
		},
		"a method that does not exist": func(string) []byte { return frame(1, 1, method(77, 77)) },
		"a table that holds itself": func(tag string) []byte {
			return append(deliver(tag), frame(2, 1, short(60), short(0), length(0), short(1<<13), long(1<<31))...)
		},
		"a message to another consumer": func(string) []byte {
			return append(deliver("none"), frame(2, 1, short(60), short(0), length(0), short(0))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, in := &sinks.Sinks{}, &inbox{}
			spec := targets.Sink{RabbitMQ: &targets.RabbitMQSink{URL: impostor(t, frames), Exchange: "x"}}
			err := s.Follow(t.Context(), map[string]targets.Sink{"events": spec}, sinks.Protocols{RabbitMQ: rabbitmq.Follow})
			if s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: in.add, Hide: func(text string) string { return text }}) == nil {
				s.Unwatch()
			}
			require.ErrorContains(t, err, "RabbitMQ")
			require.NoError(t, s.Close())
			require.LessOrEqual(t, len(in.messages()), 1)
		})
	}
}
