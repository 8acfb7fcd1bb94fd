package orders

import (
	"context"
	"errors"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// jobRemovedRecordKept removes the job that is done, and keeps the record of its key.
//
// The job is what turns others away while it runs, and has a lease: that of a process that died is taken over. The record is written with the order, in one
// transaction, and its primary key decides, also between two jobs of one key: the first may be done and
// removed between another's look at the record and its own job.
type jobRemovedRecordKept struct{ *api }

func jobRemovedRecordKeptDesign() Design {
	promise := turningAway()
	promise.Lease = contract.Duration(lease + defaultWork)
	return Design{
		Name:     "job-removed-record-kept",
		Summary:  "a job turns duplicates away and is removed 1s after it is done; the record of the key stays",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, jobsTable},
		handler:  func(a *api) handler { return needKey(jobRemovedRecordKept{a}.create) },
	}
}

const jobsTable = `create table jobs (id varchar(600) primary key, lease_until bigint not null)`

func (j jobRemovedRecordKept) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	reply, err := j.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	begun, err := j.begin(ctx, req)
	if err != nil {
		return answer{}, err
	}
	if !begun {
		return j.knownOrInUse(ctx, req)
	}
	reply, err = j.execute(ctx, req)
	if isDuplicate(err) {
		reply, err = j.knownOrInUse(ctx, req)
	}
	if err != nil {
		return answer{}, errors.Join(err, j.remove(ctx, req))
	}
	j.soon(jobKept, func() { _ = j.remove(ctx, req) }) // a job that stays only turns away who has no record
	return reply, nil
}

// begin reports whether the key's job is this request's now: there was none, or its lease is over.
func (j jobRemovedRecordKept) begin(ctx context.Context, req request) (begun bool, err error) {
	now, until := time.Now().UnixMilli(), time.Now().Add(lease+j.effort).UnixMilli()
	err = j.db.retry(ctx, func() error {
		return j.db.exec(ctx, "insert into jobs (id, lease_until) values (?, ?)", req.Key, until)
	})
	if !isDuplicate(err) {
		return err == nil, err
	}
	var taken int64
	err = j.db.retry(ctx, func() (err error) {
		taken, err = j.db.update(ctx, "update jobs set lease_until = ? where id = ? and lease_until < ?", until, req.Key, now)
		return err
	})
	return taken == 1, err
}

func (j jobRemovedRecordKept) execute(ctx context.Context, req request) (answer, error) {
	if err := j.work(ctx); err != nil {
		return answer{}, err
	}
	var reply answer
	err := j.db.retry(ctx, func() error {
		return j.db.transaction(ctx, func(tx *tx) (err error) {
			reply, err = tx.written(ctx, req)
			return err
		})
	})
	return reply, err
}

// knownOrInUse answers a request whose key has a job.
func (j jobRemovedRecordKept) knownOrInUse(ctx context.Context, req request) (answer, error) {
	reply, err := j.db.known(ctx, req)
	if err == nil && reply.Status == 0 {
		reply = keyInUse()
	}
	return reply, err
}

func (j jobRemovedRecordKept) remove(ctx context.Context, req request) error {
	return j.db.exec(ctx, "delete from jobs where id = ?", req.Key)
}
