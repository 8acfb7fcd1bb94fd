package orders

import (
	"context"
	"sync"
	"time"
)

// recordBehindAnswer answers at once, and writes what keys stand for into the database a second later.
//
// Answers are quick, the map knows every key of this process, and a new process reads the table. The contract says that a
// crash may execute a request once more, and the authors think of a crash between order and record. But here it also
// executes requests again that were answered: a second of them. What was acknowledged is done, whatever
// happens next.
type recordBehindAnswer struct {
	*api
	locks   locks
	answers *sync.Map // records by key
}

// writeBehind is how long after its answer a record is written.
const writeBehind = time.Second

func recordBehindAnswerDesign() Design {
	return Design{
		Name:     "record-behind-answer",
		Summary:  "records the answer a second after giving it: a crash in between makes a second order of a request that was answered",
		Contract: againAfterCrash(),
		Key:      requiredKey(),
		Twin:     "at-least-once-after-crash",
		Shows:    []string{"duplicate"},
		By:       []string{"crash-between"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey((&recordBehindAnswer{api: a, answers: new(sync.Map)}).create) },
	}
}

func (s *recordBehindAnswer) create(ctx context.Context, req request) (answer, error) {
	defer s.locks.lock(req.Key)()
	if first, known := s.answers.Load(req.Key); known {
		return first.(record).replayTo(req), nil
	}
	ctx = context.WithoutCancel(ctx)
	if reply, err := s.db.known(ctx, req); err != nil || reply.Status != 0 {
		return reply, err
	}
	o := newOrder(req)
	reply := created(o)
	if err := s.db.retry(ctx, func() error { return s.placeOrder(ctx, o) }); err != nil {
		return answer{}, err
	}
	s.answers.Store(req.Key, record{Fingerprint: req.Fingerprint, Answer: reply})
	s.later(func() {
		select {
		case <-s.stopped:
		case <-time.After(writeBehind):
		}
		_ = s.db.retry(ctx, func() error { return s.db.insertKey(ctx, req, reply) })
	})
	return reply, nil
}
