package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

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
			require.Equal(t, want, found(check(scene(story(saying(c.first), saying(c.then)).rows(1)), terms())))
		})
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
		r := check(scene(story(first, then).rows(1)), terms())
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
