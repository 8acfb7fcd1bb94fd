package rabbitmq

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// said is a connection on which a server has said something.
type said struct {
	net.Conn
	text io.Reader
}

func (s said) Read(p []byte) (int, error) { return s.text.Read(p) }
func (s said) Close() error               { return nil }

// frameOf is one of AMQP 0-9-1.
func frameOf(kind byte, payload []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{kind, 0, 1}, uint32(len(payload)))
	return append(append(head, payload...), 0xce)
}

// messageOf is a method, a head that tells the length of a body, and the body in two frames.
func messageOf(length uint64, body []byte) []byte {
	head := binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, length)
	text := append(frameOf(1, []byte("deliver")), frameOf(headerFrame, append(head, 0, 0))...)
	if len(body) == 0 {
		return text
	}
	return append(append(text, frameOf(bodyFrame, body[:len(body)/2])...), frameOf(bodyFrame, body[len(body)/2:])...)
}

// TestWhatComesIsCountedAndPassedOn reads messages byte by byte and at once.
func TestWhatComesIsCountedAndPassedOn(t *testing.T) {
	t.Parallel()
	text := bytes.Join([][]byte{frameOf(8, nil), messageOf(9, []byte("nine byte")), messageOf(0, nil), frameOf(headerFrame, []byte("short")), messageOf(4, []byte("four"))}, nil)
	for name, in := range map[string]io.Reader{"whole": bytes.NewReader(text), "bytes": iotest.OneByteReader(bytes.NewReader(text))} {
		f := newFlow(said{text: in})
		got, err := io.ReadAll(f)
		require.NoError(t, err, name)
		require.Equal(t, text, got, name)
		require.Equal(t, []uint64{7 + 14 + 9, 7 + 14, 5 + 7 + 14 + 4}, f.waiting, name)
	}
}

func TestAMessageOfAnyLengthIsNotRead(t *testing.T) {
	t.Parallel()
	for _, length := range []uint64{mostMessage + 1, 1 << 62} {
		_, err := io.ReadAll(newFlow(said{text: bytes.NewReader(messageOf(length, nil))}))
		require.ErrorIs(t, err, errLong)
	}
}

// TestNoMoreIsReadThanThereIsRoomFor has a server send without an end what nobody takes.
func TestNoMoreIsReadThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	f := newFlow(client)
	const length = mostWaiting / 4
	sent, read := make(chan struct{}, 100), make(chan error, 1)
	go func() {
		one := messageOf(length, make([]byte, length))
		for {
			if _, err := server.Write(one); err != nil {
				return
			}
			sent <- struct{}{}
		}
	}()
	go func() {
		_, err := io.Copy(io.Discard, f)
		read <- err
	}()
	for range 4 { // with their frames these are too much
		<-sent
	}
	for range 8 {
		require.Less(t, f.held(), uint64(mostWaiting+length))
		f.took()
		<-sent
	}
	require.NoError(t, f.Close(), "which ends a Read that waits")
	require.NoError(t, server.Close())
	<-read
}

// held is how much is read and not taken.
func (f *flow) held() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sum
}
