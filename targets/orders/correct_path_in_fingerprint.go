package orders

import "github.com/doubletap-harness/doubletap/contract"

// pathInFingerprintDesign has one record for a key in all shops, and knows by the path that another request came
// with it, which it refuses.
func pathInFingerprintDesign() Design {
	return Design{
		Name:     "path-in-fingerprint",
		Summary:  "a key belongs to the request that used it first: in another shop it is refused with 422, with the same body as well",
		Correct:  true,
		Contract: scopedByPath(exactReplay(), contract.ScopeReject),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		routes:   shops,
		describe: inShops,
		handler: varied(func(_ *api, p *parts) {
			p.fingerprint = func(req request) string { return fingerprintOf([]string{req.Path, req.Fingerprint}) }
		}),
	}
}
