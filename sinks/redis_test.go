package sinks_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// events follows what is published in a private Redis server.
func events(t *testing.T, address string, spec targets.RedisSink) (*record, *sinks.Sinks) {
	t.Helper()
	spec.URL = address
	s := &sinks.Sinks{}
	require.NoError(t, s.Follow(t.Context(), map[string]targets.Sink{"events": {Redis: &spec}}, sinks.Protocols{}))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	r := &record{}
	watch(t, s, r)
	return r, s
}

func watch(t *testing.T, s *sinks.Sinks, r *record) {
	t.Helper()
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: r.add, Hide: func(text string) string { return strings.ReplaceAll(text, "hush-hush", "***") }}))
}

// TestWhatIsPublishedInRedisIsSeen has one server for all that can be published there. Nothing waits: what is published is on record
// as soon as the sinks have caught up.
func TestWhatIsPublishedInRedisIsSeen(t *testing.T) {
	t.Parallel()
	server, err := servers.Redis(t.Context(), servers.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	shop := redis.NewClient(options)
	t.Cleanup(func() { shop.Close() })
	add := func(t *testing.T, stream string, values ...string) {
		require.NoError(t, shop.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: values}).Err())
	}
	const trace = "0af7651916cd43dd8448eb211c80319c"

	t.Run("a stream, beside its consumers", func(t *testing.T) {
		require.NoError(t, shop.XGroupCreateMkStream(t.Context(), "orders", "shipping", "$").Err())
		add(t, "orders", "note", marker)
		r, s := events(t, server.URL(), targets.RedisSink{Stream: "orders", Message: targets.MessageParts{Intent: "/payload/order", Key: "Event", Type: "type", Idempotent: true}})
		add(t, "orders", "type", "order.created", "event", "e1", "payload", `{"order": 12345678901234567, "note": "`+strings.ToUpper(marker)+`"}`, "traceparent", "00-"+trace+"-b7ad6b7169203331-01")
		add(t, "orders", "type", "order.created", "event", "e1", "secret", "hush-hush")
		require.NoError(t, s.CatchUp(t.Context()))
		got := r.messages()
		require.Len(t, got, 2, "what was there before is not of this run")
		m := got[0]
		require.Equal(t, history.Message{
			ID: "events-1", Sink: "events", At: m.At, Method: history.Publish, To: []string{"orders"}, Subject: "order.created", Key: "e1",
			Intent: "12345678901234567", Names: []string{marker}, Traces: []string{trace}, Acted: true, Content: m.Content, Length: m.Length,
		}, m)
		require.Equal(t, `message to orders, "order.created"`, m.What())
		require.Equal(t, "events-1", got[1].First)
		require.Contains(t, got[1].Content, "***")
		read, err := shop.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: "shipping", Consumer: "one", Streams: []string{"orders", ">"}, Block: -1}).Result()
		require.NoError(t, err)
		require.Len(t, read[0].Messages, 3, "its consumers get all")
	})
	t.Run("a stream that is not there yet", func(t *testing.T) {
		r, s := events(t, server.URL(), targets.RedisSink{Stream: "new"})
		require.NoError(t, s.CatchUp(t.Context()))
		add(t, "new", "a", "1")
		require.NoError(t, s.CatchUp(t.Context()))
		require.Len(t, r.messages(), 1)
	})
	t.Run("entries that are trimmed at once", func(t *testing.T) {
		_, s := events(t, server.URL(), targets.RedisSink{Stream: "short"})
		_, err := shop.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
			for range 3 {
				tx.XAdd(t.Context(), &redis.XAddArgs{Stream: "short", MaxLen: 1, Values: []string{"a", "1"}})
			}
			return nil
		})
		require.NoError(t, err)
		require.ErrorContains(t, s.CatchUp(t.Context()), "messages of the sink events may be missing: 2 of 3 entries of the stream short were gone before they were read")
	})
	t.Run("a list, with a worker that pops at once", func(t *testing.T) {
		r, s := events(t, server.URL(), targets.RedisSink{List: "queue:*"})
		popped := make(chan []string, 1)
		go func() {
			got, _ := shop.BLPop(context.Background(), 0, "queue:mails").Result()
			popped <- got
		}()
		binary := "\"a\\ü\r\n\t\x00\xff" + marker
		require.NoError(t, shop.RPush(t.Context(), "queue:mails", binary).Err())
		require.Equal(t, []string{"queue:mails", binary}, <-popped)
		_, err := shop.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
			tx.LPush(t.Context(), "queue:calls", "one", "two")
			tx.LPush(t.Context(), "other", "three")
			return nil
		})
		require.NoError(t, err)
		discarding := shop.Conn()
		for _, command := range [][]any{{"MULTI"}, {"RPUSH", "queue:calls", "never"}, {"DISCARD"}} {
			require.NoError(t, discarding.Do(t.Context(), command...).Err())
		}
		require.NoError(t, discarding.Do(t.Context(), "SELECT", "3").Err())
		require.NoError(t, discarding.RPush(t.Context(), "queue:calls", "elsewhere").Err())
		require.NoError(t, discarding.Do(t.Context(), "SELECT", "0").Err())
		require.NoError(t, discarding.Close())
		require.NoError(t, shop.Eval(t.Context(), `return redis.call("RPUSH", KEYS[1], ARGV[1])`, []string{"queue:calls"}, "by a script").Err())
		require.NoError(t, shop.LInsertBefore(t.Context(), "queue:calls", "one", "between").Err())
		require.NoError(t, s.CatchUp(t.Context()))
		var texts []string
		for _, m := range r.messages() {
			texts = append(texts, m.To[0]+" "+m.Content)
		}
		require.Equal(t, []string{"queue:mails " + strings.ToValidUTF8(binary, "\ufffd"), "queue:calls one", "queue:calls two", "queue:calls by a script", "queue:calls between"}, texts)
		require.Equal(t, []string{marker}, r.messages()[0].Names)
		require.EqualValues(t, 4, shop.LLen(t.Context(), "queue:calls").Val(), "nothing is popped")
	})
	t.Run("channels", func(t *testing.T) {
		r, s := events(t, server.URL(), targets.RedisSink{Channel: "orders.*"})
		for _, channel := range []string{"orders.eu", "other", "orders.us"} {
			require.NoError(t, shop.Publish(t.Context(), channel, `{"data": {"note": "`+marker+`"}}`).Err())
		}
		require.NoError(t, s.CatchUp(t.Context()))
		got := r.messages()
		require.Len(t, got, 2)
		require.Equal(t, []string{"orders.us"}, got[1].To)
		require.Equal(t, []string{marker}, got[1].Names)
		one, s := events(t, server.URL(), targets.RedisSink{Channel: "orders"})
		require.NoError(t, shop.Publish(t.Context(), "orders", "").Err())
		require.NoError(t, s.CatchUp(t.Context()))
		require.Len(t, one.messages(), 1)
	})
	t.Run("a connection that is lost", func(t *testing.T) {
		for name, spec := range map[string]targets.RedisSink{"a stream": {Stream: "lost"}, "a list": {List: "lost-list"}, "a channel": {Channel: "lost"}} {
			r, s := events(t, server.URL(), spec)
			for _, kind := range []string{"normal", "pubsub"} {
				require.NoError(t, shop.Do(t.Context(), "CLIENT", "KILL", "TYPE", kind).Err())
			}
			for range 2 {
				require.ErrorContains(t, s.CatchUp(t.Context()), "messages of the sink events may be missing: ", name)
			}
			s.Unwatch()
			watch(t, s, r)
			require.NoError(t, s.CatchUp(t.Context()), "the next scenario has a new connection")
		}
	})
	t.Run("what cannot be read", func(t *testing.T) {
		require.NoError(t, shop.Set(t.Context(), "text", "1", 0).Err())
		require.NoError(t, shop.Do(t.Context(), "ACL", "SETUSER", "shop", "on", ">hunter22", "~*", "&*", "+@all", "-monitor").Err())
		limited, err := url.Parse(server.URL())
		require.NoError(t, err)
		limited.User = url.UserPassword("shop", "hunter22")
		for says, spec := range map[string]targets.RedisSink{
			`"text" is no stream in Redis: its type is string`:                                          {URL: server.URL(), Stream: "text"},
			`"text" is no list in Redis: its type is string`:                                            {URL: server.URL(), List: "text"},
			"what is pushed to a list is seen by MONITOR only, which the server does not allow: NOPERM": {URL: limited.String(), List: "queue"},
			"sinks.events: reach Redis: dial tcp 127.0.0.1:1: connect: connection refused":              {URL: "redis://:hunter22@127.0.0.1:1", Channel: "orders"},
		} {
			err := (&sinks.Sinks{}).Follow(t.Context(), map[string]targets.Sink{"events": {Redis: &spec}}, sinks.Protocols{})
			require.ErrorContains(t, err, says)
			require.NotContains(t, err.Error(), "hunter22")
		}
	})
}
