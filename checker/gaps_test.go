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

// Rules that mutation testing found without a test of their own.

// amounts changes the amount in the rows of a marker, at both moments.
func amounts(h *history.History, marker string, amount float64) *history.History {
	for _, s := range []*history.Snapshot{h.T1, h.T2} {
		for i, row := range s.Rows[marker] {
			s.Rows[marker][i] = history.Row{"id": row["id"], "amount": amount}
		}
	}
	return h
}

func unasked(h *history.History, marker string) *history.History {
	delete(h.T1.Rows, marker)
	delete(h.T2.Rows, marker)
	return h
}

func nameless(t *checker.Terms) { t.Operation.Rows.Identity = "" }

func TestAlteredBodiesAreNotJudgedByOneMarker(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	first := scene(story(a, altered(mismatch())).rows(1))
	judge(t, unasked(first, "dti1"), terms(), nil, "lacks intent i1")
	second := scene(story(mismatch(), altered(a)).and("o1"))
	judge(t, unasked(second, "dti1changed"), terms(), nil, "lacks intent i1")
}

func TestContentOfAlteredBodies(t *testing.T) {
	t.Parallel()
	want := []string{"altered-body-violation/content"}
	second := scene(story(mismatch(), altered(acknowledged(201, "o1"))).and("o1"))
	judge(t, amounts(second, "dti1changed", 1), terms(), want, "")
	apart := scene(story(acknowledged(201, "o1"), keyed("k2", altered(acknowledged(201, "o2")))).rows(1).and("o2"))
	judge(t, amounts(apart, "dti1changed", 1), terms(), want, "")
}

func TestAlteredBodiesBesideEachOther(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	runCells(t, []cell{
		{name: "an acknowledgement of the losing body, where rows name nothing, is undetected", terms: terms(nameless),
			story: story(a, altered(acknowledged(201, "o2"))).rows(1), want: []string{"altered-body-violation/undetected"}},
		{name: "one body refused and the other told exists, and nothing there, is a false conflict",
			story: story(rejected(400), altered(exists("o1"))), want: []string{"false-conflict"}},
		{name: "unequal answers to the altered body are an unequal replay",
			story: story(mismatch(), altered(a), altered(saying(`{"id":"o1","late":true}`, a))).and("o1"), want: []string{"replay-mismatch/body"}},
	})
}

func TestRefusalsAtTheDoorAreNotStored(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	for _, status := range []int{401, 403, 404, 405, 407, 415} {
		judge(t, scene(story(rejected(status), a).rows(1).probe(a)), terms(store4xx), nil, "")
	}
	judge(t, scene(story(rejected(400), a).rows(1).probe(a)), terms(store4xx), []string{"replay-mismatch/status"}, "")
}

func TestWhatAnswersAndRowsName(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	anonymous := scene(story(a).rows(1).probe(a))
	for _, s := range []*history.Snapshot{anonymous.T1, anonymous.T2} {
		s.Rows["dti1"][0]["id"] = nil
	}
	judge(t, anonymous, terms(), nil, "")
	runCells(t, []cell{
		{name: "two answers that name two things are unequal, where rows name nothing", terms: terms(nameless, onlyIdentity),
			story: story(a, acknowledged(201, "o2")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an acknowledgement without a body need not name anything", terms: terms(onlyIdentity, replayStatus(201, 204)),
			story: story(a, saying("", acknowledged(204, ""))).rows(1).probe(a)},
	})
	r := checker.Check(scene(story(a, answer(201, `{}`)).rows(1)), terms(onlyIdentity))
	require.Contains(t, r.Findings[0].Observed, "names nothing")
}

func TestAFindingIsReportedOnce(t *testing.T) {
	t.Parallel()
	r := checker.Check(wrong(), terms())
	require.Len(t, r.Findings, 1, "it shows at T1 and at T2")
	require.Equal(t, "T1", r.Findings[0].Moment)
}

func TestRowsOfBothBodiesAreEvidence(t *testing.T) {
	t.Parallel()
	r := checker.Check(scene(story(acknowledged(201, "o1"), altered(acknowledged(201, "o2"))).rows(1).and("o2")), terms())
	require.Equal(t, checker.Duplicate, r.Findings[0].Kind)
	rows := r.Findings[0].Rows
	require.Len(t, rows, 2)
	require.Equal(t, history.Altered, rows[1].Body)
	require.Equal(t, "o2", rows[1].Rows[0]["id"])
}

func TestFindingsThatStandWithoutTheTarget(t *testing.T) {
	t.Parallel()
	mine := story(acknowledged(201, "o1")).named("p1").of("p").rows(1)
	leak := scene(mine, story(answer(201, `{"id":"o2","note":"dtp1"}`)).named("q1").of("q").holding("o2"))
	happened(history.TargetGone, leak)
	require.Equal(t, []string{"leak"}, found(checker.Check(leak, terms())))

	accepted := scene(story(keyed(noKey, acknowledged(201, "o1"))).rows(1))
	happened(history.TargetGone, accepted)
	require.Equal(t, []string{"missing-key-accepted"}, found(checker.Check(accepted, terms(keyRequired))))
}

// A run that is killed in the final probe leaves attempts without the snapshot that belongs to them.
func TestTheProbeIsNotJudgedWithoutItsSnapshot(t *testing.T) {
	t.Parallel()
	h := scene(story(unknown(history.Timeout)).rows(1).probe(inProgress()))
	h.T2, h.Complete = nil, false
	judge(t, h, terms(), nil, "the run was killed")
}

func TestThingsAreKnownFromEitherSnapshot(t *testing.T) {
	t.Parallel()
	mine := func() *draft { return story(unknown(history.Timeout)).named("p1").of("p") }
	theirs := story(acknowledged(201, "o1")).named("q1").of("q").holding("o9").later("o9")
	for name, p := range map[string]*draft{"gone at T2": mine().rows(1).later(), "there at T2": mine().rows(0).later("o1")} {
		r := checker.Check(scene(p, theirs), terms())
		require.Contains(t, found(r), "leak", name)
	}
}

func TestProofsAreExplained(t *testing.T) {
	t.Parallel()
	texts := map[string]bool{}
	for _, p := range []proofs.Name{
		proofs.Acknowledged, proofs.Replayed, proofs.Overlapped, proofs.ResponseLost, proofs.RequestLost,
		proofs.CommittedBefore, proofs.RetriedRunning, proofs.Delayed, proofs.GaveUp, proofs.LeftRunning,
		proofs.BothBodies, proofs.DistinctKeys, proofs.KeysDiffer, proofs.KeyOmitted,
		proofs.Neighbours, proofs.Respelled, proofs.Expired, proofs.Looked,
		proofs.WritesHeld, proofs.Swept, proofs.Crashed, proofs.Restarted,
	} {
		h := right()
		h.Run.Exercised = []history.Proof{{Name: string(p)}}
		text := checker.Check(h, terms()).Exercise[0].Text
		require.NotContains(t, text, "unknown proof", p)
		require.False(t, texts[text], "%s says the same as another proof", p)
		texts[text] = true
	}
}

func TestAPassageThatSawNoConnectionProvesNothing(t *testing.T) {
	t.Parallel()
	h := alone(story(keyed(noKey, passing(history.Passage{}, acknowledged(201, "o1")))).rows(1))
	h.Run.Exercised = []history.Proof{{Name: string(proofs.KeyOmitted)}}
	require.Equal(t, 1, checker.Check(h, terms()).Exercise[0].Held)
}

func TestABrokenRunDoesNotHideDoubts(t *testing.T) {
	t.Parallel()
	h := wrong()
	happened(history.DatabaseGone, h)
	happened(history.HarnessFault, h)
	r := checker.Check(h, terms())
	require.Equal(t, checker.Fail, r.Verdict)
	reasons := strings.Join(r.Reasons, "\n")
	require.Contains(t, reasons, "it was harness")
	require.Contains(t, reasons, "it was database-gone")
}

func TestARunWithoutAnswersIsNotMisconfigured(t *testing.T) {
	t.Parallel()
	r := checker.Check(alone(story(unknown(history.Timeout)).rows(2)), terms())
	require.Equal(t, []string{"duplicate"}, found(r))
}

func TestAnAnswerBeforeItsRequestWasWrittenProvesNoDelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lane    string
		attempt history.Attempt
		held    int
	}{
		"a slow answer on a slow lane":       {"slow", during(10, 90, acknowledged(201, "o1")), 1},
		"an answer before the last byte":     {"slow", unwritten(during(10, 90, acknowledged(201, "o1"))), 0},
		"a slow answer on a lane like other": {"clean", during(10, 90, acknowledged(201, "o1")), 0},
	} {
		h := on(c.lane, alone(story(c.attempt).rows(1)))
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Delayed)}}
		require.Equal(t, c.held, checker.Check(h, terms()).Exercise[0].Held, name)
	}
}

func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	saying := func(number string) history.Attempt { return answer(201, `{"id":"o1","n":`+number+`}`) }
	for name, c := range map[string]struct {
		first, then string
		equal       bool
	}{
		"beyond what a float can hold":    {"9007199254740993", "9007199254740992", false},
		"a fraction of zero":              {"1", "1.0", true},
		"inside a list":                   {"[1,[2]]", "[1.0,[2e0]]", true},
		"another number inside a list":    {"[1,[2]]", "[1,[3]]", false},
		"an exponent":                     {"1200", "1.2e3", true},
		"a negative exponent":             {"0.5", "5e-1", true},
		"an exponent that is no number":   {"1e99999999999999999999", "2e99999999999999999999", false},
		"a list beside a number":          {"[1]", "1", false},
		"a number beside an object":       {"1", `{"n":1}`, false},
		"nothing beside a list":           {"null", "[]", false},
		"a truth value beside its number": {"true", "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := []string{"replay-mismatch/body"}
			if c.equal {
				want = nil
			}
			require.Equal(t, want, found(checker.Check(scene(story(saying(c.first), saying(c.then)).rows(1)), terms())))
		})
	}
}

func TestSignaturesOfEveryNumber(t *testing.T) {
	t.Parallel()
	for answered, want := range map[string]any{"7": 7, "7.0": int64(7), "18446744073709551615": ^uint64(0), "0.75": 0.75} {
		x := terms()
		x.Contract.Throttled.Where = map[string]any{"/code": want}
		require.Equal(t, checker.Throttled, x.Classify(answer(503, `{"code":`+answered+`}`)))
		require.Equal(t, checker.Unknown, x.Classify(answer(503, `{"code":8}`)))
	}
}

func TestPointersIntoLists(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]checker.Outcome{
		"/errors/0": checker.Throttled, "/errors/1": checker.Unknown, "/errors/-1": checker.Unknown, "/errors/first": checker.Unknown,
		"/errors/0/0": checker.Unknown,
	} {
		x := terms()
		x.Contract.Throttled.Where = map[string]any{pointer: "slow"}
		require.Equal(t, want, x.Classify(answer(503, `{"errors":["slow"]}`)), pointer)
	}
}

// The evidence of 1e100000 is not a hundred thousand digits.
func TestGreatNumbersStayShort(t *testing.T) {
	t.Parallel()
	for _, exponent := range []string{"100000", "-100000"} {
		first, then := answer(201, `{"id":"o1","n":1e`+exponent+`}`), answer(201, `{"id":"o1","n":2e`+exponent+`}`)
		r := checker.Check(scene(story(first, then).rows(1)), terms())
		require.Equal(t, "1e"+exponent, r.Findings[0].Differs[0].First)
	}
}

func TestTextsThatLookLikeNumbers(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).rows(1))
	h.Intents[0].Bodies[history.Original] = history.Body{Marker: "dti1", Content: `{"note":"dti1","amount":30}`}
	for _, s := range []*history.Snapshot{h.T1, h.T2} {
		s.Rows["dti1"][0]["amount"] = "0x1e"
	}
	judge(t, h, terms(), []string{"altered-body-violation/content"}, "")
}

func TestAnswersThatAreNoJSON(t *testing.T) {
	t.Parallel()
	require.Equal(t, checker.Unknown, terms().Classify(answer(201, "  ")), "white space is no JSON value")
	x := terms()
	x.Contract.Ack.Where = map[string]any{"/error": nil}
	require.Equal(t, checker.Acknowledged, x.Classify(answer(201, `{"id":"o1"}`)))
	require.Equal(t, checker.Unknown, x.Classify(bearing("Content-Type", "text/plain", answer(201, "done"))))

	text, value := bearing("Content-Type", "text/plain", answer(201, "done")), acknowledged(201, "o1")
	for _, pair := range [][]history.Attempt{{text, value}, {value, text}} {
		r := checker.Check(scene(story(pair...).rows(1)), terms())
		i := slices.IndexFunc(r.Findings, func(f checker.Finding) bool { return f.Detail == "body" })
		require.Equal(t, "body", r.Findings[i].Differs[0].Where)
	}
}

func TestNamesOfWhatIsNone(t *testing.T) {
	t.Parallel()
	require.Equal(t, "verdict(-1)", checker.Verdict(-1).String())
	require.Equal(t, "verdict(99)", checker.Verdict(99).String())
	require.Equal(t, "outcome(-1)", checker.Outcome(-1).String())
	require.Equal(t, "outcome(99)", checker.Outcome(99).String())
}

func TestTheContractThatAStatusBreaks(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1"), acknowledged(200, "o1")).rows(1))
	require.Equal(t, "replay.status: same", checker.Check(h, terms()).Findings[0].Contract)
	require.Equal(t, "replay.status: map[204:[204]]", checker.Check(h, terms(replayStatus(204, 204))).Findings[0].Contract)
}

func TestARefusedTwinIsNotInTheDark(t *testing.T) {
	t.Parallel()
	r := rejected(400)
	h := scene(story(acknowledged(201, "o1")).named("a").twinOf("dttwin").rows(1), story(unknown(history.Timeout)).named("b").twinOf("dttwin").probe(r, r))
	judge(t, h, terms(), nil, "")
}

func TestExistsThatNamesNothing(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	runCells(t, []cell{
		{name: "told exists with an identity that is null is right", story: story(a).rows(1).probe(answer(409, `{"error":"exists","id":null}`))},
		{name: "told exists, where the contract says of no identity, is right",
			terms: terms(func(t *checker.Terms) { t.Contract.Existing.Identity = contract.Identity{} }), story: story(a).rows(1).probe(exists("o7"))},
	})
}

func TestAnIntentWithoutAttempts(t *testing.T) {
	t.Parallel()
	require.Empty(t, checker.Check(scene(story()), terms(naturalKey)).Findings)
}

func TestAStatusResourceThatIsGoneForGood(t *testing.T) {
	t.Parallel()
	taken := bearing("Location", "/operations/7", answer(202, `{"operation":"7"}`))
	gone := history.Followup{At: ms(900), Tries: 2, Status: 410, Complete: true}
	judge(t, scene(story(taken).then(gone)), terms(accepting), []string{"lost-acknowledged-write/accepted"}, "")
}

// Where one answer may mean that the thing exists or that the body differs, another spelling was not
// taken for another request.
func TestARespelledRequestThatIsToldExists(t *testing.T) {
	t.Parallel()
	alike := terms(sameJSON, func(t *checker.Terms) { t.Contract.Existing.Signature = t.Contract.Fingerprint.Signature })
	told := answer(422, `{"error":"mismatch","id":"o1"}`)
	judge(t, scene(story(acknowledged(201, "o1"), reordered(told)).rows(1)), alike, nil, "")
	judge(t, scene(story(acknowledged(201, "o1"), reordered(told)).rows(1)), terms(sameJSON), []string{"false-conflict/respelled"}, "")
}

func TestNeighboursOfOnePrincipalNeedNoNames(t *testing.T) {
	t.Parallel()
	beside := func(id, who string) *draft {
		return story(acknowledged(201, id)).named(id).beside("p1").of(who).rows(2)
	}
	require.Nil(t, checker.Check(scene(beside("p1", "alice"), beside("q1", "alice")), terms()).Findings[0].Who)
	require.NotNil(t, checker.Check(scene(beside("p1", "alice"), beside("q1", "bob")), terms()).Findings[0].Who)
}

func TestTheScopeThatAFalseConflictBreaks(t *testing.T) {
	t.Parallel()
	p := func() *draft {
		return story(keyed("k", acknowledged(201, "o1"))).named("p1").beside("p1").of("alice").rows(1)
	}
	q := func() *draft { return story(keyed("k", mismatch())).named("q1").beside("p1").of("alice") }
	separate := terms(scoped(contract.ScopeSeparate, contract.ScopeSeparate), alike)
	for _, c := range []struct {
		h                  *history.History
		contract, expected string
	}{
		{scene(p(), q().of("bob")), "scope.principal: separate", "an acknowledgement: bob had not used this key before"},
		{scene(p(), q().at("quote")), "scope.operation: separate", "an acknowledgement: at this operation nothing with this key was wanted before"},
	} {
		f := checker.Check(c.h, separate).Findings[0]
		require.Equal(t, checker.FalseConflict, f.Kind)
		require.Equal(t, c.contract, f.Contract)
		require.Equal(t, c.expected, f.Expected)
	}
}

// totalled sets a total at the three moments.
func totalled(h *history.History, before, t1, t2 float64) *history.History {
	for s, n := range map[*history.Snapshot]float64{h.Before: before, h.T1: t1, h.T2: t2} {
		s.Effects = map[string]map[string]float64{"stock": {"": n}}
	}
	return h
}

func TestTotalsOfAnOperationThatNobodyAsked(t *testing.T) {
	t.Parallel()
	elsewhere := func(t *checker.Terms) {
		x := -1.0
		other := t.Operation
		other.Effects = []contract.Effect{{Name: "stock", Delta: &x}}
		t.Others = map[string]contract.Operation{"quote": other}
	}
	h := func() *history.History { return totalled(scene(story(acknowledged(201, "o1")).rows(1)), 10, 5, 5) }
	judge(t, h(), terms(elsewhere), []string{"effect-mismatch/stock"}, "")
	failed := h()
	failed.T1.Error, failed.T2.Error = "gone", "gone"
	require.Empty(t, checker.Check(failed, terms(elsewhere)).Findings, "a snapshot that failed says nothing")
}

func TestATotalThatWasNotAskedForIsADoubt(t *testing.T) {
	t.Parallel()
	h := totalled(scene(story(acknowledged(201, "o1")).rows(1)), 10, 8, 8)
	delete(h.Before.Effects, "stock")
	judge(t, h, terms(stock), nil, "the effect stock was not asked for")
}

func TestATotalMayComeLate(t *testing.T) {
	t.Parallel()
	h := func() *history.History { return scene(story(acknowledged(201, "o1")).rows(1)) }
	judge(t, totalled(h(), 10, 9, 8), terms(stock), nil, "")
	judge(t, totalled(h(), 10, 11, 8), terms(stock), []string{"effect-mismatch/stock"}, "")
}

// A key that may have been executed anew at the edge of its time is remembered from then on.
func TestAKeyIsForgottenAgainAfterTheEdge(t *testing.T) {
	t.Parallel()
	execute := terms(onlyIdentity, expiring(100, contract.ExpiryExecute))
	one, two, three := acknowledged(201, "o1"), acknowledged(201, "o2"), acknowledged(201, "o3")
	judge(t, scene(story(during(1, 10, one), during(95, 105, two), during(150, 160, two), during(200, 210, three)).rows(3)), execute, nil, "")
	judge(t, scene(story(during(1, 10, one), during(150, 160, two), during(200, 210, three)).rows(3)), execute, []string{"duplicate"}, "")
}

func TestAnAcknowledgementThatNamesNothingIsOfNoThingMore(t *testing.T) {
	t.Parallel()
	execute := terms(anyBody, expiring(100, contract.ExpiryExecute))
	judge(t, scene(story(during(1, 10, acknowledged(201, "o1")), during(200, 210, answer(204, ""))).rows(1)), execute, nil, "")
}

// How long a target may have worked on a request whose answer was lost: until it was seen to be quiet.
func TestWhenATargetWasDone(t *testing.T) {
	t.Parallel()
	execute := terms(onlyIdentity, expiring(100, contract.ExpiryExecute))
	one, two, three := acknowledged(201, "o1"), acknowledged(201, "o2"), acknowledged(201, "o3")
	first, lost := during(1, 10, one), unknown(history.Timeout)
	for name, c := range map[string]struct {
		story *draft
		want  []string
	}{
		"a lost probe until after the probe": {
			story(first).rows(1).later("o1", "o2", "o3").probe(during(2000, 2010, lost), during(2050, 2060, three)), nil,
		},
		"an answered probe until its answer": {
			story(first).rows(1).later("o1", "o2", "o3").probe(during(2000, 2010, two), during(2050, 2060, three)), []string{"duplicate"},
		},
		"a lost request no longer than until the probe": {
			story(during(1, 10, lost)).rows(1).later("o1", "o2").probe(during(2000, 2010, two), during(2050, 2060, one)), []string{"replay-mismatch/identity"},
		},
		"a request that never came, not at all": {
			story(first, during(20, 21, refused()), during(200, 210, two), during(280, 290, one)).rows(2), []string{"replay-mismatch/identity"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, found(checker.Check(scene(c.story), execute)))
		})
	}
}

func TestARunThatNobodyAnsweredIsNotMisconfigured(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*draft{"nothing was sent": story(), "nothing got through": story(refused(), refused())} {
		r := checker.Check(alone(d.rows(2)), terms())
		require.NotContains(t, strings.Join(r.Reasons, "\n"), "credentials", name)
	}
	r := checker.Check(alone(story(answer(401, ""))), terms())
	require.Contains(t, strings.Join(r.Reasons, "\n"), "credentials")

	keyless := story(answer(403, `{"code":"no_token"}`))
	where := map[string]any{"/code": "no_token"}
	for _, tells := range []map[string]any{nil, where} {
		r = checker.Check(alone(keyless), terms(func(t *checker.Terms) { t.Contract.MissingKey = contract.Signature{Statuses: []int{403}, Where: tells} }))
		require.Equal(t, tells == nil, strings.Contains(strings.Join(r.Reasons, "\n"), "credentials"), "a 403 that says what it is refuses no credentials")
	}
}
