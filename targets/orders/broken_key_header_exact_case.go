package orders

// keyHeaderExactCaseDesign finds the key in the list of headers that its gateway hands on.
//
// The function gets an object, and headers["Idempotency-Key"] was there in every test. The gateway hands names on as
// they come. A client that is moved to HTTP/2, or to a library that writes names in lower case, sends the same key, and
// the function finds none. Keys are optional, so that nothing is refused: each retry is executed again.
func keyHeaderExactCaseDesign() Design {
	d := optionalKeyDesign()
	d.Name = "key-header-exact-case"
	d.Summary = "looks for the key under Idempotency-Key only: a retry that writes idempotency-key has no key and creates a second order"
	d.Correct = false
	d.Twin = "key-header-any-case"
	d.Shows = []string{"duplicate"}
	d.By = []string{"key-header-case"}
	d.listen = withHeads
	d.handler = keyFromHead(func(a, b string) bool { return a == b })
	return d
}
