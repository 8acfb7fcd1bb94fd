package sinks_test

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// TestAMessageIsKeptFromRedis publishes in each way behind a link, with a trap for a marker. What others publish, and what else is asked,
// passes; what is kept never comes, and its connection is broken when the trap is released.
func TestAMessageIsKeptFromRedis(t *testing.T) {
	t.Parallel()
	server, err := servers.Redis(t.Context(), servers.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	direct, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		spec    targets.RedisSink
		publish func(ctx context.Context, shop *redis.Client, text string) error
	}{
		"a stream": {targets.RedisSink{Stream: "a", Message: targets.MessageParts{Key: "id"}}, func(ctx context.Context, shop *redis.Client, text string) error {
			return shop.XAdd(ctx, &redis.XAddArgs{Stream: "a", MaxLen: 9, Approx: true, Values: []string{"id", "e1", "note", text}}).Err()
		}},
		"a transaction": {targets.RedisSink{Stream: "b"}, func(ctx context.Context, shop *redis.Client, text string) error {
			_, err := shop.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "order", text, 0)
				return p.XAdd(ctx, &redis.XAddArgs{Stream: "b", Values: []string{"note", text}}).Err()
			})
			return err
		}},
		"a script": {targets.RedisSink{Stream: "c"}, func(ctx context.Context, shop *redis.Client, text string) error {
			return shop.Eval(ctx, `return redis.call("XADD", KEYS[1], "*", "note", ARGV[1])`, []string{"c"}, text).Err()
		}},
		"a list": {targets.RedisSink{List: "jobs:*"}, func(ctx context.Context, shop *redis.Client, text string) error {
			return shop.RPush(ctx, "jobs:mail", "one", base64.StdEncoding.EncodeToString([]byte("order "+text))).Err()
		}},
		"a channel": {targets.RedisSink{Channel: "orders.*"}, func(ctx context.Context, shop *redis.Client, text string) error {
			return shop.Publish(ctx, "orders.new", text).Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, s := events(t, server.URL(), c.spec)
			link, err := proxy.OpenLinkProxy(t.Context(), "store", "127.0.0.1:0", direct.Addr, proxy.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, link.Close()) })
			var gate sinks.Gate
			link.Screen(func() proxy.Screen { return gate.Screen() })
			s.Guard("events", &gate)
			through := *direct
			through.Addr, through.MaxRetries = link.Address(), -1
			shop := redis.NewClient(&through)
			t.Cleanup(func() { shop.Close() })

			require.NoError(t, c.publish(t.Context(), shop, marker), "there is no trap")
			_, released := s.Trap([]string{marker}, false)
			require.NoError(t, c.publish(t.Context(), shop, marker), "the trap is for what is done")
			released()
			sprung, release := s.Trap([]string{marker}, true)
			require.NoError(t, c.publish(t.Context(), shop, "dt0000000000000000"), "another intent's")
			require.NoError(t, shop.Set(t.Context(), "lock:"+marker, "a", 0).Err())
			lost := make(chan error, 1)
			go func() { lost <- c.publish(context.Background(), shop, marker) }()
			id := <-sprung
			require.Empty(t, lost, "it is not answered")
			require.NoError(t, s.CatchUp(t.Context()))
			release()
			require.Error(t, <-lost)
			require.NoError(t, c.publish(t.Context(), shop, marker), "the trap is over")
			require.NoError(t, s.CatchUp(t.Context()))

			acted, kept := 0, 0
			for _, m := range r.messages() {
				if m.Acted {
					acted++
				}
				if m.Fault == "crash" && !m.Acted {
					kept++
					require.Equal(t, id, m.ID)
					require.Contains(t, m.Names, marker)
				}
			}
			each := 1
			if c.spec.List != "" {
				each = 2
			}
			require.Equal(t, 4*each, acted, "%+v", r.messages())
			require.Equal(t, 1, kept)
		})
	}
}
