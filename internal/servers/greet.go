package servers

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
)

// The greetings speak the first words of each server's protocol themselves. A driver would have to be linked into
// every program that starts a server, the user's own tests among them.
//
// They prove that it is our server that answers: another program, such as another private server, may have taken the port
// meanwhile, and answer as ours would. A server that listens in its folder is greeted there: it does so only after it has
// the port. Others are told the password.

// errNotReady says that a server answers, but does not take clients yet.
var errNotReady = errors.New("the server does not take clients yet")

// converse sends what opens a conversation, if anything, and returns the first n bytes of the answer.
func converse(ctx context.Context, network, address string, send []byte, n int) ([]byte, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(send); err != nil {
		return nil, err
	}
	answer := make([]byte, n)
	_, err = io.ReadFull(conn, answer)
	return answer, err
}

// greetPostgres asks to log in. A server that still starts answers with an error ('E'), a ready one asks for the
// password ('R'): PostgreSQL, "Message Flow", section Start-up.
func greetPostgres(ctx context.Context, where site) error {
	const version3 = 3 << 16
	words := "user\x00" + account + "\x00database\x00" + account + "\x00\x00"
	message := binary.BigEndian.AppendUint32(nil, uint32(8+len(words)))
	message = binary.BigEndian.AppendUint32(message, version3)
	answer, err := converse(ctx, "unix", filepath.Join(where.dir, ".s.PGSQL."+strconv.Itoa(where.port)), append(message, words...), 1)
	if err == nil && answer[0] != 'R' {
		err = errNotReady
	}
	return err
}

// greetMariaDB waits for the handshake with which a server that takes clients begins: a length of three bytes, a
// number, and the version of the protocol.
func greetMariaDB(ctx context.Context, where site) error {
	const version, at = 10, 4
	answer, err := converse(ctx, "unix", mariadbSocket(where), nil, at+1)
	if err == nil && answer[at] != version {
		err = errNotReady
	}
	return err
}

// greetRedis logs in.
func greetRedis(ctx context.Context, where site) error {
	const good = "+OK\r\n"
	answer, err := converse(ctx, "tcp", where.address(), fmt.Appendf(nil, "AUTH %s\r\n", where.password), len(good))
	if err == nil && string(answer) != good {
		err = errNotReady
	}
	return err
}

// greetRabbit logs in by AMQP 0-9-1 (section 4.2). A server that takes clients answers the header with a frame of a method, and the right
// password with Connection.Tune; others answer with a header, or close.
func greetRabbit(ctx context.Context, where site) error {
	const frameMethod, frameEnd = 1, 0xce
	const connection, start, startOK, tune = 10, 10, 11, 30
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", where.address())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	// method reads a frame, and returns the number of its method.
	method := func() (uint16, error) {
		head := make([]byte, 7) // type, channel and size
		if _, err := io.ReadFull(conn, head); err != nil {
			return 0, err
		}
		size := binary.BigEndian.Uint32(head[3:])
		if head[0] != frameMethod || size < 4 || size > 1<<16 {
			return 0, errNotReady
		}
		payload := make([]byte, size+1) // and the frame's end
		if _, err := io.ReadFull(conn, payload); err != nil {
			return 0, err
		}
		return binary.BigEndian.Uint16(payload[2:]), nil
	}
	_, _ = conn.Write([]byte("AMQP\x00\x00\x09\x01")) // a failure shows in what is read
	if n, err := method(); err != nil || n != start {
		return cmp.Or(err, errNotReady)
	}
	login := "\x00" + account + "\x00" + where.password
	words := binary.BigEndian.AppendUint16(nil, connection)
	words = binary.BigEndian.AppendUint16(words, startOK)
	words = append(binary.BigEndian.AppendUint32(words, 0), "\x05PLAIN"...) // a client without properties
	words = append(binary.BigEndian.AppendUint32(words, uint32(len(login))), login...)
	words = append(words, "\x05en_US"...)
	frame := binary.BigEndian.AppendUint32([]byte{frameMethod, 0, 0}, uint32(len(words)))
	_, _ = conn.Write(append(append(frame, words...), frameEnd))
	if n, err := method(); err != nil || n != tune {
		return cmp.Or(err, errNotReady)
	}
	return nil
}
