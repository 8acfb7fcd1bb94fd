package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestRowsThatStandForSomething holds which rows of a table are summed up, where creates have written one that has "then", and "later" some
// time later.
func TestRowsThatStandForSomething(t *testing.T) {
	t.Parallel()
	const absent = "absent"
	for name, c := range map[string]struct {
		column, kind, then, later string
		condition                 string
		untold                    bool
	}{
		"a status that stays":                {"status", "text", "paid", "paid", `(coalesce(lower(cast(p.status as char(60))), '') in ('paid') or (coalesce(lower(cast(p.status as char(60))), '') ~ 'ship|`, false},
		"in capitals, of another name":       {"paymentOutcome", "text", "OK", "OK", `(coalesce(lower(cast(p."paymentOutcome" as char(60))), '') in ('ok') or`, false},
		"one that moves on":                  {"status", "text", "taken", "gone", `not (coalesce(lower(cast(p.status as char(60))), '') ~ 'declin|fail|reject|`, false},
		"one that may move on later":         {"status", "text", "pending", "pending", `not (coalesce(lower(cast(p.status as char(60))), '') ~ 'declin|fail|reject|`, false},
		"one of which that is not known":     {"status", "text", "authorized", "authorized", "", true},
		"a code":                             {"state", "smallint", "1", "1", "", true},
		"the status of an answer":            {"status", "integer", "201", "201", "p.status between 200 and 299", false},
		"the status of an answer that moves": {"status", "integer", "102", "201", "", true},
		"the time of a status":               {"status_at", "timestamp with time zone", "2024-01-01", "2024-01-01", "", false},
		"when it was cancelled":              {"cancelled_at", "timestamp with time zone", absent, absent, "p.cancelled_at is null", false},
		"whether it was":                     {"refunded", "boolean", "false", "false", "lower(cast(p.refunded as char(60))) = 'false'", false},
		"why it failed":                      {"failure_code", "text", absent, absent, "p.failure_code is null", false},
		"whether it succeeded":               {"succeeded", "boolean", "true", "true", "lower(cast(p.succeeded as char(60))) = 'true'", false},
		"what is paid some time":             {"paid", "boolean", "false", "false", "", false},
		"when it was approved":               {"approved_at", "timestamp with time zone", "2024-01-01", "2024-01-01", "p.approved_at is not null", false},
		"when it will be":                    {"paid_at", "timestamp with time zone", absent, absent, "", false},
		"when it will expire":                {"expires_at", "timestamp with time zone", "2024-01-01", "2024-01-01", "", false},
		"a word that quotes break":           {"status", "text", "it's", "it's", "", false},
		"a part of a word that is no status": {"estate", "text", "house", "house", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := func(value string) map[string]string {
				if value == absent {
					return map[string]string{}
				}
				return map[string]string{c.column: value}
			}
			table := databases.Table{Name: "p", Columns: []databases.Column{{Name: c.column, Type: c.kind}}}
			counting := drafting.Counted(&drafting.File{Dialect: databases.PostgreSQL}, table, []drafting.Seen{{Then: row(c.then), Later: row(c.later)}})
			require.Equal(t, !c.untold, counting.Told)
			if c.condition == "" {
				require.Empty(t, counting.Condition)
			}
			require.Contains(t, counting.Condition, c.condition)
		})
	}
}
