// Package caches reaches the store in which a target keeps what it may lose: it turns the URL of a Redis server
// and a pattern into the number of keys that were deleted. Errors never hold the URL, which may hold a password.
package caches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// usualPort is where a Redis server listens unless its URL says otherwise.
const usualPort = "6379"

// atOnce is how many keys are looked at, and deleted, by one command.
const atOnce = 1000

// ErrURL says that a URL is not that of a Redis server.
var ErrURL = errors.New("the store's URL cannot be read; expected something like redis://127.0.0.1:6379/0")

// Store is an open store. It is safe for concurrent use.
type Store struct{ client *redis.Client }

// Open connects to a store, and sees that it takes commands.
func Open(ctx context.Context, storeURL string) (*Store, error) {
	options, err := redis.ParseURL(storeURL)
	if err != nil {
		return nil, ErrURL
	}
	options.DisableIdentity = true // a server before 7.2 has no word for it
	s := &Store{client: redis.NewClient(options)}
	if err := s.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the store: %w", err), s.client.Close())
	}
	return s, nil
}

// Close ends the connections. Of the nil store there are none.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.client.Close()
}

// Flush deletes every key that fits a pattern of Redis and was there all the time, and returns how many it has
// deleted; with an error, so far.
func (s *Store) Flush(ctx context.Context, pattern string) (int, error) {
	deleted, cursor := 0, uint64(0)
	for {
		keys, next, err := s.client.Scan(ctx, cursor, pattern, atOnce).Result()
		if err != nil {
			return deleted, fmt.Errorf("list what is in the store: %w", err)
		}
		if len(keys) > 0 {
			n, err := s.client.Unlink(ctx, keys...).Result()
			deleted += int(n)
			if err != nil {
				return deleted, fmt.Errorf("delete what is in the store: %w", err)
			}
		}
		if cursor = next; cursor == 0 {
			return deleted, nil
		}
	}
}

// Quiet lets the library of Redis print nothing, for the whole process: what it has to say comes back as errors. It
// is called before anything is opened.
func Quiet() { logging.Disable() }

// AddressOf returns the host:port of a store.
func AddressOf(storeURL string) (string, error) {
	u, err := url.Parse(storeURL)
	if err != nil || u.Hostname() == "" {
		return "", ErrURL
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usualPort)), nil
}

// Through returns the URL of a store as it is reached at another address, host:port.
func Through(storeURL, address string) (string, error) {
	u, err := url.Parse(storeURL)
	if err != nil {
		return "", ErrURL
	}
	u.Host = address
	return u.String(), nil
}
