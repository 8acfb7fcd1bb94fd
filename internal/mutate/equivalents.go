package main

// equivalents lists the mutants that no test can kill because they do the same as the code, each with
// the reason. The key is the rule as the table shows it, without the place.
func equivalents() map[string]string {
	return map[string]string{
		"same: never: equal(sent, stored)":          "equal values read the same",
		"evaluation.inside: never: a.Replied == 0":  "a stay that ends at zero overlaps with no other",
		"checkLeaks: never: !e.severalPrincipals()": "it saves work: nothing is foreign to the only principal",
		"evaluation.severalPrincipals: always: return slices.ContainsFunc(e.history.Intents, func(i history.Intent) bool { return i.Principal != e.history.Intents[0].Principal })": "it saves work: nothing is foreign to the only principal",
	}
}
