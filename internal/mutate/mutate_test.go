package main

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func toy() settings {
	return settings{dir: filepath.Join("testdata", "toy"), timeout: 2 * time.Second, only: regexp.MustCompile("")}
}

// tried runs the mutation test and returns its code and the lines of its table, by rule.
func tried(t *testing.T, s settings) (int, map[string]string, string) {
	t.Helper()
	var out bytes.Buffer
	code, err := mutate(t.Context(), s, &out, io.Discard)
	require.NoError(t, err)
	lines := map[string]string{}
	for line := range strings.Lines(out.String()) {
		for _, ending := range []string{"killed by ", "SURVIVED", "not a program", "equivalent: "} {
			if rule, rest, found := strings.Cut(line, ending); found {
				_, rule, _ = strings.Cut(rule, " ")
				lines[strings.TrimSpace(rule)] = strings.TrimSpace(ending + rest)
			}
		}
	}
	return code, lines, out.String()
}

func TestTestedRulesAreKilledAndOthersSurvive(t *testing.T) {
	t.Parallel()
	code, lines, out := tried(t, toy())
	require.Equal(t, 1, code)
	require.Equal(t, "killed by TestCheck/below_zero", lines[`Check: removed: j.report("below zero")`])
	require.Equal(t, "killed by TestCheck/below_zero", lines["Check: never: amount < 0"])
	require.Equal(t, "SURVIVED", lines[`Check: removed: j.report("too much")`])
	require.Equal(t, "SURVIVED", lines["Check: never: amount > 1000"])
	require.Equal(t, "killed by TestCheck/dollars", lines[`known: removed: case "USD"`])
	require.Equal(t, "SURVIVED", lines["small: never: amount == 3"])
	require.Contains(t, lines[`known: removed: case strings.TrimSpace(" ")`], `not a program: toy.go:4:8: "strings" imported and not used`)
	require.Equal(t, "killed by TestFine", lines["rules: removed: func(amount int) bool { return amount > 0 }"])
	require.Equal(t, "SURVIVED", lines["rules: removed: small"])
	require.Equal(t, "killed by TestFine", lines["rules: never: amount > 0"])
	require.Equal(t, "killed by timeout", lines["Wait: never: n == 0"])
	require.Contains(t, out, "survived: toy.go:16 Check: never: amount > 1000")
	require.Contains(t, out, "25 mutants: 20 killed, 4 survived, 0 equivalent, 1 not a program in ")
}

func TestEquivalentMutantsNeedAReason(t *testing.T) {
	t.Parallel()
	s := toy()
	s.only = regexp.MustCompile(`Check: .*(too much|1000)|amount == 3`)
	s.excluded = map[string]string{
		"Check: never: amount > 1000":          "nobody has that much",
		`Check: removed: j.report("too much")`: "nobody has that much",
		"small: never: amount == 3":            "3 is less than 10",
	}
	code, lines, _ := tried(t, s)
	require.Zero(t, code)
	require.Equal(t, "equivalent: 3 is less than 10", lines["small: never: amount == 3"])

	s.excluded["small: never: amount == 4"] = "gone"
	code, _, out := tried(t, s)
	require.Equal(t, 1, code)
	require.Contains(t, out, "take it out of the equivalents: small: never: amount == 4")
}

func TestNothingCanBeSaid(t *testing.T) {
	t.Parallel()
	s := toy()
	s.args = []string{"-no-such-flag"}
	code, err := mutate(t.Context(), s, io.Discard, io.Discard)
	require.Equal(t, 2, code)
	require.ErrorContains(t, err, "the tests fail without a mutation")

	s.dir = t.TempDir()
	code, err = mutate(t.Context(), s, io.Discard, io.Discard)
	require.Equal(t, 2, code)
	require.ErrorContains(t, err, "no rules in")

	code, err = command(t.Context(), []string{"-only", "("}, io.Discard, io.Discard)
	require.Equal(t, 2, code)
	require.ErrorContains(t, err, "read -only")
}

func TestListTriesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	code, err := command(t.Context(), []string{"-list", "-only", "report", toy().dir}, &out, io.Discard)
	require.NoError(t, err)
	require.Zero(t, code)
	require.Equal(t, 4, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), `toy.go:14 Check: removed: j.report("below zero")`)
}

// What is excluded for the checker says why.
func TestEquivalentsHaveReasons(t *testing.T) {
	t.Parallel()
	for rule, reason := range equivalents() {
		require.NotEmpty(t, reason, rule)
	}
}
