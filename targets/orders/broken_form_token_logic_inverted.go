package orders

import "context"

// formTokenLogicInverted takes a token away to see whether it is there.
//
// That is how a form is sent once: its token is stored when the form is shown, and whoever removes it
// is the first. But here the client makes the token, and nobody has stored it. So it was turned round:
// a token that is not there is the first one's, who stores it with the order, and one that is there is
// a repeat, which is refused. The second request is refused, and has taken the token away. The third
// finds nothing, and is the first again.
type formTokenLogicInverted struct{ *api }

func formTokenLogicInvertedDesign() Design {
	return Design{
		Name:     "form-token-logic-inverted",
		Summary:  "removes a form's token to see whether it was used, and takes a missing one for unused: every other repeat makes an order",
		Contract: seenOnly(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"sequential-replay", "withheld-answer", "cut-reset"},
		schema:   []string{ordersTable, `create table used_tokens (token varchar(600) primary key)`},
		handler:  func(a *api) handler { return needKey(formTokenLogicInverted{a}.create) },
	}
}

func (f formTokenLogicInverted) create(ctx context.Context, req request) (answer, error) {
	var removed int64
	err := f.db.retry(ctx, func() error {
		var err error
		removed, err = f.db.update(ctx, `delete from used_tokens where token = ?`, req.Key)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	if removed == 1 {
		return alreadyProcessed(), nil
	}
	reply, err := f.execute(ctx, req)
	if isDuplicate(err) {
		return alreadyProcessed(), nil
	}
	return reply, err
}

func (f formTokenLogicInverted) execute(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	err := f.db.retry(ctx, func() error {
		return f.db.transaction(ctx, func(tx *tx) error {
			if err := tx.exec(ctx, `insert into used_tokens (token) values (?)`, req.Key); err != nil {
				return err
			}
			if err := tx.insertOrder(ctx, o); err != nil {
				return err
			}
			return f.work(ctx)
		})
	})
	return created(o), err
}
