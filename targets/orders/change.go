package orders

import (
	"context"
	"database/sql"
	"maps"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// change is one request to change what is there that was read and understood.
type change struct {
	Customer string
	Kind     kind
	ID       string         // of what is to be changed
	Members  map[string]any // of the body, equal numbers spelled equally
	Header   http.Header
}

// changes lets customers change what is theirs, with PATCH.
func (a *api) changes(mux *http.ServeMux, apply func(ctx context.Context, c change) (answer, error)) {
	for _, k := range []kind{kindOrder, kindQuote} {
		mux.HandleFunc("PATCH "+k.path("{id}"), a.counted(func(r *http.Request, body []byte) (answer, error) {
			members, err := readObject(body)
			if err != nil {
				return invalidBody(err.Error()), nil
			}
			canonical(members)
			c := change{Customer: a.customer(r), Kind: k, ID: r.PathValue("id"), Members: members, Header: r.Header}
			if c.Customer == "" {
				return unauthorized(), nil
			}
			return apply(r.Context(), c)
		}))
	}
}

// rewrite writes to the row of what is to be changed, and answers with what it is then. Who comes to the same row
// waits until it is decided.
func (a *api) rewrite(ctx context.Context, c change, set string, to any) (answer, error) {
	var o order
	err := a.db.retry(ctx, func() error {
		return a.db.transaction(ctx, func(tx *tx) error {
			n, err := tx.update(ctx, `update orders set `+set+` where id = ? and kind = ? and customer = ?`, to, c.ID, c.Kind, c.Customer)
			if err != nil {
				return err
			}
			if n == 0 {
				return sql.ErrNoRows
			}
			if o, err = tx.orderWhere(ctx, "id = ?", c.ID); err != nil {
				return err
			}
			return a.work(ctx)
		})
	})
	if err != nil {
		return notFound(err), nil
	}
	return jsonAnswer(http.StatusOK, o), nil
}

// oncePerPath is the claim that what is sent to one path is one intent, and a repeat is answered like the first.
func oncePerPath() contract.Contract {
	return contract.Contract{
		Level:      contract.Idempotent,
		NaturalKey: []string{contract.WholePath},
		Scope:      contract.Scope{Principal: contract.ScopeSeparate, Operation: contract.ScopeSeparate},
		Ack:        contract.Ack{Signature: contract.Signature{Statuses: []int{http.StatusOK}}},
		InProgress: contract.InProgress{Mode: contract.InProgressWait},
		Replay:     contract.Replay{Body: contract.SameJSON, Headers: []string{"Content-Type"}},
	}
}

// describeChange says that for each intent something is made first, which has the marker, and that the request then
// changes it. Which rows count is up to the design.
func describeChange(o *targets.Operation, of kind, body map[string]any) {
	first := o.Request
	first.Body = maps.Clone(first.Body)
	o.Prepare = []targets.Step{{Request: first, Extract: map[string]targets.Extract{"ID": {JSON: "/id"}}}}
	o.Request = targets.Request{
		Method: http.MethodPatch, Path: of.path("{{.Prepared.ID}}"), Header: first.Header, Body: body,
	}
	o.Alter, o.Invalid = nil, nil // another body would be found under the same marker
}
