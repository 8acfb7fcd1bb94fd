// Package rabbitmq has sinks that read what the target publishes to an exchange of RabbitMQ: messages of AMQP 0-9-1 into messages of
// the history. The Go library does not link it; a program that has such sinks gives Follow to the run, as the doubletap command does.
package rabbitmq

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
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

// follower has a queue of its own at an exchange, of which it takes everything.
type follower struct {
	in       *sinks.Inbox
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
	f := &follower{in: in, mark: "doubletap-" + strings.ToLower(rand.Text()), ended: make(chan struct{})}
	messages, err := f.begin(ctx, *spec.RabbitMQ)
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
			f.take(m, spec.RabbitMQ.Exchange)
		}
		why := <-lost
		f.progress.Fail(cmp.Or[error](explained(why), errEnded))
	}()
	return f, nil
}

var errEnded = errors.New("the connection to RabbitMQ was closed")

func explained(why *amqp.Error) error {
	if why == nil {
		return nil
	}
	return fmt.Errorf("the connection to RabbitMQ is lost: %s", why.Reason)
}

// begin connects, and makes the queue.
func (f *follower) begin(ctx context.Context, spec targets.RabbitMQSink) (<-chan amqp.Delivery, error) {
	dialer := &net.Dialer{Timeout: reachWithin}
	var err error
	f.conn, err = amqp.DialConfig(spec.URL, amqp.Config{
		Heartbeat: heartbeat, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		Dial: func(network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn, conn.SetDeadline(time.Now().Add(reachWithin)) // which the library lifts after the login
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
	if err := f.channel.QueueBind(f.queue, spec.RoutingKey, spec.Exchange, noWait, nil); err != nil {
		return nil, fmt.Errorf("bind a queue to the exchange %s, which the target has to make before a run begins: %w", spec.Exchange, err)
	}
	messages, err := f.channel.Consume(f.queue, "", acknowledged, exclusive, noLocal, noWait, nil)
	if err != nil {
		return nil, fmt.Errorf("read a queue of RabbitMQ: %w", err)
	}
	return messages, nil
}

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
func (f *follower) take(m amqp.Delivery, exchange string) {
	if m.Type == f.mark && m.Exchange == "" {
		f.progress.Move(func() { f.came++ })
		return
	}
	fields := map[string]string{}
	for name, value := range m.Headers {
		fields[name] = text(value)
	}
	for name, value := range map[string]string{
		"message-id": m.MessageId, "correlation-id": m.CorrelationId, "type": m.Type, "app-id": m.AppId, "user-id": m.UserId,
		"content-type": m.ContentType, "content-encoding": m.ContentEncoding, "reply-to": m.ReplyTo,
	} {
		if value != "" {
			fields[name] = value
		}
	}
	if m.Body == nil {
		m.Body = []byte{}
	}
	f.in.Publish(sinks.Published{At: exchange, To: m.RoutingKey, Fields: fields, Body: m.Body})
}

// text is the value of a header.
func text(value any) string {
	if raw, is := value.([]byte); is {
		return string(raw)
	}
	return fmt.Sprint(value)
}
