package orders

import "time"

// chargeKeyFromTimeDesign makes the key for the payment of the order and the time: a second request is another time.
func chargeKeyFromTimeDesign() Design {
	return chargedDesign(Design{
		Name:    "charge-key-from-time",
		Summary: "has the payment taken under a key of the order's id and the time, which is another one for each request",
		Twin:    "charge-key-of-request",
		Shows:   []string{"effect-mismatch", "downstream-key-changed"},
		By:      []string{"burst-same-key", "effect-answer-lost"},
	}, func(_ request, orderID string) string { return orderID + time.Now().Format(time.RFC3339Nano) })
}
