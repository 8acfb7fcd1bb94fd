package servers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// The greetings speak the first words of each server's protocol themselves. A driver would have to be linked into
// every program that starts a server, the user's own tests among them.

// errNotReady says that a server answers, but does not take clients yet.
var errNotReady = errors.New("the server does not take clients yet")

// converse sends what opens a conversation, if anything, and returns the first n bytes of the answer.
func converse(ctx context.Context, where site, send []byte, n int) ([]byte, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", where.address())
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
	answer, err := converse(ctx, where, append(message, words...), 1)
	if err == nil && answer[0] != 'R' {
		err = errNotReady
	}
	return err
}

// greetMariaDB waits for the handshake with which a server that takes clients begins: a length of three bytes, a
// number, and the version of the protocol.
func greetMariaDB(ctx context.Context, where site) error {
	const version, at = 10, 4
	answer, err := converse(ctx, where, nil, at+1)
	if err == nil && answer[at] != version {
		err = errNotReady
	}
	return err
}

// greetRedis logs in.
func greetRedis(ctx context.Context, where site) error {
	const good = "+OK\r\n"
	answer, err := converse(ctx, where, fmt.Appendf(nil, "AUTH %s\r\n", where.password), len(good))
	if err == nil && string(answer) != good {
		err = errNotReady
	}
	return err
}

// greetRabbit begins to speak AMQP 0-9-1. A server that takes clients answers with a frame of a method; others with a header.
func greetRabbit(ctx context.Context, where site) error {
	const method = 1
	answer, err := converse(ctx, where, []byte("AMQP\x00\x00\x09\x01"), 1)
	if err == nil && answer[0] != method {
		err = errNotReady
	}
	return err
}
