package main

// equivalents lists the mutants that no test can kill because they do the same as the code, each with
// the reason. The key is the rule as the table shows it, without the place.
func equivalents() map[string]string {
	return map[string]string{
		"additionsOf: never: rows.Adds == \"\"":    "it saves work: a row to which nothing is added is taken apart into itself",
		"addition.apart: never: x.column == \"\"":  "it saves work: a row to which nothing is added is taken apart into itself",
		"same: never: equal(sent, stored)":         "equal values read the same",
		"evaluation.inside: never: a.Replied == 0": "a stay that ends at zero overlaps with no other",
	}
}
