package driver_test

import (
	"io"
	"net/http"
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

func TestALargeAnswerIsKnownByItsJSONValue(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	answers := []string{`{"a":1,"b":"` + long + `"}`, `{ "b": "` + long + `", "a": 1.0 }`, `{"a":2,"b":"` + long + `"}`, long}
	next := 0
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[next])
		next++
	})
	h := newRig(t, address, send(), send(), send(), send()).drive(t)
	require.NotEmpty(t, h.Attempts[0].Value)
	require.Equal(t, h.Attempts[0].Value, h.Attempts[1].Value)
	require.NotEqual(t, h.Attempts[0].Digest, h.Attempts[1].Digest)
	require.NotEqual(t, h.Attempts[0].Value, h.Attempts[2].Value)
	require.Empty(t, h.Attempts[3].Value)
}
