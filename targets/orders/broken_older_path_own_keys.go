package orders

import "context"

// olderPathOwnKeysDesign takes orders at two paths, each with its own keys, and looks at those of the other first.
//
// Somebody has thought of clients that change their path: before an order is made, both tables are asked for the key. But
// a unique index is of one table, and two requests that come at the same moment by both paths find nothing in either.
func olderPathOwnKeysDesign() Design {
	d := olderPathSameKeyDesign()
	d.Name, d.Correct = "older-path-own-keys", false
	d.Summary = "keeps the keys of two paths apart, and looks at those of the other first: copies at the same moment by both make two orders"
	d.Twin = "older-path-same-key"
	d.Shows, d.By = []string{"duplicate"}, []string{"same-key-two-ways-at-once"}
	d.handler = func(a *api) handler {
		u := newUniqueKey(a)
		u.fingerprint = withoutKeyMember
		return keyFromEither(func(place string) handler {
			return needKey(func(ctx context.Context, req request) (answer, error) {
				key, other := req.Key, map[string]string{fromHeader: fromBody, fromBody: fromHeader}
				req.Fingerprint, req.Key = withoutKeyMember(req), other[place]+" "+key
				if reply, err := a.db.known(ctx, req); err != nil || reply.Status != 0 {
					return reply, err
				}
				req.Key = place + " " + key
				return u.create(ctx, req)
			})
		})
	}
	return d
}
