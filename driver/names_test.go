package driver_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
)

var (
	markerForm    = regexp.MustCompile(`^dt[a-z2-7]{16}$`)
	referenceForm = regexp.MustCompile(`^ref[a-z2-7]{16}$`)
	uuidForm      = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

// drawn returns every name that an intent can have.
func drawn(n driver.Names, number int) []string {
	id := fmt.Sprintf("i%03d", number)
	return []string{
		n.Marker(number, history.Original), n.Marker(number, history.Altered), n.Reference(number),
		n.Key(id, "own"), n.Key(id, "fresh1"), n.Key(id, "fresh2"),
	}
}

func TestNamesHaveFormsThatEveryTargetKeeps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := driver.Names{Seed: rapid.Uint64().Draw(t, "seed"), Run: rapid.String().Draw(t, "run"), Scenario: rapid.String().Draw(t, "scenario")}
		number := rapid.IntRange(1, 1e6).Draw(t, "number")
		require.Regexp(t, "^[1-9][0-9]{8}$", n.NumberMarker(number, history.Original))
		require.Regexp(t, markerForm, n.Marker(number, history.Original))
		require.Regexp(t, markerForm, n.Marker(number, history.Altered))
		require.Regexp(t, referenceForm, n.Reference(number))
		require.Regexp(t, uuidForm, n.Key("i001", rapid.String().Draw(t, "key")))
		require.Equal(t, drawn(n, number), drawn(n, number))
	})
}

func TestNoTwoNamesAreTheSame(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, n := range []driver.Names{
		{}, {Seed: 7, Run: "a", Scenario: "s"}, {Seed: 8, Run: "a", Scenario: "s"}, {Seed: 7, Run: "b", Scenario: "s"}, {Seed: 7, Run: "a", Scenario: "t"},
	} {
		for number := range 200 {
			for _, name := range drawn(n, number) {
				require.False(t, seen[name], name)
				seen[name] = true
			}
		}
	}
}

// A run that is judged again after an upgrade must find its rows.
func TestNamesDoNotChange(t *testing.T) {
	t.Parallel()
	n := driver.Names{Seed: 7, Run: "r1", Scenario: "trial"}
	require.Equal(t, []string{
		"dtxt4xkwd4eoyiq7ns", "dthc5pljirujgafudt", "refutwogwdwvur6fi66",
		"05e246f1-b810-44b0-8e1e-7b4e87459deb", "01d76c04-01c6-4034-a2c5-14a24ad93481", "df01833d-b65c-4005-9fe0-628087d81d0a",
	}, drawn(n, 1))
}
