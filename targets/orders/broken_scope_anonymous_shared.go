package orders

import "fmt"

// scopeAnonymousSharedDesign sells to guests, who have a session and no account, and takes them all
// for one customer.
//
// Keys are kept apart by account. Who has none got a name that fits the column: "anonymous". So all
// guests share their keys. A guest who sends what another guest has sent is shown the other's order;
// one who sends anything else is told to have used the key before.
func scopeAnonymousSharedDesign() Design {
	return Design{
		Name:     "scope-anonymous-shared",
		Summary:  "keeps the keys of all guests as those of one customer: a guest is shown the order of another, or refused because of it",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "guest-keys",
		Shows:    []string{"leak", "false-conflict"},
		By:       []string{"same-form-two-principals"},
		accounts: guests,
		schema:   []string{ordersTable, keysTable},
		handler: varied(func(_ *api, p *parts) {
			p.key = func(req request) string { return fmt.Sprintf("anonymous %s %s", req.Kind, req.RawKey) }
		}),
	}
}
