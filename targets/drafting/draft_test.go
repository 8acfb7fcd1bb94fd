package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestMembersOfAListDiffer holds that what names one thing differs from create to create where it stands in a list, as in a batch.
func TestMembersOfAListDiffer(t *testing.T) {
	t.Parallel()
	order := map[string]any{"external_id": "A-1", "buyer": "jane@example.com", "note": "lamp"}
	f := drafting.File{Target: "a", BaseURL: "http://localhost", Differing: []string{"/orders/0/external_id"}, Draft: drafting.Draft{
		Name: "create", Method: "POST", Path: "/orders/batch", Body: map[string]any{"orders": []any{order}}, Texts: []string{"/orders/0/note"},
	}}
	written, err := f.Text()
	require.NoError(t, err)
	require.Contains(t, written, "external_id: A-{{.Intent.Reference}}")
	require.Contains(t, written, "buyer: '{{.Intent.Reference}}@example.com'")
}

// TestWhatDiffersInTheSourceDiffersInEachCreate holds that two things of one create stay two, and that one which is said twice stays one.
func TestWhatDiffersInTheSourceDiffersInEachCreate(t *testing.T) {
	t.Parallel()
	email := func(address string) map[string]any { return map[string]any{"email": address} }
	const one, two = "'{{.Intent.Reference}}@example.com'", "'{{.Intent.Reference}}2@example.com'"
	for name, c := range map[string]struct {
		body      map[string]any
		differing []string
		want      []string
	}{
		"a transfer":                  {map[string]any{"from_email": "ada@a.org", "to_email": "bob@a.org"}, nil, []string{"from_email: " + one, "to_email: " + two}},
		"two people":                  {map[string]any{"inviter": email("ada@a.org"), "invitee": email("bob@a.org")}, nil, []string{"invitee:\n          email: " + one, "inviter:\n          email: " + two}},
		"a batch":                     {map[string]any{"0": email("ada@a.org"), "1": email("bob@a.org"), "2": email("cy@a.org")}, nil, []string{"email: " + one, "email: " + two, "{{.Intent.Reference}}3@"}},
		"one that is said twice":      {map[string]any{"email": "ada@a.org", "email_again": "ada@a.org"}, nil, []string{"email: " + one, "email_again: " + one}},
		"one besides those of a list": {map[string]any{"a": "ada@a.org", "b": []any{"bob@a.org", "cy@a.org"}}, nil, []string{"a: " + one, "- '{{.Intent.Reference}}3@", "- '{{.Intent.Reference}}2@"}},
		"codes":                       {map[string]any{"from": "A-1", "to": "A-2"}, []string{"/from", "/to"}, []string{"from: A-{{.Intent.Reference}}\n", "to: A-{{.Intent.Reference}}2\n"}},
		"names":                       {map[string]any{"name": "Ada", "slug": "ada"}, []string{"/name", "/slug"}, []string{"name: '{{.Intent.Reference}}'", "slug: '{{.Intent.Reference}}2'"}},
		"phone numbers":               {map[string]any{"from": "+49 1", "to": "+49 2"}, []string{"/from", "/to"}, []string{`from: +{{unique "number"}}`, `to: +{{unique "number"}}`}}, // each is drawn for itself
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.body["note"] = "lamp"
			f := drafting.File{Target: "a", BaseURL: "http://localhost", Differing: c.differing, Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/a", Body: c.body, Texts: []string{"/note"}}}
			written, err := f.Text()
			require.NoError(t, err)
			for _, want := range c.want {
				require.Contains(t, written, want)
			}
			tried, err := f.Trial()
			require.NoError(t, err)
			for _, want := range c.want {
				require.Contains(t, tried, want)
			}
		})
	}
}

// TestWhatIsMadeAheadStaysTwo holds the same for the body of a create that another one needs.
func TestWhatIsMadeAheadStaysTwo(t *testing.T) {
	t.Parallel()
	d := drafting.Draft{Name: "create", Method: "POST", Path: "/a", Body: map[string]any{"note": "lamp"}, Texts: []string{"/note"}}
	d.Ahead(drafting.Draft{Method: "POST", Path: "/b", Body: map[string]any{"from": "ada@a.org", "to": "bob@a.org"}, Identity: "/id"}, "Thing")
	require.Equal(t, map[string]string{"/from": "{{.Intent.Reference}}@example.com", "/to": "{{.Intent.Reference}}2@example.com"}, d.Prepare[0].Templates)
}

func TestIdsOfOtherThingsAreNotAltered(t *testing.T) {
	t.Parallel()
	text := func(members ...string) string {
		f := drafting.File{Target: "a", BaseURL: "http://localhost", Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}}}
		for _, name := range members {
			f.Draft.Body[name] = int64(1)
			f.Draft.Others = append(f.Draft.Others, drafting.Other{Pointer: "/" + name, Value: int64(2)})
		}
		written, err := f.Text()
		require.NoError(t, err)
		return written
	}
	require.Contains(t, text("customer_id", "productId", "paid", "ref-uuid"), "alter: {paid: 2}")
	require.NotContains(t, text("customer_id", "id"), "alter:")
}

// TestWhatACallIsOfIsNoneOfItsParameters holds that another version or method of JSON-RPC is no other body.
func TestWhatACallIsOfIsNoneOfItsParameters(t *testing.T) {
	t.Parallel()
	for params, alter := range map[string]string{
		`{"name": "printers", "cost": "12.50"}`: `alter: {params: {cost: "13.50"}}`,
		`{"name": "printers"}`:                  "",
	} {
		c, err := drafting.ReadCurl(`curl localhost:8080/rpc -d '{"jsonrpc": "2.0", "method": "group", "id": 1, "params": ` + params + `}'`)
		require.NoError(t, err)
		d := c.Draft("API")
		d.GuessTexts()
		require.Equal(t, []string{"/params/name"}, d.Texts)
		text, err := drafting.File{Target: "a", BaseURL: "http://localhost:8080", Draft: d}.Text()
		require.NoError(t, err)
		require.Contains(t, text, alter)
		require.NotContains(t, text, `"3.0"`)
		require.Contains(t, text, "method: group\n")
	}
}
