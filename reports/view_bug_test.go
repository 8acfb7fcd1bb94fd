package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

func TestABugIsOneSentence(t *testing.T) {
	t.Parallel()
	two := func(k checker.Kind, change func(*checker.Finding), under ...checker.Circumstance) checker.Finding {
		f := checker.Finding{
			Kind: k, Intent: "i1", Circumstances: under,
			Attempts: []history.Attempt{
				{ID: "1", Intent: "i1", Key: "k", Body: history.Original, Complete: true, Status: 201},
				{ID: "2", Intent: "i1", Key: "k", Body: history.Original, Complete: true, Status: 409},
			},
			Outcomes: []checker.Outcome{checker.Acknowledged, checker.Rejected},
			Requests: []checker.Request{{Attempts: []string{"1", "2"}, Header: map[string]string{"Idempotency-Key": `"k"`}}},
			Rows:     []checker.RowEvidence{{Rows: make([]history.Row, 2)}},
		}
		if change != nil {
			change(&f)
		}
		return f
	}
	unkeyed := func(f *checker.Finding) { f.Attempts[0].Key, f.Attempts[1].Key = "", "" }
	for want, f := range map[string]checker.Finding{
		"Two requests with one Idempotency-Key, sent at the same time, made two rows": two(checker.Duplicate, nil, checker.Overlapping),
		"Two requests with one Idempotency-Key made two rows after a crash":           two(checker.Duplicate, nil, checker.LostAnswer, checker.Crashed),
		"One request made two rows":                                                                     two(checker.Duplicate, func(f *checker.Finding) { f.Attempts = f.Attempts[:1] }),
		"One request and its final retry made two rows":                                                 two(checker.Duplicate, func(f *checker.Finding) { f.Attempts[1].Probe, f.Moment = true, history.T2Name }),
		"Two requests with more than one key made two rows":                                             two(checker.Duplicate, func(f *checker.Finding) { f.Attempts[1].Key = "l" }),
		"Two requests without a key made two rows":                                                      two(checker.Duplicate, unkeyed, checker.NoKey),
		"Two requests with one natural key, sent at the same time, made two rows":                       two(checker.Duplicate, unkeyed, checker.Overlapping),
		"Every retry with this natural key gets 409 for good, and no row is made":                       two(checker.StuckKey, unkeyed),
		"The target answered 201, and the row is not there after a crash":                               two(checker.LostWrite, nil, checker.Crashed),
		"The same Idempotency-Key came with another body, and it overwrote what the first one had made": two(checker.AlteredBody, func(f *checker.Finding) { f.Detail = "overwrote" }),
		"The row does not hold what was sent: it has quantity = 4, not quantity = 2": two(checker.AlteredBody, func(f *checker.Finding) {
			f.Detail, f.Expected, f.Observed = "content", "quantity = 2, as the original body says at /quantity", "quantity = 4"
		}),
		"The same Idempotency-Key came with another body, and was answered 409, not rejected":                  two(checker.AlteredBody, func(f *checker.Finding) { f.Attempts[1].Body = history.Altered }),
		"Every retry with this Idempotency-Key gets 409 for good after an answer was lost, and no row is made": two(checker.StuckKey, nil, checker.LostAnswer),
		"The same request got 201 first, and then 200": two(checker.ReplayMismatch, func(f *checker.Finding) {
			f.Differs = []checker.Difference{{Where: "status", First: "201", Then: "200"}}
		}),
		"The same request got another Location: first “/1”, then nothing":                 two(checker.ReplayMismatch, func(f *checker.Finding) { f.Differs = []checker.Difference{{Where: "Location", First: "/1"}} }),
		"A new request was rejected as a duplicate (409)":                                 two(checker.FalseConflict, nil),
		"A request without the required key was accepted (201)":                           two(checker.MissingKeyAccepted, nil),
		"The row is there, but every retry gets no answer: the client never learns of it": two(checker.RefusedThoughDone, func(f *checker.Finding) { f.Attempts[1].Complete = false }),
		"The side effect “mails” is wrong: expected rows 1, observed rows 2": two(checker.EffectMismatch, func(f *checker.Finding) {
			f.Detail, f.Observed, f.Expected = "mails", "rows 2", "rows 1: 1 for each row"
		}),
		"A broken promise": two("of-a-later-version", nil),
	} {
		require.Equal(t, want, bug(f))
	}
	for _, k := range checker.Kinds() {
		require.NotEmpty(t, bug(checker.Finding{Kind: k}), "a finding without any evidence has a sentence too")
	}
}

func TestNumbersOfFindingsAreShort(t *testing.T) {
	t.Parallel()
	require.Equal(t, "F1–F3, F5, F7–F8", numbers([]string{"F1", "F2", "F3", "F5", "F7", "F8"}))
	require.Equal(t, "F1, F3, F5, F7, and 2 more", numbers([]string{"F1", "F3", "F5", "F7", "F9", "F11"}))
	require.Equal(t, "x, x", numbers([]string{"x", "x"}), "a report from elsewhere")
	require.Empty(t, numbers(nil))
}

func TestEveryCircumstanceHasWords(t *testing.T) {
	t.Parallel()
	for _, c := range checker.Circumstances() {
		require.NotEqual(t, string(c), circumstanceWords(c))
	}
}

func TestEachScenarioOfACauseHasTheNumbersOfItsFindings(t *testing.T) {
	t.Parallel()
	c := causeView{}
	for _, s := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		c.Scenarios = append(c.Scenarios, causeLine{Scenario: s, Share: "1 of 1 intent", Numbers: "F-" + s})
	}
	p := page{style: Style{}}
	p.causeLines(c)
	require.Contains(t, p.String(), "\n      and g F-g, h F-h, i F-i\n")
}
