package main

// equivalents lists the mutants that no test can kill because they do the same as the code, each with
// the reason. The key is the rule as the table shows it, without the place.
func equivalents() map[string]string {
	return map[string]string{
		"same: never: equal(sent, stored)":           "equal values read the same",
		"court.inside: never: a.Replied == 0":        "a stay that ends at zero overlaps with no other",
		"court.leaks: never: !c.severalPrincipals()": "it saves work: nothing is foreign to the only principal",
		"court.severalPrincipals: always: return slices.ContainsFunc(c.history.Intents, func(i history.Intent) bool { return i.Principal != c.history.Intents[0].Principal })": "it saves work: nothing is foreign to the only principal",
	}
}
