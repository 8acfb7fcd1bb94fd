package orders

import (
	"context"
	"encoding/json"
	"sync"
)

// memoryWithLog keeps what it knows of keys in a map, and writes it to a log before it acts on it.
//
// A map is gone with its process. So what a key stands for is settled before the work, and appended to the log in a
// transaction of its own: the fingerprint, and the order with its id. Only then is the order made. The other way
// round, a server that dies in between leaves an order without its key, and the retry creates another one. This way
// it leaves an entry, and the server that reads it creates the order that it names: the primary key of the orders lets that
// id in once, so that it does not matter whether it is there already, nor who else is at it. The answer is not
// logged, since it says nothing that the entry does not say.
//
// The log is a table that is only added to, and takes one entry for a key. A process that does not find a key in
// its map, because it has just begun or because another process was asked before, is refused there, and reads what
// counts. Requests of one process wait for each other in the map.
type memoryWithLog struct {
	*api
	mu    sync.Mutex
	known map[string]*memorised
}

// memorised is what a process knows of a key. Who holds the lock executes it.
type memorised struct {
	sync.Mutex
	entry logEntry // zero: nothing yet
	made  bool     // the order is there
}

// logEntry is what a key stands for.
type logEntry struct {
	Fingerprint string
	Customer    string
	Kind        kind
	Order       order
}

func memoryWithLogDesign() Design {
	return Design{
		Name:     "memory-with-log",
		Summary:  "remembers keys in a map, and logs what a key stands for, with the order's id, before it makes the order: who comes after a crash goes by the log",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema: []string{ordersTable, `create table write_ahead_log (
			idempotency_key varchar(600) primary key,
			order_id varchar(40) not null,
			entry text not null
		)`},
		handler: func(a *api) handler {
			return needKey((&memoryWithLog{api: a, known: map[string]*memorised{}}).create)
		},
		resume: func(a *api) { (&memoryWithLog{api: a}).resume(context.Background()) },
	}
}

// create goes on without its client: what is logged is made.
func (m *memoryWithLog) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	mine := m.recall(req.Key)
	mine.Lock()
	defer mine.Unlock()
	if mine.entry.Order.ID == "" {
		entry, err := m.log(ctx, req)
		if err != nil {
			return answer{}, err
		}
		mine.entry = entry
	}
	if mine.entry.Fingerprint != req.Fingerprint {
		return keyReused(), nil
	}
	if !mine.made {
		if err := m.make(ctx, mine.entry); err != nil {
			return answer{}, err
		}
		mine.made = true
	}
	return created(mine.entry.order()), nil
}

// recall is the place of a key in the memory.
func (m *memoryWithLog) recall(key string) *memorised {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[key] == nil {
		m.known[key] = new(memorised)
	}
	return m.known[key]
}

// log appends what the key stands for from now on, or reads what it stands for already.
func (m *memoryWithLog) log(ctx context.Context, req request) (entry logEntry, err error) {
	o := newOrder(req)
	entry = logEntry{Fingerprint: req.Fingerprint, Customer: o.Customer, Kind: o.Kind, Order: o}
	err = m.db.retry(ctx, func() error {
		return m.db.exec(ctx, `insert into write_ahead_log (idempotency_key, order_id, entry) values (?, ?, ?)`,
			req.Key, o.ID, string(mustJSON(entry)))
	})
	if isDuplicate(err) {
		return m.entryWhere(ctx, "idempotency_key = ?", req.Key)
	}
	return entry, err
}

func (m *memoryWithLog) entryWhere(ctx context.Context, condition string, args ...any) (entry logEntry, err error) {
	var text string
	if err := m.db.queryRow(ctx, `select entry from write_ahead_log where `+condition, args...).Scan(&text); err != nil {
		return logEntry{}, err
	}
	return entry, json.Unmarshal([]byte(text), &entry)
}

// make makes the order of an entry, unless it is there. Who meets another process that makes it waits for its commit.
func (m *memoryWithLog) make(ctx context.Context, entry logEntry) error {
	err := m.db.retry(ctx, func() error { return m.placeOrder(ctx, entry.order()) })
	if isDuplicate(err) {
		return nil
	}
	return err
}

func (e logEntry) order() order {
	e.Order.Customer, e.Order.Kind = e.Customer, e.Kind
	return e.Order
}

// resume makes what an earlier process has logged and not made.
func (m *memoryWithLog) resume(ctx context.Context) {
	for last := ""; ; {
		entry, err := m.entryWhere(ctx, `order_id > ? and not exists (select 1 from orders where id = order_id)
			order by order_id limit 1`, last)
		if err != nil || m.make(ctx, entry) != nil {
			return // there is no more, or a database that the next start will find
		}
		last = entry.Order.ID
	}
}
