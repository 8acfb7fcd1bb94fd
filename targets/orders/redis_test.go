package orders_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// besideRedis serves every correct design that keeps its keys in Redis, with a Redis server of its own and a gate for its payment
// authorisations.
func besideRedis(t *testing.T, test func(t *testing.T, s subject, memory *redis.Client, g gate)) {
	keepsKeys := func(d orders.Design) bool {
		target, _, err := orders.Describe(d.Name)
		require.NoError(t, err)
		return d.Correct && d.Redis && len(target.Sinks) == 0 // else it publishes there
	}
	overDealtDesigns(t, allStores, keepsKeys, func(t *testing.T, design orders.Design, database string) {
		memory, address := privateRedis(t)
		g := newGate()
		test(t, serve(t, orders.Options{Design: design.Name, Database: database, Store: address, Authorise: g.authorise}), memory, g)
	})
}

func privateRedis(t *testing.T) (client *redis.Client, address string) {
	t.Helper()
	server, err := servers.Redis(t.Context(), servers.Options{})
	require.NoError(t, err)
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	client = redis.NewClient(options)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		require.NoError(t, server.Stop())
	})
	return client, server.URL()
}

// held waits until the API has something in Redis, and returns its name.
func held(t *testing.T, memory *redis.Client) string {
	t.Helper()
	var names []string
	require.Eventually(t, func() bool {
		names = memory.Keys(t.Context(), "*").Val()
		return len(names) == 1
	}, soon, time.Millisecond)
	return names[0]
}

func (s subject) sendLater(ctx context.Context, w intent) <-chan reply {
	got := make(chan reply, 1)
	go func() { got <- s.together(ctx, []intent{w})[0] }()
	return got
}

func TestARepeatIsTurnedAwayByRedis(t *testing.T) {
	besideRedis(t, func(t *testing.T, s subject, memory *redis.Client, g gate) {
		w := newIntent("busy")
		first := s.sendLater(t.Context(), w)
		open := g.next(t)
		require.Positive(t, memory.PTTL(t.Context(), held(t, memory)).Val(), "it ends by itself")
		require.Equal(t, "key_in_use", s.must(t, w).member("code"))
		open()
		require.Equal(t, (<-first).same(), s.must(t, w).same())
	})
}

// The first is at work when Redis forgets everything, and the second gets in.
func TestTheDatabaseDecidesWhenRedisForgets(t *testing.T) {
	besideRedis(t, func(t *testing.T, s subject, memory *redis.Client, g gate) {
		w := newIntent("forgotten")
		first := s.sendLater(t.Context(), w)
		open := g.next(t)
		require.NoError(t, memory.FlushAll(t.Context()).Err())
		later := s.sendLater(t.Context(), w)
		held(t, memory) // by the second
		open()
		g.openForAll(t) // the second authorises a payment as well, unless the first has committed by then
		second := <-later
		require.Equal(t, http.StatusCreated, second.status)
		require.Equal(t, (<-first).same(), second.same())
		require.NoError(t, memory.FlushAll(t.Context()).Err())
		require.Equal(t, second.same(), s.must(t, w).same())
		require.Equal(t, "key_reused", s.must(t, alter(w)).member("code"))
		require.Equal(t, []string{second.member("id")}, s.rows(t, w.note))
	})
}

func TestWhatSomebodyElseHoldsIsLeftToHim(t *testing.T) {
	besideRedis(t, func(t *testing.T, s subject, memory *redis.Client, g gate) {
		first := s.sendLater(t.Context(), newIntent("slow"))
		open := g.next(t)
		name := held(t, memory)
		require.NoError(t, memory.Set(t.Context(), name, "another process", time.Minute).Err())
		open()
		require.Equal(t, http.StatusCreated, (<-first).status)
		require.Equal(t, "another process", memory.Get(t.Context(), name).Val())
	})
}

func TestCloseForgetsWhatIsInRedis(t *testing.T) {
	t.Parallel()
	memory, address := privateRedis(t)
	require.NoError(t, memory.Set(t.Context(), "another's", "1", 0).Err())
	s := serve(t, orders.Options{Design: "redis-claim-and-record", Store: address, Work: fast})
	for _, name := range []string{"a", "b", "c"} {
		s.must(t, newIntent(name))
	}
	require.EqualValues(t, 4, memory.DBSize(t.Context()).Val())
	require.NoError(t, s.Close())
	require.Equal(t, []string{"another's"}, memory.Keys(t.Context(), "*").Val())
}

// A process that is killed and started again finds the answers that it has given.
func TestAKeptDatabaseKeepsWhatIsInRedis(t *testing.T) {
	t.Parallel()
	memory, address := privateRedis(t)
	database := "sqlite://" + t.TempDir() + "/kept.db"
	begin := func() subject {
		return serve(t, orders.Options{Design: "redis-key-check-then-act", Database: database, Keep: true, Store: address, Work: fast})
	}
	w := newIntent("kept")
	before := begin()
	first := before.must(t, w)
	require.NoError(t, before.Close())
	require.EqualValues(t, 1, memory.DBSize(t.Context()).Val())
	require.Equal(t, first.same(), begin().must(t, w).same())
}

func TestADesignThatTakesRedisSaysSo(t *testing.T) {
	t.Parallel()
	_, err := orders.Start(t.Context(), orders.Options{Design: "redis-claim-and-record"})
	require.ErrorIs(t, err, orders.ErrNoStore)
	for _, address := range []string{"postgres://u:secret@127.0.0.1/x", "redis://:secret@127.0.0.1:%zz", "redis://:secret@127.0.0.1:1"} {
		_, err = orders.Start(t.Context(), orders.Options{Design: "redis-claim-and-record", Store: address})
		require.ErrorContains(t, err, "start redis-claim-and-record: ")
		require.ErrorContains(t, err, "store")
		require.NotContains(t, err.Error(), "secret")
	}
}
