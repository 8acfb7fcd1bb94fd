package orders

import (
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// seeOtherDesign answers a form as web pages do: 303, and the browser goes to the order. A reload then
// loads the order and sends no form.
func seeOtherDesign() Design {
	return Design{
		Name:     "see-other",
		Summary:  "answers 303 with the order's Location and no body, to a repeat as well",
		Correct:  true,
		Contract: redirecting(exactReplay()),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.tell = func(o order) answer { return seeOther(o.location()) } }),
		describe: func(o *targets.Operation, of kind) { o.Identity = inLocation(of) },
	}
}

// redirecting is the contract of those that answer by the Location of what was made.
func redirecting(promise contract.Contract) contract.Contract {
	promise.Ack.Statuses, promise.Ack.Headers = []int{http.StatusSeeOther}, map[string]string{"Location": "^/(orders|quotes)/"}
	promise.Replay = contract.Replay{Body: contract.SameBytes, Headers: []string{"Location"}}
	return promise
}

// inLocation is where a redirection names what was made.
func inLocation(of kind) contract.Identity {
	return contract.Identity{Header: "Location", Pattern: "^" + of.collection() + "/([^/]+)$"}
}

func seeOther(location string) answer {
	return answer{Status: http.StatusSeeOther}.with("Location", location)
}
