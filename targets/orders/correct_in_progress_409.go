package orders

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// inProgress409 commits a claim on the key before the work begins, and turns others away meanwhile.
//
// The claim carries a token and a lease. Who finds a claim whose lease is over, because the process
// that held it died, takes it by writing its own token. Order and completed record are written in one
// transaction that succeeds only for the token that the claim still carries, so that a holder who was
// slow, not dead, cannot add a second order. Once begun, a request is finished even if its client has
// left: otherwise the claim would reject every request until its lease is over.
type inProgress409 struct {
	*api
	lease time.Duration // how long a claim is good
}

// lease is far longer than anything that a living process does besides its work.
const lease = 5 * time.Second

// errLostClaim says that another request has taken the claim.
var errLostClaim = errors.New("the claim on the key was taken by another request")

func inProgress409Design() Design {
	promise := turningAway()
	promise.Lease = contract.Duration(lease + defaultWork)
	return Design{
		Name:     "in-progress-409",
		Summary:  "a claim with token and lease is committed before the work: a duplicate gets 409 meanwhile, the recorded answer later",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, leasedKeysTable},
		handler:  func(a *api) handler { return needKey(inProgress409{a, lease + a.effort}.create) },
	}
}

// leasedKeysTable is keysTable with what a claim has: who holds it, and until when.
const leasedKeysTable = `create table idempotency_keys (
	idempotency_key varchar(600) primary key,
	fingerprint varchar(64) not null,
	token varchar(40) not null,
	lease_until bigint not null,
	status integer not null,
	location varchar(255) not null,
	body text not null
)`

func (p inProgress409) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	token := newID("claim_")
	refusal, err := p.claim(ctx, req, token)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	return p.finish(ctx, req, token)
}

// claim returns the zero answer if the token now holds the key, else what to answer instead.
func (p inProgress409) claim(ctx context.Context, req request, token string) (answer, error) {
	err := p.db.retry(ctx, func() error {
		return p.db.exec(ctx, `insert into idempotency_keys
			(idempotency_key, fingerprint, token, lease_until, status, location, body)
			values (?, ?, ?, ?, 0, '', '')`, req.Key, req.Fingerprint, token, p.leaseEnd())
	})
	if !isDuplicate(err) {
		return answer{}, err
	}
	first, err := p.db.recordOf(ctx, req.Key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return p.inUse(), nil // it was, a moment ago: its holder failed and gave it back
	case err != nil:
		return answer{}, err
	case first.Answer.Status != 0 || first.Fingerprint != req.Fingerprint:
		return first.replayTo(req), nil
	default:
		return p.steal(ctx, req, token)
	}
}

// steal takes a claim whose lease is over. Of several thieves one matches the row.
func (p inProgress409) steal(ctx context.Context, req request, token string) (answer, error) {
	var taken int64
	err := p.db.retry(ctx, func() error {
		var err error
		taken, err = p.db.update(ctx, `update idempotency_keys set token = ?, lease_until = ?
			where idempotency_key = ? and status = 0 and lease_until < ?`,
			token, p.leaseEnd(), req.Key, time.Now().UnixMilli())
		return err
	})
	if err != nil || taken == 1 {
		return answer{}, err
	}
	return p.inUse(), nil
}

func (p inProgress409) execute(ctx context.Context, req request, token string) (answer, error) {
	if err := p.work(ctx); err != nil {
		return answer{}, err
	}
	o := newOrder(req)
	reply := created(o)
	err := p.db.retry(ctx, func() error {
		return p.db.transaction(ctx, func(tx *tx) error { return p.complete(ctx, tx, req, token, o, reply) })
	})
	return reply, err
}

func (p inProgress409) complete(ctx context.Context, tx *tx, req request, token string, o order, reply answer) error {
	held, err := tx.update(ctx, `update idempotency_keys set status = ?, location = ?, body = ?
		where idempotency_key = ? and token = ? and status = 0`,
		reply.Status, reply.Header["Location"], string(reply.Body), req.Key, token)
	if err != nil {
		return err
	}
	if held == 0 {
		return errLostClaim
	}
	return tx.insertOrder(ctx, o)
}

// release gives the key back after a failure. It leaves a record that was completed after all.
func (p inProgress409) release(ctx context.Context, req request, token string) error {
	return p.db.exec(ctx, `delete from idempotency_keys where idempotency_key = ? and token = ? and status = 0`,
		req.Key, token)
}

func (p inProgress409) leaseEnd() int64 { return time.Now().Add(p.lease).UnixMilli() }

// inUse asks to come back when the holder will be done. The header counts whole seconds: for less,
// the client's own pause is better.
func (p inProgress409) inUse() answer {
	if p.effort < time.Second {
		return keyInUse()
	}
	return keyInUse().with("Retry-After", strconv.Itoa(int(p.effort.Seconds())))
}
