package orders

import (
	"context"
	"fmt"
	"net/http"
)

// ifMatchReadFirst compares the version before it changes the order.
//
// It reads the order, compares its version with If-Match, and if they are the same it writes. Each step is right. Between the second
// and the third another change fits, which was made for the same version: both are applied, and the second one overwrites what
// the first was told is done. The statement that writes has to ask for the version.
type ifMatchReadFirst struct{ ifMatch }

func ifMatchReadFirstDesign() Design {
	d := ifMatchDesign()
	d.Name, d.Correct, d.Twin = "if-match-read-first", false, "if-match"
	d.Summary = "PATCH with If-Match that compares the version it has read, and then writes whatever the version is by now: two changes for one version are applied"
	d.Shows, d.By = []string{"effect-mismatch", "altered-body-violation"}, []string{"burst-same-key", "altered-race", "tabs-natural-key", "sweep"}
	d.routes = func(a *api, mux *http.ServeMux) { a.changes(mux, ifMatchReadFirst{ifMatch{a}}.apply) }
	return d
}

func (m ifMatchReadFirst) apply(ctx context.Context, c change) (answer, error) {
	var known, now int64
	if _, err := fmt.Sscanf(c.Header.Get("If-Match"), `"%d"`, &known); err != nil {
		return problem(http.StatusPreconditionRequired, "version_required", "If-Match must have the order's version"), nil
	}
	o, err := m.db.orderWhere(ctx, "id = ? and kind = ? and customer = ?", c.ID, c.Kind, c.Customer)
	if err != nil {
		return notFound(err), nil
	}
	if err := m.db.queryRow(ctx, `select version from orders where id = ?`, o.ID).Scan(&now); err != nil {
		return answer{}, err
	}
	if now != known {
		return m.changedMeanwhile(ctx, o)
	}
	c.Members["item"] = o.Item // stays
	wanted, err := readOrder(c.Members)
	if err != nil {
		return invalidBody(err.Error()), nil
	}
	o.Note, o.Amount = wanted.Note, wanted.Amount
	err = m.db.retry(ctx, func() error {
		return m.db.transaction(ctx, func(tx *tx) error {
			if err := m.work(ctx); err != nil {
				return err
			}
			_, err := tx.update(ctx, `update orders set note = ?, amount = ?, version = version + 1 where id = ?`, o.Note, o.Amount, o.ID)
			return err
		})
	})
	return jsonAnswer(http.StatusOK, o).with("ETag", entityTag(known+1)), err
}
