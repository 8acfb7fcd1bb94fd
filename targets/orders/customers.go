package orders

import (
	"context"
	"database/sql"
	"errors"
)

// customersTable has a row for each customer, for what requests of one customer have to agree about.
const customersTable = `create table customers (name varchar(255) primary key, version bigint not null default 0)`

// lockCustomer makes every other lock of the same customer wait until the transaction ends. A "select
// for update" would lock nothing for a customer who orders for the first time and has no row yet; an
// insert that updates the row if it is there locks it in both cases.
func (t *tx) lockCustomer(ctx context.Context, customer string) error {
	return t.exec(ctx, `insert into customers (name) values (?)`+t.onConflict("name", "name = customers.name"), customer)
}

// versionOf reads a customer's version. A new customer gets a row first.
func (d *db) versionOf(ctx context.Context, customer string) (version int64, err error) {
	const query = `select version from customers where name = ?`
	err = d.queryRow(ctx, query, customer).Scan(&version)
	if !errors.Is(err, sql.ErrNoRows) {
		return version, err
	}
	if err := d.exec(ctx, `insert into customers (name) values (?)`, customer); err != nil && !isDuplicate(err) {
		return 0, err
	}
	err = d.queryRow(ctx, query, customer).Scan(&version)
	return version, err
}

// raiseVersion adds one to a customer's version, unless it is another one by now.
func (t *tx) raiseVersion(ctx context.Context, customer string, version int64) (bool, error) {
	raised, err := t.update(ctx, `update customers set version = version + 1 where name = ? and version = ?`, customer, version)
	return raised == 1, err
}
