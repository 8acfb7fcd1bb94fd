package orders

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// accepted202 promises the order, and makes it later.
//
// What is committed with the key is an operation, and its path is the answer, to a repeat as well. The
// order follows in the background, in one transaction with the operation's end, so that an operation
// that is done has its order, and there is no order whose operation still runs. What it takes to make the order is
// committed as well. A server that is killed in between continues when it is back: no client may ask again.
type accepted202 struct{ *api }

func accepted202Design() Design {
	done := func(state string) contract.Signature {
		return contract.Signature{Statuses: []int{http.StatusOK}, Where: map[string]any{"/state": state}}
	}
	promise := exactReplay()
	promise.Ack = contract.Ack{
		Signature: contract.Signature{Statuses: []int{http.StatusCreated}}, // which no request gets
		Accepted: contract.Accepted{
			Signature: contract.Signature{Statuses: []int{http.StatusAccepted}},
			Monitor:   "Location", Done: done("done"), Failed: done("failed"),
			Identity: "/order_id", Within: contract.Duration(5 * time.Second),
		},
	}
	return Design{
		Name:     "accepted-202",
		Summary:  "answers 202 with the Location of an operation, to a repeat with the same one: the order is made in the background",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema: []string{ordersTable, keysTable, `create table operations (
			id varchar(40) primary key,
			customer varchar(255) not null,
			state varchar(10) not null,
			order_id varchar(40) not null,
			kind varchar(20) not null,
			work text not null
		)`},
		handler:  func(a *api) handler { return needKey(accepted202{a}.create) },
		routes:   func(a *api, mux *http.ServeMux) { mux.HandleFunc("GET /operations/{id}", accepted202{a}.serve) },
		resume:   func(a *api) { accepted202{a}.resume(context.Background()) },
		describe: func(o *targets.Operation, _ kind) { o.Identity = contract.Identity{} },
	}
}

// operation is work in the background, and its form in answers.
type operation struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	OrderID string `json:"order_id,omitempty"`
}

// create goes on without its client: what it has committed must be begun.
func (c accepted202) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	op, o, reply := c.promise(req)
	work, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	err = c.db.retry(ctx, func() error {
		return c.db.transaction(ctx, func(tx *tx) error {
			if err := tx.insertPromise(ctx, req, op, o, reply, string(work)); err != nil {
				return err
			}
			return c.work(ctx) // the payment is authorised before anything is promised
		})
	})
	if isDuplicate(err) {
		return c.repeat(ctx, req)
	}
	if err == nil {
		c.later(func() { c.finish(ctx, op, o) })
	}
	return reply, err
}

// promise is an operation, its order, and the answer that describes it.
func (c accepted202) promise(req request) (operation, order, answer) {
	op := operation{ID: newID("op_"), State: "running"}
	return op, newOrder(req), jsonAnswer(http.StatusAccepted, op).with("Location", "/operations/"+op.ID)
}

// insertPromise remembers the answer to a key and the operation, with what it takes to do the work.
func (q queries) insertPromise(ctx context.Context, req request, op operation, o order, reply answer, work string) error {
	if err := q.insertKey(ctx, req, reply); err != nil {
		return err
	}
	return q.exec(ctx, `insert into operations (id, customer, state, order_id, kind, work) values (?, ?, ?, ?, ?, ?)`,
		op.ID, req.Customer, op.State, o.ID, string(o.Kind), work)
}

// repeat gives the first answer, and resumes an operation that still runs: the server that accepted it may have
// heard nothing of its commit, and never have begun.
func (c accepted202) repeat(ctx context.Context, req request) (answer, error) {
	first, err := c.db.recordOf(ctx, req.Key)
	if err != nil || first.Fingerprint != req.Fingerprint {
		return first.replayTo(req), err
	}
	op, o := operation{ID: path.Base(first.Answer.Header["Location"])}, newOrder(req)
	if err := c.db.queryRow(ctx, `select state, order_id from operations where id = ?`, op.ID).Scan(&op.State, &o.ID); err != nil {
		return answer{}, err
	}
	if op.State == "running" {
		c.later(func() { c.finish(ctx, op, o) })
	}
	return first.Answer, nil
}

// resume finishes what an earlier process has accepted and not done.
func (c accepted202) resume(ctx context.Context) {
	for op := (operation{}); ; {
		var o order
		var kindOf, work string
		err := c.db.queryRow(ctx, `select id, customer, kind, work from operations where state = 'running' and id > ? order by id limit 1`, op.ID).
			Scan(&op.ID, &o.Customer, &kindOf, &work)
		if err == nil {
			err = json.Unmarshal([]byte(work), &o)
		}
		if err != nil {
			return // there is no more, or a database that its next start will find
		}
		o.Kind = kind(kindOf)
		c.later(func() { c.finish(ctx, op, o) })
	}
}

// untilBack is how long the work in the background pauses when the database did not take its result.
const untilBack = 50 * time.Millisecond

// finish makes the order and ends the operation, unless the server closes. It goes on until that is known
// to be done: the order's id, which was chosen with the key, lets it be created once, by any number of servers.
func (c accepted202) finish(ctx context.Context, op operation, o order) {
	for c.work(ctx) == nil {
		err := c.db.retry(ctx, func() error {
			return c.db.transaction(ctx, func(tx *tx) error {
				if err := tx.insertOrder(ctx, o); err != nil {
					return err
				}
				return tx.exec(ctx, `update operations set state = 'done' where id = ?`, op.ID)
			})
		})
		if err == nil || isDuplicate(err) {
			return
		}
		time.Sleep(untilBack)
	}
}

func (c accepted202) serve(w http.ResponseWriter, r *http.Request) {
	customer := c.customer(r)
	if customer == "" {
		unauthorized().write(w)
		return
	}
	var op operation
	err := c.db.queryRow(r.Context(), `select id, state, order_id from operations where id = ? and customer = ?`,
		r.PathValue("id"), customer).Scan(&op.ID, &op.State, &op.OrderID)
	if err != nil {
		notFound(err).write(w)
		return
	}
	if op.State != "done" {
		op.OrderID = "" // it is chosen, and not there yet
	}
	jsonAnswer(http.StatusOK, op).write(w)
}
