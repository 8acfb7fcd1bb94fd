package orders

import (
	"context"
	"errors"
	"time"
)

// jobRemovedWhenDone keeps a key only as long as its job.
//
// The key is the id of the job, and no two jobs have the same id: that is the whole protection against
// duplicates. A job that is done is removed a moment later, to keep the table small, and its id is free
// again.
type jobRemovedWhenDone struct{ *api }

// jobKept is how long a job that is done stays.
const jobKept = time.Second

func jobRemovedWhenDoneDesign() Design {
	return Design{
		Name:     "job-removed-when-done",
		Summary:  "knows a key by its job, which is removed 1s after it is done: a later retry makes a second order",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "job-removed-record-kept",
		Shows:    []string{"duplicate"},
		By:       []string{"late-retry"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(jobRemovedWhenDone{a}.create) },
	}
}

func (j jobRemovedWhenDone) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	refusal, err := j.claim(ctx, req)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	reply, err := j.executeClaimed(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, j.db.releaseKey(ctx, req))
	}
	j.soon(jobKept, func() {
		_ = j.db.exec(ctx, "delete from idempotency_keys where idempotency_key = ?", req.Key) // or the next cleanup does
	})
	return reply, nil
}

// soon does work in the background after a pause. A server that stops does not wait for it.
func (a *api) soon(pause time.Duration, task func()) {
	a.later(func() {
		select {
		case <-time.After(pause):
			task()
		case <-a.stopped:
		}
	})
}
