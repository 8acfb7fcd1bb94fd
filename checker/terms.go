package checker

import (
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Terms is what attempts are checked against: the target's contract, and how its operations show identities, keys and
// rows.
type Terms struct {
	Contract  contract.Contract             `json:"contract"`
	Operation contract.Operation            `json:"operation"`           // the run's
	Others    map[string]contract.Operation `json:"others,omitempty"`    // by name
	Unwatched bool                          `json:"unwatched,omitempty"` // effects at sinks are not counted
}

// named returns the operation of a name; without one, the run's.
func (t *Terms) named(operation string) *contract.Operation {
	if _, found := t.Others[operation]; !found {
		return &t.Operation
	}
	other := t.Others[operation]
	return &other
}

// operationFor returns the operation that took a body of an intent. Where another way names what was made by another column
// than the intent's own operation, its names are not compared.
func (t *Terms) operationFor(i history.Intent, body string) *contract.Operation {
	own, name := t.named(i.Operation), i.Bodies[body].Operation
	if _, found := t.Others[name]; !found {
		return own
	}
	other := t.named(name)
	if other.Rows.Identity != own.Rows.Identity {
		other.Identity = contract.Identity{}
	}
	return other
}

// operations returns all operations: the run's, then the others by name.
func (t *Terms) operations() []contract.Operation {
	all := []contract.Operation{t.Operation}
	for _, name := range slices.Sorted(maps.Keys(t.Others)) {
		all = append(all, t.Others[name])
	}
	return all
}

// Named returns the identity that an answer names, as an acknowledgement or as "exists already"; empty: none.
func (t Terms) Named(operation string, a history.Attempt) string {
	return t.classifyAttempt(&a, t.named(operation), nil).identity
}

// Identity returns the identity that an acknowledgement of an operation names; empty: none.
func Identity(o contract.Operation, a history.Attempt) string {
	return answerOf(&a).names(o.Identity)
}
