package orders

import "github.com/doubletap-harness/doubletap/targets"

// naturalKeyOneFieldDesign is naturalKey with one text field, which is what makes an order one and what it is found by.
// So another body is another order: its reference is another one.
func naturalKeyOneFieldDesign() Design {
	d := naturalKeyDesign()
	d.Name = "natural-key-one-field"
	d.Summary = "a unique index on the reference, which is the only text that a client chooses: another body has another reference, and is another order"
	d.describe = oneField
	return d
}

func oneField(o *targets.Operation, _ kind) {
	o.Request.Body["reference"] = "{{.Intent.Marker}}"
}
