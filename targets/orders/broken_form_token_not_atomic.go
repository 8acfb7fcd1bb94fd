package orders

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// formTokenNotAtomic keeps in the customer's session which forms were sent.
//
// The key is the token of a form that may be sent once. The session is read when a request begins, as
// one value, and written back when it ends, with the token added. A second click comes while the first
// one's session is not written yet, and finds its token unused. And two forms in two tabs, with a token
// each, overwrite each other's session: the token of the one is used, and known no more.
type formTokenNotAtomic struct{ *api }

func formTokenNotAtomicDesign() Design {
	return Design{
		Name:     "form-token-not-atomic",
		Summary:  "reads the tokens of used forms with the session and writes them back at the end: a double click, or another tab, brings a used one back",
		Contract: seenOnly(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"sequential-replay", "burst-same-key", "tabs-one-key"},
		schema: []string{ordersTable, `create table sessions (
			customer varchar(255) primary key,
			used_tokens text not null
		)`},
		handler: func(a *api) handler { return needKey(formTokenNotAtomic{a}.create) },
	}
}

func (f formTokenNotAtomic) create(ctx context.Context, req request) (answer, error) {
	used, err := f.session(ctx, req.Customer)
	if err != nil {
		return answer{}, err
	}
	token := hash([]byte(req.Key))
	if strings.Contains(used, token) {
		return alreadyProcessed(), nil
	}
	reply, err := f.createWithoutKey(ctx, req)
	if err != nil {
		return answer{}, err
	}
	return reply, f.db.retry(ctx, func() error { return f.save(ctx, req.Customer, used+token+" ") })
}

// session is what was used so far; a customer's first request has none.
func (f formTokenNotAtomic) session(ctx context.Context, customer string) (used string, err error) {
	err = f.db.queryRow(ctx, `select used_tokens from sessions where customer = ?`, customer).Scan(&used)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return used, err
}

func (f formTokenNotAtomic) save(ctx context.Context, customer, used string) error {
	saved, err := f.db.update(ctx, `update sessions set used_tokens = ? where customer = ?`, used, customer)
	if err != nil || saved == 1 {
		return err
	}
	err = f.db.exec(ctx, `insert into sessions (customer, used_tokens) values (?, ?)`, customer, used)
	if isDuplicate(err) {
		return f.save(ctx, customer, used)
	}
	return err
}
