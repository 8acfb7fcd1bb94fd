package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestAnAnswerThatNoLineOfTheContractNames(t *testing.T) {
	t.Parallel()
	null, first := answer(200, "null"), acknowledged(201, "o1")
	redirect := answer(302, "")
	redirect.Header = map[string]string{"Location": "/login?next=orders"}
	for _, test := range []struct {
		name   string
		story  *draft
		change func(*contract.Contract)
		want   checker.Verdict
	}{
		{"a repetition", story(first, null).rows(1), nil, checker.Fail},
		{"a repetition with the first body", story(first, acknowledged(200, "o1")).rows(1), nil, checker.Inconclusive},
		{"a copy that ran beside the first", story(during(1, 50, first), during(2, 40, null)).rows(1), func(c *contract.Contract) {
			c.InProgress = contract.InProgress{}
		}, checker.Inconclusive},
		{"a copy where the contract lets it wait", story(during(1, 50, first), during(2, 40, null)).rows(1), func(c *contract.Contract) {
			c.InProgress.Mode = contract.InProgressWait
		}, checker.Fail},
		{"no replay is promised", story(first, null).rows(1), func(c *contract.Contract) { c.Level = contract.DedupOnly }, checker.Inconclusive},
		{"nothing was acknowledged under the key", story(null, keyed("other", first)).holding("o1"), nil, checker.Inconclusive},
		{"it is named", story(first, null).rows(1), func(c *contract.Contract) { c.Existing.Statuses = []int{200} }, checker.Pass},
		{"a redirect", story(first, answer(303, "")).rows(1), nil, checker.Fail},
		{"a redirect to the login", story(first, redirect).rows(1), nil, checker.Pass},
		{"a refusal needs no name", story(first, keyed("other", answer(402, "{}"))).rows(1), nil, checker.Pass},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			terms := terms()
			terms.Contract.Ack.Statuses = []int{201}
			terms.Contract.Replay.Body = contract.SameJSON
			terms.Contract.Existing = contract.Existing{}
			if test.change != nil {
				test.change(&terms.Contract)
			}
			r := check(scene(test.story), terms)
			require.Equal(t, test.want, r.Verdict, "%v %+v", r.Reasons, r.Findings)
			for _, f := range r.Findings {
				require.Equal(t, checker.UndeclaredAnswer, f.Kind)
			}
		})
	}
}

func TestAFinalRetryWithAnAnswerThatTheContractDoesNotName(t *testing.T) {
	t.Parallel()
	terms := terms()
	terms.Contract.Ack.Statuses = []int{201}
	terms.Contract.Replay.Body = contract.SameJSON
	r := check(scene(story(acknowledged(201, "o1")).rows(1).probe([]history.Attempt{answer(200, "null")}...)), terms)
	require.Len(t, r.Findings, 1, "that is one defect")
	require.Equal(t, checker.UndeclaredAnswer, r.Findings[0].Kind)
}
