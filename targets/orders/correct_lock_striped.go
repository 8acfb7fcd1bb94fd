package orders

import (
	"context"
	"fmt"
	"hash/fnv"
)

// lockStriped locks one of sixteen rows, chosen by the key, then looks the key up, then writes.
//
// A row for each key would have to be made and removed; a few that are always there make two keys wait for
// each other now and then, and that is all. Every key has its row, so no two requests of a key are ever at the same place.
type lockStriped struct{ *api }

const (
	stripes      = 16
	stripesTable = `create table lock_stripes (id integer primary key, taken bigint not null default 0)`
)

// stripesOf puts the first n stripes into the table.
func stripesOf(n int) string {
	text := `insert into lock_stripes (id) values (0)`
	for id := 1; id < n; id++ {
		text += fmt.Sprintf(`, (%d)`, id)
	}
	return text
}

func lockStripedDesign() Design {
	return Design{
		Name:     "lock-striped",
		Summary:  "locks one of sixteen rows by the hash of the key, looks the key up again and writes: no unique index",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysLoose, keysIndex, stripesTable, stripesOf(stripes)},
		handler:  func(a *api) handler { return needKey(lockStriped{a}.create) },
	}
}

func (l lockStriped) create(ctx context.Context, req request) (answer, error) {
	reply, err := l.db.known(ctx, req)
	if err != nil || reply.Status != 0 {
		return reply, err
	}
	stripe, err := l.db.stripeOf(ctx, req.Key)
	if err != nil {
		return answer{}, err
	}
	if err := l.work(ctx); err != nil {
		return answer{}, err
	}
	err = l.db.retry(ctx, func() error {
		return l.db.transaction(ctx, func(tx *tx) error {
			if err := tx.exec(ctx, `update lock_stripes set taken = taken + 1 where id = ?`, stripe); err != nil {
				return err
			}
			reply, err = tx.knownOrWritten(ctx, req)
			return err
		})
	})
	return reply, err
}

// stripeOf looks for the row that a key's requests lock.
func (d *db) stripeOf(ctx context.Context, key string) (stripe int, err error) {
	sum := fnv.New32a()
	sum.Write([]byte(key))
	err = d.queryRow(ctx, `select id from lock_stripes where id = ?`, int(sum.Sum32()%stripes)).Scan(&stripe)
	return stripe, err
}
