package orders

import "github.com/doubletap-harness/doubletap/contract"

// fingerprintNoParentDesign compares the bodies of requests with one key, and not where they were sent.
//
// Most of what a request says stands in its body, so the comparison catches every test that somebody wrote.
// The shop stands in the path. Who orders the same lamp in two shops with one key gets one lamp.
func fingerprintNoParentDesign() Design {
	return Design{
		Name:     "fingerprint-no-parent",
		Summary:  "compares bodies and not paths: the same body with the same key in another shop is answered with the order in the first",
		Contract: scopedByPath(exactReplay(), contract.ScopeReject),
		Key:      requiredKey(),
		Twin:     "path-in-fingerprint",
		Shows:    []string{"lost-acknowledged-write", "replay-mismatch", "duplicate"},
		By:       []string{"same-form-two-parents"},
		schema:   []string{ordersTable, keysTable},
		routes:   shops,
		describe: inShops,
		handler:  varied(func(*api, *parts) {}),
	}
}
