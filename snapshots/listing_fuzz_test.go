package snapshots

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzListing has a target list anything as its rows. No other host is asked, there are not more questions than pages, and the rows fit into a history.
func FuzzListing(f *testing.F) {
	for _, text := range []string{
		`{"items":[{"id":1,"a":{"b":[1],"c":12345678901234567890}},{"id":1}],"next":"/things?page=2"}`, `{"items":[],"next":"http://192.0.2.7/"}`, `{"items":[{}],"next":"//192.0.2.7/x"}`, `{"items":null,"next":"?page=%zz"}`,
		`{"items":[{"id":{"id":{"id":1e999}}}],"next":7}`, `{"items":[{"id":"x","id":null,"":{"":1}}],"next":"\\\\192.0.2.7\\x"}`, `[]`, `{"items":{}}`, `{"items":[{}],"next":"http://a@127.0.0.1:8080@192.0.2.7/"}`, `{"items":[1],"next":"\u0000"}`,
	} {
		f.Add(text)
	}
	const first = "http://127.0.0.1:8080/things?note=m"
	f.Fuzz(func(t *testing.T, text string) {
		for _, cursor := range []string{"", "page"} {
			asked := 0
			l := NewListing(func(_ context.Context, where string, _ map[string]string) (int, string, error) {
				asked++
				u, err := url.Parse(where)
				require.NoError(t, err)
				require.Equal(t, "http://127.0.0.1:8080", u.Scheme+"://"+u.Host, text)
				return 200, text, nil
			})
			q := Question{Operation: "create", Markers: []string{"m"}, Gets: map[string][]Get{"m": {{URL: first}}}, Items: "/items", Next: "/next", Cursor: cursor, Identity: "id"}
			s := l.Snapshot(t.Context(), []Question{q})
			require.LessOrEqual(t, asked, mostPages)
			_, err := json.Marshal(s)
			require.NoError(t, err)
		}
	})
}
