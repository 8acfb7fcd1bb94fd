package orders

import "strings"

// keyHeaderAnyCaseDesign finds the key in the list of headers that its gateway hands on, whatever the case of the name.
func keyHeaderAnyCaseDesign() Design {
	d := optionalKeyDesign()
	d.Name = "key-header-any-case"
	d.Summary = "looks for the key in the headers as they came, and takes idempotency-key for Idempotency-Key"
	d.listen = withHeads
	d.handler = keyFromHead(strings.EqualFold)
	return d
}
