package orders

import "github.com/doubletap-harness/doubletap/contract"

// fieldsFingerprintDesign compares what makes an order another one, and says so: its note and its
// reference may differ in a retry, which then gets the first answer.
func fieldsFingerprintDesign() Design {
	promise := exactReplay()
	promise.Fingerprint.Mode, promise.Fingerprint.Fields = contract.FingerprintFields, []string{"/amount", "/item"}
	return Design{
		Name:     "fields-fingerprint",
		Summary:  "compares amount and item, as its contract says: a used key with another amount is refused",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.fingerprint = func(req request) string { return fingerprintOf([]any{req.Order.Amount, req.Order.Item}) }
		}),
	}
}
