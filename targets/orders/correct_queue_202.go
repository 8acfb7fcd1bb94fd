package orders

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// queue202 takes an order in, and has a worker make it. No status resource tells what became of it: the order does.
//
// What is committed with the key is a job, and 202 is the answer, to a repeat as well. The worker claims a job for a
// while, and makes the order in one transaction with the end of the job. A job whose worker died is claimed again once
// its claim is over. So every job is done once, and never at once.
type queue202 struct {
	*api
	defects queueDefects
	wake    chan struct{} // there may be a job
}

// queueDefects are those of workers that look right.
type queueDefects struct {
	forgets bool // the job is taken off the queue when it is claimed
	repeats bool // every request is a job, and the worker looks whether its order is there
}

const (
	queueWork  = 120 * time.Millisecond // what a job takes
	queueClaim = time.Second            // how long a claim keeps others away
	queuePoll  = 25 * time.Millisecond
	queueHands = 4 // workers
)

func queue202Design() Design {
	promise := exactReplay()
	promise.Ack = contract.Ack{
		Signature: contract.Signature{Statuses: []int{http.StatusCreated}}, // which no request gets
		Accepted: contract.Accepted{
			Signature: contract.Signature{Statuses: []int{http.StatusAccepted}},
			Within:    contract.Duration(4 * time.Second), Recovery: contract.Duration(2 * time.Second),
		},
	}
	return Design{
		Name:     "queue-202",
		Summary:  "answers 202 and has a worker make the order from a queue in the database: a job is claimed for a second, and done once",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema: []string{ordersTable, keysTable, `create table jobs (
			id varchar(40) primary key,
			begin_at bigint not null,
			kind varchar(20) not null,
			customer varchar(255) not null,
			work text not null
		)`},
		handler: working(queueDefects{}),
	}
}

// working is a handler with its workers.
func working(defects queueDefects) func(*api) handler {
	return func(a *api) handler {
		c := queue202{api: a, defects: defects, wake: make(chan struct{}, queueHands)}
		for range queueHands {
			a.background.Go(c.doJobs)
		}
		return needKey(c.create)
	}
}

// create puts a job into the queue, with its key.
func (c queue202) create(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	reply := jsonAnswer(http.StatusAccepted, map[string]string{"id": o.ID, "status": "queued"})
	work, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	err = c.db.retry(ctx, func() error {
		return c.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertKey(ctx, req, reply); err != nil {
				return err
			}
			return tx.enqueue(ctx, o, work)
		})
	})
	if isDuplicate(err) {
		first, err := c.db.recordOf(ctx, req.Key)
		if err == nil && c.defects.repeats && first.Fingerprint == req.Fingerprint {
			err = c.db.enqueue(ctx, o, work)
		}
		return first.replayTo(req), err
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return reply, err
}

func (q queries) enqueue(ctx context.Context, o order, work []byte) error {
	return q.exec(ctx, `insert into jobs (id, begin_at, kind, customer, work) values (?, ?, ?, ?, ?)`,
		o.ID, time.Now().UnixMilli(), string(o.Kind), o.Customer, string(work))
}

// doJobs does jobs until the server closes.
func (c queue202) doJobs() {
	for {
		select {
		case <-c.stopped:
			return
		case <-c.wake:
		case <-time.After(queuePoll):
		}
		for o, claimed := c.claim(context.Background()); claimed; o, claimed = c.claim(context.Background()) {
			c.do(context.Background(), o)
		}
	}
}

// closes pauses, and reports whether the server closes.
func (a *api) closes(d time.Duration) bool {
	select {
	case <-a.stopped:
		return true
	case <-time.After(d):
		return false
	}
}

// claim takes the first job that is due, and keeps others from it for a while.
func (c queue202) claim(ctx context.Context) (order, bool) {
	var o order
	var kindOf, work string
	var due int64
	now := time.Now()
	err := c.db.queryRow(ctx, `select id, begin_at, kind, customer, work from jobs where begin_at <= ? order by begin_at, id limit 1`, now.UnixMilli()).
		Scan(&o.ID, &due, &kindOf, &o.Customer, &work)
	if err == nil {
		err = json.Unmarshal([]byte(work), &o)
	}
	if err != nil {
		return order{}, false // there is none, or a database that the next look will find
	}
	o.Kind = kind(kindOf)
	if c.defects.forgets {
		taken, err := c.db.update(ctx, `delete from jobs where id = ?`, o.ID)
		return o, err == nil && taken > 0
	}
	taken, err := c.db.update(ctx, `update jobs set begin_at = ? where id = ? and begin_at = ?`, now.Add(queueClaim).UnixMilli(), o.ID, due)
	return o, err == nil && taken > 0
}

// do makes the order and ends its job. What fails is done again when the claim is over: the order's id, which is that
// of the job, lets it be made once.
func (c queue202) do(ctx context.Context, o order) {
	if c.defects.repeats {
		if _, err := c.db.orderWhere(ctx, "note = ? and kind = ? and customer = ?", o.Note, o.Kind, o.Customer); err == nil {
			_ = c.db.exec(ctx, `delete from jobs where id = ?`, o.ID)
			return
		}
	}
	if c.closes(queueWork) {
		return
	}
	const done = `delete from jobs where id = ?`
	err := c.db.retry(ctx, func() error {
		return c.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertOrder(ctx, o); err != nil {
				return err
			}
			return tx.exec(ctx, done, o.ID)
		})
	})
	if isDuplicate(err) {
		_ = c.db.exec(ctx, done, o.ID)
	}
}
