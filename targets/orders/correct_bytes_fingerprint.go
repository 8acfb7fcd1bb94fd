package orders

import "github.com/doubletap-harness/doubletap/contract"

// bytesFingerprintDesign compares the bytes of bodies, and says so: a client that repeats a request
// has to keep it.
func bytesFingerprintDesign() Design {
	promise := exactReplay()
	promise.Fingerprint.Mode = contract.FingerprintBytes
	return Design{
		Name:     "bytes-fingerprint",
		Summary:  "compares the bytes of bodies, as its contract says: a retry that is spelled otherwise is refused",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.fingerprint = ofBytes }),
	}
}
