package orders

import (
	"context"
	"net/http"
	"path"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// putClientIDDesign lets the client choose the path: PUT /orders/{reference}. The same PUT again finds
// its order there. Another one is refused, since an order is not changed by ordering.
func putClientIDDesign() Design {
	promise := exactReplay()
	promise.NaturalKey = []string{"/reference"}
	promise.Replay.Status = map[int][]int{http.StatusCreated: {http.StatusOK}}
	promise.MissingKey = contract.Signature{}
	promise.Fingerprint = contract.Fingerprint{
		Mode: contract.FingerprintFields, Fields: []string{"/note", "/reference", "/item", "/amount"},
		OnMismatch: contract.MismatchReject, Signature: problemSignature(http.StatusConflict, "other_order"),
	}
	return Design{
		Name:     "put-client-id",
		Summary:  "PUT to a path that the client chooses, no idempotency key: 201, then 200 for the same order and 409 for another one",
		Correct:  true,
		Contract: promise,
		schema:   []string{ordersTable, referenceIndex},
		handler:  func(a *api) handler { return newUpsert(a).put },
		routes: func(a *api, mux *http.ServeMux) {
			for _, k := range []kind{kindOrder, kindQuote} {
				mux.HandleFunc("PUT "+k.path("{reference}"), a.serveCreate(k))
			}
		},
		describe: func(o *targets.Operation, of kind) {
			o.Request.Method, o.Request.Path = http.MethodPut, of.path("{{.Intent.Reference}}")
		},
	}
}

func (u upsert) put(ctx context.Context, req request) (answer, error) {
	if path.Base(req.Path) != req.Order.Reference {
		return invalidBody("the reference must be the last part of the path"), nil
	}
	found, isNew, err := u.createOrFind(ctx, req)
	switch {
	case err != nil || isNew:
		return created(found), err
	case found.Note != req.Order.Note || found.Item != req.Order.Item || found.Amount != req.Order.Amount:
		return problem(http.StatusConflict, "other_order", "there is another order at this path"), nil
	default:
		return as200(created(found)), nil
	}
}
