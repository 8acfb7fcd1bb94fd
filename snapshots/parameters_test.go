package snapshots

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParametersOfAQuery holds which words of a query stand for what a row is asked for with: :key only where neither of the others does.
func TestParametersOfAQuery(t *testing.T) {
	t.Parallel()
	for query, bound := range map[string]string{
		"select id from t where note = :marker":                         "select id from t where note = ?",
		"select id from t where note = :reference":                      "select id from t where note = ?",
		"select id from t where k = :key or k = :keys":                  "select id from t where k = ? or k = :keys",
		"select id from t where note = :marker and k = ' :key'":         "select id from t where note = ? and k = ' :key'",
		"select v from t where k = 'user:key'":                          "select v from t where k = 'user:key'",
		"select id from t where note = cast(:marker as text)::marker":   "select id from t where note = cast(? as text)::marker",
		"select id from t where k like 'tenant-1/' || :key -- the :key": "select id from t where k like 'tenant-1/' || ? -- the ?",
	} {
		require.Equal(t, bound, bind(query, func() string { return "?" }))
	}
}
