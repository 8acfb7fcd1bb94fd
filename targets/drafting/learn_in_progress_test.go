package drafting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// A run that kills the service shows keys that its lock blocks: the file says where the lock's time goes.
func TestALeaseIsNamedWhereRunsKillTheService(t *testing.T) {
	t.Parallel()
	for started, start := range map[bool]*Start{true: {Command: []string{"node"}}, false: nil} {
		f := File{
			Dialect: databases.SQLite, Start: start, Proof: &Proof{Text: "/note", Where: Where{Column: "note", Exact: true}, Table: databases.Table{Name: "orders"}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		done, busy := Answer{Status: 201}, Answer{Status: 409, Body: map[string]any{"code": "IN_PROGRESS"}}
		f.Learn(Repeated{First: done, Again: done, Rows: 1, Bursts: []Burst{{Copies: []Answer{done, busy}, After: done}}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Contains(t, text, "in_progress: {mode: reject, statuses: [409]")
		require.Equal(t, started, strings.Contains(text, "# lease: "))
	}
}

// A copy that is told that there is no such thing while its first request runs is a mistake of the service, and no way to say "wait".
func TestNotFoundIsNoWayToSayWait(t *testing.T) {
	t.Parallel()
	for status, learnt := range map[int]bool{409: true, 425: true, 404: false, 410: false} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/note", Where: Where{Column: "note", Exact: true}, Table: databases.Table{Name: "orders"}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		done := Answer{Status: 201}
		f.Learn(Repeated{First: done, Again: done, Rows: 1, Bursts: []Burst{{Copies: []Answer{done, {Status: status}}, After: done}}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, learnt, strings.Contains(text, "in_progress:"), status)
	}
}

// A POST that its source calls an upsert may replace what was acknowledged; another may not, unless somebody says so.
func TestAnUpsertMayReplace(t *testing.T) {
	t.Parallel()
	for path, may := range map[string]bool{"/prices/upsert": true, "/prices:createOrUpdate": true, "/prices": false, "/upserted-by/x": false} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/label", Where: Where{Column: "label", Exact: true}, Table: databases.Table{Name: "prices"}},
			Draft: Draft{Name: "create_prices", Method: "POST", Path: path, Body: map[string]any{"label": "x", "sku": "S-1", "cents": 12}, Texts: []string{"/label", "/sku"}, Others: []Other{{"/cents", int64(13)}}},
		}
		done := Answer{Status: 201}
		f.Learn(Repeated{First: done, Again: done, Rows: 1, Natural: []string{"/sku"}, Replacing: &done})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, !may, strings.Contains(text, "\n    alter: "), "%s\n%s", path, text)
	}
}
