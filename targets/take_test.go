package targets_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestAValueIsTakenFromWhereItStands(t *testing.T) {
	t.Parallel()
	document := targets.Answer{
		Header:  map[string]string{"Location": "/customers/7", "X-Token": "t1"},
		Cookies: []string{"garbage", "theme=dark; Path=/", "session=s1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; HttpOnly", "empty="},
		Body:    `{"id": 9007199254740993, "open": true, "none": null, "list": [{"a/b": "deep"}], "blank": ""}`,
	}
	page := targets.Answer{Body: `<html><body><form><input name=token value="a&amp;b"><input name=token value=second>
		<p class="hint"> Order <b>no. 5</b> </p></form>`}
	for name, c := range map[string]struct {
		from targets.Answer
		take targets.Take
		want string
		says string
	}{
		"a number that is larger than a float holds": {document, targets.Take{JSON: "/id"}, "9007199254740993", ""},
		"a boolean":                    {document, targets.Take{JSON: "/open"}, "true", ""},
		"a member of a list":           {document, targets.Take{JSON: "/list/0/a~1b"}, "deep", ""},
		"a null":                       {document, targets.Take{JSON: "/none"}, "", "json /none: nothing stands there; the answer has /blank, /id, /list, /none, /open"},
		"an object":                    {document, targets.Take{JSON: "/list/0"}, "", "neither a text nor a number nor a boolean"},
		"an empty text":                {document, targets.Take{JSON: "/blank"}, "", "json /blank: an empty text"},
		"JSON that is none":            {page, targets.Take{JSON: "/id"}, "", "the answer is no JSON"},
		"a header in other letters":    {document, targets.Take{Header: "x-token"}, "t1", ""},
		"a header that is not there":   {document, targets.Take{Header: "X-Other"}, "", "header X-Other: the answer has no such header"},
		"a cookie":                     {document, targets.Take{Cookie: "session"}, "s1", ""},
		"a cookie without a value":     {document, targets.Take{Cookie: "empty"}, "", "an empty text"},
		"a cookie that is not set":     {document, targets.Take{Cookie: "id"}, "", "cookie id: the answer does not set it; it sets theme, session, empty"},
		"the attribute of an element":  {page, targets.Take{HTML: "input[name=token]", Attribute: "value"}, "a&b", ""},
		"the text of an element":       {page, targets.Take{HTML: "form > .nothing, p.hint"}, "Order no. 5", ""},
		"an element that is not there": {page, targets.Take{HTML: "input[name=csrf]", Attribute: "value"}, "", "the page has no such element"},
		"an attribute that is not":     {page, targets.Take{HTML: "p", Attribute: "value"}, "", "the element has no such attribute"},
		"a pattern in the headers":     {document, targets.Take{Pattern: `Location: /customers/([0-9]+)\n`}, "7", ""},
		"a pattern in the body":        {document, targets.Take{Pattern: `"a/b": "([^"]+)"`}, "deep", ""},
		"a pattern that matches not":   {document, targets.Take{Pattern: "(nothing)"}, "", "pattern (nothing): nothing in the answer matches"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.take.From(c.from)
			require.Equal(t, c.want, got)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				require.NotContains(t, err.Error(), "deep", "an answer's values may be secret")
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestStepsAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/good/steps.yaml")
	require.NoError(t, err)
	target, err := targets.Load("steps.yaml", data, func(name string) (string, bool) { return "given to " + name, true })
	require.NoError(t, err)
	require.Equal(t, &targets.RateLimit{Requests: 20, Per: contract.Duration(1e9)}, target.RateLimit)
	require.EqualValues(t, 50e6, target.RateLimit.Every())
	require.Len(t, target.Login, 2)
	require.Equal(t, "GET", target.Login[0].Request.Method)
	require.Equal(t, "POST", target.Login[1].Request.Method)
	require.True(t, target.Login[0].Expects(302))
	require.False(t, target.Login[0].Expects(404))
	require.True(t, target.Login[1].Expects(200))
	require.False(t, target.Login[1].Expects(201))
	require.Equal(t, map[string]targets.Take{"Token": {JSON: "/access_token"}, "Session": {Cookie: "session"}}, target.Login[1].Take)
	require.Equal(t, []string{"X-Api-Version"}, target.Redact, "what a variable gives to a header of a step is a secret")
	require.Equal(t, []string{"given to VERSION", "given to PASSWORD"}, target.Secrets, "and so is what it gives to a body")

	order, cancel := target.Operations["order"], target.Operations["cancel"]
	require.True(t, target.CarriesMarker(order))
	require.False(t, target.CarriesMarker(cancel))
	require.Equal(t, []string{"path"}, target.Contract.NaturalKey)
	require.Equal(t, "POST", order.Prepare[0].Request.Method)
	rendered, err := order.Prepare[0].Render(targets.Values{
		Intent: targets.IntentValues{Marker: "m"}, Taken: targets.Taken{Login: map[string]string{"Token": "t"}},
	})
	require.NoError(t, err)
	require.Equal(t, "Bearer t", rendered.Header["Authorization"])
	require.JSONEq(t, `{"name":"m"}`, string(rendered.Body))
}
