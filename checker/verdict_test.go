package checker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

func TestABrokenRunDoesNotHideDoubts(t *testing.T) {
	t.Parallel()
	h := wrong()
	happened(history.DatabaseGone, h)
	happened(history.HarnessFault, h)
	r := check(h, terms())
	require.Equal(t, checker.Fail, r.Verdict)
	reasons := strings.Join(r.Reasons, "\n")
	require.Contains(t, reasons, "it was harness")
	require.Contains(t, reasons, "it was database-gone")
}

func TestARunWithoutAnswersIsNotMisconfigured(t *testing.T) {
	t.Parallel()
	r := check(alone(story(unknown(history.Timeout)).rows(2)), terms())
	require.Equal(t, []string{"duplicate"}, found(r))
}

func TestARunWithoutCompleteAnswersIsNotMisconfigured(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*draft{"nothing was sent": story(), "nothing got through": story(refused(), refused())} {
		r := check(alone(d.rows(2)), terms())
		require.NotContains(t, strings.Join(r.Reasons, "\n"), "credentials", name)
	}
	r := check(alone(story(answer(401, ""))), terms())
	require.Contains(t, strings.Join(r.Reasons, "\n"), "credentials")

	keyless := story(answer(403, `{"code":"no_token"}`))
	where := map[string]any{"/code": "no_token"}
	for _, tells := range []map[string]any{nil, where} {
		r = check(alone(keyless), terms(func(t *checker.Terms) { t.Contract.MissingKey = contract.Signature{Statuses: []int{403}, Where: tells} }))
		require.Equal(t, tells == nil, strings.Contains(strings.Join(r.Reasons, "\n"), "credentials"), "a 403 that says what it is refuses no credentials")
	}
}

func TestZeroValuesNeverPass(t *testing.T) {
	t.Parallel()
	require.Equal(t, checker.Inconclusive, check(&history.History{}, checker.Terms{}).Verdict)
	require.Equal(t, checker.Inconclusive, check(&history.History{}, terms()).Verdict)
	require.Equal(t, checker.Inconclusive, checker.Result{}.Verdict)
	require.Equal(t, checker.Inconclusive, checker.Report{}.Verdict)
	bare := &history.History{Complete: true, T1: &history.Snapshot{}, T2: &history.Snapshot{}}
	require.Equal(t, checker.Inconclusive, check(bare, checker.Terms{}).Verdict)
	require.NotEqual(t, checker.Pass, check(scene(story(acknowledged(201, "o1")).rows(1)), checker.Terms{}).Verdict)
}

func right() *history.History {
	return scene(story(unknown(history.Timeout)).rows(1).probe(acknowledged(201, "o1")))
}

func wrong() *history.History { return scene(story(acknowledged(201, "o1")).rows(2)) }

func happened(kind history.IncidentKind, h *history.History) {
	h.Incidents = append(h.Incidents, history.Incident{At: 5, Kind: kind, Text: "it was " + string(kind)})
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		change func(h *history.History)
		want   checker.Verdict
		reason string
	}{
		{"nothing is missing", func(*history.History) {}, checker.Pass, ""},
		{"the scenario did not happen", func(h *history.History) { h.Run.Exercised[0].Name = string(proofs.Overlapped) }, checker.Inconclusive, "not exercised: two or more requests were inside the target at once in 0 of 2 intents, 1 needed"},
		{"the scenario happened to too few", func(h *history.History) { h.Run.Exercised[0].AtLeast = 0.6 }, checker.Inconclusive, "in 1 of 2 intents, 2 needed"},
		{"the scenario happened to just enough", func(h *history.History) { h.Run.Exercised[0].AtLeast = 0.5 }, checker.Pass, ""},
		{"the proof is unknown", func(h *history.History) { h.Run.Exercised[0].Name = "luck" }, checker.Inconclusive, "an unknown proof, which never holds"},
		{"no proof is asked for", func(h *history.History) { h.Run.Exercised = nil }, checker.Inconclusive, "names no proof"},
		{"T1 was not taken", func(h *history.History) { h.T1 = nil }, checker.Inconclusive, "snapshot T1 was not taken"},
		{"T2 was not taken", func(h *history.History) { h.T2 = nil }, checker.Inconclusive, "snapshot T2 was not taken"},
		{"T1 failed", func(h *history.History) { h.T1.Error = "no such table" }, checker.Inconclusive, "no such table"},
		{"T2 failed", func(h *history.History) { h.T2.Error = "no such table" }, checker.Inconclusive, "no such table"},
		{"T1 lacks an intent", func(h *history.History) { delete(h.T1.Rows, "dti1") }, checker.Inconclusive, "snapshot T1 lacks intent i1"},
		{"T2 lacks an intent", func(h *history.History) { delete(h.T2.Rows, "dti1") }, checker.Inconclusive, "snapshot T2 lacks intent i1"},
		{"nobody looked before", func(h *history.History) { h.Before = nil }, checker.Pass, ""},
		{"a marker was there before", func(h *history.History) { h.Before.Rows["dti1"] = h.T1.Rows["dti1"] }, checker.Inconclusive, "marker dti1 was in the database before the run"},
		{"the run was killed", func(h *history.History) { h.Complete = false }, checker.Inconclusive, "the run was killed"},
		{"the run was interrupted", func(h *history.History) { happened(history.Interruption, h); h.Complete = false }, checker.Inconclusive, "it was interrupted"},
		{"the database was gone", func(h *history.History) { happened(history.DatabaseGone, h) }, checker.Inconclusive, "it was database-gone"},
		{"the target was busy", func(h *history.History) { happened(history.StillBusy, h) }, checker.Inconclusive, "it was still-busy"},
		{"the target was gone", func(h *history.History) { happened(history.TargetGone, h) }, checker.Broken, "it was target-gone"},
		{"the harness failed", func(h *history.History) { happened(history.HarnessFault, h) }, checker.Broken, "it was harness"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			h := right()
			r.change(h)
			res := check(h, terms())
			require.Empty(t, res.Findings)
			require.Equal(t, r.want, res.Verdict)
			require.Contains(t, strings.Join(res.Reasons, "\n"), r.reason)
			require.Equal(t, r.want == checker.Pass, len(res.Reasons) == 0)
		})
		t.Run("a finding outranks it: "+r.name, func(t *testing.T) {
			t.Parallel()
			h := scene(story(acknowledged(201, "o1")).rows(2), story(unknown(history.Timeout)).named("i2").rows(0))
			r.change(h)
			res := check(h, terms())
			switch r.name {
			case "a marker was there before":
				require.Empty(t, res.Findings, "rows from before the run prove nothing")
			default:
				require.Equal(t, checker.Fail, res.Verdict)
			}
		})
	}
}

func TestEveryRequestWasRejectedAtTheEntry(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 404} {
		h := scenes([]*draft{story(rejected(status), refused()).rows(1).probe(rejected(status))})
		res := check(h, terms())
		require.Equal(t, checker.Inconclusive, res.Verdict)
		require.Empty(t, res.Findings, "a misconfigured run finds nothing")
		require.Contains(t, strings.Join(res.Reasons, "\n"), "401, 403 or 404")
	}
	h := scenes([]*draft{story(partly(watched(10, 0, unknown(history.Reset))), rejected(401)).probe(rejected(401))})
	require.Equal(t, checker.Inconclusive, check(h, terms()).Verdict, "what was lost on its way was rejected at the entry")
	h = scenes([]*draft{story(rejected(401)).rows(2)})
	require.Equal(t, []string{"duplicate"}, found(check(h, terms())), "two rows are two rows")
	h = scenes([]*draft{story(unknown(history.Reset), unknown(history.Timeout)).rows(1).probe(rejected(404))})
	require.Equal(t, []string{"refused-though-done"}, found(check(h, terms())), "a request may have reached the target")
	h = scenes([]*draft{story(rejected(401)).rows(1), story(rejected(400)).named("i2")})
	require.Equal(t, []string{"phantom-row"}, found(check(h, terms())), "a request reached the target")
}

// TestAMissingKeyIsToldFromWrongCredentials holds that a refusal which is the contract's for a missing key says nothing about credentials that
// had let a plain create in just before.
func TestAMissingKeyIsToldFromWrongCredentials(t *testing.T) {
	t.Parallel()
	forbidden := func(t *checker.Terms) {
		keyRequired(t)
		t.Contract.MissingKey.Statuses = []int{401, 403}
	}
	const wrong = "401, 403 or 404"
	said := func(a history.Attempt, normal history.Offset) string {
		h := scenes([]*draft{story(a).rows(0).probe(a)})
		h.Run.Normal = normal
		return strings.Join(check(h, terms(forbidden)).Reasons, "\n")
	}
	require.NotContains(t, said(keyed(noKey, rejected(403)), ms(5)), wrong)
	require.Contains(t, said(keyed(noKey, rejected(403)), 0), wrong, "no plain create is known to have come in")
	require.Contains(t, said(keyed(noKey, rejected(401)), ms(5)), wrong, "a session may have expired")
	require.Contains(t, said(rejected(403), ms(5)), wrong, "it had a key")
}

func TestTargetGoneLeavesOnlyLastingFindings(t *testing.T) {
	t.Parallel()
	a, r := acknowledged(201, "o1"), rejected(400)
	h := scene(
		story(a).named("lost"), story(r).named("phantom").rows(1), story(exists("o1")).named("conflict"),
		story(unknown(history.Reset)).named("stuck").probe(serverError()),
	)
	require.Equal(t, []string{"lost-acknowledged-write", "phantom-row", "unavailable", "false-conflict"}, found(check(h, terms())))
	happened(history.TargetGone, h)
	res := check(h, terms())
	require.Empty(t, res.Findings)
	require.Equal(t, checker.Broken, res.Verdict)

	h = scene(story(a).named("dup").rows(2), story(a, acknowledged(200, "o1")).named("status").rows(1), story(a, altered(a)).named("alter").rows(1))
	happened(history.TargetGone, h)
	require.Equal(t, []string{"duplicate", "altered-body-violation/undetected", "replay-mismatch/status"}, found(check(h, terms())))
}

func TestUnavailableNeedsTheWholeProbe(t *testing.T) {
	t.Parallel()
	for _, kind := range []history.IncidentKind{history.Interruption, history.HarnessFault} {
		h := scene(story(unknown(history.Timeout)).rows(1).probe(inProgress()))
		happened(kind, h)
		require.Empty(t, check(h, terms()).Findings, "the probe was cut short by %s", kind)
	}
	cut := story(unknown(history.Timeout)).rows(1).probe(inProgress(), unknown(history.Interrupted))
	r := cut.check(terms())
	require.Equal(t, []string{"refused-though-done"}, found(r))
	require.Equal(t, "after 1 more attempt still in-progress (status 409)", r.Findings[0].Observed)
	require.Equal(t, checker.Pass, story(unknown(history.Timeout)).rows(1).probe(unknown(history.Interrupted)).check(terms()).Verdict)
}

// counted gives a history passages for its attempts and a count of the target.
func counted(h *history.History, received int64) *history.History {
	h.Run.Lanes[0].Doorstep = true
	for i := range h.Attempts {
		h.Attempts[i].Passage = &history.Passage{Opened: 1, Arrived: h.Attempts[i].Wrote, Answered: h.Attempts[i].End, Up: h.Attempts[i].Sent}
	}
	h.Received = &history.Received{Before: 40, After: 40 + received}
	return h
}

func TestRequestsThatAreNotOnRecord(t *testing.T) {
	t.Parallel()
	require.Equal(t, checker.Pass, check(counted(right(), 3), terms()).Verdict)
	for _, received := range []int64{2, 4} {
		res := check(counted(right(), received), terms())
		require.Equal(t, checker.Broken, res.Verdict, "%d received", received)
		require.Contains(t, strings.Join(res.Reasons, "\n"), "not on record")
	}
	require.Equal(t, []string{"duplicate"}, found(check(counted(wrong(), 9), terms())), "a finding outranks it")

	// What a fresh key takes is prepared after the first count, and its create comes after T1.
	late := counted(right(), 4)
	late.Intents = append(late.Intents, history.Intent{ID: "i9", Number: 9, Fresh: true, Bodies: map[string]history.Body{history.Original: {Marker: "dti9"}}})
	late.Steps = append(late.Steps, history.Step{For: history.Prepare, Intent: "i9", Status: 201})
	late.T2.Rows["dti9"] = nil
	require.Equal(t, checker.Pass, check(late, terms()).Verdict)

	phantom := scene(story(rejected(400)).rows(1))
	require.Equal(t, []string{"phantom-row"}, found(check(counted(phantom, 2), terms())))
	require.Empty(t, check(counted(phantom, 3), terms()).Findings, "the row may be that of the request that is not on record")

	h := counted(right(), 9)
	h.Run.Lanes[0].Doorstep = false
	require.Equal(t, checker.Pass, check(h, terms()).Verdict, "without a doorstep nobody can compare")
	h = counted(right(), 9)
	h.Complete = false
	require.NotContains(t, strings.Join(check(h, terms()).Reasons, "\n"), "not on record", "a killed run has no last count")
	h = counted(right(), 2)
	h.Attempts[0].Passage.Up--
	require.Equal(t, checker.Pass, check(h, terms()).Verdict, "a request that did not get through whole does not count")
}

// Controls are about what does not happen, which a target that only fails keeps as well.
func TestATargetThatOnlyFailsPassesNothing(t *testing.T) {
	t.Parallel()
	keyless := func(a history.Attempt) history.Attempt { return keyed(noKey, a) }
	required := func(t *checker.Terms) { t.Operation.Key.Required = true }
	failed := serverError()
	for _, test := range []struct {
		name   string
		drafts []*draft
		proof  proofs.Name
		terms  func(*checker.Terms)
		want   checker.Verdict
	}{
		{"requests without a key fail", []*draft{story(keyless(failed))}, proofs.KeyOmitted, nil, checker.Inconclusive},
		{"requests without a key are executed", []*draft{story(keyless(acknowledged(201, "o1"))).rows(1)}, proofs.KeyOmitted, nil, checker.Pass},
		{"requests without a key are refused, as they may", []*draft{story(keyless(rejected(400)))}, proofs.KeyOmitted, required, checker.Pass},
		{"requests without a key are refused, as they may not", []*draft{story(keyless(rejected(400)))}, proofs.KeyOmitted, nil, checker.Inconclusive},
		{"requests with two keys are refused, as they may", []*draft{story(twoKeys(rejected(400)))}, proofs.Respelled, required, checker.Pass},
		{"requests with two keys fail", []*draft{story(twoKeys(failed))}, proofs.Respelled, required, checker.Inconclusive},
		{"requests without a required key fail", []*draft{story(keyless(failed))}, proofs.KeyOmitted, required, checker.Inconclusive},
		{"blank keys fail", []*draft{story(blank(failed)).named("a").beside("a"), story(blank(failed)).named("b").beside("a")}, proofs.Neighbours, nil, checker.Inconclusive},
		{"blank keys are refused", []*draft{story(blank(rejected(400))).named("a").beside("a"), story(blank(rejected(400))).named("b").beside("a")}, proofs.Neighbours, nil, checker.Pass},
		{"strange keys are refused", []*draft{story(rejected(400)).named("a").beside("a"), story(rejected(400)).named("b").beside("a")}, proofs.Neighbours, nil, checker.Pass},
		{"a burst fails, and the final retry too", []*draft{story(failed, failed).probe(failed)}, proofs.Replayed, nil, checker.Inconclusive},
		{"a burst fails, and the final retry repairs it", []*draft{story(failed, failed).later("o1").probe(acknowledged(201, "o1"))}, proofs.Replayed, nil, checker.Pass},
		{"most intents fail", []*draft{
			story(keyless(failed)).named("a"), story(keyless(failed)).named("b"), story(keyless(acknowledged(201, "o1"))).rows(1),
		}, proofs.KeyOmitted, nil, checker.Inconclusive},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h, terms := scenes(test.drafts), terms()
			h.Run.Exercised = []history.Proof{{Name: string(test.proof)}}
			if test.terms != nil {
				test.terms(&terms)
			}
			r := check(h, terms)
			r.Findings = slices.DeleteFunc(r.Findings, func(f checker.Finding) bool { return f.Kind == checker.Unavailable })
			require.Empty(t, r.Findings)
			if r.Verdict != checker.Fail {
				require.Equal(t, test.want, r.Verdict, "%v", r.Reasons)
			}
		})
	}
}

// An account that is used up refuses keys of any form.
func TestKeysThatAreRefusedForAnotherReasonProveNothing(t *testing.T) {
	t.Parallel()
	empty := func() history.Attempt {
		return saying(`{"code":"INSUFFICIENT_BALANCE","message":"25 are left"}`, rejected(409))
	}
	pair := func() []*draft {
		return []*draft{story(empty()).named("a").beside("a"), story(empty()).named("b").beside("a")}
	}
	judged := func(proof proofs.Name, drafts ...*draft) checker.Result {
		h := scenes(drafts)
		h.Run.Exercised, h.Run.Normal = []history.Proof{{Name: string(proof)}}, ms(5)
		return check(h, terms())
	}
	r := judged(proofs.Neighbours, pair()...)
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, r.Reasons, `not exercised: of 2 intents the target said of none that it was done, accepted or there already; 2 of 2 answers had status 409, such as "INSUFFICIENT_BALANCE: 25 are left"`+
		"; plain creates were done when the run began, and of these none: something that they take may be used up")
	r = judged(proofs.Respelled, story(twoKeys(empty())))
	require.Equal(t, checker.Inconclusive, r.Verdict, "%v", r.Reasons)

	taken := func() *draft { return story(acknowledged(201, "healthy")).holding("healthy") }
	r = judged(proofs.Neighbours, append(pair(), taken().named("c"))...)
	require.Equal(t, checker.Pass, r.Verdict, "another key is taken: %v %v", r.Reasons, r.Findings)
	fresh := func(d *draft) *history.History {
		h := scenes(append(pair(), d.named("f")))
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Neighbours)}}
		for i := range h.Intents {
			h.Intents[i].Fresh = h.Intents[i].ID == "f"
		}
		return h
	}
	require.Equal(t, checker.Pass, check(fresh(taken()), terms()).Verdict, "a plain create is taken")
	require.Equal(t, checker.Inconclusive, check(fresh(story(empty())), terms()).Verdict, "and is refused as well")
}

// What fails and is done by the final retry is in no count of intents.
func TestFailuresBeforeTheFinalRetryAreToldWhereTooLittleWasExercised(t *testing.T) {
	t.Parallel()
	h := scene(story(saying(`{"error":"deadlock"}`, serverError())).later("o1").probe(acknowledged(201, "o1")))
	h.Run.Exercised = []history.Proof{{Name: string(proofs.Acknowledged), AtLeast: 1}}
	r := check(h, terms())
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, r.Reasons, `1 of 2 answers before the final retry failed with a status of 500 or more, the first with 500 "deadlock"`)
}

func TestWithoutAPromiseNothingIsTested(t *testing.T) {
	t.Parallel()
	bare := terms()
	bare.Operation.Key = contract.Key{}
	twice := func() *history.History {
		h := scenes([]*draft{story(keyed(noKey, acknowledged(201, "o1")), keyed(noKey, acknowledged(201, "o2"))).rows(2)})
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Replayed)}}
		return h
	}
	r := check(twice(), bare)
	require.Empty(t, r.Findings)
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, r.Reasons[0], "makes a second row: so did 1 of 1")
	require.Contains(t, r.Reasons[0], "contract.natural_key")

	once := scenes([]*draft{story(keyed(noKey, acknowledged(201, "o1"))).rows(1)})
	require.Equal(t, checker.Pass, check(once, bare).Verdict, "nothing was repeated")
	bare.Contract.NaturalKey = []string{"/note"}
	require.Equal(t, checker.Fail, check(twice(), bare).Verdict, "that is a promise")
}
