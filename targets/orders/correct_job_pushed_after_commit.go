package orders

import (
	"context"
	"net/http"
)

// jobPushedAfterCommitDesign pushes a job behind every 201, and a replay is one.
//
// A push that failed, or a crash before it, is made good by the repetition of the request. The job has the id of the order, and its
// worker does none twice.
func jobPushedAfterCommitDesign() Design {
	return published(Design{
		Name:     "job-pushed-after-commit",
		Summary:  "commits the order, then pushes its job to a list in Redis before each 201, also of a replay, under the order's id, by which the worker knows it",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			next := newUniqueKey(a).create
			return needKey(func(ctx context.Context, req request) (answer, error) {
				reply, err := next(ctx, req)
				if err != nil || reply.Status != http.StatusCreated {
					return reply, err
				}
				if err := a.redis.publish(ctx, jobList, record{Answer: reply}.orderID(), ordered(req)); err != nil {
					return answer{}, err
				}
				return reply, nil
			})
		},
	}, jobList)
}
