package orders

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/doubletap-harness/doubletap/targets"
)

// Design is one way to build the API: its tables, its handler, and what it claims.
type Design struct {
	Name     string
	Summary  string
	Correct  bool             // keeps its contract whatever its clients do
	Contract targets.Contract // what it claims; a broken design does not keep it
	Key      targets.Key      // zero: it takes no idempotency key
	Shows    []string         // kinds of finding by which a broken design can be caught, the worst first

	schema  []string // statements that make the tables
	handler func(*api) handler
}

// Designs lists every design: the correct ones first, then the broken ones. A new design is a file
// with its type, its story and its SQL, and a line here; the tests find it in this list.
func Designs() []Design {
	return []Design{
		uniqueKeyDesign(),
		inProgress409Design(),
		naturalKeyDesign(),

		checkThenInsertDesign(),
		recordAfterCommitDesign(),
		noFingerprintDesign(),
		replayFreshAnswerDesign(),
		lockFailSuccessDesign(),
	}
}

// find returns the design with the name; the error helps who misspelled it.
func find(name string) (Design, error) {
	var names []string
	nearest, distance := "", len(name)/2+1
	for _, design := range Designs() {
		if design.Name == name {
			return design, nil
		}
		names = append(names, design.Name)
		if d := levenshtein.ComputeDistance(name, design.Name); d < distance {
			nearest, distance = design.Name, d
		}
	}
	hint := ""
	if nearest != "" {
		hint = fmt.Sprintf(", did you mean %q?", nearest)
	}
	return Design{}, fmt.Errorf("unknown design %q%s (the designs are %s)", name, hint, strings.Join(names, ", "))
}

// The tables that most designs share.
const (
	ordersTable = `create table orders (
		id varchar(40) primary key,
		note varchar(255) not null,
		reference varchar(255) not null,
		item varchar(255) not null,
		amount bigint not null,
		created_at varchar(40) not null
	)`

	// keysTable remembers the first answer to a key; the primary key is what makes a key unique.
	keysTable = `create table idempotency_keys (
		idempotency_key varchar(255) primary key,
		fingerprint varchar(64) not null,
		status integer not null,
		location varchar(255) not null,
		body text not null
	)`
)

// requiredKey is the usual place of the idempotency key.
func requiredKey() targets.Key {
	return targets.Key{In: targets.KeyInHeader, Name: keyHeader, Required: true}
}

// exactReplay is the usual claim: one order per key, a repeat waits and gets the first answer again,
// and a key that comes with another body is refused.
func exactReplay() targets.Contract {
	return targets.Contract{
		Level: targets.Idempotent,
		Ack:   targets.Ack{Signature: targets.Signature{Statuses: []int{200, 201}}},
		Fingerprint: targets.Fingerprint{
			OnMismatch: targets.MismatchReject,
			Signature:  problemSignature(422, "key_reused"),
		},
		InProgress: targets.InProgress{Mode: targets.InProgressWait},
		Replay:     targets.Replay{Body: targets.SameJSON, Headers: []string{"Location", "Content-Type"}},
		MissingKey: problemSignature(400, "key_required"),
	}
}

// problemSignature recognises a problem by its status and code.
func problemSignature(status int, code string) targets.Signature {
	return targets.Signature{Statuses: []int{status}, Where: map[string]any{"/code": code}}
}
