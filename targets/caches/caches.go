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
	"strconv"
)

const (
	defaultPort = "6379" // where a Redis server listens unless its URL says otherwise
	batch       = 1000   // how many keys one command looks at, and deletes
)

// ErrURL says that a URL is not that of a Redis server.
var ErrURL = errors.New("the store's URL cannot be read; expected something like redis://127.0.0.1:6379/0")

// Store is a store that has answered. Nothing has to be closed: a flush has a connection of its own, because the store
// may be restarted between two. It is safe for concurrent use.
type Store struct{ options options }

// Open checks that a store takes commands. The scheme rediss asks for TLS.
func Open(ctx context.Context, storeURL string) (*Store, error) {
	o, err := parse(storeURL)
	if err != nil {
		return nil, err
	}
	c, err := dial(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("reach the store: %w", err)
	}
	return &Store{options: o}, c.Close()
}

// Flush deletes every key that fits a pattern of Redis and was there all the time, and returns how many it has
// deleted; with an error, so far.
func (s *Store) Flush(ctx context.Context, pattern string) (int, error) {
	c, err := dial(ctx, s.options)
	if err != nil {
		return 0, fmt.Errorf("reach the store: %w", err)
	}
	defer c.Close()
	deleted, cursor := 0, "0"
	for {
		next, keys, err := c.scan(ctx, cursor, pattern)
		if err != nil {
			return deleted, fmt.Errorf("list what is in the store: %w", err)
		}
		if len(keys) > 0 {
			n, err := c.integer(ctx, append([]string{"UNLINK"}, keys...)...)
			deleted += n
			if err != nil {
				return deleted, fmt.Errorf("delete what is in the store: %w", err)
			}
		}
		if cursor = next; cursor == "0" {
			return deleted, nil
		}
	}
}

// scan returns some keys that fit a pattern, and the cursor of the next ones: "0" after the last.
func (c *Conn) scan(ctx context.Context, cursor, pattern string) (next string, keys []string, err error) {
	reply, err := c.Do(ctx, "SCAN", cursor, "MATCH", pattern, "COUNT", strconv.Itoa(batch))
	if err != nil {
		return "", nil, err
	}
	pair, is := reply.([]any)
	if !is || len(pair) != 2 {
		return "", nil, errReply
	}
	next, is = pair[0].(string)
	list, isList := pair[1].([]any)
	if !is || !isList {
		return "", nil, errReply
	}
	for _, key := range list {
		name, is := key.(string)
		if !is {
			return "", nil, errReply
		}
		keys = append(keys, name)
	}
	return next, keys, nil
}

// AddressOf returns the host:port of a store.
func AddressOf(storeURL string) (string, error) {
	u, err := url.Parse(storeURL)
	if err != nil || u.Hostname() == "" {
		return "", ErrURL
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), defaultPort)), nil
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
