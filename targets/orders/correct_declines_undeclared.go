package orders

import "github.com/doubletap-harness/doubletap/contract"

// declinesUndeclaredDesign is declinesSome, and its contract does not say so: 402 says it itself.
func declinesUndeclaredDesign() Design {
	d := declinesSomeDesign()
	d.Name, d.Contract.Errors.Declined = "declines-undeclared", contract.Signature{}
	d.Summary = "declines every fifth reference with 402 and a row of the attempt, of which its contract says nothing"
	return d
}
