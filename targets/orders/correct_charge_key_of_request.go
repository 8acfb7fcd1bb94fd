package orders

import (
	"crypto/sha256"
	"encoding/hex"
)

// chargeKeyOfRequestDesign asks for the payment with a key that follows from the client's: nothing has to be remembered for it.
func chargeKeyOfRequestDesign() Design {
	return chargedDesign(Design{
		Name:    "charge-key-of-request",
		Summary: "has the payment taken under a key that is made of the client's key and a word for the step",
		Correct: true,
	}, func(req request, _ string) string {
		sum := sha256.Sum256([]byte("charge\x00" + req.Key))
		return hex.EncodeToString(sum[:])
	})
}
