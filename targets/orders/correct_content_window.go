package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// contentWindow is uniqueKey and takes, for some time, an equal body for a repetition whatever its
// key: who forgot the key of a request, or never kept it, does not order twice.
//
// What is unique is the customer's body, beside the key and in the same transaction. After the window
// the next order with this body takes the row over; of several at the same time, one matches it.
//
// It is a promise that a client has to know of. Who really wants two lamps has to say so in the body.
type contentWindow struct{ uniqueKey }

// window is how long an equal body is a repetition.
const window = 30 * time.Second

// errSeen says that an equal body has been executed within the window.
var errSeen = errors.New("an equal body was executed a moment ago")

func contentWindowDesign() Design {
	promise := exactReplay()
	promise.ContentWindow = contract.Duration(window)
	promise.Existing = contract.Existing{Signature: problemSignature(409, "already_exists"), Identity: contract.Identity{JSON: "/id"}}
	return Design{
		Name:     "content-window",
		Summary:  "for 30s an equal body is a repetition whatever its key: it gets 409 with the id of the order that exists",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable, contentsTable},
		handler:  withinWindow,
	}
}

const contentsTable = `create table contents (
	content varchar(400) primary key,
	order_id varchar(40) not null,
	seen_at bigint not null
)`

func withinWindow(a *api) handler {
	u := newUniqueKey(a)
	u.write = writeContent
	return needKey(contentWindow{u}.create)
}

func (c contentWindow) create(ctx context.Context, req request) (answer, error) {
	reply, err := c.uniqueKey.create(ctx, req)
	if !errors.Is(err, errSeen) {
		return reply, err
	}
	var id string
	err = c.db.queryRow(ctx, `select order_id from contents where content = ?`, contentOf(req)).Scan(&id)
	return alreadyExists(id), err
}

func contentOf(req request) string {
	return fmt.Sprintf("%s %s %s", req.Customer, req.Kind, req.Fingerprint)
}

func writeContent(ctx context.Context, tx *tx, req request, o order, reply answer) error {
	if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil {
		return err
	}
	now := time.Now()
	renewed, err := tx.update(ctx, `update contents set order_id = ?, seen_at = ? where content = ? and seen_at <= ?`,
		o.ID, now.UnixMilli(), contentOf(req), now.Add(-window).UnixMilli())
	if err != nil || renewed == 1 {
		return err
	}
	err = tx.exec(ctx, `insert into contents (content, order_id, seen_at) values (?, ?, ?)`,
		contentOf(req), o.ID, now.UnixMilli())
	if isDuplicate(err) {
		return errSeen
	}
	return err
}
