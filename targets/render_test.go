package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

func values() targets.Values {
	return targets.Values{
		Intent:    targets.IntentValues{Marker: "m1", Reference: "r1", Number: 7},
		Principal: map[string]string{"Token": "t0k", "Tenant": "5"},
	}
}

func TestARequestIsRendered(t *testing.T) {
	t.Parallel()
	order := load(t, "testdata/good/full.yaml").Operations["create_order"]
	r, err := order.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, targets.Rendered{
		Method: "PUT",
		Path:   "/orders/r1?n=7",
		Header: map[string]string{
			"Authorization": "Bearer t0k", "X-Tenant": "5", "X-Version": "2", "Content-Type": "application/json",
		},
		Body: []byte(`{"by":{"1":"one","2":null},"date":"2024-02-03","lines":[{"gift":false,"sku":"lamp-7"}],"note":"m1","price":{"amount":1200,"currency":"EUR"}}`),
	}, r)
}

func TestAnAlteredBodyIsMergedMemberByMember(t *testing.T) {
	t.Parallel()
	order := load(t, "testdata/good/full.yaml").Operations["create_order"]
	order.Alter["lines"] = []any{"{{.Intent.Reference}} & <co>"}
	r, err := order.Render(values(), targets.Altered)
	require.NoError(t, err)
	require.JSONEq(t, `{"by":{"1":"one","2":null},"date":"2024-02-03","lines":["r1 & <co>"],"note":"m1","price":{"amount":9900,"currency":"EUR"}}`, string(r.Body))
	require.Contains(t, string(r.Body), "& <co>")
	again, err := order.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Contains(t, string(again.Body), "1200", "the operation itself does not change")
}

func TestARequestWithoutABodyHasNoType(t *testing.T) {
	t.Parallel()
	r, err := targets.Operation{Request: targets.Request{Path: "/{{.Intent.Marker}}"}}.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, targets.Rendered{Method: "POST", Path: "/m1", Header: map[string]string{}}, r)
}

func TestAKeyIsPlacedWhereItTravels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		key  targets.Key
		want targets.Rendered
	}{
		{"in a header", targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "K"}}, targets.Rendered{
			Header: map[string]string{"K": `a"b`}, Body: []byte(`{"big":12345678901234567890}`),
		}},
		{"quoted in a header", targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "K", Quoted: true}}, targets.Rendered{
			Header: map[string]string{"K": `"a\"b"`}, Body: []byte(`{"big":12345678901234567890}`),
		}},
		{"in the body", targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "K"}}, targets.Rendered{
			Header: map[string]string{"Content-Type": "application/json"}, Body: []byte(`{"K":"a\"b","big":12345678901234567890}`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := targets.Rendered{Body: []byte(`{"big":12345678901234567890}`)}
			require.NoError(t, targets.Operation{Key: c.key}.PlaceKey(&r, `a"b`))
			require.Equal(t, c.want, r)
		})
	}
}

func TestAKeyIsAddedToTheQuery(t *testing.T) {
	t.Parallel()
	o := targets.Operation{Key: targets.Key{Key: contract.Key{In: contract.KeyInQuery, Name: "k y"}}}
	for path, want := range map[string]string{
		"/c":         "/c?k%20y=a%20%2B%26%22b",
		"/c?":        "/c?k%20y=a%20%2B%26%22b",
		"/c?n=1":     "/c?n=1&k%20y=a%20%2B%26%22b",
		"/c?n=1&":    "/c?n=1&k%20y=a%20%2B%26%22b",
		"/c#top":     "/c?k%20y=a%20%2B%26%22b#top",
		"/c?n=1#a?b": "/c?n=1&k%20y=a%20%2B%26%22b#a?b",
	} {
		r := targets.Rendered{Path: path, Body: []byte(`{}`)}
		require.NoError(t, o.PlaceKey(&r, `a +&"b`))
		require.Equal(t, targets.Rendered{Path: want, Body: []byte(`{}`)}, r)
	}
}

func TestAKeyIsAddedToTheCookies(t *testing.T) {
	t.Parallel()
	o := targets.Operation{Key: targets.Key{Key: contract.Key{In: contract.KeyInCookie, Name: "order"}}}
	for _, c := range []struct{ had, want map[string]string }{
		{nil, map[string]string{"Cookie": `order=s%3Aa%20+%3B%22`}},
		{map[string]string{"A": "b"}, map[string]string{"A": "b", "Cookie": `order=s%3Aa%20+%3B%22`}},
		{map[string]string{"cookie": "session=1"}, map[string]string{"cookie": `session=1; order=s%3Aa%20+%3B%22`}},
	} {
		r := targets.Rendered{Path: "/c", Header: c.had}
		require.NoError(t, o.PlaceKey(&r, `s%3Aa +;"`))
		require.Equal(t, targets.Rendered{Path: "/c", Header: c.want}, r)
	}
}

func TestABlankKeyIsPlacedLikeAnyOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key  targets.Key
		want targets.Rendered
	}{
		{targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "K"}}, targets.Rendered{Path: "/c", Header: map[string]string{"K": ""}}},
		{targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "K", Quoted: true}}, targets.Rendered{Path: "/c", Header: map[string]string{"K": `""`}}},
		{targets.Key{Key: contract.Key{In: contract.KeyInQuery, Name: "k"}}, targets.Rendered{Path: "/c?k="}},
		{targets.Key{Key: contract.Key{In: contract.KeyInCookie, Name: "k"}}, targets.Rendered{Path: "/c", Header: map[string]string{"Cookie": "k="}}},
		{targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "k"}}, targets.Rendered{
			Path: "/c", Header: map[string]string{"Content-Type": "application/json"}, Body: []byte(`{"k":""}`),
		}},
	} {
		r := targets.Rendered{Path: "/c"}
		require.NoError(t, targets.Operation{Key: c.key}.PlaceKey(&r, ""))
		require.Equal(t, c.want, r)
	}
}

func TestAKeyThatCannotBePlacedIsAnError(t *testing.T) {
	t.Parallel()
	var r targets.Rendered
	require.Error(t, targets.Operation{}.PlaceKey(&r, "k"))
	require.Error(t, targets.Operation{Key: targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "K"}}}.PlaceKey(&r, "a\nb"))
	require.NoError(t, targets.Operation{Key: targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "K"}}}.PlaceKey(&r, "k"))
	require.JSONEq(t, `{"K":"k"}`, string(r.Body))
}

func TestACloneSharesNothing(t *testing.T) {
	t.Parallel()
	r := targets.Rendered{Header: map[string]string{"A": "1"}, Body: []byte("x")}
	c := r.Clone()
	c.Header["A"], c.Body[0] = "2", 'y'
	require.Equal(t, "1", r.Header["A"])
	require.Equal(t, "x", string(r.Body))
}

func TestTemplatesThatFailAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{{.Nope}}", "{{.Principal.Nope}}", "{{", "{{range 2000000}}x{{end}}"} {
		for _, request := range []targets.Request{
			{Path: text},
			{Header: map[string]string{"A": text}},
			{Body: map[string]any{"a": []any{map[string]any{"b": text}}}},
		} {
			_, err := targets.Operation{Request: request}.Render(values(), targets.AsItIs)
			require.Error(t, err, text)
		}
	}
}
