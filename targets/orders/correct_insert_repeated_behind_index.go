package orders

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// repeatedInsert inserts an order by one statement, without a transaction. Where the connection breaks, its data layer
// inserts again on another one, and says nothing of it.
//
// Drivers and object mappers do so, and a lost question is none the worse for it. An insert whose answer was lost is
// there, and is inserted a second time. A unique index refuses that one, and what is read then is the order.
type repeatedInsert struct {
	*api
	locks *locks // of references, in this process
}

func insertRepeatedBehindIndexDesign() Design {
	return Design{
		Name:     "insert-repeated-behind-index",
		Summary:  "its data layer repeats an insert when the connection breaks, and a unique index lets the row in once",
		Correct:  true,
		Contract: createdOrFound(),
		schema:   []string{ordersTable, referenceIndex},
		handler:  func(a *api) handler { return needReference(repeatedInsert{a, new(locks)}.create) },
	}
}

func (r repeatedInsert) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	defer r.locks.lock(req.Customer + "/" + string(req.Kind) + "/" + req.Order.Reference)()
	found, err := r.db.orderByReference(ctx, newOrder(req))
	if err == nil {
		return as200(created(found)), nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return answer{}, err
	}
	if err := r.work(ctx); err != nil {
		return answer{}, err
	}
	return r.insert(ctx, req)
}

// insert tries at most once on every connection that the pool may have, and on a new one. Each try has a fresh id, as from
// a sequence.
func (r repeatedInsert) insert(ctx context.Context, req request) (answer, error) {
	for try := 1; ; try++ {
		o := newOrder(req)
		err := r.db.insertOrder(ctx, o)
		switch {
		case isDuplicate(err):
			found, err := r.db.orderByReference(ctx, o)
			return as200(created(found)), err
		case err == nil, saidByServer(err), try > connections:
			return created(o), err
		}
	}
}

// saidByServer reports that the database itself gave an error: the connection did not break.
func saidByServer(err error) bool {
	var postgres *pgconn.PgError
	var mariadb *mysql.MySQLError
	return errors.As(err, &postgres) || errors.As(err, &mariadb)
}
