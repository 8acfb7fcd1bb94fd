package orders

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// atLeastOnceAfterCrash makes the order in one transaction, and records the answer in a later one.
//
// The order goes to a system that knows nothing of keys, so that one transaction cannot hold both. In between, the
// claim keeps others away, and nothing but the end of the process leaves it without its record: the request goes on
// without its client, and insists until the database has taken the record. If the process dies in between, the lease
// ends, and the next request makes another order. The contract says so. An order is inserted by its id, so that to insist is to
// make it once.
type atLeastOnceAfterCrash struct {
	leaseRenewed
	running *sync.Map // the keys that this process executes; no lease says that it died
}

func atLeastOnceAfterCrashDesign() Design {
	return Design{
		Name:     "at-least-once-after-crash",
		Summary:  "makes the order, then records the answer: a crash in between makes a second order on the retry, and the contract says so",
		Correct:  true,
		Contract: againAfterCrash(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(atLeastOnceAfterCrash{leaseRenewed{inProgress409{a, renewedLease}}, &sync.Map{}}.create)
		},
	}
}

// againAfterCrash is turningAway with the word for what a crash may do.
func againAfterCrash() contract.Contract {
	promise := turningAway()
	promise.AfterCrash = contract.AtLeastOnce
	return promise
}

func (l atLeastOnceAfterCrash) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	if _, runs := l.running.LoadOrStore(req.Key, true); runs {
		return l.whileRunning(ctx, req)
	}
	defer l.running.Delete(req.Key)
	token := newID("claim_")
	refusal, err := l.claim(ctx, req, token)
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	stop := l.renewing(ctx, req, token)
	defer stop()
	o := newOrder(req)
	reply := created(o)
	if err := l.insist(func() error { return l.db.insertOrder(ctx, o) }); err != nil {
		return answer{}, err
	}
	if err := l.work(ctx); err != nil {
		return answer{}, err
	}
	return reply, l.insist(func() error { return l.db.completeKey(ctx, req, reply) })
}

// whileRunning tells a request that another one with its key is being executed, or that it has another body.
func (l atLeastOnceAfterCrash) whileRunning(ctx context.Context, req request) (answer, error) {
	first, err := l.db.recordOf(ctx, req.Key)
	if err == nil {
		return first.replayOnceThere(req), nil
	}
	return l.inUse(), nil
}

// insist does something until it is done. That it was done before is as good. Only the end of the process ends it.
func (l atLeastOnceAfterCrash) insist(do func() error) error {
	for {
		err := do()
		if err == nil || isDuplicate(err) {
			return nil
		}
		select {
		case <-l.stopped:
			return errors.Join(errClosing, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
