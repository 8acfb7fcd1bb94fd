package checker

// Untried says what a scenario would have tried that did not apply, and what of the target file lets it. A pass says nothing of that.
type Untried struct {
	What Family `json:"what"`
	Line string `json:"line"` // of the target file, or a flag, such as "links.database" or "--instances 2"
}

// Family is what scenarios have in common that lack the same.
type Family string

// The families, those first whose absence a reader of a pass has to know before all.
const (
	Crashes        Family = "crashes and restarts"
	BrokenDatabase Family = "a slow or broken database connection"
	OutsideEffects Family = "effects at other services"
	SeveralServers Family = "several instances"
	BrokenService  Family = "another service that goes away"
	BrokenStore    Family = "a store that goes away or is emptied"
	HeldWrites     Family = "writes that wait for each other"
	LongWork       Family = "work that takes seconds"
	SeveralUsers   Family = "one key of two customers"
	TwoParents     Family = "one key under two parents"
	NobodysRequest Family = "a repetition without a credential"
	OtherBodies    Family = "another body under a key"
	CorrectedForms Family = "a refused body and its correction"
	MadeAgain      Family = "removing and making again"
	ForgottenKeys  Family = "keys that expire"
	AnswersBySize  Family = "large and empty answers"
)

// Families are all of them, in their order.
func Families() []Family {
	return []Family{
		Crashes, BrokenDatabase, OutsideEffects, SeveralServers, BrokenService, BrokenStore, HeldWrites, LongWork, SeveralUsers, TwoParents, NobodysRequest, OtherBodies,
		CorrectedForms, MadeAgain, ForgottenKeys, AnswersBySize,
	}
}
