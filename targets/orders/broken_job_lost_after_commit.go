package orders

import (
	"context"
	"net/http"
)

// jobLostAfterCommitDesign pushes its job once the order is there, and not again.
//
// As long as the process and Redis live there is one job for each order. A process that dies between the commit and the push has nobody
// who makes up for it: the order counts, a repetition gets its answer, and no worker ever hears of it.
func jobLostAfterCommitDesign() Design {
	return published(Design{
		Name:     "job-lost-after-commit",
		Summary:  "commits the order, then pushes its job to a list in Redis, and not for a replay: a crash in between, and no worker hears of the order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "job-pushed-after-commit",
		Shows:    []string{"effect-mismatch"},
		By:       []string{"crash-before-effect"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return afterCommit(a, func(ctx context.Context, id string, o order) error { return a.redis.publish(ctx, jobList, id, o) })
		},
	}, jobList)
}

// afterCommit is the handler of an order that does something with it when it is there, before the first answer and never again.
func afterCommit(a *api, do func(ctx context.Context, id string, o order) error) handler {
	return needKey(func(ctx context.Context, req request) (answer, error) {
		u, made := newUniqueKey(a), false
		write := u.write
		u.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
			err := write(ctx, tx, req, o, reply)
			made = err == nil
			return err
		}
		reply, err := u.create(ctx, req)
		if err != nil || !made || reply.Status != http.StatusCreated {
			return reply, err
		}
		if err := do(ctx, record{Answer: reply}.orderID(), ordered(req)); err != nil {
			return answer{}, err
		}
		return reply, nil
	})
}
