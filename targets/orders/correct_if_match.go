package orders

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// ifMatch changes an order only for who knows it as it is.
//
// An order has a version, which is its ETag, and a change says by If-Match which one it was made for. The statement
// asks for it: "set version = version + 1 where version = ?". Of several that know the same version one matches the
// row. The others match nothing, nothing of theirs is applied, and they get 412: no client overwrites a version that
// it has not seen. A version is good for one change, so a repeat cannot be applied again. It gets 412 as well,
// for who asked first is not written down; the order, which the answer names with its version of now, shows whose
// change it was.
type ifMatch struct{ *api }

// ifMatchDesign takes 412 for "that change exists already", as everything that is sent to one path is one intent: that
// intent has used the version up. With another body it is a refusal.
func ifMatchDesign() Design {
	changed := problemSignature(http.StatusPreconditionFailed, "changed")
	promise := oncePerPath()
	promise.Level, promise.Replay = contract.DedupOnly, contract.Replay{}
	promise.Fingerprint = contract.Fingerprint{OnMismatch: contract.MismatchReject, Signature: changed}
	promise.Existing = contract.Existing{Signature: changed, Identity: contract.Identity{JSON: "/id"}}
	return Design{
		Name:     "if-match",
		Summary:  "PATCH with If-Match, no idempotency key: the version is raised by who knows it, and everybody else gets 412, a repeat as well",
		Correct:  true,
		Contract: promise,
		effects:  []contract.Effect{versions()},
		schema:   []string{ordersTable, `alter table orders add column version bigint not null default 1`},
		handler:  func(a *api) handler { return ifMatch{a}.place },
		routes:   func(a *api, mux *http.ServeMux) { a.changes(mux, ifMatch{a}.apply) },
		describe: describeIfMatch,
	}
}

// versions is by how much changes have raised the versions of the orders that they found at 1.
func versions() contract.Effect {
	return contract.Effect{
		Name:  "versions",
		Query: "select coalesce(sum(version - 1), 0) from orders where note = :marker and kind = 'order'",
		Value: new(1.0),
	}
}

// describeIfMatch says that an order with another note is there first, and the change brings the marker.
func describeIfMatch(o *targets.Operation, of kind) {
	alter, invalid := o.Alter, o.Invalid
	describeChange(o, of, map[string]any{"note": "{{.Intent.Marker}}", "amount": 1200})
	o.Prepare[0].Request.Body["note"] = "draft"
	o.Prepare[0].Extract["Version"] = targets.Extract{Header: "ETag"}
	o.Request.Header = maps.Clone(o.Request.Header)
	o.Request.Header["If-Match"] = "{{.Prepared.Version}}"
	o.Alter, o.Invalid = alter, invalid
}

func (m ifMatch) place(ctx context.Context, req request) (answer, error) {
	reply, err := m.createWithoutKey(ctx, req)
	return reply.with("ETag", entityTag(1)), err
}

func (m ifMatch) apply(ctx context.Context, c change) (answer, error) {
	var known int64
	if _, err := fmt.Sscanf(c.Header.Get("If-Match"), `"%d"`, &known); err != nil {
		return problem(http.StatusPreconditionRequired, "version_required", "If-Match must have the order's version"), nil
	}
	o, err := m.db.orderWhere(ctx, "id = ? and kind = ? and customer = ?", c.ID, c.Kind, c.Customer)
	if err != nil {
		return notFound(err), nil
	}
	c.Members["item"] = o.Item // stays
	wanted, err := readOrder(c.Members)
	if err != nil {
		return invalidBody(err.Error()), nil
	}
	o.Note, o.Amount = wanted.Note, wanted.Amount
	raised, err := m.raise(ctx, o, known)
	if err == nil && !raised {
		return m.changedMeanwhile(ctx, o)
	}
	return jsonAnswer(http.StatusOK, o).with("ETag", entityTag(known+1)), err
}

// raise writes the order as it is to be, and adds one to its version, unless that is another one by now.
func (m ifMatch) raise(ctx context.Context, o order, known int64) (raised bool, err error) {
	err = m.db.retry(ctx, func() error {
		return m.db.transaction(ctx, func(tx *tx) error {
			n, err := tx.update(ctx, `update orders set note = ?, amount = ?, version = version + 1 where id = ? and version = ?`,
				o.Note, o.Amount, o.ID, known)
			if raised = n == 1; err != nil || !raised {
				return err
			}
			return m.work(ctx)
		})
	})
	return raised, err
}

func (m ifMatch) changedMeanwhile(ctx context.Context, o order) (answer, error) {
	var now int64
	err := m.db.queryRow(ctx, `select version from orders where id = ?`, o.ID).Scan(&now)
	return problemAnswer(http.StatusPreconditionFailed, map[string]string{
		"code": "changed", "detail": "the order has another version by now", "id": o.ID,
	}).with("ETag", entityTag(now)), err
}

func entityTag(version int64) string { return fmt.Sprintf("%q", fmt.Sprint(version)) }
