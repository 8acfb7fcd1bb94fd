package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/targets"
)

// TestTheDoctorNamesTheLineOfTheFileThatIsLikelyWrong holds that what a mistake in a target file makes of a correct API is not said to be the
// target's alone.
func TestTheDoctorNamesTheLineOfTheFileThatIsLikelyWrong(t *testing.T) {
	t.Parallel()
	keyed := driver.Operation{Operation: targets.Operation{
		Key: targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "X-Idempotency-Key"}}, Identity: contract.Identity{JSON: "/id"},
		Rows: contract.Rows{Query: "select", Identity: "id", Content: map[string]string{"amount": "/amount"}},
	}}
	natural := keyed
	natural.Key = targets.Key{}
	promise := contract.Contract{NaturalKey: []string{"/customer", "/no"}}
	for name, c := range map[string]struct {
		finding  checker.Finding
		of       driver.Operation
		together bool
		says     string
	}{
		"each repetition is executed": {checker.Finding{Kind: checker.Duplicate}, keyed, false,
			"a repetition is executed: see first whether the API reads its key where key.in and key.name say (header X-Idempotency-Key), and then whether rows.query finds the created thing, and not a line for each request as in a log; if so, correct the target, or say in contract what it promises"},
		"one with a natural key": {checker.Finding{Kind: checker.Duplicate}, natural, false,
			"a repetition is executed: see first whether the API takes requests that are alike in contract.natural_key (/customer, /no) for one, and then whether rows.query finds the created thing, and not a line for each request as in a log; if so, correct the target, or say in contract what it promises"},
		"only those at the same time": {checker.Finding{Kind: checker.Duplicate}, keyed, true, engine.CorrectTarget},
		"an answer names no row": {checker.Finding{Kind: checker.ReplayMismatch, Promise: checker.ExistingRowPromise}, keyed, false,
			"see first whether identity (/id) is what names the created thing, and whether rows.query finds that thing and rows.identity (id) is the column with that name; if so, correct the target, or say in contract what it promises"},
		"there is no row": {checker.Finding{Kind: checker.LostWrite}, keyed, false,
			"see first whether rows.query finds what the target makes; if so, correct the target, or say in contract what it promises"},
		"a row with other content": {checker.Finding{Kind: checker.AlteredBody, Detail: "content", Expected: "amount = 1200, as the original body says at /amount"}, keyed, false,
			"see first whether rows.content is right: whether column amount holds what the request has at /amount, in the same unit; if so, correct the target, or say in contract what it promises"},
		"another status": {checker.Finding{Kind: checker.ReplayMismatch, Detail: "status"}, keyed, false, engine.CorrectTarget},
	} {
		require.Equal(t, c.says, engine.Advice(c.finding, c.of, promise, c.together), name)
	}
}
