package orders

import (
	"maps"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// shops lets customers open shops, and order in one of them: the same request in another shop is another order.
func shops(a *api, mux *http.ServeMux) {
	mux.HandleFunc("POST /shops", a.counted(func(r *http.Request, _ []byte) (answer, error) {
		if a.customer(r) == "" {
			return unauthorized(), nil
		}
		return jsonAnswer(http.StatusCreated, map[string]string{"id": newID("shop_")}), nil
	}))
	for _, k := range []kind{kindOrder, kindQuote} {
		mux.HandleFunc("POST /shops/{shop}"+k.collection(), a.serveCreate(k))
	}
}

// inShops describes orders that are made in a shop of their own.
func inShops(o *targets.Operation, of kind) {
	o.Prepare = []targets.Step{{
		Request: targets.Request{Method: http.MethodPost, Path: "/shops", Header: maps.Clone(o.Request.Header)},
		Extract: map[string]targets.Extract{"Shop": {JSON: "/id"}},
	}}
	o.Request.Path = "/shops/{{.Prepared.Shop}}" + of.collection()
}

// scopedByPath is a contract that says what a key means at another path.
func scopedByPath(promise contract.Contract, scope contract.KeyScope) contract.Contract {
	promise.Scope.Path = scope
	return promise
}
