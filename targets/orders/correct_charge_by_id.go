package orders

import "github.com/doubletap-harness/doubletap/contract"

// chargeByIDDesign tells the service for payments nothing of the request: it names the order by the id that the database gave it.
//
// That is what most services do. The id is there before the payment is asked for, so that its key follows from it.
func chargeByIDDesign() Design {
	return billedDesign(Design{
		Name:    "charge-by-id",
		Summary: "commits an unpaid order with its key, then has the payment taken for the order's id, and under it; nothing else of the request goes out",
		Correct: true,
	}, func(_ request, orderID string) string { return "charge-" + orderID })
}

// billedDesign is a design of charged whose payments name the order's id and nothing else.
func billedDesign(d Design, key func(req request, orderID string) string) Design {
	d = chargedDesign(d, key)
	bill := oneCharge()
	bill.Seen = billing
	d.effects = []contract.Effect{bill}
	d.handler = func(a *api) handler { return needKey(charged{a, key, a.outside.chargeByID}.create) }
	return d
}
