package targets_test

import (
	"os"
	"strings"
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
		take targets.Extract
		want string
		says string
	}{
		"a number that is larger than a float holds": {document, targets.Extract{JSON: "/id"}, "9007199254740993", ""},
		"a boolean":                    {document, targets.Extract{JSON: "/open"}, "true", ""},
		"a member of a list":           {document, targets.Extract{JSON: "/list/0/a~1b"}, "deep", ""},
		"a null":                       {document, targets.Extract{JSON: "/none"}, "", "json /none: nothing stands there; the answer has /blank, /id, /list, /none, /open"},
		"an object":                    {document, targets.Extract{JSON: "/list/0"}, "", "neither a text nor a number nor a boolean"},
		"an empty text":                {document, targets.Extract{JSON: "/blank"}, "", "json /blank: an empty text"},
		"JSON that is none":            {page, targets.Extract{JSON: "/id"}, "", "the answer is no JSON"},
		"a header in other letters":    {document, targets.Extract{Header: "x-token"}, "t1", ""},
		"a header that is not there":   {document, targets.Extract{Header: "X-Other"}, "", "header X-Other: the answer has no such header"},
		"a cookie":                     {document, targets.Extract{Cookie: "session"}, "s1", ""},
		"a cookie without a value":     {document, targets.Extract{Cookie: "empty"}, "", "an empty text"},
		"a cookie that is not set":     {document, targets.Extract{Cookie: "id"}, "", "cookie id: the answer does not set it; it sets theme, session, empty"},
		"the attribute of an element":  {page, targets.Extract{HTML: "input[name=token]", Attribute: "value"}, "a&b", ""},
		"the text of an element":       {page, targets.Extract{HTML: "form > .nothing, p.hint"}, "Order no. 5", ""},
		"an element that is not there": {page, targets.Extract{HTML: "input[name=csrf]", Attribute: "value"}, "", "the page has no such element"},
		"an attribute that is not":     {page, targets.Extract{HTML: "p", Attribute: "value"}, "", "the element has no such attribute"},
		"a pattern in the headers":     {document, targets.Extract{Pattern: `Location: /customers/([0-9]+)\n`}, "7", ""},
		"a pattern in the body":        {document, targets.Extract{Pattern: `"a/b": "([^"]+)"`}, "deep", ""},
		"a pattern that matches not":   {document, targets.Extract{Pattern: "(nothing)"}, "", "pattern (nothing): nothing in the answer matches"},
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
	require.Equal(t, map[string]targets.Extract{"Token": {JSON: "/access_token"}, "Session": {Cookie: "session"}}, target.Login[1].Extract)
	require.Equal(t, []string{"X-Api-Version"}, target.Redact, "what a variable gives to a header of a step is a secret")
	require.Equal(t, []string{"given to VERSION", "given to PASSWORD"}, target.Secrets, "and so is what it gives to a body")

	order, cancel := target.Operations["order"], target.Operations["cancel"]
	require.True(t, target.CarriesMarker(order))
	require.False(t, target.CarriesMarker(cancel))
	require.Equal(t, []string{"path"}, target.Contract.NaturalKey)
	require.Equal(t, "POST", order.Prepare[0].Request.Method)
	rendered, err := order.Prepare[0].Render(targets.Values{
		Intent: targets.IntentValues{Marker: "m"}, Extracted: targets.Extracted{Login: map[string]string{"Token": "t"}},
	})
	require.NoError(t, err)
	require.Equal(t, "Bearer t", rendered.Header["Authorization"])
	require.JSONEq(t, `{"name":"m"}`, string(rendered.Body))
}

// TestAFileMaySayTakeForExtract keeps old files readable.
func TestAFileMaySayTakeForExtract(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/good/steps.yaml")
	require.NoError(t, err)
	load := func(text string) targets.Target {
		target, err := targets.Load("steps.yaml", []byte(text), func(name string) (string, bool) { return "given to " + name, true })
		require.NoError(t, err)
		return target
	}
	older := strings.ReplaceAll(string(data), "extract:", "take:")
	require.NotEqual(t, string(data), older)
	require.Equal(t, load(string(data)), load(older))
}
