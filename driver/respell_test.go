package driver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

func respelled(spelling scenarios.Spelling) scenarios.Step {
	return scenarios.Step{Respell: &scenarios.Respell{Spelling: spelling, Send: plain()}}
}

// odd is a body with everything that JSON has.
func odd() map[string]any {
	return map[string]any{
		"note": "{{.Intent.Marker}}", "amount": 1200, "price": 1.5, "big": json.Number("12345678901234567890"), "none": nil, "yes": true,
		"text": `<a> "b" \ é` + "\u2028", "empty": "", "list": []any{1, "two", []any{}, map[string]any{}}, "deep": map[string]any{"z": 0, "a": -7},
	}
}

func TestARespelledBodyIsTheSameValueInOtherBytes(t *testing.T) {
	t.Parallel()
	var came []string
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came = append(came, string(body))
	})
	r := newRig(t, address, send(), respelled(scenarios.SpellingOrder), respelled(scenarios.SpellingNumbers))
	r.Operations[0].Request.Body = odd()
	h := r.drive(t)
	require.Len(t, came, 3)
	for _, text := range came[1:] {
		require.NotEqual(t, came[0], text)
		require.JSONEq(t, came[0], text)
	}
	require.NotEqual(t, came[1], came[2])
	require.Contains(t, came[1], `"z": 0, "a": -7`)
	require.Contains(t, came[2], `"amount":1200.0`)
	require.Contains(t, came[2], `"big":12345678901234567890.0`)
	bodies := h.Intents[0].Bodies
	require.Equal(t, came, []string{bodies[history.Original].Content, bodies[history.Reordered].Content, bodies[history.Renumbered].Content})
	require.Equal(t, bodies[history.Original].Marker, bodies[history.Renumbered].Marker)
	require.Equal(t, []string{history.Original, history.Reordered, history.Renumbered}, []string{h.Attempts[0].Body, h.Attempts[1].Body, h.Attempts[2].Body})
}

func TestAKeyInTheBodyIsRespelledWithIt(t *testing.T) {
	t.Parallel()
	came := make(chan string, 2)
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- string(body)
	})
	r := newRig(t, address, send(), respelled(scenarios.SpellingOrder))
	r.Operations[0].Key = targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "request_id"}}
	r.drive(t)
	first, then := <-came, <-came
	require.NotEqual(t, first, then)
	require.JSONEq(t, first, then)
}

func TestABodyThatHasOneSpellingOnlyIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, deaf(t), respelled(scenarios.SpellingNumbers))
	r.Operations[0].Request.Body = map[string]any{"note": "{{.Intent.Marker}}"}
	require.ErrorContains(t, r.Drive(t.Context()), "there is only one way to write it")
	require.Empty(t, r.history(t).Attempts)

	r = newRig(t, deaf(t), respelled(scenarios.SpellingOrder))
	r.Operations[0].Request.Body = nil
	require.ErrorContains(t, r.Drive(t.Context()), "there is no body")
}
