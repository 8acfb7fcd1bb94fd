package orders

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// otherPromise says why a broken design and its twin do not promise the same.
func otherPromise() map[string]string {
	return map[string]string{
		"cached-transient-5xx":                "promises that failures are not stored, which unique-key says nothing of",
		"conflict-swallowed-wrong-constraint": "promises less of replays than unique-key",
		"dedup-in-other-transaction":          "says only that a request was seen",
		"dependency-error-cached":             "promises that failures are not stored, which its twin says nothing of",
		"duplicate-told-nothing":              "names 201 only",
		"expiry-ends-early":                   "remembers keys for 12s, its twin for 2s",
		"expiry-too-short":                    "remembers keys for 1s, its twin for 2s",
		"form-token-logic-inverted":           "says only that a request was seen",
		"form-token-not-atomic":               "says only that a request was seen",
		"job-removed-when-done":               "turns away who comes while the job runs, and so does its twin, which keeps records besides",
		"redis-key-check-then-act":            "waits, where a claim in Redis turns away",
		"redis-lock-expires-before-work":      "waits, where a claim in Redis turns away",
		"redis-lock-released-by-non-owner":    "promises no lease",
		"redis-recorded-before-commit":        "waits, where a claim in Redis turns away",
		"redis-set-nx-then-expire":            "promises no lease",
		"scope-no-parent":                     "compares no bodies",
	}
}

func TestEveryBrokenDesignHasACorrectTwin(t *testing.T) {
	t.Parallel()
	for _, d := range Designs() {
		if d.Correct {
			require.Empty(t, d.Twin, d.Name)
			continue
		}
		twin, found := Named(d.Twin)
		require.True(t, found && twin.Correct, "%s has the twin %q", d.Name, d.Twin)
		for _, database := range []string{"sqlite", "postgres", "mariadb"} {
			require.True(t, !d.StandsOn(database) || twin.StandsOn(database), "%s stands on %s, and its twin %s does not", d.Name, database, d.Twin)
		}
		require.Equal(t, d.Redis, twin.Redis, d.Name)
		require.Equal(t, d.Key, twin.Key, "%s and its twin %s take other keys", d.Name, d.Twin)
		if d.Name != "patch-increment" { // a client of absolute amounts says them otherwise
			require.Equal(t, d.operation(kindOrder).Request, twin.operation(kindOrder).Request, "%s and its twin %s take other requests", d.Name, d.Twin)
		}
		_, other := otherPromise()[d.Name]
		require.Equal(t, other, !reflect.DeepEqual(d.Contract, twin.Contract), "whether %s and its twin %s promise other things", d.Name, d.Twin)
	}
}
