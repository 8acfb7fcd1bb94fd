package orders

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"

	"github.com/doubletap-harness/doubletap/targets"
)

// softDelete keeps deleted orders as rows, and their references free.
//
// The unique index has one column more: living, which is 1 as long as the order lives and null once it was
// deleted. No null equals another, so the index lets any number of the dead have one reference, and one of
// the living. (Where an index may have a condition, "where deleted_at is null" says the same.) An order
// that is deleted while another request waits for its reference was in the way a moment ago: try again.
type softDelete struct{ naturalKey }

func softDeleteDesign() Design {
	return Design{
		Name:     "soft-delete",
		Summary:  "deleted orders stay as rows, and a unique index on the reference of the living ones lets them be ordered again",
		Correct:  true,
		Contract: oncePerReference(),
		schema: []string{
			ordersTable, `alter table orders add column deleted_at varchar(40)`, `alter table orders add column living integer default 1`,
			`create unique index orders_reference on orders (customer, kind, reference, living)`,
		},
		handler:  func(a *api) handler { return needReference(softDelete{naturalKey{a}}.create) },
		routes:   func(a *api, mux *http.ServeMux) { a.deletes(mux, "deleted_at = ?, living = null") },
		describe: describeDeletes,
	}
}

func (s softDelete) create(ctx context.Context, req request) (answer, error) {
	for {
		o, err := s.insert(ctx, req)
		if !isDuplicate(err) {
			return created(o), err
		}
		first, err := s.db.orderWhere(ctx, "customer = ? and kind = ? and reference = ? and living = 1", o.Customer, o.Kind, o.Reference)
		if !errors.Is(err, sql.ErrNoRows) {
			return alreadyExists(first.ID), err
		}
	}
}

// deletes lets customers delete what is theirs: the row stays, and set says how it changes at the time of its end.
func (a *api) deletes(mux *http.ServeMux, set string) {
	for _, k := range []kind{kindOrder, kindQuote} {
		mux.HandleFunc("DELETE "+k.path("{id}"), func(w http.ResponseWriter, r *http.Request) {
			at := time.Now().UTC().Format(time.RFC3339Nano)
			n, err := a.db.update(r.Context(), `update orders set `+set+` where id = ? and kind = ? and customer = ? and deleted_at is null`,
				at, r.PathValue("id"), k, a.customer(r))
			if err == nil && n == 0 {
				err = sql.ErrNoRows
			}
			if err != nil {
				notFound(err).write(w)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		})
	}
}

// describeDeletes says that deleted orders do not count, and how one is deleted.
func describeDeletes(o *targets.Operation, _ kind) {
	o.Rows.Query += " and deleted_at is null"
	o.Remove = []targets.Step{{Request: targets.Request{
		Method: http.MethodDelete, Path: o.Request.Path + "/{{.Made.Identity}}", Header: o.Request.Header,
	}}}
}
