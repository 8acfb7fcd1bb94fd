package orders

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// kind is what a request creates. Both kinds are rows of one table.
type kind string

// The kinds.
const (
	kindOrder kind = "order"
	kindQuote kind = "quote"
)

// path is where the thing with the id is found.
func (k kind) path(id string) string { return k.collection() + "/" + id }

// collection is the path to which requests for a new one are posted.
func (k kind) collection() string { return "/" + string(k) + "s" }

// operation is the name of the operation that creates it.
func (k kind) operation() string { return "create_" + string(k) }

// order is what the API creates, an order or a quote, and its form in answers.
type order struct {
	Customer  string `json:"-"`
	Kind      kind   `json:"-"`
	ID        string `json:"id"`
	Note      string `json:"note"`
	Reference string `json:"reference"`
	Item      string `json:"item"`
	Amount    int64  `json:"amount"`
	CreatedAt string `json:"created_at"`
}

// newOrder is the order that a request asks for, with a fresh id and the time of now.
func newOrder(req request) order {
	o := req.Order
	o.Customer, o.Kind = req.Customer, req.Kind
	o.ID = newID(string(req.Kind[:3]) + "_")
	o.CreatedAt = time.Now().UTC().Format(time.RFC3339Nano)
	return o
}

// newID is a random, unique id.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// location is the order's path.
func (o order) location() string { return o.Kind.path(o.ID) }

const (
	ordersTable = `create table orders (
		id varchar(40) primary key,
		customer varchar(255) not null,
		kind varchar(10) not null,
		note varchar(255) not null,
		reference varchar(255) not null,
		item varchar(255) not null,
		amount bigint not null,
		created_at varchar(40) not null
	)`

	// referenceIndex makes a reference the name of one order of one customer.
	referenceIndex = `create unique index orders_reference on orders (customer, kind, reference)`

	insertOrder = `insert into orders (id, customer, kind, note, reference, item, amount, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?)`
	selectOrder = `select id, customer, kind, note, reference, item, amount, created_at from orders`
)

// columns are the order's values in the order of the table's columns.
func (o order) columns() []any {
	return []any{o.ID, o.Customer, o.Kind, o.Note, o.Reference, o.Item, o.Amount, o.CreatedAt}
}

func (q queries) insertOrder(ctx context.Context, o order) error {
	return q.exec(ctx, insertOrder, o.columns()...)
}

// orderWhere reads the only order of which the condition is true; sql.ErrNoRows says that there is none.
func (q queries) orderWhere(ctx context.Context, condition string, args ...any) (order, error) {
	var o order
	err := q.queryRow(ctx, selectOrder+" where "+condition, args...).
		Scan(&o.ID, &o.Customer, &o.Kind, &o.Note, &o.Reference, &o.Item, &o.Amount, &o.CreatedAt)
	return o, err
}

// orderByReference finds what a customer has created under a reference.
func (q queries) orderByReference(ctx context.Context, o order) (order, error) {
	return q.orderWhere(ctx, "customer = ? and kind = ? and reference = ?", o.Customer, o.Kind, o.Reference)
}
