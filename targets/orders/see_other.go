package orders

import (
	"net/http"

	"github.com/doubletap-harness/doubletap/targets"
)

// seeOtherDesign answers a form as web pages do: 303, and the browser goes to the order. A reload then
// loads the order and sends no form.
func seeOtherDesign() Design {
	contract := exactReplay()
	contract.Ack.Statuses, contract.Ack.Headers = []int{http.StatusSeeOther}, map[string]string{"Location": "^/(orders|quotes)/"}
	contract.Replay = targets.Replay{Body: targets.SameBytes, Headers: []string{"Location"}}
	return Design{
		Name:     "see-other",
		Summary:  "answers 303 with the order's Location and no body, to a repeat as well",
		Correct:  true,
		Contract: contract,
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.tell = seeOther }),
		describe: func(o *targets.Operation, k kind) {
			o.Identity = targets.Identity{Header: "Location", Pattern: "^" + k.collection() + "/([^/]+)$"}
		},
	}
}

func seeOther(o order) answer {
	return answer{Status: http.StatusSeeOther}.with("Location", o.location())
}
