package orders

// insertRepeatedByDriver is repeatedInsert without the index.
//
// A lock and a look keep all requests apart, and no client ever gets two orders by what it sends. The second order
// comes from below: the answer to the insert is lost, the data layer inserts again, and the client is told of one.
func insertRepeatedByDriverDesign() Design {
	d := insertRepeatedBehindIndexDesign()
	d.Name, d.Correct = "insert-repeated-by-driver", false
	d.Summary = "its data layer repeats an insert when the connection breaks: if its answer was lost, there are two orders"
	d.Twin = "insert-repeated-behind-index"
	d.Shows, d.By = []string{"duplicate"}, []string{"database-blink"}
	d.On = []string{"postgres", "mariadb"}
	d.schema = []string{ordersTable}
	return d
}
