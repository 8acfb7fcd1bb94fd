package orders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// memory is how long Redis remembers the answer to a key.
const memory = time.Hour

// Quiet keeps the Redis client from printing, in the whole process: the errors that it returns say the same. Call it
// before a design is started.
func Quiet() { logging.Disable() }

// redisStore is what one API has for itself in a Redis server: the keys with its prefix. It is safe for
// concurrent use. The nil store is none.
type redisStore struct {
	client *redis.Client
	url    string // for a reader
	prefix string
	kept   bool // what is remembered outlives the API
}

// openRedis connects to a server. APIs that keep one database share what they have in Redis.
func openRedis(ctx context.Context, o Options) (*redisStore, error) {
	link, err := redis.ParseURL(o.Store)
	if err != nil {
		return nil, errors.New("the store's URL cannot be read; expected something like redis://127.0.0.1:6379/0") // the error would show the password
	}
	link.DisableIdentity = true // a server before 7.2 has no word for it
	link.Addr = cmp.Or(o.StoreProxy, link.Addr)
	s := &redisStore{client: redis.NewClient(link), url: o.Store, prefix: leftovers.Name(placePrefix) + ":"}
	if o.Keep {
		place := sha256.Sum256([]byte(o.Database))
		s.kept, s.prefix = true, "doubletap_"+hex.EncodeToString(place[:8])+":"
	}
	s.prefix = cmp.Or(o.StorePrefix, s.prefix)
	if err := s.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("reach the store: %w", err), s.client.Close())
	}
	bounded, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	_, _ = sweepKeys(bounded, s.client) // what others have left does not keep us from beginning
	return s, nil
}

// SweepStore removes the keys on the Redis server of a URL that processes of this machine have left there when they were
// killed, and returns how many. It looks at the names of all keys.
func SweepStore(ctx context.Context, address string) (int, error) {
	link, err := redis.ParseURL(address)
	if err != nil {
		return 0, errors.New("the store's URL cannot be read; expected something like redis://127.0.0.1:6379/0")
	}
	link.DisableIdentity = true
	client := redis.NewClient(link)
	defer client.Close()
	return sweepKeys(ctx, client)
}

func sweepKeys(ctx context.Context, client *redis.Client) (int, error) {
	removed, all := 0, client.Scan(ctx, 0, placePrefix+"*", 1000).Iterator()
	for all.Next(ctx) {
		if dead := leftovers.Dead(all.Val()); dead == "" || !strings.HasPrefix(all.Val(), placePrefix+dead+":") {
			continue
		}
		if err := client.Unlink(ctx, all.Val()).Err(); err != nil {
			return removed, fmt.Errorf("remove what was left in the store: %w", err)
		}
		removed++
	}
	return removed, all.Err()
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
	return errors.Join(err, s.client.Close())
}

func (s *redisStore) forget(ctx context.Context) error {
	all := s.client.Scan(ctx, 0, s.prefix+"*", 1000).Iterator()
	for all.Next(ctx) {
		if err := s.client.Unlink(ctx, all.Val()).Err(); err != nil {
			return fmt.Errorf("forget what is in the store: %w", err)
		}
	}
	if err := all.Err(); err != nil {
		return fmt.Errorf("forget what is in the store: %w", err)
	}
	return nil
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
	err := s.client.SetArgs(ctx, name, value, redis.SetArgs{Mode: "NX", TTL: hold}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives back a lock that still has this token. Should it fail: the lock ends by itself.
func (s *redisStore) unlock(ctx context.Context, key, token string) {
	_ = s.deleteIf(ctx, s.lockName(key), token)
}

// deleteIf deletes what has this value, and replaceIf gives it another. Look and write are one step: Redis
// runs nothing else while it runs a script.
func (s *redisStore) deleteIf(ctx context.Context, name, value string) error {
	return s.client.Eval(ctx, `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end return 0`,
		[]string{name}, value).Err()
}

func (s *redisStore) replaceIf(ctx context.Context, name, value, next string, hold time.Duration) error {
	return s.client.Eval(ctx, `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3]) end return 0`,
		[]string{name}, value, next, hold.Milliseconds()).Err()
}

// redisRecord is what Redis remembers of a key: who has claimed it, and once there is one, the answer.
type redisRecord struct {
	Token string `json:",omitempty"`
	record
}

func (r redisRecord) text() string { return string(mustJSON(r)) }

// recordOf reads what is remembered of a key; redis.Nil says that it is new.
func (s *redisStore) recordOf(ctx context.Context, key string) (redisRecord, error) {
	text, err := s.client.Get(ctx, s.recordName(key)).Bytes()
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
	return s.client.Set(ctx, s.recordName(req.Key), text, memory).Err()
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
