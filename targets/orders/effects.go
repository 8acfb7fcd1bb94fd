package orders

import (
	"context"

	"github.com/doubletap-harness/doubletap/contract"
)

// What an order changes beyond its row, in the designs that have it: two lines, one for the goods and
// one for their delivery, and the stock of its item.
const (
	linesTable = `create table order_lines (order_id varchar(40) not null, text varchar(255) not null)`
	stockTable = `create table stock (item varchar(255) primary key, quantity bigint not null)`
	fullStock  = `insert into stock (item, quantity) values ('lamp', 1000000)`

	// The wallet from which orders are paid.
	walletTable = `create table wallets (owner varchar(255) primary key, balance bigint not null)`
	fullWallet  = `insert into wallets (owner, balance) values ('shop', 1000000000)`
)

func lines() contract.Effect {
	return contract.Effect{
		Name:  "lines",
		Query: "select text from order_lines where order_id in (select id from orders where note = :marker and kind = 'order')",
		Rows:  new(2),
	}
}

func stock() contract.Effect {
	return contract.Effect{Name: "stock", Query: "select quantity from stock where item = 'lamp'", Delta: new(-1.0)}
}

// balance is the wallet and what was paid from it, which stay the same together, whatever the amounts are.
func balance() contract.Effect {
	return contract.Effect{
		Name:  "balance",
		Query: "select balance + (select coalesce(sum(amount), 0) from orders where kind = 'order') from wallets where owner = 'shop'",
		Delta: new(0.0),
	}
}

// insertLines adds the lines of an order. A quote has none.
func (q queries) insertLines(ctx context.Context, of kind, id, item string) error {
	if of != kindOrder {
		return nil
	}
	return q.exec(ctx, `insert into order_lines (order_id, text) values (?, ?), (?, ?)`, id, item, id, "delivery")
}

// takeFromStock takes one of an item for an order. A quote takes nothing.
func (q queries) takeFromStock(ctx context.Context, of kind, item string) error {
	if of != kindOrder {
		return nil
	}
	return q.exec(ctx, `update stock set quantity = quantity - 1 where item = ?`, item)
}

// debit takes the amount of an order from the wallet. A quote costs nothing.
func (q queries) debit(ctx context.Context, of kind, amount int64) error {
	if of != kindOrder {
		return nil
	}
	return q.exec(ctx, `update wallets set balance = balance - ? where owner = 'shop'`, amount)
}
