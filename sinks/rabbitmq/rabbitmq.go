// Package rabbitmq has sinks that read what the target publishes to an exchange or straight to a queue of RabbitMQ: messages of AMQP
// 0-9-1 into messages of the history. The Go library does not link it; a program that has such sinks gives Follow to the run, as the doubletap command does.
package rabbitmq

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// How long a server may take for what a person would not wait for.
const (
	reachWithin = 10 * time.Second // for the connection and the login
	heartbeat   = 5 * time.Second  // a connection is lost after two that are missed
)

// The firehose of RabbitMQ is an exchange at which the server repeats what comes to others, if it was told to. It is the one way to see
// what is published to the default exchange, to which nothing can be bound.
const (
	firehose = "amq.rabbitmq.trace"
	straight = "publish." // and the name of the exchange, which the default one does not have
)

// follower has a queue of its own at an exchange, of which it takes everything.
type follower struct {
	in       *sinks.Inbox
	spec     targets.RabbitMQSink
	wire     *flow
	conn     *amqp.Connection
	channel  *amqp.Channel
	queue    string
	mark     string // type of our own messages to the queue
	ended    chan struct{}
	progress sinks.Progress

	sent int // of our own
	came int // likewise; guarded by progress
}

// Follow binds a queue to an exchange. The queue is for one connection, and goes with it.
func Follow(ctx context.Context, spec targets.Sink, in *sinks.Inbox) (sinks.Follower, error) {
	f := &follower{in: in, spec: *spec.RabbitMQ, mark: "doubletap-" + strings.ToLower(rand.Text()), ended: make(chan struct{})}
	messages, err := f.begin(ctx)
	if err != nil {
		if f.conn != nil {
			err = errors.Join(err, f.conn.Close())
		}
		return nil, err
	}
	lost := f.channel.NotifyClose(make(chan *amqp.Error, 1)) // which closing closes
	go func() {
		defer close(f.ended)
		for m := range messages {
			f.take(m)
			f.wire.took()
		}
		why := <-lost
		f.progress.Fail(cmp.Or[error](explained(why), errEnded))
	}()
	return f, nil
}

// errEnded says that nothing more comes, for a reason that nobody told.
var errEnded = errors.New("the connection to RabbitMQ was closed")

// explained is why the connection ended; nil: it was closed.
func explained(why *amqp.Error) error {
	if why == nil {
		return nil
	}
	if strings.Contains(why.Reason, errLong.Error()) {
		return errLong
	}
	return fmt.Errorf("the connection to RabbitMQ is lost: %s", why.Reason)
}

// begin connects, and makes the queue.
func (f *follower) begin(ctx context.Context) (<-chan amqp.Delivery, error) {
	address, secure := plain(f.spec.URL)
	var err error
	f.conn, err = amqp.DialConfig(address, amqp.Config{
		Heartbeat: heartbeat,
		Dial: func(network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address, secure)
			if err != nil {
				return nil, err
			}
			f.wire = newFlow(conn)
			return f.wire, nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("reach RabbitMQ: %w", err) // the library's errors hold no URL
	}
	if f.channel, err = f.conn.Channel(); err != nil {
		return nil, fmt.Errorf("ask RabbitMQ: %w", err)
	}
	const durable, deleted, exclusive, noWait, acknowledged, noLocal = false, true, true, false, true, false
	queue, err := f.channel.QueueDeclare("", durable, deleted, exclusive, noWait, nil)
	if err != nil {
		return nil, fmt.Errorf("make a queue in RabbitMQ: %w", err)
	}
	f.queue = queue.Name
	if err := f.bind(); err != nil {
		return nil, err
	}
	messages, err := f.channel.Consume(f.queue, "", acknowledged, exclusive, noLocal, noWait, nil)
	if err != nil {
		return nil, fmt.Errorf("read a queue of RabbitMQ: %w", err)
	}
	return messages, nil
}

// plain returns a URL as the library takes it that is to speak without TLS, and whether the connection is to have it all the same: what
// comes is counted between the two.
func plain(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "amqps" {
		return address, false
	}
	u.Scheme = "amqp"
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "5671")
	}
	return u.String(), true
}

// dial connects, with a deadline that the library lifts after the login.
func dial(ctx context.Context, network, address string, secure bool) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: reachWithin}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if secure {
		host, _, _ := net.SplitHostPort(address)
		conn = tls.Client(conn, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
	}
	return conn, conn.SetDeadline(time.Now().Add(reachWithin))
}

// bind has the queue get what the sink is to see.
func (f *follower) bind() error {
	const noWait = false
	if f.spec.Queue != "" {
		if err := f.channel.QueueBind(f.queue, straight, firehose, noWait, nil); err != nil {
			return fmt.Errorf("bind a queue to the firehose, the exchange %s: %w", firehose, err)
		}
		return nil
	}
	if err := f.channel.QueueBind(f.queue, f.spec.RoutingKey, f.spec.Exchange, noWait, nil); err != nil {
		return fmt.Errorf("bind a queue to the exchange %s, which the target has to make before a run begins: %w", f.spec.Exchange, err)
	}
	return nil
}

// errDry says that the server repeats nothing, so that nothing of a queue is seen.
var errDry = errors.New("what is published straight to a queue is seen by the firehose of RabbitMQ only, which is off: switch it on before a run with rabbitmqctl trace_on (-p VHOST)")

// Close ends the reading. The queue goes with the connection.
func (f *follower) Close() error {
	err := f.conn.Close()
	<-f.ended
	if errors.Is(err, amqp.ErrClosed) { // it is lost already
		return nil
	}
	return err
}

// CatchUp sends a message of our own to the queue, past the exchange, and waits until it comes behind all others.
func (f *follower) CatchUp(ctx context.Context) error {
	f.sent++
	err := f.channel.PublishWithContext(ctx, "", f.queue, false, false, amqp.Publishing{Type: f.mark, Body: []byte(strconv.Itoa(f.sent))})
	if err != nil { // its cause comes with the end of the reading
		return cmp.Or(f.progress.Wait(ctx, func() bool { return false }), err)
	}
	return f.progress.Wait(ctx, func() bool { return f.came >= f.sent })
}

// take puts a message on record, or notes one of our own.
func (f *follower) take(m amqp.Delivery) {
	own := m.Type == f.mark && m.Exchange == ""
	switch {
	case own && f.spec.Queue == "":
		f.progress.Move(func() { f.came++ })
	case own: // the firehose had it before
		number, _ := strconv.Atoi(string(m.Body))
		dry := false
		f.progress.Move(func() { dry = f.came < number })
		if dry {
			f.progress.Fail(errDry)
		}
	case f.spec.Queue != "":
		f.takeRepeated(m)
	default:
		f.publish(m.RoutingKey, m.Headers, map[string]string{
			"message-id": m.MessageId, "correlation-id": m.CorrelationId, "type": m.Type, "app-id": m.AppId, "user-id": m.UserId,
			"content-type": m.ContentType, "content-encoding": m.ContentEncoding, "reply-to": m.ReplyTo,
		}, m.Body)
	}
}

// takeRepeated takes what the firehose repeats: the body as it was, and the rest among its headers. What goes to other queues is not ours.
func (f *follower) takeRepeated(m amqp.Delivery) {
	properties, _ := m.Headers["properties"].(amqp.Table)
	to, _ := m.Headers["routing_keys"].([]any)
	switch {
	case len(to) > 0 && to[0] == f.queue && properties["type"] == f.mark:
		f.progress.Move(func() { f.came++ })
	case slices.Contains(to, any(f.spec.Queue)): // or one of several, by the header CC
		own, fields := amqp.Table{}, map[string]string{}
		for name, value := range properties {
			if headers, is := value.(amqp.Table); is && name == "headers" {
				own = headers
				continue
			}
			fields[strings.ReplaceAll(name, "_", "-")] = text(value)
		}
		f.publish(f.spec.Queue, own, fields, m.Body)
	}
}

// publish puts a message on record.
func (f *follower) publish(to string, headers amqp.Table, properties map[string]string, body []byte) {
	fields := map[string]string{}
	for name, value := range headers {
		fields[name] = text(value)
	}
	for name, value := range properties {
		if value != "" {
			fields[name] = value
		}
	}
	if body == nil {
		body = []byte{}
	}
	f.in.Publish(sinks.Published{At: f.spec.Exchange, To: to, Fields: fields, Body: body})
}

// text is the value of a header.
func text(value any) string {
	if raw, is := value.([]byte); is {
		return string(raw)
	}
	return fmt.Sprint(value)
}
