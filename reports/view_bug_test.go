package reports

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
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
	unseen := func(f *checker.Finding) { f.Rows = []checker.RowEvidence{{Unknown: true}} }
	adding := func(n int) func(*checker.Finding) {
		return func(f *checker.Finding) {
			f.Rows = []checker.RowEvidence{{Adds: "amount", Rows: make([]history.Row, n)}, {}}
		}
	}
	for want, f := range map[string]checker.Finding{
		"Two requests with one Idempotency-Key, sent at the same time, made two rows": two(checker.Duplicate, nil, checker.Overlapping),
		"Two requests with one Idempotency-Key, one sent while another was still worked on, made two rows": two(checker.Duplicate, func(f *checker.Finding) {
			f.Attempts[0].Passage, f.Attempts[0].End = &history.Passage{Arrived: 1}, history.Offset(6*time.Second)
			f.Attempts[1].Passage, f.Attempts[1].End = &history.Passage{Arrived: history.Offset(2 * time.Second)}, history.Offset(8*time.Second)
		}, checker.Overlapping),
		"Two requests with one Idempotency-Key made two rows after a crash":                             two(checker.Duplicate, nil, checker.LostAnswer, checker.Crashed),
		"One request made two rows":                                                                     two(checker.Duplicate, func(f *checker.Finding) { f.Attempts = f.Attempts[:1] }),
		"One request and its final retry made two rows":                                                 two(checker.Duplicate, func(f *checker.Finding) { f.Attempts[1].Probe, f.Moment = true, history.T2Name }),
		"Two requests with more than one key made two rows":                                             two(checker.Duplicate, func(f *checker.Finding) { f.Attempts[1].Key = "l" }),
		"Two requests without a key made two rows":                                                      two(checker.Duplicate, unkeyed, checker.NoKey),
		"Two requests with one natural key, sent at the same time, made two rows":                       two(checker.Duplicate, unkeyed, checker.Overlapping),
		"Every retry with this natural key gets 409 to the end, and no row is made":                     two(checker.StuckKey, unkeyed),
		"The target answered 201, and the row is not there after a crash":                               two(checker.LostWrite, nil, checker.Crashed),
		"The same Idempotency-Key came with another body, and it overwrote what the first one had made": two(checker.AlteredBody, func(f *checker.Finding) { f.Detail = "overwrote" }),
		"The row does not hold what was sent: it has quantity = 4, not quantity = 2": two(checker.AlteredBody, func(f *checker.Finding) {
			f.Detail, f.Expected, f.Observed = "content", "quantity = 2, as the original body says at /quantity", "quantity = 4"
		}),
		"The same Idempotency-Key came with another body, and was answered 409, not rejected": two(checker.AlteredBody, func(f *checker.Finding) { f.Attempts[1].Body = history.Altered }),
		"Every retry with this Idempotency-Key gets 409 to the end, for 1m2s after a crash, and no row is made": two(checker.StuckKey, func(f *checker.Finding) {
			f.Attempts[1].Start = history.Offset(62300 * time.Millisecond)
		}, checker.Crashed),
		"Every retry with this Idempotency-Key gets 409 to the end after an answer was lost, and no row is made": two(checker.StuckKey, nil, checker.LostAnswer),
		"The same request got 201 first, and then 200": two(checker.ReplayMismatch, func(f *checker.Finding) {
			f.Differs = []checker.Difference{{Where: "status", First: "201", Then: "200"}}
		}),
		"The same request got another Location: first “/1”, then nothing":      two(checker.ReplayMismatch, func(f *checker.Finding) { f.Differs = []checker.Difference{{Where: "Location", First: "/1"}} }),
		"A new request was rejected as a duplicate (409)":                      two(checker.FalseConflict, nil),
		"A new request was rejected as a duplicate (409) after it was removed": two(checker.FalseConflict, func(f *checker.Finding) { f.Outcomes[1] = checker.Exists }, checker.Removed),
		"The same request, sent in another way, was rejected (422)": two(checker.FalseConflict, func(f *checker.Finding) {
			f.Detail, f.Outcomes[0] = history.Elsewhere, checker.Exists
			f.Attempts[0].Status, f.Attempts[1].Status = 409, 422
		}),
		"A request without the required key was accepted (201)": two(checker.MissingKeyAccepted, nil),
		"A request without a credential was told of what had been created with one (201)": two(checker.Leak, func(f *checker.Finding) {
			f.Detail = history.NoCredential
			f.Attempts[0].Body, f.Attempts[0].Status, f.Attempts[1].Status = history.NoCredential, 401, 200
			f.Outcomes[0], f.Outcomes[1] = checker.Rejected, checker.Acknowledged
			f.Attempts = append(f.Attempts, f.Attempts[0])
			f.Attempts[2].Status, f.Outcomes = 201, append(f.Outcomes, checker.Acknowledged)
		}),
		"The row is there, but every retry gets no answer: the client never learns of it":                                        two(checker.RefusedThoughDone, func(f *checker.Finding) { f.Attempts[1].Complete = false }),
		"The row is there, but every retry gets a 200 that is no acknowledgement by the contract: the client never learns of it": two(checker.RefusedThoughDone, func(f *checker.Finding) { f.Attempts[1].Status, f.Outcomes[1] = 200, checker.Exists }),
		"The side effect “mails” is wrong: expected rows 1, observed rows 2": two(checker.EffectMismatch, func(f *checker.Finding) {
			f.Detail, f.Observed, f.Expected = "mails", "rows 2", "rows 1: 1 for each row"
		}),
		"The side effect “charge” happened twice at payments, not once, after an answer of payments was lost": two(checker.EffectMismatch, func(f *checker.Finding) {
			f.Detail, f.Observed, f.Expected = "charge", "2 at payments: p-1; p-2", "1 at payments: 1 for each row"
			f.Rows = []checker.RowEvidence{{Messages: []history.Message{{Sink: "payments", Fault: "lost"}, {Sink: "payments"}}}}
		}),
		"The side effect “balance” changed by -19200, from 100 to -19100, and not by 0": two(checker.EffectMismatch, func(f *checker.Finding) {
			f.Detail, f.Observed, f.Expected = "balance", "a change by -19200, from 100 to -19100; it stayed so for 7.9s in which nothing was sent", "a change by 0: 0 for each row"
		}),
		"One of two requests with one Idempotency-Key, sent at the same time, was never answered": two(checker.Unanswered, func(f *checker.Finding) { f.Attempts[1].Complete = false }, checker.Overlapping, checker.LostAnswer),
		"Four of five requests with one Idempotency-Key, sent at the same time, were never answered": two(checker.Unanswered, func(f *checker.Finding) {
			f.Attempts[1].Complete = false
			f.Attempts = append(f.Attempts, f.Attempts[1], f.Attempts[1], f.Attempts[1])
		}, checker.Overlapping),
		"A request was never answered":                                            two(checker.Unanswered, func(f *checker.Finding) { f.Attempts[1].Complete = false }, checker.LostAnswer),
		"A process of the target ended by itself after requests at the same time": two(checker.TargetDied, nil, checker.Overlapping, checker.LostAnswer),
		"The same request got an answer without /id: it is “ord_1”": two(checker.ReplayMismatch, func(f *checker.Finding) {
			f.Differs = []checker.Difference{{Where: "/id", Attempt: "1", First: "ord_1", Then: checker.Nothing}}
		}),
		"A broken promise": two("of-a-later-version", nil),
		"Every retry with this Idempotency-Key gets 409 to the end":                           two(checker.StuckKey, unseen),
		"Every retry with this Idempotency-Key gets the same failure, 409, for good":          two(checker.StoredError, unseen),
		"Two requests with one Idempotency-Key, sent at the same time, added to amount twice": two(checker.Duplicate, adding(2), checker.Overlapping),
		"Two requests with one Idempotency-Key added to amount three times":                   two(checker.Duplicate, adding(3)),
		"Two bodies under one Idempotency-Key were both acknowledged: two additions": two(checker.Duplicate, func(f *checker.Finding) {
			adding(2)(f)
			f.Detail = "altered-body-accepted"
		}),
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

func TestWhatNobodySawIsNotSaid(t *testing.T) {
	t.Parallel()
	f := checker.Finding{Kind: checker.StuckKey, Rows: []checker.RowEvidence{{}}}
	require.Equal(t, "nothing was made, and the key never gets a final answer", meaning(f))
	f.Rows[0].Unknown = true
	require.Equal(t, "the key never gets a final answer", meaning(f))
}

func TestWhatIsAddedIsCalledSo(t *testing.T) {
	t.Parallel()
	e := checker.RowEvidence{Body: history.Original, Marker: "dt1", Adds: "amount", Rows: make([]history.Row, 3)}
	require.Equal(t, "one intent was added more than once", meaning(checker.Finding{Kind: checker.Duplicate, Rows: []checker.RowEvidence{e}}))
	require.Equal(t, "3 additions to amount of the row with the marker dt1 that the request carries", newRowsView(e, false).Title)
	e.Rows = nil
	require.Equal(t, "no row with the marker dt1 that the original body carries", newRowsView(e, true).Title)
}

func TestWhereNoKeyIsTakenWordsAreOfTheNaturalKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The code looks whether the key or the row is there": "The code looks whether the row is there",
		"a unique index on the key or on the natural key":    "a unique index on the natural key",
		"it ignores the idempotency key and all unique keys": "it ignores the natural key and all unique keys",
		"A lock or a claim on the key ends":                  "A lock or a claim on the natural key ends",
		"The Enter key submits the form":                     "The Enter key submits the form",
		"monkeys":                                            "monkeys",
	} {
		require.Equal(t, want, ofNaturalKey(text))
	}
	for _, d := range diagnosis.Defects() {
		for _, said := range []string{d.Does, d.Mend, d.Look} {
			require.NotRegexp(t, `\b(an? )natural natural|an natural`, ofNaturalKey(said))
		}
	}
}

func TestWhatAScenarioDidElsewhereIsNoPlainRequest(t *testing.T) {
	t.Parallel()
	f := checker.Finding{Kind: checker.EffectMismatch, Rows: []checker.RowEvidence{{Messages: []history.Message{{Sink: "payments", Fault: "lost"}}}}}
	require.Equal(t, "a lost answer of another service", under(checker.Cause{Kind: f.Kind}, f))
	require.Equal(t, "requests at the same time", under(checker.Cause{Kind: checker.TargetDied, Circumstances: []checker.Circumstance{checker.Overlapping, checker.LostAnswer}}, checker.Finding{}))
}

// TestTheRequestsThatAreShownDiffer holds that beside an answer that lacks something one stands that has it.
func TestTheRequestsThatAreShownDiffer(t *testing.T) {
	t.Parallel()
	f := checker.Finding{Kind: checker.ReplayMismatch, Intent: "i1", Differs: []checker.Difference{{Where: "/id", Attempt: "1", First: "ord_1", Then: checker.Nothing}}}
	for id, content := range map[string]string{"1": `{"result":"ok"}`, "2": `{"result":"ok"}`, "3": `{"id":"ord_1"}`} {
		f.Attempts = append(f.Attempts, history.Attempt{ID: id, Intent: "i1", Complete: true, Status: 200, Content: content})
		f.Outcomes = append(f.Outcomes, checker.Acknowledged)
	}
	slices.SortFunc(f.Attempts, func(a, b history.Attempt) int { return strings.Compare(a.ID, b.ID) })
	require.Equal(t, []int{0, 2}, decisive(f))
}
