package caches

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// commandTimeout bounds one command, and the first contact, where the context allows longer.
const commandTimeout = 10 * time.Second

// errReply says that a reply has another form than the command promises.
var errReply = errors.New("the store's answer cannot be understood")

// options is what the URL of a store says.
type options struct {
	address  string
	user     string
	password string
	database string      // its number
	tls      *tls.Config // nil: without
}

// parse understands redis://user:password@host:port/number, and rediss, which asks for TLS.
func parse(storeURL string) (options, error) {
	u, err := url.Parse(storeURL)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" {
		return options{}, ErrURL
	}
	o := options{user: u.User.Username(), database: strings.Trim(u.Path, "/")}
	o.password, _ = u.User.Password()
	if given := u.Query().Get("db"); o.database == "" {
		o.database = given
	}
	if _, err := strconv.Atoi(o.database); err != nil && o.database != "" {
		return options{}, ErrURL
	}
	if u.Scheme == "rediss" {
		skip, _ := strconv.ParseBool(u.Query().Get("skip_verify"))
		o.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, InsecureSkipVerify: skip}
	}
	o.address, err = AddressOf(storeURL)
	return o, err
}

// Conn is one connection that speaks RESP2, the protocol of Redis (redis.io/docs/latest/develop/reference/protocol-spec), as far as
// flushes and sinks need it. It is for one goroutine, but for Close.
type Conn struct {
	conn     net.Conn
	reader   *bufio.Reader
	database string
}

// Dial connects to the Redis server of a URL, logs in and selects the database. The error never holds the URL.
func Dial(ctx context.Context, storeURL string) (*Conn, error) {
	o, err := parse(storeURL)
	if err != nil {
		return nil, err
	}
	return dial(ctx, o)
}

// dial connects, logs in and selects the database.
func dial(ctx context.Context, o options) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.address)
	if err != nil {
		return nil, err
	}
	if o.tls != nil {
		raw = tls.Client(raw, o.tls)
	}
	c := &Conn{conn: raw, reader: bufio.NewReader(raw), database: cmp.Or(o.database, "0")}
	for _, command := range greeting(o) {
		if _, err := c.Do(ctx, command...); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// greeting lists the commands with which a connection begins.
func greeting(o options) [][]string {
	var all [][]string
	switch {
	case o.user != "":
		all = append(all, []string{"AUTH", o.user, o.password})
	case o.password != "":
		all = append(all, []string{"AUTH", o.password})
	}
	if o.database != "" && o.database != "0" {
		all = append(all, []string{"SELECT", o.database})
	}
	return append(all, []string{"PING"})
}

// Database is the number of the database in which its commands work.
func (c *Conn) Database() string { return c.database }

// Close ends the connection, and what waits for a reply on it.
func (c *Conn) Close() error { return c.conn.Close() }

// Do sends a command and returns its reply: a string, an int, nil or a []any of these. It takes 10 s at most. After an error of
// the network the connection is of no more use; a [Refusal] is what the server says against the command.
func (c *Conn) Do(ctx context.Context, command ...string) (any, error) {
	deadline := time.Now().Add(commandTimeout)
	if by, is := ctx.Deadline(); is && by.Before(deadline) {
		deadline = by
	}
	_ = c.conn.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { c.conn.Close() })()
	reply, err := c.exchange(command)
	if err != nil {
		return nil, err
	}
	if refused, is := reply.(Refusal); is {
		return nil, refused
	}
	return reply, nil
}

// Send sends a command whose replies [Conn.Receive] returns.
func (c *Conn) Send(command ...string) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(commandTimeout))
	return c.write(command)
}

// Receive waits for a reply as long as it takes, until the connection is closed.
func (c *Conn) Receive() (any, error) {
	_ = c.conn.SetReadDeadline(time.Time{})
	reply, err := c.reply()
	if err != nil {
		return nil, err
	}
	if refused, is := reply.(Refusal); is {
		return nil, refused
	}
	return reply, nil
}

// exchange sends a command and reads one reply.
func (c *Conn) exchange(command []string) (any, error) {
	if err := c.write(command); err != nil {
		return nil, err
	}
	return c.reply()
}

// write writes a command as a list of texts whose lengths are told, so that a key may hold any
// byte.
func (c *Conn) write(command []string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
	}
	_, err := io.WriteString(c.conn, text.String())
	return err
}

// integer sends a command whose reply is a number.
func (c *Conn) integer(ctx context.Context, command ...string) (int, error) {
	reply, err := c.Do(ctx, command...)
	if err != nil {
		return 0, err
	}
	n, is := reply.(int)
	if !is {
		return 0, errReply
	}
	return n, nil
}

// Refusal is what the store says against a command.
type Refusal string

// Error is the server's text, which begins with a word in capitals, such as NOAUTH.
func (r Refusal) Error() string { return string(r) }

// What a reply may hold. A server that sends more is none of Redis, or has values that no sink and no flush is about.
const (
	mostReply   = 64 << 20 // bytes
	mostElement = 1 << 20  // elements of lists
	deepest     = 16       // lists in one another
)

// errLarge says that a reply is larger than [mostReply], or has more lists in one another than any command's.
var errLarge = fmt.Errorf("the store's answer is larger than %d MiB, or nested deeper than %d lists", mostReply>>20, deepest)

// reply reads one reply.
func (c *Conn) reply() (any, error) {
	r := replyReader{from: c.reader, bytes: mostReply, elements: mostElement}
	return r.read(0)
}

// replyReader reads one reply, and no more than it may hold.
type replyReader struct {
	from            *bufio.Reader
	bytes, elements int // that are left
}

// read reads a reply inside of so many lists.
func (r *replyReader) read(depth int) (any, error) {
	line, err := r.line()
	if err != nil {
		return nil, err
	}
	if line == "" {
		return nil, errReply
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return Refusal(rest), nil
	case ':':
		return number(rest)
	case '$':
		return r.text(rest)
	case '*':
		return r.list(rest, depth)
	default:
		return nil, errReply
	}
}

// line reads a line, without its end.
func (r *replyReader) line() (string, error) {
	var line []byte
	for {
		part, err := r.from.ReadSlice('\n')
		if r.bytes -= len(part); r.bytes < 0 {
			return "", errLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(string(line), "\r\n"), err
		}
	}
}

// text reads a text of a length that the server has told.
func (r *replyReader) text(length string) (any, error) {
	n, err := size(length)
	if err != nil || n < 0 { // -1 is nil
		return nil, err
	}
	if r.bytes -= n + len("\r\n"); r.bytes < 0 {
		return nil, errLarge
	}
	var text bytes.Buffer // which grows with what comes, and not with what is announced
	if _, err := io.CopyN(&text, r.from, int64(n)+int64(len("\r\n"))); err != nil {
		return nil, err
	}
	return string(text.Bytes()[:n]), nil
}

// list reads a list of so many replies.
func (r *replyReader) list(length string, depth int) (any, error) {
	n, err := size(length)
	if err != nil || n < 0 {
		return nil, err
	}
	if r.elements -= n; r.elements < 0 || depth >= deepest {
		return nil, errLarge
	}
	list := []any{}
	for range n {
		one, err := r.read(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// size reads the length of a text or a list.
func size(text string) (int, error) {
	n, err := number(text)
	if err == nil && n > mostReply {
		err = errLarge
	}
	return n, err
}

// number reads a whole number.
func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, errReply
	}
	return n, nil
}
