package driver_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestARequestAsksForAnAnswerOfTheSizeOfTheScenario(t *testing.T) {
	t.Parallel()
	var seen ledger
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen.add(r.RequestURI + " " + r.Header.Get("Prefer") + " " + string(body[:12]))
	})
	for size, want := range map[scenarios.Answer]string{
		"": `/orders  {"amount":12`, scenarios.LargeAnswer: `/orders?expand=all  {"amount":77`, scenarios.EmptyAnswer: `/orders return=minimal {"amount":12`,
	} {
		r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 1, Concurrency: 1, Answer: size, Steps: []scenarios.Step{send()}})
		r.Operations[0].Request.Path = "/orders"
		r.Operations[0].Answers = map[targets.AnswerSize]targets.Asking{
			targets.LargeAnswer: {Query: map[string]string{"expand": "all"}, Body: map[string]any{"amount": 77}},
			targets.EmptyAnswer: {Header: map[string]string{"Prefer": "return=minimal"}},
		}
		r.drive(t)
		all := seen.all()
		require.Equal(t, want, all[len(all)-1])
		require.NotContains(t, r.Operations[0].Request.Header, "Prefer", "the operation stays as it is")
	}
}

func TestALargeAnswerIsKnownByItsOutline(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	answers := []string{`{"a":1,"b":"` + long + `"}`, `{ "b": "` + long + `", "a": 1.0 }`, `{"a":2,"b":"` + long + `"}`, long}
	next := 0
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[next])
		next++
	})
	h := newRig(t, address, send(), send(), send(), send()).drive(t)
	require.Contains(t, h.Attempts[0].Outline, `{"value":{"a":1,"b":null},"folded":{"/b":{`)
	require.Equal(t, h.Attempts[0].Outline, h.Attempts[1].Outline)
	require.NotEqual(t, h.Attempts[0].Digest, h.Attempts[1].Digest)
	require.NotEqual(t, h.Attempts[0].Outline, h.Attempts[2].Outline)
	require.Empty(t, h.Attempts[3].Outline)
	require.Empty(t, h.Attempts[3].Unread, "it is no JSON, which is known")
}

func gzipped(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.String()
}

func zlibbed(text string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.String()
}

func TestABodyIsRecordedWithoutItsContentCoding(t *testing.T) {
	t.Parallel()
	small, large := `{"id":"o1"}`, `{"id":"o1","b":"`+strings.Repeat("x", 100_000)+`"}`
	huge := `{"b":"` + strings.Repeat("x", 3<<20) + `"}`
	for name, row := range map[string]struct {
		coding, body    string
		content         string // the beginning
		outlined        bool
		digested        bool
		unread, failure string
	}{
		"gzip":                 {coding: "gzip", body: gzipped(small), content: small},
		"deflate":              {coding: "Deflate", body: zlibbed(small), content: small},
		"identity":             {coding: "identity", body: small, content: small},
		"gzip, large":          {coding: "gzip", body: gzipped(large), content: large[:100], outlined: true, digested: true},
		"gzip, without end":    {coding: "gzip", body: gzipped(huge), digested: true, unread: "its content coding is gzip, and it is longer than 2 MiB without it"},
		"br":                   {coding: "br", body: "\x1b\x0a\x00\xf8", digested: true, unread: "its content coding is br"},
		"a text in br":         {coding: "br", body: "abc", content: "abc", digested: true, unread: "its content coding is br"},
		"two codings":          {coding: "gzip, br", body: "abc", content: "abc", digested: true, unread: "its content coding is gzip, br"},
		"deflate without zlib": {coding: "deflate", body: "\x4b\x4c", content: "KL", digested: true, unread: "its content coding is deflate without the frame of zlib"},
		"no gzip":              {coding: "gzip", body: small, content: small, failure: "the body is not the gzip that its header names: gzip: invalid header"},
		"gzip that breaks off": {coding: "gzip", body: gzipped(large)[:60], failure: "the body is not the gzip that its header names: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", row.coding)
				w.Header().Set("Content-Length", strconv.Itoa(len(row.body)))
				_, _ = io.WriteString(w, row.body)
			}), send()).only(t)
			require.True(t, strings.HasPrefix(a.Content, row.content), a.Content)
			require.Equal(t, row.digested, a.Digest != "")
			require.Equal(t, row.outlined, a.Outline != "")
			require.Equal(t, row.unread, a.Unread)
			require.Equal(t, row.failure, a.Error)
			require.Equal(t, row.failure == "", a.Complete)
		})
	}
}

func TestBytesThatAreNoTextAreKeptApart(t *testing.T) {
	t.Parallel()
	answers := []string{"{\"name\":\"Jos\xe9\"}", "{\"name\":\"Jos\xe8\"}", "Jos\xe9"}
	next := 0
	h := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[next])
		next++
	}), send(), send(), send()).drive(t)
	require.Equal(t, h.Attempts[0].Content, h.Attempts[1].Content)
	require.NotEqual(t, h.Attempts[0].Digest, h.Attempts[1].Digest)
	require.JSONEq(t, `{"value":{"name":"Jos\\xE9"}}`, h.Attempts[0].Outline)
	require.NotEqual(t, h.Attempts[0].Outline, h.Attempts[1].Outline)
	require.Empty(t, h.Attempts[2].Outline)
}

func TestAJSONAnswerThatIsTooLongIsUnread(t *testing.T) {
	t.Parallel()
	a := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `  {"b":"`+strings.Repeat("x", 2<<20)+`"}`)
	}), send()).only(t)
	require.Equal(t, "it is longer than 2 MiB", a.Unread)
	require.NotEmpty(t, a.Digest)
}
