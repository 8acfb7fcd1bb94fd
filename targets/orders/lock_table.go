package orders

import (
	"context"
	"time"
)

// locksTable has a row for each lock that is held.
const locksTable = `create table locks (
	name varchar(600) primary key,
	token varchar(40) not null,
	held_until bigint not null
)`

// tryLock takes a lock that is free or has expired, and reports whether it has it now.
func (d *db) tryLock(ctx context.Context, name, token string, hold time.Duration) (bool, error) {
	now := time.Now()
	var taken int64
	err := d.retry(ctx, func() error {
		var err error
		taken, err = d.update(ctx, `update locks set token = ?, held_until = ? where name = ? and held_until < ?`,
			token, now.Add(hold).UnixMilli(), name, now.UnixMilli())
		if err != nil || taken == 1 {
			return err
		}
		err = d.exec(ctx, `insert into locks (name, token, held_until) values (?, ?, ?)`,
			name, token, now.Add(hold).UnixMilli())
		if isDuplicate(err) {
			return nil
		}
		taken = 1
		return err
	})
	return taken == 1, err
}
