package orders

import "context"

// keyFirstOfTwoDesign takes the first of several keys, and nothing in it knows the others.
func keyFirstOfTwoDesign() Design {
	d := uniqueKeyDesign()
	d.Name = "key-first-of-two"
	d.Summary = "takes the first of several key headers for the key, each time"
	d.handler = func(a *api) handler { return takingFirst(needKey(newUniqueKey(a).create)) }
	return d
}

// takingFirst passes requests with several keys on as if they had the first one only.
func takingFirst(next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		if keys := req.Header.Values(keyHeader); len(keys) > 1 {
			req.Header = req.Header.Clone()
			req.Header.Set(keyHeader, keys[0])
		}
		return next(ctx, req)
	}
}
