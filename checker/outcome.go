package checker

// Outcome is the judgement on one attempt. The zero value is unknown.
type Outcome int

// The outcomes, with the letters of the decision tables.
const (
	Unknown      Outcome = iota // U: no complete answer; the effect may be absent, present or still to come
	Acknowledged                // A: a complete, final "done"
	Exists                      // X: "that exists already"
	Rejected                    // R: a definite no; this attempt had no effect
	InProgress                  // P: another attempt of the group is being executed
	Throttled                   // T: refused at the door
	NotSent                     // N: no byte of the request reached the target
)
