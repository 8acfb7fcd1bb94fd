package orders

// selectBeforeInsertOneFieldDesign is selectBeforeInsert with one text field: another body is another order, and the
// same one is made twice all the same.
func selectBeforeInsertOneFieldDesign() Design {
	d := selectBeforeInsertDesign()
	d.Name, d.Twin = "select-before-insert-one-field", "natural-key-one-field"
	d.Summary = "selects the reference, which is the only text that a client chooses, works, then inserts the order: requests at the same time all find nothing"
	d.describe = oneField
	return d
}
