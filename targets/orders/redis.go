package orders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// memory is how long Redis remembers the answer to a key.
const memory = time.Hour

// redisStore is what one API has for itself in a Redis server: the keys with its prefix. It is safe for
// concurrent use. The nil store is none.
type redisStore struct {
	pool   *redis.Pool
	url    string // for a reader
	prefix string
	kept   bool // what is remembered outlives the API
}

// openRedis connects to a server. APIs that keep one database share what they have in Redis.
func openRedis(ctx context.Context, o Options) (*redisStore, error) {
	pool, err := storePool(o.Store, o.StoreProxy)
	if err != nil {
		return nil, err
	}
	s := &redisStore{pool: pool, url: o.Store, prefix: leftovers.Name(placePrefix) + ":"}
	if o.Keep {
		place := sha256.Sum256([]byte(o.Database))
		s.kept, s.prefix = true, "doubletap_"+hex.EncodeToString(place[:8])+":"
	}
	s.prefix = cmp.Or(o.StorePrefix, s.prefix)
	if _, err := ask(ctx, s.pool, "PING"); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the store: %w", err), s.pool.Close())
	}
	bounded, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	_, _ = sweepKeys(bounded, s.pool) // what others have left does not keep us from beginning
	return s, nil
}

// SweepStore removes the keys on the Redis server of a URL that processes of this machine have left there when they were
// killed, and returns how many. It looks at the names of all keys.
func SweepStore(ctx context.Context, address string) (int, error) {
	pool, err := storePool(address, "")
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	return sweepKeys(ctx, pool)
}

func sweepKeys(ctx context.Context, pool *redis.Pool) (int, error) {
	all, err := namesLike(ctx, pool, placePrefix+"*")
	removed := 0
	for _, name := range all {
		if dead := leftovers.Dead(name); dead == "" || !strings.HasPrefix(name, placePrefix+dead+":") {
			continue
		}
		if _, err := ask(ctx, pool, "UNLINK", name); err != nil {
			return removed, fmt.Errorf("remove what was left in the store: %w", err)
		}
		removed++
	}
	return removed, err
}

// namesLike lists the names of the keys that fit a pattern of Redis; with an error, so far.
func namesLike(ctx context.Context, pool *redis.Pool, pattern string) ([]string, error) {
	var all []string
	for cursor := "0"; ; {
		reply, err := redis.Values(ask(ctx, pool, "SCAN", cursor, "MATCH", pattern, "COUNT", 1000))
		if err != nil {
			return all, err
		}
		var some []string
		if _, err := redis.Scan(reply, &cursor, &some); err != nil {
			return all, err
		}
		if all = append(all, some...); cursor == "0" {
			return all, nil
		}
	}
}

// storePool connects to the server of a URL, or to what stands in front of it. A connection that was idle is asked whether it is
// still one: the link to a store is cut in some scenarios.
func storePool(address, proxy string) (*redis.Pool, error) {
	link, err := url.Parse(address)
	if err != nil || link.Scheme != "redis" && link.Scheme != "rediss" || link.Hostname() == "" {
		return nil, errors.New("the store's URL cannot be read; expected something like redis://127.0.0.1:6379/0") // the error would show the password
	}
	options := []redis.DialOption{redis.DialTLSConfig(&tls.Config{ServerName: link.Hostname(), MinVersion: tls.VersionTLS12})}
	link.Host = cmp.Or(proxy, link.Host)
	return &redis.Pool{
		MaxIdle: 20,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, link.String(), options...)
		},
		TestOnBorrowContext: func(ctx context.Context, c redis.Conn, _ time.Time) error {
			_, err := redis.DoContext(c, ctx, "PING")
			return err
		},
	}, nil
}

// ask sends one command.
func ask(ctx context.Context, pool *redis.Pool, command string, words ...any) (any, error) {
	c, err := pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return redis.DoContext(c, ctx, command, words...)
}

// close forgets everything of this API.
func (s *redisStore) close() error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
	defer cancel()
	var err error
	if !s.kept {
		err = s.forget(ctx)
	}
	return errors.Join(err, s.pool.Close())
}

func (s *redisStore) forget(ctx context.Context) error {
	all, err := namesLike(ctx, s.pool, s.prefix+"*")
	for _, name := range all {
		err = errors.Join(err, s.do(ctx, "UNLINK", name))
	}
	if err != nil {
		return fmt.Errorf("forget what is in the store: %w", err)
	}
	return nil
}

// do sends a command whose reply says nothing but that it was done.
func (s *redisStore) do(ctx context.Context, command string, words ...any) error {
	_, err := ask(ctx, s.pool, command, words...)
	return err
}

// lockName and recordName are the names by which Redis knows a key's lock and its record.
func (s *redisStore) lockName(key string) string   { return s.prefix + "lock:" + key }
func (s *redisStore) recordName(key string) string { return s.prefix + "record:" + key }

// lock takes a key's lock, if it is free, and reports whether it has it now. It expires by itself.
func (s *redisStore) lock(ctx context.Context, key, token string, hold time.Duration) (bool, error) {
	return s.setNew(ctx, s.lockName(key), token, hold)
}

// setNew sets what is not set, in one command, and reports whether it has. Zero: until it is deleted.
func (s *redisStore) setNew(ctx context.Context, name, value string, hold time.Duration) (bool, error) {
	words := []any{name, value, "NX"}
	if hold > 0 {
		words = append(words, "PX", hold.Milliseconds())
	}
	reply, err := ask(ctx, s.pool, "SET", words...)
	return reply != nil, err
}

// unlock gives back a lock that still has this token. Should it fail: the lock ends by itself.
func (s *redisStore) unlock(ctx context.Context, key, token string) {
	_ = s.deleteIf(ctx, s.lockName(key), token)
}

// deleteIf deletes what has this value, and replaceIf gives it another. Look and write are one step: Redis
// runs nothing else while it runs a script.
func (s *redisStore) deleteIf(ctx context.Context, name, value string) error {
	return s.do(ctx, "EVAL", `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end return 0`, 1, name, value)
}

func (s *redisStore) replaceIf(ctx context.Context, name, value, next string, hold time.Duration) error {
	return s.do(ctx, "EVAL", `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3]) end return 0`,
		1, name, value, next, hold.Milliseconds())
}

// redisRecord is what Redis remembers of a key: who has claimed it, and once there is one, the answer.
type redisRecord struct {
	Token string `json:",omitempty"`
	record
}

func (r redisRecord) text() string { return string(mustJSON(r)) }

// recordOf reads what is remembered of a key; redis.ErrNil says that it is new.
func (s *redisStore) recordOf(ctx context.Context, key string) (redisRecord, error) {
	text, err := redis.Bytes(ask(ctx, s.pool, "GET", s.recordName(key)))
	if err != nil {
		return redisRecord{}, err
	}
	var r redisRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return redisRecord{}, fmt.Errorf("read the record of a key: %w", err)
	}
	return r, nil
}

// remember sets the answer to a key, whatever is remembered of it.
func (s *redisStore) remember(ctx context.Context, req request, reply answer) error {
	text := redisRecord{record: record{Fingerprint: req.Fingerprint, Answer: reply}}.text()
	return s.do(ctx, "SET", s.recordName(req.Key), text, "PX", memory.Milliseconds())
}

// onRedis is a handler of an API that keeps its keys or its locks in Redis and its orders in the database.
type onRedis struct{ *api }

// writes makes an order and its key in the database, in one transaction. Whether a key that is there
// already is refused depends on its table.
func (o onRedis) writes(ctx context.Context, req request) (reply answer, err error) {
	err = o.db.retry(ctx, func() error {
		return o.db.transaction(ctx, func(tx *tx) error {
			reply, err = tx.written(ctx, req)
			return err
		})
	})
	return reply, err
}
