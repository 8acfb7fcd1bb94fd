package orders

import (
	"context"
	"database/sql"
	"errors"
)

// replicaPrecheckDesign looks the key up at a replica that is behind, and does not rely on it.
//
// What the replica knows is true, so most repeats are answered there. What it does not know may be there
// all the same: the unique index of the primary decides, and who is refused by it reads the primary.
func replicaPrecheckDesign() Design {
	return Design{
		Name:     "replica-precheck",
		Summary:  "looks the key up at a replica that is 100ms behind, and lets the primary's unique index decide what the replica does not know",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, keysHaveAge},
		handler: func(a *api) handler {
			primary := newUniqueKey(a)
			primary.write = writeForReplica
			return needKey(func(ctx context.Context, req request) (answer, error) {
				first, err := a.db.recordAtReplica(ctx, req.Key)
				if errors.Is(err, sql.ErrNoRows) {
					return primary.create(ctx, req)
				}
				return first.replayTo(req), err
			})
		},
	}
}
