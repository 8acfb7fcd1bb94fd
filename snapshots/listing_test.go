package snapshots_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/snapshots"
)

// ask sends a GET as the driver does, on a connection of its own.
func ask(ctx context.Context, where string, header map[string]string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return 0, "", err
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// listing serves answers by path and asks for the marker "one" by the path /one, once for each view.
func listing(t *testing.T, q snapshots.Question, answers map[string]string, views ...string) history.Snapshot {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.Header.Get("View")+r.URL.RequestURI()]
		if !known {
			http.Error(w, `[]`, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	q.Operation, q.Markers, q.Gets = "create", []string{"one"}, map[string][]snapshots.Get{}
	for _, view := range append(views, "")[:max(len(views), 1)] {
		q.Gets["one"] = append(q.Gets["one"], snapshots.Get{URL: server.URL + "/one", Header: map[string]string{"View": view}})
	}
	return snapshots.NewListing(ask).Snapshot(t.Context(), []snapshots.Question{q})
}

func TestWhatTheTargetListsAreRows(t *testing.T) {
	t.Parallel()
	row := func(id float64) history.Row { return history.Row{"id": id} }
	for name, c := range map[string]struct {
		question snapshots.Question
		answers  map[string]string
		views    []string
		rows     []history.Row
	}{
		"none":               {answers: map[string]string{"/one": `[]`}, rows: []history.Row{}},
		"in whatever order":  {answers: map[string]string{"/one": `[{"id":2},{"id":1}]`}, rows: []history.Row{row(1), row(2)}},
		"somewhere in it":    {question: snapshots.Question{Items: "/data/0/a~1b"}, answers: map[string]string{"/one": `{"data":[{"a/b":[{"id":1}]}]}`}, rows: []history.Row{row(1)}},
		"nested members":     {answers: map[string]string{"/one": `[{"id":1,"a":{"b":{"c":"x"}},"list":[1],"no":null,"yes":true}]`}, rows: []history.Row{{"id": 1.0, "a.b.c": "x", "no": nil, "yes": true}}},
		"exact numbers":      {answers: map[string]string{"/one": `[{"id":9007199254740993,"price":12.50,"sum":0.1234567890123456}]`}, rows: []history.Row{{"id": "9007199254740993", "price": 12.5, "sum": "0.1234567890123456"}}},
		"404, as declared":   {question: snapshots.Question{Absent: []int{404}}, rows: []history.Row{}},
		"null, as declared":  {question: snapshots.Question{Absent: []int{snapshots.NullList}}, answers: map[string]string{"/one": `null`}, rows: []history.Row{}},
		"several pages":      {question: snapshots.Question{Items: "/i", Next: "/next"}, answers: map[string]string{"/one": `{"i":[{"id":1}],"next":"?p=2"}`, "/one?p=2": `{"i":[{"id":2}],"next":"/three"}`, "/three": `{"i":[{"id":3}],"next":null}`}, rows: []history.Row{row(1), row(2), row(3)}},
		"pages by cursor":    {question: snapshots.Question{Items: "/i", Next: "/c", Cursor: "after"}, answers: map[string]string{"/one": `{"i":[{"id":1}],"c":"a=&b"}`, "/one?after=a%3D%26b": `{"i":[{"id":2}],"c":7}`, "/one?after=7": `{"i":[{"id":3}],"c":""}`}, rows: []history.Row{row(1), row(2), row(3)}},
		"one page and false": {question: snapshots.Question{Items: "/i", Next: "/more"}, answers: map[string]string{"/one": `{"i":[{"id":1}],"more":false}`}, rows: []history.Row{row(1)}},
		"two views of one":   {question: snapshots.Question{Identity: "id"}, answers: map[string]string{"a/one": `[{"id":1,"mine":true}]`, "b/one": `[{"id":1,"mine":false}]`}, views: []string{"a", "b"}, rows: []history.Row{{"id": 1.0, "mine": true}}},
		"two views of two":   {question: snapshots.Question{Identity: "id"}, answers: map[string]string{"a/one": `[{"id":1}]`, "b/one": `[{"id":2}]`}, views: []string{"a", "b"}, rows: []history.Row{row(1), row(2)}},
		"twice in one view":  {question: snapshots.Question{Identity: "id"}, answers: map[string]string{"a/one": `[{"id":1},{"id":1}]`, "b/one": `[{"id":1}]`}, views: []string{"a", "b"}, rows: []history.Row{row(1), row(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listing(t, c.question, c.answers, c.views...)
			require.Empty(t, s.Error)
			require.Equal(t, map[string][]history.Row{"one": c.rows}, s.Rows)
		})
	}
}

func TestAnAnswerThatIsNotUnderstoodLeavesRowsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		question snapshots.Question
		answers  map[string]string
		says     string
	}{
		"404":                     {says: "answered 404"},
		"404 of a later page":     {snapshots.Question{Items: "/i", Next: "/next", Absent: []int{404}}, map[string]string{"/one": `{"i":[],"next":"/two"}`}, "answered 404"},
		"no JSON":                 {answers: map[string]string{"/one": `[`}, says: "no JSON"},
		"more than one value":     {answers: map[string]string{"/one": `[] []`}, says: "no JSON"},
		"one object":              {answers: map[string]string{"/one": `{"id":1}`}, says: "expected a list"},
		"null":                    {answers: map[string]string{"/one": `null`}, says: "expected a list"},
		"nothing there":           {snapshots.Question{Items: "/items"}, map[string]string{"/one": `{}`}, "nothing at /items"},
		"entries without members": {answers: map[string]string{"/one": `["a"]`}, says: "entry 0 of the list is a text"},
		"more, and not where":     {snapshots.Question{Items: "/i", Next: "/more"}, map[string]string{"/one": `{"i":[],"more":true}`}, "not where"},
		"a cursor":                {snapshots.Question{Items: "/i", Next: "/c"}, map[string]string{"/one": `{"i":[],"c":"b2Zmc2V0"}`}, "is no link"},
		"the same cursor":         {snapshots.Question{Items: "/i", Next: "/c", Cursor: "after"}, map[string]string{"/one": `{"i":[],"c":"x"}`, "/one?after=x": `{"i":[],"c":"x"}`}, "that of the page that it is on"},
		"another host":            {snapshots.Question{Items: "/i", Next: "/c"}, map[string]string{"/one": `{"i":[],"c":"http://127.0.0.2:1/x"}`}, "another host"},
		"in circles":              {snapshots.Question{Items: "/i", Next: "/c"}, map[string]string{"/one": `{"i":[],"c":"/two"}`, "/two": `{"i":[],"c":"/one"}`}, "more than 100 pages"},
		"to itself":               {snapshots.Question{Items: "/i", Next: "/c"}, map[string]string{"/one": `{"i":[],"c":"/one"}`}, "the page that it is on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listing(t, c.question, c.answers)
			require.Contains(t, s.Error, "operations.create.rows.http: ")
			require.Contains(t, s.Error, c.says)
			require.Nil(t, s.Rows, "rows are unknown")
		})
	}
}

func TestATargetThatIsNotThereLeavesRowsUnknown(t *testing.T) {
	t.Parallel()
	l := snapshots.NewListing(ask)
	q := snapshots.Question{Markers: []string{"one"}, Gets: map[string][]snapshots.Get{"one": {{URL: "http://127.0.0.1:1/"}}}}
	require.NotEmpty(t, l.Snapshot(t.Context(), []snapshots.Question{q}).Error)
	_, err := l.Rows(t.Context(), q, "one")
	require.Error(t, err)
	_, err = l.Rows(t.Context(), q, "two")
	require.ErrorContains(t, err, "no principal is known")
}

func TestManyMarkersAreAskedForSomeAtOnce(t *testing.T) {
	t.Parallel()
	var q snapshots.Question
	q.Gets = map[string][]snapshots.Get{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `[{"id":%q}]`, r.URL.Path[1:]) }))
	t.Cleanup(server.Close)
	for n := range 100 {
		marker := fmt.Sprintf("m%d", n)
		q.Markers, q.Gets[marker] = append(q.Markers, marker), []snapshots.Get{{URL: server.URL + "/" + marker}}
	}
	l := snapshots.NewListing(ask)
	s := l.Snapshot(t.Context(), []snapshots.Question{q})
	require.Empty(t, s.Error)
	require.Len(t, s.Rows, 100)
	require.Equal(t, []history.Row{{"id": "m42"}}, s.Rows["m42"])
	n, err := l.Rows(t.Context(), q, "m42")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NotEmpty(t, l.Snapshot(ctx, []snapshots.Question{q}).Error)
}
