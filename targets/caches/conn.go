package caches

import (
	"bufio"
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
	reply, err := c.read()
	if err != nil {
		return nil, err
	}
	if refused, is := reply.(Refusal); is {
		return nil, refused
	}
	return reply, nil
}

func (c *Conn) exchange(command []string) (any, error) {
	if err := c.write(command); err != nil {
		return nil, err
	}
	return c.read()
}

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

func (r Refusal) Error() string { return string(r) }

// read reads one reply.
func (c *Conn) read() (any, error) {
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
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
		return c.readText(rest)
	case '*':
		return c.readList(rest)
	default:
		return nil, errReply
	}
}

func (c *Conn) readText(length string) (any, error) {
	n, err := number(length)
	if err != nil || n < 0 { // -1 is nil
		return nil, err
	}
	text := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(c.reader, text); err != nil {
		return nil, err
	}
	return string(text[:n]), nil
}

func (c *Conn) readList(length string) (any, error) {
	n, err := number(length)
	if err != nil || n < 0 {
		return nil, err
	}
	list := []any{}
	for range n {
		one, err := c.read()
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// maxLength bounds what a reply may announce: the longest text of Redis is 512 MB.
const maxLength = 1 << 29

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > maxLength {
		return 0, errReply
	}
	return n, nil
}
