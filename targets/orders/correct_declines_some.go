package orders

import (
	"context"
	"hash/fnv"
	"net/http"
)

// declinesSome declines every fifth reference for good, keeps a row of the attempt, and replays the decline.
//
// A declined card is an answer like others: the row that says so, and the record of the key, are one transaction, and
// the retry is declined again.
func declinesSomeDesign() Design {
	promise := exactReplay()
	promise.Errors.Declined = problemSignature(http.StatusPaymentRequired, "declined")
	return Design{
		Name:     "declines-some",
		Summary:  "declines every fifth reference with 402 and a row of the attempt, and says so again to each retry",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, stateColumn, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.tell = toldOrDeclined
			p.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
				if err := writeKeyAndOrder(ctx, tx, req, o, reply); err != nil || !unlucky(o.Reference) {
					return err
				}
				return tx.markDeclined(ctx, o)
			}
		}),
	}
}

// stateColumn says of each order whether it was declined.
const stateColumn = `alter table orders add column state varchar(10) not null default 'placed'`

func (q queries) markDeclined(ctx context.Context, o order) error {
	return q.exec(ctx, `update orders set state = 'declined' where id = ?`, o.ID)
}

// unlucky picks about every fifth reference.
func unlucky(reference string) bool {
	sum := fnv.New32a()
	sum.Write([]byte(reference))
	return sum.Sum32()%5 == 0
}

func toldOrDeclined(o order) answer {
	if unlucky(o.Reference) {
		return declined()
	}
	return created(o)
}

func declined() answer {
	return problem(http.StatusPaymentRequired, "declined", "the payment was declined")
}
