package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// Invariant I5: a row holds the content of exactly one body. Databases spell values in their own way.
func TestContentOfRows(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		sent   string // the member /amount of the body
		stored any
		want   []string
	}{
		{"the same number", `1200`, float64(1200), nil},
		{"the same number as text", `1200`, "1200.00", nil},
		{"the same text as number", `"12.50"`, float64(12.5), nil},
		{"another number", `1200`, float64(9900), []string{"altered-body-violation/content"}},
		{"another text", `"lamp"`, "chair", []string{"altered-body-violation/content"}},
		{"nothing where there was something", `1200`, nil, []string{"altered-body-violation/content"}},
		{"nothing where there was nothing", `null`, nil, nil},
		{"true as 1", `true`, float64(1), nil},
		{"false as 0", `false`, float64(0), nil},
		{"true as 0", `true`, float64(0), []string{"altered-body-violation/content"}},
		{"a truth value", `true`, true, nil},
		{"an object that was stored as JSON", `{"a":1,"b":[2]}`, `{"b": [2], "a": 1.0}`, nil},
		{"an object that was stored as other JSON", `{"a":1}`, `{"a": 2}`, []string{"altered-body-violation/content"}},
		{"a text that looks like JSON", `"[1]"`, "[1]", nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			h := scene(story(acknowledged(201, "o1")).rows(1))
			body := h.Intents[0].Bodies[history.Original]
			body.Content = `{"amount":` + r.sent + `}`
			h.Intents[0].Bodies[history.Original] = body
			h.T1.Rows["dti1"][0]["amount"] = r.stored
			judge(t, h, terms(), r.want, "")
		})
	}
}

func TestContentThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).rows(1))
	delete(h.T1.Rows["dti1"][0], "amount")
	judge(t, h, terms(), nil, "no column amount, which rows.content names")

	other := terms(func(t *checker.Terms) { t.Operation.Rows.Content = map[string]string{"amount": "/price"} })
	judge(t, scene(story(acknowledged(201, "o1")).rows(1)), other, nil, "")

	h = scene(story(acknowledged(201, "o1")).rows(1))
	for i, intent := range h.Intents {
		h.Intents[i].Bodies[history.Original] = history.Body{Marker: intent.Bodies[history.Original].Marker, Content: "item=lamp"}
	}
	judge(t, h, terms(), nil, "")
}

func TestDifferencesAreNamedByPointer(t *testing.T) {
	t.Parallel()
	first := saying(`{"id":"o1","list":[1,2],"a/b":{"x~y":1},"gone":1,"n":null}`, acknowledged(201, "o1"))
	then := saying(`{"id":"o1","list":[1,3],"a/b":{"x~y":"1"},"new":{"k":1.50},"n":[]}`, acknowledged(201, "o1"))
	r := story(first, then).rows(1).check(terms())
	require.Equal(t, []string{"replay-mismatch/body"}, found(r))
	require.Equal(t, []checker.Difference{
		{Attempt: "i1.2", Where: "/a~1b/x~0y", First: "1", Then: `"1"`},
		{Attempt: "i1.2", Where: "/gone", First: "1", Then: "absent"},
		{Attempt: "i1.2", Where: "/list/1", First: "2", Then: "3"},
		{Attempt: "i1.2", Where: "/n", First: "null", Then: "[]"},
		{Attempt: "i1.2", Where: "/new", First: "absent", Then: `{"k":1.5}`},
	}, r.Findings[0].Differs)
	ignoring := terms(func(t *checker.Terms) {
		t.Contract.Replay.Ignore = []string{"/a~1b", "/gone", "/list/1", "/new", "/n"}
	})
	judge(t, scene(story(first, then).rows(1)), ignoring, nil, "")
}
