package caches_test

import (
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/caches"
)

func TestAFlushStaysInTheDatabaseOfTheURL(t *testing.T) {
	options, err := redis.ParseURL(server)
	require.NoError(t, err)
	for db := range 2 {
		options.DB = db
		client := redis.NewClient(options)
		defer client.Close()
		require.NoError(t, client.Set(t.Context(), "basket:ünïcode\r\n", 1, 0).Err())
	}
	first, err := caches.Open(t.Context(), server)
	require.NoError(t, err)
	second, err := caches.Open(t.Context(), server[:len(server)-1]+"1")
	require.NoError(t, err)
	for _, store := range []*caches.Store{second, first} {
		deleted, err := store.Flush(t.Context(), "basket:*")
		require.NoError(t, err)
		require.Equal(t, 1, deleted)
	}
	_, err = caches.Open(t.Context(), server[:len(server)-1]+"4000")
	require.ErrorContains(t, err, "reach the store: ERR DB index is out of range")
}

// TestAnswersThatAreNoRedisAreErrors has a server that says the same to everyone.
func TestAnswersThatAreNoRedisAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"HTTP/1.1 400 Bad Request\r\n", "\r\n", "$x\r\n", "*99999999999999\r\n", "$-\r\n", "$99999999999999999999\r\n", strings.Repeat("*1\r\n", 10_000_000), strings.Repeat("+", 70<<20), "$5\r\nab", "-NOAUTH Authentication required.\r\n"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			conn, err := listener.Accept()
			if err == nil {
				conn.Write([]byte(text))
				conn.Close()
			}
		}()
		_, err = caches.Open(t.Context(), "redis://"+listener.Addr().String())
		require.ErrorContains(t, err, "reach the store: ", "%q", text)
		require.NoError(t, listener.Close())
	}
}
