package rabbitmq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap"
	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/sinks/rabbitmq"
	"github.com/doubletap-harness/doubletap/targets"
)

const marker = "dtabcdefgh12345678"

// inbox collects what is taken down.
type inbox struct {
	mu  sync.Mutex
	all []history.Message
}

func (i *inbox) add(m history.Message) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = append(i.all, m)
}

func (i *inbox) messages() []history.Message {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.all)
}

// followed reads what is published to an exchange.
func followed(t *testing.T, spec targets.RabbitMQSink) (*inbox, *sinks.Sinks) {
	t.Helper()
	s, in := &sinks.Sinks{}, &inbox{}
	require.NoError(t, s.Follow(t.Context(), map[string]targets.Sink{"events": {RabbitMQ: &spec}}, sinks.Protocols{RabbitMQ: rabbitmq.Follow}))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	watch(t, s, in)
	return in, s
}

func watch(t *testing.T, s *sinks.Sinks, in *inbox) {
	t.Helper()
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: in.add, Hide: func(text string) string { return text }}))
}

// shop is a client of the broker, which waits until what it publishes is there.
type shop struct {
	conn    *amqp.Connection
	channel *amqp.Channel
}

func newShop(t *testing.T, address string) shop {
	t.Helper()
	conn, err := amqp.Dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	channel, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, channel.Confirm(false))
	require.NoError(t, channel.ExchangeDeclare("orders", amqp.ExchangeTopic, false, false, false, false, nil))
	return shop{conn, channel}
}

func (s shop) publish(ctx context.Context, key string, m amqp.Publishing) error {
	return s.publishTo(ctx, "orders", key, m)
}

func (s shop) publishTo(ctx context.Context, exchange, key string, m amqp.Publishing) error {
	sent, err := s.channel.PublishWithDeferredConfirmWithContext(ctx, exchange, key, false, false, m)
	if err != nil {
		return err
	}
	_, err = sent.WaitContext(ctx)
	return err
}

// TestWhatIsPublishedInRabbitMQIsSeen has one server, which takes seconds to start.
func TestWhatIsPublishedInRabbitMQIsSeen(t *testing.T) {
	server, err := servers.RabbitMQ(t.Context(), servers.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	s := newShop(t, server.URL())

	t.Run("messages", func(t *testing.T) {
		in, all := followed(t, targets.RabbitMQSink{URL: server.URL(), Exchange: "orders", RoutingKey: "order.#", Message: targets.MessageParts{
			Intent: "/order/id", Key: "message-id", Type: "x-event", Idempotent: true,
		}})
		const trace = "0af7651916cd43dd8448eb211c80319c"
		first := amqp.Publishing{MessageId: "m1", Headers: amqp.Table{"X-Event": "created", "traceparent": "00-" + trace + "-b7ad6b7169203331-01", "n": int32(1)}, Body: []byte(`{"order": {"id": 7, "note": "\u0064` + marker[1:] + `"}}`)}
		for key, m := range map[string]amqp.Publishing{"order.created": first} {
			require.NoError(t, s.publish(t.Context(), key, m))
			require.NoError(t, s.publish(t.Context(), key, m))
		}
		require.NoError(t, s.publish(t.Context(), "parcel.sent", amqp.Publishing{}))
		require.NoError(t, s.publish(t.Context(), "order", amqp.Publishing{}))
		require.NoError(t, all.CatchUp(t.Context()))
		got := in.messages()
		require.Len(t, got, 3, "another routing key is another message")
		require.Equal(t, history.Message{
			ID: "events-1", Sink: "events", At: got[0].At, Method: history.Publish, Path: "orders", To: []string{"order.created"}, Subject: "created", Key: "m1",
			Intent: "7", Names: []string{marker}, Traces: []string{trace}, Acted: true, Content: string(first.Body), Length: int64(len(first.Body)),
		}, got[0])
		require.Equal(t, "events-1", got[1].First)
		require.Equal(t, "message to orders (order)", got[2].What())
	})
	t.Run("what cannot be read", func(t *testing.T) {
		wrong, err := url.Parse(server.URL())
		require.NoError(t, err)
		wrong.User = url.UserPassword("doubletap", "hunter22")
		for says, spec := range map[string]targets.RabbitMQSink{
			`sinks.events: bind a queue to the exchange nope, which the target has to make before a run begins: Exception (404) Reason: "NOT_FOUND`: {URL: server.URL(), Exchange: "nope", RoutingKey: "#"},
			"sinks.events: reach RabbitMQ: Exception (403)":                                   {URL: wrong.String(), Exchange: "orders", RoutingKey: "#"},
			"sinks.events: reach RabbitMQ: dial tcp 127.0.0.1:1: connect: connection refused": {URL: "amqp://:hunter22@127.0.0.1:1/", Exchange: "orders", RoutingKey: "#"},
		} {
			err := (&sinks.Sinks{}).Follow(t.Context(), map[string]targets.Sink{"events": {RabbitMQ: &spec}}, sinks.Protocols{RabbitMQ: rabbitmq.Follow})
			require.ErrorContains(t, err, says)
			require.NotContains(t, err.Error(), "hunter22")
		}
	})
	t.Run("kept from the broker", func(t *testing.T) {
		keptBack(t, server.URL(), targets.RabbitMQSink{URL: server.URL(), Exchange: "orders", RoutingKey: "order.*"}, "orders", "order.created")
	})
	t.Run("a whole run", func(t *testing.T) {
		for times, verdict := range map[int]checker.Verdict{1: checker.Pass, 2: checker.Fail} {
			report, err := doubletap.Run(t.Context(), doubletap.Config{
				Target: "shop.yaml", TargetText: strings.ReplaceAll(target, "URL", server.URL()), Handler: s.api(times), Scenarios: []string{"plain-create"}, Seed: 3,
				Parts: doubletap.Parts{Sinks: sinks.Protocols{RabbitMQ: rabbitmq.Follow}},
			})
			require.NoError(t, err)
			result := report.Results[0]
			require.Equal(t, verdict, result.Verdict, "%+v", result)
			if times > 1 {
				require.Equal(t, checker.EffectMismatch, result.Findings[0].Kind)
			}
		}
	})
	t.Run("straight to a queue", func(t *testing.T) {
		jobs := targets.RabbitMQSink{URL: server.URL(), Queue: "jobs", Message: targets.MessageParts{Intent: "x-order", Key: "message-id", Type: "/kind", Idempotent: true}}
		err := (&sinks.Sinks{}).Follow(t.Context(), map[string]targets.Sink{"jobs": {RabbitMQ: &jobs}}, sinks.Protocols{RabbitMQ: rabbitmq.Follow})
		require.ErrorContains(t, err, "sinks.jobs: what is published straight to a queue is seen by the firehose of RabbitMQ only, which is off")

		require.NoError(t, servers.RabbitControl(t.Context(), server, "trace_on"))
		_, err = s.channel.QueueDeclare("jobs", false, false, false, false, nil)
		require.NoError(t, err)
		worker, err := s.channel.Consume("jobs", "", true, false, false, false, nil)
		require.NoError(t, err)
		in, all := followed(t, jobs)
		job := amqp.Publishing{MessageId: "m1", Headers: amqp.Table{"X-Order": []byte("7"), "n": amqp.Table{"a": int32(1)}}, Body: []byte(`{"kind": "mail", "note": "` + marker + `"}`)}
		for _, to := range []string{"jobs", "other", "jobs"} {
			require.NoError(t, s.publishTo(t.Context(), "", to, job))
		}
		require.NoError(t, s.publishTo(t.Context(), "orders", "jobs", job))
		require.NoError(t, s.publishTo(t.Context(), "", "other", amqp.Publishing{Headers: amqp.Table{"CC": []any{"jobs"}}}))
		require.NoError(t, all.CatchUp(t.Context()))
		got := in.messages()
		require.Len(t, got, 3, "what goes to other queues, or to an exchange, is another message")
		require.Equal(t, history.Message{
			ID: "events-1", Sink: "events", At: got[0].At, Method: history.Publish, To: []string{"jobs"}, Subject: "mail", Key: "m1",
			Intent: "7", Names: []string{marker}, Acted: true, Content: string(job.Body), Length: int64(len(job.Body)),
		}, got[0])
		require.Equal(t, "events-1", got[1].First)
		require.Equal(t, `message to jobs`, got[2].What())
		for range 3 {
			<-worker
		}

		t.Run("kept from the broker", func(t *testing.T) { keptBack(t, server.URL(), jobs, "", "jobs") })
		require.NoError(t, servers.RabbitControl(t.Context(), server, "trace_off"))
		require.ErrorContains(t, all.CatchUp(t.Context()), "messages of the sink events may be missing: what is published straight to a queue")
	})
	t.Run("a connection that is lost", func(t *testing.T) {
		_, all := followed(t, targets.RabbitMQSink{URL: server.URL(), Exchange: "orders", RoutingKey: "#"})
		require.NoError(t, all.CatchUp(t.Context()))
		require.NoError(t, server.Stop())
		for range 2 {
			require.ErrorContains(t, all.CatchUp(t.Context()), "messages of the sink events may be missing: the connection to RabbitMQ is lost")
		}
	})
}

// keptBack publishes behind a link, with a trap for a marker: what is kept never comes, and others do.
func keptBack(t *testing.T, address string, spec targets.RabbitMQSink, exchange, key string) {
	t.Helper()
	in, all := followed(t, spec)
	u, err := url.Parse(address)
	require.NoError(t, err)
	link, err := proxy.OpenLinkProxy(t.Context(), "dependency", "127.0.0.1:0", u.Host, proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	var gate sinks.Gate
	link.Screen(func() proxy.Screen { return gate.Screen() })
	all.Guard("events", &gate)
	u.Host = link.Address()

	s := newShop(t, u.String())
	sprung, release := all.Trap([]string{marker}, true)
	for to, text := range map[string]string{key: "dt0000000000000000", "elsewhere": marker} {
		require.NoError(t, s.publishTo(t.Context(), exchange, to, amqp.Publishing{Body: []byte(text)}))
	}
	require.NoError(t, all.CatchUp(t.Context()), "what is not kept is on record first")
	lost := make(chan error, 1)
	go func() {
		sent, err := s.channel.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{Headers: amqp.Table{"x-order": "7"}, Body: []byte(strings.Repeat("x", 200_000) + marker)})
		if err == nil && !sent.Wait() {
			err = amqp.ErrClosed
		}
		lost <- err
	}()
	id := <-sprung
	require.NoError(t, all.CatchUp(t.Context()))
	require.Empty(t, lost, "it is not answered")
	release()
	require.Error(t, <-lost)
	s = newShop(t, u.String())
	require.NoError(t, s.publishTo(t.Context(), exchange, key, amqp.Publishing{Body: []byte(marker)}))
	require.NoError(t, all.CatchUp(t.Context()))
	var said []string
	for _, m := range in.messages() {
		said = append(said, fmt.Sprintf("%t %t %s %v", m.ID == id, m.Acted, m.Fault, m.Names))
	}
	require.Equal(t, []string{"false true  [dt0000000000000000]", "true false crash [" + marker + "]", "false true  [" + marker + "]"}, said)
}

const target = `name: shop
base_url: http://127.0.0.1:1
sinks: {events: {rabbitmq: {url: "URL", exchange: orders, routing_key: order.*}}}
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    identity: /id
    rows: {http: {path: "/orders?note={{.Intent.Marker}}"}, identity: id}
    effects: [{name: event, seen: events, where: {to: order.created}}]
`

// api makes orders, and publishes each so many times.
func (s shop) api(times int) http.Handler {
	var mu sync.Mutex
	byKey, notes := map[string]int{}, map[string][]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			all := []map[string]int{}
			for _, id := range notes[r.URL.Query().Get("note")] {
				all = append(all, map[string]int{"id": id})
			}
			_ = json.NewEncoder(w).Encode(all)
			return
		}
		var order struct{ Note string }
		_ = json.NewDecoder(r.Body).Decode(&order)
		key := r.Header.Get("Idempotency-Key")
		id, known := byKey[key]
		if !known {
			id = len(byKey) + 1
			byKey[key], notes[order.Note] = id, append(notes[order.Note], id)
			for range times {
				if err := s.publish(r.Context(), "order.created", amqp.Publishing{Body: []byte(order.Note)}); err != nil {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
			}
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id":%d}`, id)
	})
}
