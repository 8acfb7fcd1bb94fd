package orders_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// duplicatesOnceTheStoreIsEmpty empties what the API has in Redis after it has answered.
func duplicatesOnceTheStoreIsEmpty(t *testing.T, s subject, w intent) bool {
	s.must(t, w)
	s.emptyStore(t)
	s.must(t, w)
	return len(s.rows(t, w.note)) > 1
}

// emptyStore deletes what the API says may be deleted.
func (s subject) emptyStore(t *testing.T) {
	t.Helper()
	options, err := redis.ParseURL(store)
	require.NoError(t, err)
	client := redis.NewClient(options)
	defer client.Close()
	for _, name := range client.Keys(t.Context(), s.Target().Store.Flush).Val() {
		require.NoError(t, client.Del(t.Context(), name).Err())
	}
}

// duplicatesWhileTheStoreIsAway asks twice while the link to Redis is broken.
func duplicatesWhileTheStoreIsAway(t *testing.T, on subject, w intent) bool {
	s, link := byLink(t, on)
	s.must(t, newIntent(w.key+"-first")) // so that there is a connection to break
	link.Strike(time.Now(), "1", time.Hour)
	_ = s.must(t, w)
	_ = s.must(t, w)
	return len(s.rows(t, w.note)) > 1
}

// byLink serves another API of this one's design, which goes to Redis by the link.
func byLink(t *testing.T, on subject) (s subject, link *proxy.LinkProxy) {
	t.Helper()
	link = linkToStore(t, "127.0.0.1:0")
	s = serve(t, orders.Options{Design: on.Design().Name, StoreProxy: link.Address(), Work: time.Millisecond, Keep: true, Database: "sqlite://" + t.TempDir() + "/orders.db"})
	return s, link
}

// linkToStore opens a link to Redis at an address.
func linkToStore(t *testing.T, address string) *proxy.LinkProxy {
	t.Helper()
	options, err := redis.ParseURL(store)
	require.NoError(t, err)
	link, err := proxy.OpenLinkProxy(t.Context(), "store", address, options.Addr, proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	return link
}

// While Redis is away nothing is made, and once it is back everything is as it was.
func TestWhoFailsClosedMakesNothing(t *testing.T) {
	t.Parallel()
	s, link := byLink(t, serve(t, orders.Options{Design: "store-fails-closed", Work: time.Millisecond}))
	before, during := newIntent("before"), newIntent("during")
	first := s.must(t, before)
	link.Strike(time.Now(), "1", time.Hour)
	require.Equal(t, http.StatusServiceUnavailable, s.must(t, during).status)
	require.Equal(t, "store_away", s.must(t, before).member("code"))
	require.Empty(t, s.rows(t, during.note))
	require.NoError(t, link.Close())
	linkToStore(t, link.Address()) // Redis is back
	require.Eventually(t, func() bool {
		again, err := s.send(t.Context(), before)
		return err == nil && again.same() == first.same()
	}, soon, 20*time.Millisecond)
	require.Equal(t, http.StatusCreated, s.must(t, during).status)
	require.Len(t, s.rows(t, during.note), 1)
}

func TestATargetSaysWhereItsStoreIsAndWhatMayBeDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t, orders.Options{Design: "redis-claim-and-record", Work: fast, StorePrefix: "mine:"})
	require.Equal(t, store, s.Target().Store.URL)
	require.Equal(t, "mine:*", s.Target().Store.Flush)
	require.Zero(t, serve(t, orders.Options{Design: "unique-key"}).Target().Store)
}
