package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestARequestIsToldAsItWasSent(t *testing.T) {
	t.Parallel()
	body := history.Body{Method: "PUT", Path: "/a", Header: map[string]string{"Authorization": "***"}, Content: `{"b":1,"c":{"d":2}}`}
	for name, c := range map[string]struct {
		attempt history.Attempt
		key     contract.Key
		change  func(*history.Body)
		want    Request
	}{
		"without a key": {want: Request{Path: "/a", Content: body.Content}},
		"in a header": {attempt: history.Attempt{Key: `k"`}, key: contract.Key{In: contract.KeyInHeader, Name: "Key", Quoted: true},
			want: Request{Path: "/a", Content: body.Content, Header: map[string]string{"Key": `"k\""`}}},
		"blank": {attempt: history.Attempt{BlankKey: true}, key: contract.Key{In: contract.KeyInHeader, Name: "Key"},
			want: Request{Path: "/a", Content: body.Content, Header: map[string]string{"Key": ""}}},
		"in a header in lower case": {attempt: history.Attempt{Key: "k", Body: history.HeaderCase}, key: contract.Key{In: contract.KeyInHeader, Name: "Key"},
			want: Request{Path: "/a", Content: body.Content, Header: map[string]string{"key": "k"}}},
		"in the query": {attempt: history.Attempt{Key: "k 1"}, key: contract.Key{In: contract.KeyInQuery, Name: "key"}, change: func(b *history.Body) { b.Path = "/a?x=1" },
			want: Request{Path: "/a?x=1&key=k%201", Content: body.Content}},
		"in a cookie": {attempt: history.Attempt{Key: "k"}, key: contract.Key{In: contract.KeyInCookie, Name: "key"}, change: func(b *history.Body) { b.Header = map[string]string{"Cookie": "***"} },
			want: Request{Path: "/a", Content: body.Content, Header: map[string]string{"Cookie": "***; key=k"}}},
		"in the path": {attempt: history.Attempt{Key: "k/1"}, key: contract.Key{In: contract.KeyInPath}, change: func(b *history.Body) { b.Path = "/a/{{.Key}}" },
			want: Request{Path: "/a/k%2F1", Content: body.Content}},
		"in the body": {attempt: history.Attempt{Key: "<k>"}, key: contract.Key{In: contract.KeyInBody, Name: "a/b"},
			want: Request{Path: "/a", Content: `{"a/b":"<k>","b":1,"c":{"d":2}}`}},
		"deep in the body": {attempt: history.Attempt{Key: "k"}, key: contract.Key{In: contract.KeyInBody, Name: "/c/key"},
			want: Request{Path: "/a", Content: `{"b":1,"c":{"d":2,"key":"k"}}`}},
		"in a form": {attempt: history.Attempt{Key: "k 1"}, key: contract.Key{In: contract.KeyInBody, Name: "key"}, change: func(b *history.Body) { b.Content, b.Says = "b=1", `{"b":"1"}` },
			want: Request{Path: "/a", Content: "b=1&key=k+1"}},
		"in a body that is none": {attempt: history.Attempt{Key: "k"}, key: contract.Key{In: contract.KeyInBody, Name: "key"}, change: func(b *history.Body) { b.Content = "none" },
			want: Request{Path: "/a", Content: "none"}},
		"with what no other attempt has": {attempt: history.Attempt{Own: map[string]string{"Date": "now", "/c/d": "3"}},
			want: Request{Path: "/a", Content: `{"b":1,"c":{"d":"3"}}`, Header: map[string]string{"Date": "now"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := body
			if c.change != nil {
				c.change(&sent)
			}
			c.want.Method = "PUT"
			if c.want.Header == nil {
				c.want.Header = map[string]string{}
			}
			if sent.Header["Authorization"] != "" {
				c.want.Header["Authorization"] = "***"
			}
			require.Equal(t, c.want, requestOf(c.attempt, sent, c.key))
			require.Equal(t, map[string]string{"Authorization": "***"}, body.Header, "the body of the intent stays as it is")
		})
	}
}

func TestAttemptsThatSentTheSameShareARequest(t *testing.T) {
	t.Parallel()
	e := &evaluation{history: &history.History{Intents: []history.Intent{{ID: "i1", Bodies: map[string]history.Body{
		history.Original: {Content: "{}"}, history.Altered: {Content: "[]"},
	}}}}, terms: Terms{Operation: contract.Operation{Key: contract.Key{In: contract.KeyInHeader, Name: "Key"}}}}
	var got [][]string
	for _, r := range e.requests([]history.Attempt{
		{ID: "1", Intent: "i1", Body: history.Original, Key: "k"}, {ID: "2", Intent: "i1", Body: history.Altered, Key: "k"},
		{ID: "3", Intent: "i1", Body: history.Original, Key: "k", Probe: true}, {ID: "4", Intent: "i1", Body: history.Original, Key: "l"},
	}) {
		got = append(got, append(r.Attempts, r.Content, r.Header["Key"]))
	}
	require.Equal(t, [][]string{{"1", "3", "{}", "k"}, {"2", "[]", "k"}, {"4", "{}", "l"}}, got)
}
