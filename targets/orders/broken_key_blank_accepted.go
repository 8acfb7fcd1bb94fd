package orders

import "context"

// keyBlankAcceptedDesign asks whether the header is there, and not whether it says anything.
//
// A client whose key is lost, an empty variable in a template, sends the header with nothing in it.
// The check passes, and all such requests of a customer have one key. The first of them makes an
// order; every other order is refused because its body differs, or taken for the first.
func keyBlankAcceptedDesign() Design {
	return Design{
		Name:     "key-blank-accepted",
		Summary:  "takes a blank key for a key: all requests with a blank key share one, and only the first of them is executed",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"false-conflict", "missing-key-accepted"},
		By:       []string{"key-blank"},
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return blankKey(newUniqueKey(a).create, needKey(newUniqueKey(a).create))
		},
	}
}

// blankKey sends a request with a blank key one way and any other request another.
func blankKey(blank, other handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		if req.RawKey == "" && len(req.Header.Values(keyHeader)) == 1 {
			return blank(ctx, req)
		}
		return other(ctx, req)
	}
}
