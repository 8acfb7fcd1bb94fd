package caches_test

import (
	"fmt"
	"net/url"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/targets/caches"
)

// server is the URL of a private Redis server.
var server string

func TestMain(m *testing.M) {
	os.Exit(servers.ServingRedis(func(redisURL string) int {
		server = redisURL
		return m.Run()
	}))
}

func TestAFlushDeletesWhatFitsAndNothingElse(t *testing.T) {
	options, err := redis.ParseURL(server)
	require.NoError(t, err)
	client := redis.NewClient(options)
	defer client.Close()
	store, err := caches.Open(t.Context(), server)
	require.NoError(t, err)
	const many = 2500 // more than one command looks at
	for n := range many {
		require.NoError(t, client.Set(t.Context(), fmt.Sprintf("shop:%d", n), n, 0).Err())
	}
	require.NoError(t, client.HSet(t.Context(), "shop:hash", "a", 1).Err())
	for _, name := range []string{"session:1", "shops", "my-shop:1"} {
		require.NoError(t, client.Set(t.Context(), name, 1, 0).Err())
	}

	deleted, err := store.Flush(t.Context(), "shop:*")
	require.NoError(t, err)
	require.Equal(t, many+1, deleted)
	left, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"session:1", "shops", "my-shop:1"}, left)
	deleted, err = store.Flush(t.Context(), "shop:*")
	require.NoError(t, err)
	require.Zero(t, deleted)
	deleted, err = store.Flush(t.Context(), "*")
	require.NoError(t, err)
	require.Equal(t, 3, deleted)
}

func TestAStoreThatCannotBeHadSaysWhyAndNoPassword(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.User = url.UserPassword("", "hunter22")
	for _, address := range []string{"redis://:hunter22@127.0.0.1:1", "postgres://:hunter22@127.0.0.1/x", "redis://:hunter22@127.0.0.1:%zz", u.String()} {
		_, err := caches.Open(t.Context(), address)
		require.ErrorContains(t, err, "store")
		require.NotContains(t, err.Error(), "hunter22")
	}
}

func TestWhereAStoreIs(t *testing.T) {
	t.Parallel()
	for address, at := range map[string]string{
		"redis://127.0.0.1:7000/3": "127.0.0.1:7000", "redis://:p@shop.internal": "shop.internal:6379", "redis://[::1]:7000": "[::1]:7000",
	} {
		got, err := caches.AddressOf(address)
		require.NoError(t, err)
		require.Equal(t, at, got)
	}
	for _, address := range []string{"redis:6379", "redis://%zz"} {
		_, err := caches.AddressOf(address)
		require.ErrorIs(t, err, caches.ErrURL, address)
	}
	through, err := caches.Through("redis://me:p%40ss@shop.internal:6379/3?protocol=3", "127.0.0.1:9")
	require.NoError(t, err)
	require.Equal(t, "redis://me:p%40ss@127.0.0.1:9/3?protocol=3", through)
}
