package orders

import (
	"context"
	"sync"
)

// neverStored makes an order in memory, answers with it, and never flushes its unit of work to the database.
//
// Each key gets its answer again, as long as the process lives, and nothing that a client sees looks wrong.
type neverStored struct {
	*api
	mu    sync.Mutex
	given map[string]record // by key
}

func createNeverStoredDesign() Design {
	return Design{
		Name:     "create-never-stored",
		Summary:  "answers 201 and replays it, and never writes the order to the database",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"lost-acknowledged-write"},
		By:       []string{"plain-create"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey((&neverStored{api: a, given: map[string]record{}}).create)
		},
	}
}

func (n *neverStored) create(ctx context.Context, req request) (answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if first, known := n.given[req.Key]; known {
		return first.replayTo(req), nil
	}
	reply := created(newOrder(req))
	if err := n.work(ctx); err != nil {
		return answer{}, err
	}
	n.given[req.Key] = record{Fingerprint: req.Fingerprint, Answer: reply}
	return reply, nil
}
