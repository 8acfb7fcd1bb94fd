package engine

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// stock takes orders by their keys, and writes a movement for each, in a table that nothing links to them.
type stock struct {
	db      *sql.DB
	file    string
	begun   atomic.Bool // the pilot is over
	again   func(s *stock, first bool)
	beside  func(s *stock) // with each request
	late    sync.WaitGroup
	repeats atomic.Int64
}

func newStock(t *testing.T) *stock {
	t.Helper()
	s := &stock{file: filepath.Join(t.TempDir(), "stock.db")}
	var err error
	s.db, err = sql.Open("sqlite", "file:"+s.file+"?_pragma=busy_timeout(30000)&_pragma=journal_mode(wal)")
	require.NoError(t, err)
	s.db.SetMaxOpenConns(1) // who waits for it has their turn
	t.Cleanup(func() { _ = s.db.Close() })
	t.Cleanup(s.late.Wait)
	for _, statement := range []string{"create table orders (id integer primary key, request_key text unique, note text)", "create table movements (id integer primary key, sku text)"} {
		_, err := s.db.Exec(statement)
		require.NoError(t, err)
	}
	return s
}

// move writes a movement.
func (s *stock) move() { _, _ = s.db.Exec("insert into movements (sku) values ('lamp')") }

func (s *stock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Note string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	made, err := s.db.Exec("insert into orders (request_key, note) values (?, ?) on conflict do nothing", r.Header.Get("Idempotency-Key"), body.Note)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if n, _ := made.RowsAffected(); n == 1 {
		s.move()
	} else if s.again != nil {
		s.again(s, s.repeats.Add(1)%8 == 1) // of a scenario, which repeats four twice
	}
	if s.begun.Load() && s.beside != nil {
		s.beside(s)
	}
	w.WriteHeader(http.StatusCreated)
}

// playStock plays scenarios one after the other, and watches totals for so long at least, with so much time for what comes behind the answers.
func playStock(t *testing.T, s *stock, least, own time.Duration) *checker.Report {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	var files []scenarios.File
	for _, name := range []string{"first", "second"} {
		source := []byte("name: " + name + "\nsummary: Twice.\nintents: 4\nsteps: [send, send]\nexercised: [replayed]\n")
		f, err := scenarios.Load(name+".yaml", source)
		require.NoError(t, err)
		files = append(files, scenarios.File{Path: name + ".yaml", Source: source, Scenario: f})
	}
	session, err := Open(t.Context(), Config{Reports: t.TempDir(), Seed: 1, Scenarios: files, SUT: sut.Options{Target: "target.yaml", Source: []byte(`name: stock
base_url: ` + server.URL + `
database: {url: "sqlite:` + s.file + `"}
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows: {query: select id from orders where note = :marker}
    effects: [{name: movements, query: select count(*) from movements, delta: 1}]
`)}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	session.behind.least, session.behind.own = least, own
	s.begun.Store(true)
	require.NoError(t, session.PlayAll(t.Context()))
	report, err := session.Report(nil)
	require.NoError(t, err)
	return report
}

// Others write to the table all the time, and with each request, so that it surely shows.
func TestATotalThatOthersChangeProvesNothing(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.beside = (*stock).move
	stop := make(chan struct{})
	s.late.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if s.begun.Load() { // the pilot would take as many moves as creates for theirs
					s.move()
				}
			}
		}
	})
	defer close(stop)
	report := playStock(t, s, time.Minute, 0) // it ends with the first movement that is seen
	require.Equal(t, checker.Inconclusive, report.Verdict, "%+v", report.Results)
	for i, r := range report.Results {
		require.Empty(t, r.Findings)
		require.Regexp(t, `the effect movements tells nothing: it changed by \d+ in this scenario and not by 4, and from \d+ to \d+ while nothing was sent, between [\d.]+s and [\d.]+s after the beginning`, r.Reasons[0])
		require.Equal(t, i == 1, strings.Contains(r.Reasons[0], "after the beginning of first"), "once is enough: %v", r.Reasons)
	}
}

func TestARepetitionThatMovesAgainIsFound(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.again = func(s *stock, _ bool) { s.move() }
	report := playStock(t, s, 0, 0)
	require.Equal(t, checker.Fail, report.Verdict)
	for _, r := range report.Results {
		require.Len(t, r.Findings, 1)
		require.Regexp(t, `^a change by (8|12), from \d+ to \d+; it stayed so for [\d.]+m?s in which nothing was sent$`, r.Findings[0].Observed)
	}
}

// A job moves the stock for repetitions a while after their answers: that is the target's own work.
func TestWorkBehindTheAnswersIsNotOthers(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.again = func(s *stock, first bool) {
		if first {
			s.move()
			return
		}
		s.late.Go(func() {
			time.Sleep(300 * time.Millisecond)
			s.move()
		})
	}
	report := playStock(t, s, 2*time.Second, time.Minute)
	require.Equal(t, checker.Fail, report.Verdict, "%+v", report.Results)
	for _, r := range report.Results {
		require.Len(t, r.Findings, 1)
	}
}
