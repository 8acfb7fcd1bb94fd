package orders

import (
	"context"
	"database/sql"
	"errors"

	"github.com/gomodule/redigo/redis"
)

// redisClaimAndRecord claims the key in Redis, and keeps the answer there once the order is committed.
//
// A claim is set in one command if there is none, with a token and a lease; the answer takes its place only
// while it still has the token. A repeat is so answered without the database. But Redis and the database
// have no transaction together: a server that dies after the commit leaves a claim that ends, a record is
// forgotten after an hour, or with the server. So the key stands in the database as well, under a unique
// index, in the transaction of the order, and what Redis remembers is a copy. Without it, the database
// is asked, and refuses who does not ask.
type redisClaimAndRecord struct{ onRedis }

func redisClaimAndRecordDesign() Design {
	return Design{
		Name:     "redis-claim-and-record",
		Summary:  "a claim in Redis with token and lease before the work, the answer there after the commit, and a unique index in the database as the authority",
		Correct:  true,
		Contract: claimed(),
		Key:      requiredKey(),
		Redis:    true,
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(redisClaimAndRecord{onRedis{a}}.create) },
	}
}

func (r redisClaimAndRecord) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	claim, err := r.claim(ctx, req)
	switch {
	case err != nil:
		return answer{}, err
	case claim == "":
		return r.repeat(ctx, req)
	}
	return r.execute(ctx, req, claim)
}

// claim claims the key, and returns the claim; empty: there is a claim or a record already.
func (r redisClaimAndRecord) claim(ctx context.Context, req request) (string, error) {
	claim := redisRecord{Token: newID("claim_"), record: record{Fingerprint: req.Fingerprint}}.text()
	claimed, err := r.redis.setNew(ctx, r.redis.recordName(req.Key), claim, lease+r.effort)
	if !claimed {
		return "", err
	}
	return claim, nil
}

// keep puts what is remembered in the place of a claim that is still there.
func (r redisClaimAndRecord) keep(ctx context.Context, req request, claim string, first record) error {
	return r.redis.replaceIf(ctx, r.redis.recordName(req.Key), claim, redisRecord{record: first}.text(), memory)
}

// execute answers who has claimed the key.
func (r redisClaimAndRecord) execute(ctx context.Context, req request, claim string) (answer, error) {
	first, err := r.first(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, r.redis.deleteIf(ctx, r.redis.recordName(req.Key), claim))
	}
	// The order is there, and the database knows its key: should Redis not take the answer, the claim ends.
	_ = r.keep(ctx, req, claim, first)
	return first.replayTo(req), nil
}

// repeat answers who found a claim or a record.
func (r redisClaimAndRecord) repeat(ctx context.Context, req request) (answer, error) {
	first, err := r.redis.recordOf(ctx, req.Key)
	if errors.Is(err, redis.ErrNil) {
		return keyInUse(), nil // it was, a moment ago
	}
	return first.replayOnceThere(req), err
}

// first returns what the database knows of the key, after it has made the order if that was nothing.
func (r redisClaimAndRecord) first(ctx context.Context, req request) (record, error) {
	known, err := r.db.recordOf(ctx, req.Key)
	if !errors.Is(err, sql.ErrNoRows) {
		return known, err
	}
	if err := r.work(ctx); err != nil {
		return record{}, err
	}
	reply, err := r.writes(ctx, req)
	if isDuplicate(err) {
		return r.db.recordOf(ctx, req.Key)
	}
	return record{Fingerprint: req.Fingerprint, Answer: reply}, err
}
