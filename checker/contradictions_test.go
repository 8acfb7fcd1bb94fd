package checker_test

import (
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Where one answer may mean that the thing exists or that the body differs, another spelling was not
// taken for another request.
func TestARespelledRequestThatIsToldExists(t *testing.T) {
	t.Parallel()
	alike := terms(sameJSON, func(t *checker.Terms) { t.Contract.Existing.Signature = t.Contract.Fingerprint.Signature })
	told := answer(422, `{"error":"mismatch","id":"o1"}`)
	judge(t, scene(story(acknowledged(201, "o1"), reordered(told)).rows(1)), alike, nil, "")
	judge(t, scene(story(acknowledged(201, "o1"), reordered(told)).rows(1)), terms(sameJSON), []string{"false-conflict/respelled"}, "")
}

// headed is a contract in which a mismatch is known by a header.
func headed() checker.Terms {
	return terms(func(t *checker.Terms) {
		t.Contract.Fingerprint.Where = nil
		t.Contract.Fingerprint.Headers = map[string]string{"Content-Type": "json"}
	})
}

// A respelled request is the same request (CANON).
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	again := func(x history.Attempt) *draft { return story(a, reordered(x)).rows(1) }
	bytes := func(t *checker.Terms) { t.Contract.Fingerprint.Mode = contract.FingerprintBytes }
	fields := func(t *checker.Terms) { t.Contract.Fingerprint.Mode = contract.FingerprintFields }
	runCells(t, []cell{
		{name: "answered as a repetition", terms: terms(sameJSON), story: again(a)},
		{name: "answered as a repetition where fields count", terms: terms(fields), story: again(a)},
		{name: "refused as another", terms: terms(sameJSON), story: again(mismatch()), want: []string{"false-conflict/respelled"}},
		{name: "refused as another where fields count", terms: terms(fields), story: again(mismatch()), want: []string{"false-conflict/respelled"}},
		{name: "told that it exists", terms: terms(sameJSON), story: again(exists("o1"))},
		{name: "refused as another where bytes count", terms: terms(bytes), story: again(mismatch())},
		{name: "refused as another where nothing is declared", story: again(mismatch())},
		{name: "refused for its form", terms: terms(sameJSON), story: again(rejected(400))},
		{name: "executed again", terms: terms(sameJSON), story: story(a, reordered(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "executed again where bytes count", terms: terms(bytes), story: story(a, reordered(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "answered with something else", terms: terms(sameJSON), story: again(saying(`{"id":"o1","x":1}`, a)), want: []string{"replay-mismatch/body"}},
		{name: "an altered body is still refused", terms: terms(sameJSON), story: story(a, altered(mismatch()), reordered(a)).rows(1)},
	})
}

// A request from another client, place and time is the same request.
func TestTheSameRequestFromElsewhere(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	again := func(x history.Attempt) *draft { return story(a, elsewhere(x)).rows(1) }
	dedupOnly := func(t *checker.Terms) { t.Contract.Level = contract.DedupOnly }
	undeclared := func(t *checker.Terms) { t.Contract.Fingerprint = contract.Fingerprint{} }
	runCells(t, []cell{
		{name: "answered as a repetition", story: again(a)},
		{name: "refused as another", story: again(mismatch()), want: []string{"false-conflict/elsewhere"}},
		{name: "refused as another where nothing is declared", terms: terms(undeclared), story: again(rejected(400)), want: []string{"false-conflict/elsewhere"}},
		{name: "refused for who or where its sender is", story: again(rejected(403))},
		{name: "told that it exists", story: again(exists("o1"))},
		{name: "refused where repetitions may be", terms: terms(dedupOnly), story: again(rejected(400))},
		{name: "refused like the first", story: story(rejected(400), elsewhere(rejected(400)))},
		{name: "executed again", story: story(a, elsewhere(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "answered with something else", story: again(saying(`{"id":"o1","x":1}`, a)), want: []string{"replay-mismatch/body"}},
	})
}

// The names of headers have no case.
func TestAKeyUnderANameInLowerCase(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	again := func(x history.Attempt) *draft { return story(a, inLowerCase(x)).rows(1) }
	runCells(t, []cell{
		{name: "answered as a repetition", story: again(a)},
		{name: "told that it exists", story: again(exists("o1"))},
		{name: "taken for a request without a key", story: again(rejected(400)), want: []string{"false-conflict/header-case"}},
		{name: "refused for who its sender is", story: again(rejected(401)), want: []string{"false-conflict/header-case"}},
		{name: "refused like the first", story: story(rejected(400), inLowerCase(rejected(400)))},
		{name: "executed again", story: story(a, inLowerCase(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
	})
}

// Two keys are one request, whatever a target makes of them.
func TestTwoKeysInTwoHeaders(t *testing.T) {
	t.Parallel()
	a := twoKeys(acknowledged(201, "o1"))
	runCells(t, []cell{
		{name: "answered as a repetition", story: story(a, a).rows(1)},
		{name: "refused each time", story: story(twoKeys(rejected(400)), twoKeys(rejected(400)))},
		{name: "executed again", story: story(a, twoKeys(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "refused and executed", story: story(twoKeys(rejected(400))).rows(1), want: []string{"phantom-row"}},
	})
}

// A copy that arrives while its first request runs may be told to wait, and not that there is nothing.
func TestACopyThatIsToldThatThereIsNothing(t *testing.T) {
	t.Parallel()
	a := during(0, 10, acknowledged(201, "o1"))
	beside := func(x history.Attempt) *draft { return story(a, during(5, 12, x)).rows(1) }
	named := func(t *checker.Terms) { t.Contract.InProgress.Signature = contract.Signature{Statuses: []int{404}} }
	runCells(t, []cell{
		{name: "not found", story: beside(rejected(404)), want: []string{"replay-mismatch/status"}},
		{name: "not found under another key, and one natural key", terms: terms(naturalKey), story: story(keyed("k1", a), during(5, 12, keyed("k2", rejected(404)))).rows(1), want: []string{"replay-mismatch/status"}},
		{name: "gone", story: beside(rejected(410)), want: []string{"replay-mismatch/status"}},
		{name: "not found before its first is acknowledged", story: story(during(1, 4, rejected(404)), during(5, 9, acknowledged(201, "o1"))).rows(1)},
		{name: "not found, which the contract calls in progress", terms: terms(named), story: beside(rejected(404))},
		{name: "not found, where answers are not promised", terms: terms(dedupOnly), story: beside(rejected(404))},
		{name: "a refusal that may mean that the first one runs", story: beside(rejected(400))},
	})
}
