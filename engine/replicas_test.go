package engine

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // each region has a SQLite file
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// copyEvery is how often the regions copy what the other lacks: orders of which both were asked, or that are older than copyLate.
// So the requests of a burst come before any copy.
const (
	copyEvery = 250 * time.Millisecond
	copyLate  = 3 * time.Second
)

// ripe reports that what has this key may be copied.
func ripe(key string, first, second *region) bool {
	both := true
	for _, r := range []*region{first, second} {
		since, is := r.made.Load(key)
		if is && time.Since(since.(time.Time)) > copyLate {
			return true
		}
		both = both && is
	}
	return both
}

// region is one of two that take orders, each with a database of its own. It claims the key of an order where claims says, and writes
// the order there.
type region struct {
	db     *sql.DB
	file   string
	name   string
	claims func(key string) *region
	made   sync.Map // when it had done with the first request of a key
}

func newRegion(t *testing.T, name string) *region {
	t.Helper()
	r := &region{name: name, file: filepath.Join(t.TempDir(), name+".db")}
	var err error
	r.db, err = sql.Open("sqlite", "file:"+r.file+"?_pragma=busy_timeout(30000)&_pragma=journal_mode(wal)")
	require.NoError(t, err)
	r.db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = r.db.Close() })
	for _, statement := range []string{"create table orders (id text primary key, note text)", "create table keys (k text primary key, id text)"} {
		_, err := r.db.Exec(statement)
		require.NoError(t, err)
	}
	return r
}

func (r *region) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var body struct{ Note string }
	if json.NewDecoder(q.Body).Decode(&body) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	key := q.Header.Get("Idempotency-Key")
	id, err := r.claims(key).create(key, body.Note)
	r.made.LoadOrStore(key, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id": %q}`, id)
}

// create writes an order and its key in one transaction, and returns the order that has the key.
func (r *region) create(key, note string) (id string, err error) {
	tx, err := r.db.Begin()
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }()
	if err := tx.QueryRow("select id from keys where k = ?", key).Scan(&id); err == nil {
		return id, nil
	}
	id = r.name + "-" + key
	if _, err := tx.Exec("insert into keys values (?, ?)", key, id); err != nil {
		return "", err
	}
	if _, err := tx.Exec("insert into orders values (?, ?)", id, note); err != nil {
		return "", err
	}
	return id, tx.Commit()
}

// copyTo copies what the other region lacks. Of two claims on a key each region keeps its own, as with the first writer wins.
func (r *region) copyTo(other *region) {
	for table, key := range map[string]string{"orders": "substr(id, 4)", "keys": "k"} {
		rows, err := r.db.Query("select " + key + ", * from " + table)
		if err != nil {
			return
		}
		var all [][2]string
		for rows.Next() {
			var key string
			var one [2]string
			if rows.Scan(&key, &one[0], &one[1]) == nil && ripe(key, r, other) {
				all = append(all, one)
			}
		}
		_ = rows.Close()
		for _, one := range all {
			_, _ = other.db.Exec("insert or ignore into "+table+" values (?, ?)", one[0], one[1])
		}
	}
}

// twoRegions plays bursts and repetitions against two regions that copy from each other. After the pilot, one that is cut off copies
// nothing to the first, and gets all keys.
func twoRegions(t *testing.T, claims func(own *region, all [2]*region, key string) *region, converged time.Duration, cutOff bool) (*checker.Report, *history.History) {
	t.Helper()
	var cut atomic.Bool
	all := [2]*region{newRegion(t, "eu"), newRegion(t, "us")}
	var urls [2]string
	for i, r := range all {
		r.claims = func(key string) *region {
			if cut.Load() {
				return all[1]
			}
			return claims(r, all, key)
		}
		server := httptest.NewServer(r)
		t.Cleanup(server.Close)
		urls[i] = server.URL
	}
	stop := make(chan struct{})
	var copying sync.WaitGroup
	copying.Go(func() {
		tick := time.NewTicker(copyEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			all[0].copyTo(all[1])
			if !cut.Load() {
				all[1].copyTo(all[0])
			}
		}
	})
	t.Cleanup(copying.Wait)
	t.Cleanup(func() { close(stop) })
	source := []byte("name: regions\nsummary: Four at once.\nintents: 3\nconcurrency: 3\nsteps: [burst: {copies: 4}, send]\nexercised: [{proof: several-instances, at_least: 100%}]\n")
	f, err := scenarios.Load("regions.yaml", source)
	require.NoError(t, err)
	s, err := Open(t.Context(), Config{
		Reports: t.TempDir(), Seed: 1, Scenarios: []scenarios.File{{Path: "regions.yaml", Source: source, Scenario: f}},
		SUT: sut.Options{Target: "target.yaml", Source: fmt.Appendf(nil, `name: orders
base_url: %s
instances: {eu: {base_url: "%s", database: "sqlite:%s"}, us: {base_url: "%s", database: "sqlite:%s"}}
database: {url: "sqlite:%s"}
contract: {preset: ietf, in_progress: {mode: wait}, converged: %s}
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    identity: /id
    rows: {query: "select id, note from orders where note = :marker", identity: id}
`, urls[0], urls[0], all[0].file, urls[1], all[1].file, all[0].file, converged)},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	cut.Store(cutOff)
	require.NoError(t, s.PlayAll(t.Context()))
	report, err := s.Report(nil)
	require.NoError(t, err)
	h, err := s.History("regions")
	require.NoError(t, err)
	return report, h
}

// inOwn claims a key in the region that gets the request.
func inOwn(own *region, _ [2]*region, _ string) *region { return own }

// atHome claims a key in the region that is its home, whichever gets the request.
func atHome(_ *region, all [2]*region, key string) *region {
	sum := fnv.New32a()
	sum.Write([]byte(key))
	return all[sum.Sum32()%2]
}

// Each region keeps its promise, and the two of them do not.
func TestReplicationThatMakesTheDuplicate(t *testing.T) {
	t.Parallel()
	report, _ := twoRegions(t, inOwn, 30*time.Second, false)
	require.Equal(t, checker.Fail, report.Verdict)
	require.Len(t, report.Results[0].Findings, 3, "each intent, once")
	for _, f := range report.Results[0].Findings {
		require.Equal(t, checker.Diverged, f.Kind)
		require.Equal(t, "replicated", f.Detail)
		require.Contains(t, f.Observed, "2 rows: instance 1 made eu-")
		require.Contains(t, f.Observed, ", instance 2 made us-")
		require.Len(t, f.Rows[0].Rows, 2)
		for _, row := range f.Rows[0].Rows {
			require.NotContains(t, row, history.NotAt, "the snapshot has waited until both regions have both")
		}
	}
}

func TestRegionsThatClaimKeysAtHome(t *testing.T) {
	t.Parallel()
	report, h := twoRegions(t, atHome, 30*time.Second, false)
	require.Equal(t, checker.Pass, report.Verdict, "%v", report.Results[0].Reasons)
	for _, rows := range h.T2.Rows {
		require.Len(t, rows, 1)
	}
}

// What the second region writes never comes to the first.
func TestReplicasThatNeverConverge(t *testing.T) {
	t.Parallel()
	report, _ := twoRegions(t, atHome, time.Second, true)
	require.Equal(t, checker.Fail, report.Verdict)
	for _, f := range report.Results[0].Findings {
		require.Equal(t, checker.Diverged, f.Kind)
		require.Equal(t, "rows", f.Detail)
		require.Equal(t, "a row that is not at database", f.Observed)
	}
}
