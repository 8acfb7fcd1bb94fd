package targets_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// noon is when the runs of these tests began.
func noon() time.Time { return time.Date(2024, 2, 28, 12, 0, 0, 0, time.FixedZone("CET", 3600)) }

// drawn renders a body in a run of a plan, and returns its members.
func drawn(t *testing.T, o targets.Operation, plan, run string, which targets.Variant) map[string]any {
	t.Helper()
	r, err := o.Render(values().Drawing(targets.Draws{Plan: plan, Run: run, Now: noon()}), which)
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(r.Body, &members), "%s", r.Body)
	return members
}

func bodied(body map[string]any) targets.Operation {
	return targets.Operation{Request: targets.Request{Path: "/", Body: body}}
}

func TestFunctionsDrawTheSameForAPlanAndUniqueDrawsForARun(t *testing.T) {
	t.Parallel()
	o := bodied(map[string]any{
		"random": "{{random 1 1000000000}}", "pick": `{{pick "a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l" "m" "n"}}`, "fake": `{{fake "sentence"}}`,
		"text": `{{unique "text"}}`, "email": `{{unique "email"}}`, "number": `{{unique "number" | json}}`, "uuid": `{{unique "uuid"}}`,
		"int": `{{unique "int" | json}}`, "time": `{{unique "time"}}`, "day": `{{unique "time" "2006-01-02"}}`,
	})
	first, again, otherRun, otherPlan := drawn(t, o, "p", "1", targets.AsItIs), drawn(t, o, "p", "1", targets.AsItIs), drawn(t, o, "p", "2", targets.AsItIs), drawn(t, o, "other", "3", targets.AsItIs)
	require.Equal(t, first, again)
	for _, name := range []string{"random", "pick", "fake"} {
		require.Equal(t, first[name], otherRun[name], name)
		require.NotEqual(t, first[name], otherPlan[name], name)
	}
	for _, name := range []string{"text", "email", "number", "uuid", "int", "time", "day"} {
		require.NotEqual(t, first[name], otherRun[name], name)
		require.NotEqual(t, first[name], otherPlan[name], name)
	}
	require.Regexp(t, "^[a-z2-7]{16}$", first["text"])
	require.Regexp(t, "^[a-z2-7]{16}@example\\.com$", first["email"])
	require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", first["uuid"])
	require.Regexp(t, "^[1-9][0-9]{14}$", fmt.Sprintf("%.0f", first["number"]))
	require.Regexp(t, "^[1-9][0-9]{8}$", fmt.Sprintf("%.0f", first["int"]))
	at, err := time.Parse(time.RFC3339, first["time"].(string))
	require.NoError(t, err)
	require.WithinRange(t, at, noon().AddDate(0, 0, 1).Truncate(24*time.Hour), noon().AddDate(10, 0, 1), "columns of seconds in 32 bits hold no more")
	day, err := time.Parse(time.DateOnly, first["day"].(string))
	require.NoError(t, err)
	require.True(t, day.After(noon()) && day.Year() < 9999, day)
}

func TestFunctionsDrawAnotherThingInAnotherPlace(t *testing.T) {
	t.Parallel()
	const draw = "{{random 1 1000000000}}"
	members := drawn(t, bodied(map[string]any{"a": draw, "b": draw, "list": []any{draw, draw}, "deep": map[string]any{"a": draw}, "twice": draw + " " + draw}), "p", "r", targets.AsItIs)
	list, twice := members["list"].([]any), strings.Fields(members["twice"].(string))
	seen := map[any]bool{}
	for _, value := range []any{members["a"], members["b"], list[0], list[1], members["deep"].(map[string]any)["a"], twice[0], twice[1]} {
		require.False(t, seen[value], "%v", members)
		seen[value] = true
	}
}

func TestAnAlteredBodyDiffersInWhatIsAlteredOnly(t *testing.T) {
	t.Parallel()
	o := bodied(map[string]any{"who": `{{fake "name"}}`, "mail": `{{unique "email"}}`, "amount": "{{random 1 1000000000 | json}}"})
	o.Alter = map[string]any{"amount": "{{random 1 1000000000 | json}}"}
	plain, altered := drawn(t, o, "p", "r", targets.AsItIs), drawn(t, o, "p", "r", targets.Altered)
	require.NotEqual(t, plain["amount"], altered["amount"])
	delete(plain, "amount")
	delete(altered, "amount")
	require.Equal(t, plain, altered)
}

func TestWhatEndsInJSONIsAValue(t *testing.T) {
	t.Parallel()
	o := bodied(map[string]any{
		"number": "{{random -5 -5 | json}}", "text": "{{random 3 3}}", "word": `{{pick "a" | json}}`, "given": "{{.Principal.Tenant | json}}",
		"list": `{{"[1,{\"a\":null}]" | json}}`, "piped": `{{pick true | json}}`, "own": "{{.Intent.Number | json}}", "spaced": "{{- .Intent.Number | json -}}",
		"called": "{{json 1.5}}",
	})
	require.Equal(t, map[string]any{
		"number": -5.0, "text": "3", "word": "a", "given": 5.0, "list": []any{1.0, map[string]any{"a": nil}}, "piped": true, "own": 7.0, "spaced": 7.0, "called": 1.5,
	}, drawn(t, o, "p", "r", targets.AsItIs))
}

func TestNowIsTheStartOfTheRun(t *testing.T) {
	t.Parallel()
	o := bodied(map[string]any{
		"now": "{{now}}", "day": `{{now "2006-01-02"}}`, "then": `{{now "2006-01-02 15:04" "24h"}}`, "before": `{{now "2006-01-02" "-48h"}}`, "year": `{{now "06"}}`,
	})
	require.Equal(t, map[string]any{
		"now": "2024-02-28T11:00:00Z", "day": "2024-02-28", "then": "2024-02-29 11:00", "before": "2024-02-26", "year": "24",
	}, drawn(t, o, "p", "r", targets.AsItIs))
}

func TestEveryRandomNumberIsWithinItsBounds(t *testing.T) {
	t.Parallel()
	o := bodied(map[string]any{"n": "{{random 1 3 | json}}", "all": "{{random -9223372036854775808 9223372036854775807}}"})
	seen := map[any]bool{}
	for i := range 100 {
		seen[drawn(t, o, fmt.Sprint(i), "r", targets.AsItIs)["n"]] = true
	}
	require.Equal(t, map[any]bool{1.0: true, 2.0: true, 3.0: true}, seen)
}

func TestEveryFakeIsAPlainValueAndTheSameAgain(t *testing.T) {
	t.Parallel()
	names := targets.Fakes()
	require.Greater(t, len(names), 200)
	body := map[string]any{}
	for _, name := range names {
		body[name] = fmt.Sprintf("{{fake %q}}", name)
	}
	first := drawn(t, bodied(body), "p", "1", targets.AsItIs)
	for name, value := range first {
		require.IsType(t, "", value, name)
		require.NotContains(t, value, "<nil>", name)
		require.NotRegexp(t, `^(map)?\[`, value, name)
	}
	for range 3 {
		require.Equal(t, first, drawn(t, bodied(body), "p", "2", targets.AsItIs))
	}
	spelled := drawn(t, bodied(map[string]any{"a": `{{fake "First_Name"}}`}), "p", "r", targets.AsItIs)
	require.NotEmpty(t, spelled["a"])
}

func TestWhatIsAnotherThingInAnotherRunIsTold(t *testing.T) {
	t.Parallel()
	told := func(text string) targets.Drawn {
		r, err := bodied(map[string]any{"a": text}).Render(values().Drawing(targets.Draws{}), targets.AsItIs)
		require.NoError(t, err)
		return r.Drawn
	}
	require.Zero(t, told("{{.Intent.Marker}}"))
	require.Equal(t, targets.Drawn{Dated: true}, told("{{now}}"))
	require.Equal(t, targets.Drawn{Dated: true}, told(`{{unique "time"}}`))
	require.Equal(t, targets.Drawn{Chance: true}, told("{{random 1 2}}"))
	mail := told(`{{unique "email"}}`).Unique
	require.Len(t, mail, 1)
	for drawn, kind := range mail {
		require.Regexp(t, "^[a-z2-7]{16}$", drawn)
		require.Equal(t, targets.UniqueEmail, kind)
	}
}

func TestAnAlteredBodyCanComeOutTheSame(t *testing.T) {
	t.Parallel()
	o := bodied(map[string]any{"n": "{{.Intent.Marker}}", "amount": `{{pick "1" "2"}}`})
	o.Alter = map[string]any{"amount": `{{pick "1" "2"}}`}
	fields := targets.Target{Contract: contract.Contract{Fingerprint: contract.Fingerprint{Mode: contract.FingerprintFields, Fields: []string{"/amount"}}}}
	for _, target := range []targets.Target{{}, fields} {
		alters := map[bool]int{}
		for i := range 40 {
			alters[target.Differs(o, values().Drawing(targets.Draws{Plan: fmt.Sprint(i)}), targets.Altered)]++
		}
		require.Greater(t, alters[true], 5)
		require.Greater(t, alters[false], 5)
	}
}

// TestASpanKeepsItsLength holds that the times of one body are so far apart as they say, and that those of two bodies are not the same.
func TestASpanKeepsItsLength(t *testing.T) {
	t.Parallel()
	render := func(run, from, to string) ([]time.Time, error) {
		o := targets.Operation{Request: targets.Request{Path: "/", Body: map[string]any{
			"from": `{{unique "time" "2006-01-02T15:04:05Z" "` + from + `"}}`, "to": `{{unique "time" "2006-01-02 15:04" "` + to + `"}}`,
		}}}
		r, err := o.Render(targets.Values{}.Drawing(targets.Draws{Run: run, Now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}), targets.AsItIs)
		if err != nil {
			return nil, err
		}
		var body struct{ From, To string }
		require.NoError(t, json.Unmarshal(r.Body, &body))
		first, err := time.Parse("2006-01-02T15:04:05Z", body.From)
		require.NoError(t, err)
		last, err := time.Parse("2006-01-02 15:04", body.To)
		require.NoError(t, err)
		return []time.Time{first, last}, nil
	}
	one, err := render("a", "0s", "90m")
	require.NoError(t, err)
	require.Equal(t, 90*time.Minute, one[1].Sub(one[0]))
	require.True(t, one[0].After(time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC).Add(-time.Second)))
	again, err := render("a", "0s", "90m")
	require.NoError(t, err)
	require.Equal(t, one, again)
	other, err := render("b", "0s", "90m")
	require.NoError(t, err)
	require.NotEqual(t, one[0], other[0])
	for _, wrong := range []string{"soon", "-1h"} {
		_, err = render("a", "0s", wrong)
		require.ErrorContains(t, err, "such as 1h30m")
	}
}
