package orders

import (
	"context"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// listingLosesEventDesign has the events of its read model in memory only.
//
// The order is committed, and whoever lists orders sees it a quarter of a second later. A process that ends in between
// takes its events along: the order is there, and nobody who looks for it will ever find it.
func listingLosesEventDesign() Design {
	d := uniqueKeyDesign()
	d.Name, d.Correct = "listing-loses-event", false
	d.Summary = "orders are looked for in a read model whose events are in memory only: a crash after the answer, and an order is never shown"
	d.Twin = "lagging-listing"
	d.Shows, d.By = []string{"lost-acknowledged-write"}, []string{"crash-between"}
	d.schema = append(d.schema, viewTable)
	d.handler = varied(func(a *api, p *parts) {
		p.tell = func(o order) answer {
			a.later(func() {
				a.showWhenThere(context.Background(), o.ID)
			})
			return created(o)
		}
	})
	d.describe = func(o *targets.Operation, _ kind) {
		o.Rows.Query = strings.Replace(o.Rows.Query, "from orders", "from order_views", 1)
		o.Rows.VisibleWithin = contract.Duration(2 * time.Second)
	}
	return d
}

// longestCommit is how long an order is looked for whose transaction goes on.
const longestCommit = 30 * time.Second

// showWhenThere shows an order a while after it is there, which it never is if its transaction was rolled back.
func (a *api) showWhenThere(ctx context.Context, id string) {
	for until := time.Now().Add(longestCommit); time.Now().Before(until) && !a.closes(viewLag); {
		if o, err := a.db.orderWhere(ctx, "id = ?", id); err == nil {
			_ = a.db.retry(ctx, func() error { return a.db.show(ctx, o) })
			return
		}
	}
}
