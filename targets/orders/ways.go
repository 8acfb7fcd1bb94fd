package orders

import (
	"context"
	"net/http"

	"github.com/doubletap-harness/doubletap/targets"
)

// orderByBody is the operation that makes an order with the key in the body.
const orderByBody = "create_order_by_body"

// olderPath is where older clients send their orders.
const olderPath = "/v1/orders"

// keyInEitherPlace describes the second way to make an order: to the same path, with the key in the body.
func keyInEitherPlace(order targets.Operation) map[string]targets.Operation {
	order.SameAs, order.Key, order.Effects = kindOrder.operation(), requiredInBody(), nil
	return map[string]targets.Operation{orderByBody: order}
}

// byOlderPath describes the second way to make an order: to the path of older clients, who have the key in the body.
func byOlderPath(order targets.Operation) map[string]targets.Operation {
	ways := keyInEitherPlace(order)
	older := ways[orderByBody]
	older.Request.Path = olderPath
	ways[orderByBody] = older
	return ways
}

func (a *api) servesOlderPath(mux *http.ServeMux) {
	mux.HandleFunc("POST "+olderPath, a.serveCreate(kindOrder))
}

// fromHeader and fromBody are the places of a key.
const (
	fromHeader = "header"
	fromBody   = "body"
)

// keyFromEither passes requests on with the key of the header, or else that of the body, and says which it was.
func keyFromEither(next func(place string) handler) handler {
	fromHeader, fromBody := next(fromHeader), keyFromBody(next(fromBody))
	return func(ctx context.Context, req request) (answer, error) {
		if req.RawKey != "" {
			return fromHeader(ctx, req)
		}
		return fromBody(ctx, req)
	}
}

// withoutKeyMember is the fingerprint of a request whose key stands in the body, as if it stood in the header.
func withoutKeyMember(req request) string {
	members, err := readObject(req.Body)
	if err != nil {
		return req.Fingerprint
	}
	delete(members, keyMember)
	canonical(members)
	return fingerprintOf(members)
}
