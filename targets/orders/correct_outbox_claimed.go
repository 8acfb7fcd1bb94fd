package orders

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// outboxPaymentsTable has what is still to be paid for.
const outboxPaymentsTable = `create table outbox (
	id varchar(40) primary key,
	note varchar(255) not null,
	amount bigint not null,
	state integer not null,
	owner varchar(40) not null default ''
)`

// The states of an entry.
const (
	entryWaits = 0
	entryTaken = 1 // by one relay
	entryDone  = 2
)

// relayed writes an order, its key and an entry of the outbox in one transaction, and has a relay ask for the payment.
//
// Relays run after every request, several at once. With claim, one of them takes an entry, and gives it back if it got no
// answer, of the service or of the database; those of a process that died are given back when it starts again. The payment's key is the entry's id, so that an entry which is sent again is the same payment.
type relayed struct {
	*api
	claim  bool
	claims *sync.Map // entries that a relay of this process has taken; nil: it does not say
	only   string    // a request relays this entry; empty: all that wait
	lock   bool      // a relay keeps an entry locked while it sends it
	first  bool      // a request relays once before its answer
	own    bool      // a request relays its own entry only
	early  bool      // an entry is marked as done before it is sent
	send   func(ctx context.Context, id string, o order) error
}

func outboxClaimedDesign() Design {
	return outboxDesign(Design{
		Name:    "outbox-claimed",
		Summary: "order, key and an entry of the outbox in one transaction; a relay claims each entry and asks for the payment under its id until there is an answer",
		Correct: true,
		effects: []contract.Effect{within(oneCharge())},
	}, func(a *api) relayed {
		return relayed{api: a, claim: true, first: true, send: func(ctx context.Context, id string, o order) error {
			_, err := a.outside.charge(ctx, id, o)
			return err
		}}
	})
}

// within is an effect that comes from an outbox.
func within(e contract.Effect) contract.Effect {
	e.Within = contract.Duration(time.Second)
	return e
}

// outboxDesign is a design of relayed.
func outboxDesign(d Design, relay func(a *api) relayed) Design {
	d.Contract, d.Key = exactReplay(), requiredKey()
	d.schema = []string{ordersTable, keysTable, outboxPaymentsTable}
	d.handler = func(a *api) handler {
		r := relay(a)
		u := newUniqueKey(a)
		u.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
			if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil || o.Kind == kindQuote {
				return err
			}
			return tx.exec(ctx, `insert into outbox (id, note, amount, state) values (?, ?, ?, ?)`, o.ID, o.Note, o.Amount, entryWaits)
		}
		return needKey(func(ctx context.Context, req request) (answer, error) {
			reply, err := u.create(ctx, req)
			r := r
			if r.claims != nil || r.own {
				r.only = record{Answer: reply}.orderID()
			}
			if !r.first || r.pass(ctx) != nil {
				a.later(r.run)
			}
			return reply, err
		})
	}
	d.resume = func(a *api) {
		r := relay(a)
		if r.claim {
			_ = a.db.retry(context.Background(), func() error { // else they wait for the next start
				return a.db.exec(context.Background(), `update outbox set state = ? where state = ?`, entryWaits, entryTaken)
			})
		}
		r.run()
	}
	return d
}

// run sends what waits, and comes back for what could not be sent.
func (d relayed) run() {
	ctx, cancel := context.WithTimeout(context.Background(), dependencyPatience)
	defer cancel()
	for pause := 20 * time.Millisecond; ctx.Err() == nil; pause *= 2 {
		if d.pass(ctx) == nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-d.stopped:
			return
		}
	}
}

// pass sends what waits.
func (d relayed) pass(ctx context.Context) error {
	if d.lock {
		return d.underLocks(ctx)
	}
	entries, err := d.waiting(ctx)
	for _, o := range entries {
		if d.only != "" && d.only != o.ID {
			continue
		}
		err = errors.Join(err, d.relay(ctx, o))
	}
	return err
}

// waiting returns the entries that wait, as orders.
func (d relayed) waiting(ctx context.Context) ([]order, error) {
	rows, err := d.db.pool.QueryContext(ctx, d.db.rebind(`select id, note, amount from outbox where state = ?`), entryWaits)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []order
	for rows.Next() {
		o := order{Kind: kindOrder}
		if err := rows.Scan(&o.ID, &o.Note, &o.Amount); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// relay sends one entry, unless another relay has it.
func (d relayed) relay(ctx context.Context, o order) error {
	if d.claims != nil {
		if _, taken := d.claims.LoadOrStore(o.ID, true); taken {
			return nil
		}
	}
	if d.early {
		return d.relayEarly(ctx, o)
	}
	owner := rand.Text()
	if d.claim {
		taken, err := d.take(ctx, o.ID, owner)
		if err != nil {
			return errors.Join(err, d.giveBack(o.ID, owner)) // it may be taken: only the answer was lost
		}
		if !taken {
			return nil
		}
	}
	if err := d.send(ctx, o.ID, o); err != nil {
		if d.claims != nil {
			d.claims.Delete(o.ID)
		}
		return errors.Join(err, d.giveBack(o.ID, owner))
	}
	from := entryWaits
	if d.claim {
		from = entryTaken
	}
	_, err := d.step(ctx, o.ID, from, entryDone)
	return err
}

// relayEarly marks an entry as done, and takes the mark back if it could not be sent.
func (d relayed) relayEarly(ctx context.Context, o order) error {
	first, err := d.step(ctx, o.ID, entryWaits, entryDone)
	if !first {
		return err
	}
	if err := d.send(ctx, o.ID, o); err != nil {
		_, back := d.step(context.WithoutCancel(ctx), o.ID, entryDone, entryWaits)
		return errors.Join(err, back)
	}
	return nil
}

// take lets an owner have an entry that waits, and reports whether it has it.
func (d relayed) take(ctx context.Context, id, owner string) (bool, error) {
	n, err := d.db.update(ctx, `update outbox set state = ?, owner = ? where id = ? and state = ?`, entryTaken, owner, id, entryWaits)
	return n > 0, err
}

// giveBack lets an entry wait again that an owner has taken, as soon as the database can be reached.
func (d relayed) giveBack(id, owner string) error {
	ctx, cancel := context.WithTimeout(context.Background(), dependencyPatience)
	defer cancel()
	for {
		_, err := d.db.update(ctx, `update outbox set state = ? where id = ? and owner = ? and state = ?`, entryWaits, id, owner, entryTaken)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		case <-d.stopped:
			return err
		}
	}
}

// step leads an entry from one state to another, and reports whether it was in the first.
func (d relayed) step(ctx context.Context, id string, from, to int) (bool, error) {
	var n int64
	err := d.db.retry(ctx, func() (err error) {
		n, err = d.db.update(ctx, `update outbox set state = ? where id = ? and state = ?`, to, id, from)
		return err
	})
	return n > 0, err
}
