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
