package orders

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// formToken hands out a token with each page of its form, and takes it back once.
//
// A token is a row that belongs to the customer who loaded the page. To submit the form is to write into that row
// where it has led to, if nothing stands there yet, in the transaction of the order. A second click waits at the row
// until the first one is committed, matches nothing then, and finds where to go: 303 to the same order, whatever the
// second says. If the first was rolled back, its token is as good as new, and so it is if what the form said was
// refused. No such row means that the token belongs to another customer or is made up, or that none was sent: 403.
type formToken struct{ *api }

func formTokenDesign() Design {
	promise := redirecting(loose())
	promise.Scope = contract.Scope{} // a token has one owner from the start
	promise.MissingKey = problemSignature(http.StatusForbidden, "form_unknown")
	return Design{
		Name:     "form-token",
		Summary:  "a page hands out a one-time token, which the order takes in its transaction: a second click is led to the same order, and no other token gets in",
		Correct:  true,
		Contract: promise,
		Key: targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "token", Required: true}, Issued: []targets.Step{{
			Request: targets.Request{Method: http.MethodGet, Path: "/form", Header: map[string]string{"Authorization": "Bearer {{.Principal.Token}}"}},
			Extract: map[string]targets.Extract{targets.IssuedKey: {HTML: "input[name=token]", Attribute: "value"}},
		}}},
		schema: []string{ordersTable, `create table forms (
			token varchar(40) primary key,
			customer varchar(255) not null,
			led_to varchar(255)
		)`},
		read:    readForm,
		handler: func(a *api) handler { return formToken{a}.submit },
		routes:  func(a *api, mux *http.ServeMux) { mux.HandleFunc("GET /form", formToken{a}.page) },
		describe: func(o *targets.Operation, of kind) {
			o.Request.Form, o.Request.Body = o.Request.Body, nil
			o.Identity = inLocation(of)
		},
	}
}

const formPage = `<!doctype html>
<title>Order</title>
<form method="post" action="/orders">
	<input type="hidden" name="token" value="%s">
	<input type="hidden" name="reference">
	<input name="item"> <input name="amount"> <input name="note">
	<button>Order</button> <button formaction="/quotes">Ask for a quote</button>
</form>
`

func (f formToken) page(w http.ResponseWriter, r *http.Request) {
	customer, token := f.customer(r), newID("form_")
	if customer == "" {
		unauthorized().write(w)
		return
	}
	err := f.db.retry(r.Context(), func() error {
		return f.db.exec(r.Context(), `insert into forms (token, customer) values (?, ?)`, token, customer)
	})
	if err != nil {
		failed(err).write(w)
		return
	}
	answer{
		Status: http.StatusOK, Header: map[string]string{"Content-Type": "text/html"}, Body: fmt.Appendf(nil, formPage, token),
	}.write(w)
}

// readForm reads what the page sends. All of it is text.
func readForm(customer string, of kind, header http.Header, body []byte) (request, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return request{}, errors.New("the body must be a form")
	}
	o, err := readOrder(map[string]any{
		"note": form.Get("note"), "reference": form.Get("reference"), "item": form.Get("item"), "amount": json.Number(form.Get("amount")),
	})
	return request{Customer: customer, Kind: of, Order: o, Header: header, Body: body}.withKey(form.Get("token")), err
}

// errNotOpen says that a form was submitted already, or never handed out to this customer.
var errNotOpen = errors.New("this token opens no form")

func (f formToken) submit(ctx context.Context, req request) (answer, error) {
	o := newOrder(req)
	err := f.db.retry(ctx, func() error {
		return f.db.transaction(ctx, func(tx *tx) error {
			taken, err := tx.update(ctx, `update forms set led_to = ? where token = ? and customer = ? and led_to is null`,
				o.location(), req.RawKey, req.Customer)
			if err == nil && taken == 0 {
				err = errNotOpen
			}
			if err != nil {
				return err
			}
			if err := tx.insertOrder(ctx, o); err != nil {
				return err
			}
			return f.work(ctx)
		})
	})
	if errors.Is(err, errNotOpen) {
		return f.again(ctx, req)
	}
	return seeOther(o.location()), err
}

// again leads to where the form has led, if it has.
func (f formToken) again(ctx context.Context, req request) (answer, error) {
	var led string
	err := f.db.queryRow(ctx, `select led_to from forms where token = ? and customer = ?`, req.RawKey, req.Customer).Scan(&led)
	if errors.Is(err, sql.ErrNoRows) {
		return problem(http.StatusForbidden, "form_unknown", "load the form first"), nil
	}
	return seeOther(led), err
}
