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

// TestAnAnswerThatAllGetPromisesNothingOfAnotherBody holds that a body which is accepted as every other one is not taken for one that gets the first
// one's answer.
func TestAnAnswerThatAllGetPromisesNothingOfAnotherBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status   int
		told     map[string]any
		promised bool
	}{
		"accepted as all are":  {202, map[string]any{"status": "accepted"}, false},
		"accepted by its name": {202, map[string]any{"status": "accepted", "note": "a"}, true},
		"done as all are":      {201, map[string]any{"status": "accepted"}, true},
	} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/note", Where: Where{Column: "note", Exact: true}, Table: databases.Table{Name: "orders"}, Told: c.told},
			Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x", "amount": 1}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		said := map[string]any{"status": "accepted"}
		if c.told["note"] != nil {
			said["note"] = "b"
		}
		first := Answer{Status: c.status, Body: said}
		f.Learn(Repeated{First: first, Again: first, Altered: &first, Rows: 1})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, c.promised, strings.Contains(text, "on_mismatch: replay-original"), "%s\n%s", name, text)
	}
}
