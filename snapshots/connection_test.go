package snapshots_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/servers"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/snapshots"
)

// urls are the databases that every test runs on; SQLite's is made per test.
var urls = map[string]string{}

func TestMain(m *testing.M) { os.Exit(withServers(m)) }

func withServers(m *testing.M) int {
	return servers.Serving(func(postgres, mariadb string) int {
		urls["postgres"], urls["mariadb"] = postgres, mariadb
		return m.Run()
	})
}

// table is a fresh table "things_<name>(id, note, amount)" on one database.
type table struct {
	url, name string
	db        *sql.DB
}

// onEach runs a test on a fresh table of every database.
func onEach(t *testing.T, test func(t *testing.T, on table)) {
	for _, kind := range []string{"sqlite", "postgres", "mariadb"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, newTable(t, kind))
		})
	}
}

func newTable(t testing.TB, kind string) table {
	on := table{url: urls[kind], name: "things_" + strings.ToLower(strings.NewReplacer("/", "_", "#", "_").Replace(t.Name()))}
	driver, source := "pgx", on.url
	switch kind {
	case "sqlite":
		path := filepath.Join(t.TempDir(), "with space.db")
		on.url = (&url.URL{Scheme: "sqlite", Path: path}).String()
		driver, source = "sqlite", "file:"+url.PathEscape(path)+"?_pragma=journal_mode(wal)"
	case "mariadb":
		driver, source = "mysql", mysqlSource(t, on.url)
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	on.db = db
	on.exec(t, "create table "+on.name+" (id varchar(40) primary key, note varchar(255) not null, amount bigint, price decimal(10,2), made timestamp null)")
	on.exec(t, "create index "+on.name+"_note on "+on.name+"(note)")
	t.Cleanup(func() { on.db.Exec("drop table " + on.name); on.db.Close() })
	return on
}

func mysqlSource(t testing.TB, address string) string {
	u, err := url.Parse(address)
	require.NoError(t, err)
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr, c.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	return c.FormatDSN()
}

func (on table) exec(t testing.TB, statement string) {
	t.Helper()
	_, err := on.db.Exec(statement)
	require.NoError(t, err)
}

func (on table) insert(t testing.TB, id, note string, amount int) {
	on.exec(t, fmt.Sprintf("insert into %s(id, note, amount, price) values ('%s', '%s', %d, 12.50)", on.name, id, note, amount))
}

// asker is a reader with one row query.
type asker struct {
	*snapshots.Reader
	query string
}

func (on table) open(t testing.TB, query string) asker {
	t.Helper()
	r, err := snapshots.Open(context.Background(), on.url)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return asker{r, strings.ReplaceAll(query, "things", on.name)}
}

func (a asker) Snapshot(ctx context.Context, markers []string) history.Snapshot {
	return a.Reader.Snapshot(ctx, []snapshots.Question{{Rows: a.query, Markers: markers}})
}

func (a asker) Rows(ctx context.Context, marker string) (int, error) {
	return a.Reader.Rows(ctx, snapshots.Question{Rows: a.query}, marker)
}

func TestEveryMarkerGetsItsOwnRows(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.insert(t, "1", "one", 10)
		on.insert(t, "2", "two", 20)
		on.insert(t, "3", "two", 21)
		s := on.open(t, "select id, amount from things where note = :marker order by id;").
			Snapshot(t.Context(), []string{"one", "two", "none"})
		require.Empty(t, s.Error)
		require.Equal(t, map[string][]history.Row{
			"one":  {{"id": "1", "amount": 10.0}},
			"two":  {{"id": "2", "amount": 20.0}, {"id": "3", "amount": 21.0}},
			"none": {},
		}, s.Rows)
	})
}

func TestQueriesKeepTheirMeaningPerMarker(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.insert(t, "1", "one", 10)
		on.insert(t, "2", "two", 20)
		on.insert(t, "3", "two", 21)
		for name, query := range map[string]string{
			"a limit":           "select id from things where note = :marker order by id limit 1",
			"a grouping":        "select max(id) as id from things where note = :marker group by note",
			"a trailing remark": "select id from things where note = :marker and amount <> 21 -- the good ones",
			"the marker twice":  "select id from things where note = :marker and amount < 21 and note in (:marker, 'x')",
			"a subselect":       "select id from things a where a.id = (select min(b.id) from things b where b.note = :marker)",
		} {
			s := on.open(t, query).Snapshot(t.Context(), []string{"one", "two"})
			require.Empty(t, s.Error, name)
			require.Len(t, s.Rows["one"], 1, name)
			require.Len(t, s.Rows["two"], 1, name)
		}
	})
}

func TestAMarkerIsBoundAndNeverSpliced(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		hostile := "x' or '1'='1"
		on.insert(t, "1", "one", 10)
		s := on.open(t, "select id from things where note = :marker").Snapshot(t.Context(), []string{hostile, "one"})
		require.Empty(t, s.Error)
		require.Empty(t, s.Rows[hostile])
		require.Len(t, s.Rows["one"], 1)
	})
}

func TestManyMarkersAreFewStatements(t *testing.T) {
	const markers = 5000
	onEach(t, func(t *testing.T, on table) {
		list := on.fill(t, markers)
		s := on.open(t, "select id from things where note = :marker").Snapshot(t.Context(), list)
		require.Empty(t, s.Error)
		require.Len(t, s.Rows, markers)
		for _, m := range list {
			require.Len(t, s.Rows[m], 1, m)
		}
	})
}

// fill inserts n rows with a marker each and returns the markers.
func (on table) fill(t testing.TB, n int) []string {
	list := make([]string, n)
	for from := 0; from < n; from += 500 {
		var values []string
		for i := from; i < min(from+500, n); i++ {
			list[i] = fmt.Sprintf("m%06d", i)
			values = append(values, fmt.Sprintf("('%d','%s',1,1.5)", i, list[i]))
		}
		on.exec(t, "insert into "+on.name+"(id, note, amount, price) values "+strings.Join(values, ","))
	}
	return list
}

func TestASnapshotSeesOneMoment(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		list := on.fill(t, 1000)
		r := on.open(t, "select id from things where note = :marker")
		stop := make(chan struct{})
		moved := make(chan struct{})
		go func() { // moves a row from the last marker to the first and back, each in one statement
			defer close(moved)
			for {
				select {
				case <-stop:
					return
				default:
					on.db.Exec(fmt.Sprintf("update %s set note = case when note = '%s' then '%s' else '%s' end where id = '999'", on.name, list[999], list[0], list[999]))
				}
			}
		}()
		for range 20 {
			s := r.Snapshot(t.Context(), list)
			require.Empty(t, s.Error)
			require.Equal(t, 2, len(s.Rows[list[0]])+len(s.Rows[list[999]]), "the row is in one place or the other, never in both or in none")
		}
		close(stop)
		<-moved
	})
}

func TestRowsCountsOneMarker(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		r := on.open(t, "select id from things where note = :marker")
		n, err := r.Rows(t.Context(), "one")
		require.NoError(t, err)
		require.Zero(t, n)
		on.insert(t, "1", "one", 10)
		n, err = r.Rows(t.Context(), "one")
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func TestTheReaderCannotWrite(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.insert(t, "1", "one", 10)
		for _, query := range []string{
			"delete from things where note = :marker",
			"select id from things where note = :marker; delete from things",
		} {
			r := on.open(t, query)
			require.NotEmpty(t, r.Snapshot(t.Context(), []string{"one"}).Error, query)
		}
		n, err := on.open(t, "select id from things where note = :marker").Rows(t.Context(), "one")
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func TestAFailingQueryIsUnknownRowsAndNotNone(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		s := on.open(t, "select id from nothing_of_the_kind where note = :marker").Snapshot(t.Context(), []string{"one"})
		require.NotEmpty(t, s.Error)
		require.Nil(t, s.Rows, "rows are unknown")
	})
}

func TestValuesSurviveJSON(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.exec(t, "insert into "+on.name+"(id, note, amount, price, made) values ('1', 'one', 9007199254740993, 12.50, '2026-01-02 03:04:05')")
		s := on.open(t, "select id, amount, price, made, null as absent from things where note = :marker").Snapshot(t.Context(), []string{"one"})
		require.Empty(t, s.Error)
		row := s.Rows["one"][0]
		require.Equal(t, "9007199254740993", row["amount"], "too large for a JSON number: kept as text")
		require.Contains(t, fmt.Sprint(row["price"]), "12.5")
		require.Contains(t, fmt.Sprint(row["made"]), "2026-01-02")
		require.Nil(t, row["absent"])
	})
}

func TestOpenSaysWhatIsWrongAndNotThePassword(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ url, says string }{
		"an unknown scheme":    {"oracle://u:hunter22@h/d", "expected sqlite, postgres, mysql or mariadb"},
		"no server":            {"postgres://u:hunter22@127.0.0.1:1/d", "127.0.0.1:1"},
		"no server, mariadb":   {"mariadb://u:hunter22@127.0.0.1:1/d", "127.0.0.1:1"},
		"not a URL":            {"postgres://u:hunter22@h:port/%zz", "cannot be parsed"},
		"a file that is not":   {"sqlite:///does/not/exist.db", "exist.db"},
		"a refused login":      {strings.Replace(urls["postgres"], "doubletap:", "nobody:", 1), "reach database"},
		"a refused login (my)": {strings.Replace(urls["mariadb"], "doubletap:", "nobody:", 1), "reach database"},
	} {
		_, err := snapshots.Open(t.Context(), c.url)
		require.ErrorContains(t, err, c.says, name)
		require.NotContains(t, err.Error(), "hunter22", name)
		if u, parsed := url.Parse(c.url); parsed == nil && u.User != nil {
			password, _ := u.User.Password()
			require.NotContains(t, err.Error(), password, name)
		}
	}
}

func BenchmarkSnapshotOf100000Markers(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres", "mariadb"} {
		b.Run(kind, func(b *testing.B) {
			on := newTable(b, kind)
			list := on.fill(b, 100_000)
			if kind == "postgres" {
				on.exec(b, "analyze "+on.name) // a living database has its statistics
			}
			r := on.open(b, "select id from things where note = :marker")
			for b.Loop() {
				began := time.Now()
				require.Empty(b, r.Snapshot(context.Background(), list).Error)
				b.ReportMetric(float64(len(list))/time.Since(began).Seconds(), "markers/s")
			}
		})
	}
}

func TestEffectsAreReadBesideTheRows(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.insert(t, "1", "one", 10)
		on.insert(t, "2", "two", 20)
		on.insert(t, "3", "two", 21)
		named := func(query string) string { return strings.ReplaceAll(query, "things", on.name) }
		question := snapshots.Question{
			Operation: "create", Markers: []string{"one", "two", "none"}, Rows: named("select id from things where note = :marker"),
			Effects: []snapshots.Effect{
				{Name: "lines", Gives: snapshots.Rows, Query: named("select id from things where note = :marker;")},
				{Name: "sum", Gives: snapshots.Value, Query: named("select sum(amount) from things where note = :marker")},
				{Name: "price", Gives: snapshots.Value, Query: named("select price from things where note = :marker limit 1 -- as text")},
				{Name: "all", Gives: snapshots.Total, Query: named("select count(*) from things")},
			},
		}
		s := on.open(t, "").Reader.Snapshot(t.Context(), []snapshots.Question{question})
		require.Empty(t, s.Error)
		require.Equal(t, map[string]map[string]float64{
			"lines": {"one": 1, "two": 2, "none": 0},
			"sum":   {"one": 10, "two": 41, "none": 0},
			"price": {"one": 12.5, "two": 12.5, "none": 0},
			"all":   {"": 3},
		}, s.Effects)
		for query, want := range map[string]string{
			"select id, amount from things where note = :marker": "expected one column, got 2",
			"select note from things where note = :marker":       `expected a number, got "one"`,
		} {
			question.Effects = []snapshots.Effect{{Name: "odd", Gives: snapshots.Value, Query: named(query)}}
			s := on.open(t, "").Reader.Snapshot(t.Context(), []snapshots.Question{question})
			require.Contains(t, s.Error, `operations.create.effects, query of "odd": `+want)
		}
	})
}

func TestEachOperationHasItsOwnQuery(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.insert(t, "1", "one", 10)
		on.insert(t, "2", "two", 20)
		question := func(condition string, markers ...string) snapshots.Question {
			return snapshots.Question{Rows: "select id from " + on.name + " where note = :marker and " + condition, Markers: markers}
		}
		s := on.open(t, "").Reader.Snapshot(t.Context(), []snapshots.Question{question("amount = 10", "one"), question("amount = 11", "two")})
		require.Equal(t, map[string][]history.Row{"one": {{"id": "1"}}, "two": {}}, s.Rows)
	})
}

func TestADatabaseThatSomebodyElseHasOpened(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		on.insert(t, "1", "one", 10)
		on.db.SetMaxOpenConns(1)
		r, err := snapshots.Over(t.Context(), on.db)
		require.NoError(t, err)
		q := snapshots.Question{Rows: "select id from " + on.name + " where note = :marker", Markers: []string{"one", "two"}}
		s := r.Snapshot(t.Context(), []snapshots.Question{q})
		require.Empty(t, s.Error)
		require.Equal(t, map[string][]history.Row{"one": {{"id": "1"}}, "two": {}}, s.Rows)
		require.NoError(t, r.Close())
		require.NoError(t, on.db.Ping(), "it is not ours to close")
	})
}
