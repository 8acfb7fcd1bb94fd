package orders

import "github.com/doubletap-harness/doubletap/contract"

// sharedAccountDesign gives every colleague a token and takes them all for one customer: a key that one
// has used is used, and an answer for one is for all. No customer is shown an order of another account.
func sharedAccountDesign() Design {
	promise := exactReplay()
	promise.Scope.Principal = contract.ScopeShared
	return Design{
		Name:     "shared-account",
		Summary:  "takes all who sign in for one customer, on purpose: they share their keys and orders",
		Correct:  true,
		Contract: promise,
		Key:      requiredKey(),
		accounts: oneAccount,
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(newUniqueKey(a).create) },
	}
}
