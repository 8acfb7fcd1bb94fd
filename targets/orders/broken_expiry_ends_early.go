package orders

import "time"

// expiryEndsEarlyDesign forgets a key when a little more than half of the time is over for which it promises to remember it.
//
// A second job removes old keys, and it has a limit of its own. All retries that follow within seconds get the first answer. The client
// that was out of reach for a while, and keeps to the documentation, makes a second order.
func expiryEndsEarlyDesign() Design {
	return forgetsEarly(Design{
		Name:    "expiry-ends-early",
		Summary: "promises to remember a key for 12s and forgets it after 6.5s: a retry shortly before the end makes a second order",
	}, 12*time.Second, 6500*time.Millisecond)
}
