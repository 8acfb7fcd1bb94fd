package reports

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

func TestTheAttemptsThatMatterAreShown(t *testing.T) {
	t.Parallel()
	yes, no, none := checker.Acknowledged, checker.Rejected, checker.Unknown
	for name, c := range map[string]struct {
		kind     checker.Kind
		outcomes []checker.Outcome
		change   func(*checker.Finding)
		want     []int
	}{
		"two that made a row":            {checker.Duplicate, []checker.Outcome{no, yes, yes, yes}, nil, []int{1, 2}},
		"one, and one without an answer": {checker.Duplicate, []checker.Outcome{none, yes}, func(f *checker.Finding) { f.Attempts[0].Complete = false }, []int{0, 1}},
		"a request alone":                {checker.Duplicate, []checker.Outcome{yes}, nil, []int{0}},
		"the end of a key that is stuck": {checker.StuckKey, []checker.Outcome{none, no, no, no}, nil, []int{0, 3}},
		"what was lost, and the end":     {checker.LostWrite, []checker.Outcome{none, yes, no}, nil, []int{1, 2}},
		"the answer that differs": {checker.ReplayMismatch, []checker.Outcome{yes, yes, yes}, func(f *checker.Finding) {
			f.Differs = []checker.Difference{{Attempt: f.Attempts[2].ID}}
		}, []int{0, 2}},
		"the altered body": {checker.AlteredBody, []checker.Outcome{yes, yes, yes}, func(f *checker.Finding) { f.Attempts[2].Body = history.Altered }, []int{0, 2}},
		"none":             {checker.LostWrite, nil, nil, nil},
	} {
		f := checker.Finding{Kind: c.kind, Outcomes: c.outcomes}
		for i := range c.outcomes {
			f.Attempts = append(f.Attempts, history.Attempt{ID: string(rune('a' + i)), Complete: true, Content: string(rune('a' + i))})
		}
		if c.change != nil {
			c.change(&f)
		}
		require.Equal(t, c.want, decisive(f), name)
	}
}

func TestABodyStaysValidJSON(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`{"a" : "b\u202e` + "\u202e\U000e0001 \u009b ü" + `"}`, "[1,\n2]", `"` + "\u2028" + `"`} {
		b := newBodyView(content)
		require.Equal(t, clean(b.Text), b.Text, "it is inert")
		var want, got any
		require.NoError(t, json.Unmarshal([]byte(content), &want))
		require.NoError(t, json.Unmarshal([]byte(b.Text), &got), b.Text)
		require.Equal(t, want, got)
		require.NoError(t, json.Unmarshal([]byte(b.indented().Text), &got))
		require.Equal(t, want, got)
	}
}

func TestItIsSaidWhatOfARequestDiffers(t *testing.T) {
	t.Parallel()
	a := checker.Request{Method: "POST", Path: "/a", Header: map[string]string{"Key": "1", "Same": "x"}, Content: `{"amount":1,"note":"n"}`}
	b := checker.Request{Method: "POST", Path: "/b", Header: map[string]string{"Key": "2", "Same": "x"}, Content: `{"amount":2,"note":"n"}`}
	require.Equal(t, []string{"path: “/b”, not “/a”", "Key: “2”, not “1”", "/amount: “2”, not “1”"}, requestChanges(a, b))
	b = a
	b.Content = `{"note":"n","amount":1}`
	require.Equal(t, []string{"the body is the same JSON, written differently"}, requestChanges(a, b))
	a.Content = `{"variables":{"input":{"memo":"a","to":["x","y"],"none":null,"list":[]}},"query":"q"}`
	b.Content = `{"variables":{"input":{"memo":"b","to":["x","z"],"list":[]}},"query":"q"}`
	require.Equal(t, []string{"/variables/input/memo: “b”, not “a”", "/variables/input/none: nothing, not “null”", "/variables/input/to/1: “z”, not “y”"}, requestChanges(a, b))
	a.Content, b.Content = `[{"n":1}]`, `[{"n":1.0}]`
	require.Equal(t, []string{"/0/n: “1.0”, not “1”"}, requestChanges(a, b))
	b.Content = "x"
	require.Equal(t, []string{"body: “x”, not “" + a.Content + "”"}, requestChanges(a, b))
}
