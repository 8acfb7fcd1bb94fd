package orders_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
	"github.com/doubletap-harness/doubletap/targets/servers"
)

// databases are the stores that every design is tested over, by name; SQLite needs no URL.
var databases = map[string]string{"sqlite": ""}

func TestMain(m *testing.M) {
	stop, err := startDatabases(context.Background())
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests need real database servers:", err)
	} else {
		code = m.Run()
	}
	stop()
	os.Exit(code)
}

func startDatabases(ctx context.Context) (stop func(), err error) {
	var running []*servers.Server
	stop = func() {
		for _, server := range running {
			_ = server.Stop()
		}
	}
	if err := servers.Install(ctx, os.Stderr); err != nil {
		return stop, err
	}
	for name, start := range map[string]func(context.Context, servers.Options) (*servers.Server, error){
		"postgres": servers.Postgres, "mariadb": servers.MariaDB,
	} {
		server, err := start(ctx, servers.Options{})
		if err != nil {
			return stop, err
		}
		running = append(running, server)
		databases[name] = server.URL()
	}
	return stop, nil
}

// overEveryDatabase runs the test once per store, at the same time.
func overEveryDatabase(t *testing.T, test func(t *testing.T, database string)) {
	t.Parallel()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database)
		})
	}
}

// overEveryDesign runs the test once per design and store.
func overEveryDesign(t *testing.T, test func(t *testing.T, design orders.Design, database string)) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		for _, design := range orders.Designs() {
			t.Run(design.Name, func(t *testing.T) { test(t, design, database) })
		}
	})
}

// subject is a running API under test and a look into its tables.
type subject struct {
	*orders.Server
	pool *sql.DB
}

func serve(t *testing.T, options orders.Options) subject {
	t.Helper()
	server, err := orders.Start(t.Context(), options)
	require.NoError(t, err)
	pool := openURL(t, server.DatabaseURL())
	t.Cleanup(func() {
		require.NoError(t, pool.Close())
		require.NoError(t, server.Close())
	})
	return subject{server, pool}
}

func openURL(t *testing.T, address string) *sql.DB {
	t.Helper()
	link, err := url.Parse(address)
	require.NoError(t, err)
	driver, source := "pgx", address
	switch link.Scheme {
	case "sqlite":
		driver, source = "sqlite", "file:"+link.Path+"?_pragma=busy_timeout(10000)"
	case "mariadb":
		config := mysql.NewConfig()
		config.User = link.User.Username()
		config.Passwd, _ = link.User.Password()
		config.Net, config.Addr, config.DBName = "tcp", link.Host, strings.TrimPrefix(link.Path, "/")
		driver, source = "mysql", config.FormatDSN()
	}
	pool, err := sql.Open(driver, source)
	require.NoError(t, err)
	return pool
}

// rows are the ids that the target's own row query finds for the marker.
func (s subject) rows(t *testing.T, marker string) []string {
	t.Helper()
	placeholder := "?"
	if strings.HasPrefix(s.DatabaseURL(), "postgres:") {
		placeholder = "$1"
	}
	query := strings.ReplaceAll(s.Target().Operations["create_order"].Rows.Query, ":marker", placeholder)
	found, err := s.pool.Query(query, marker)
	require.NoError(t, err)
	defer found.Close()
	var ids []string
	for found.Next() {
		var id, note string
		var amount int64
		require.NoError(t, found.Scan(&id, &note, &amount))
		require.Equal(t, marker, note)
		ids = append(ids, id)
	}
	require.NoError(t, found.Err())
	return ids
}

// wish is one body with its key.
type wish struct {
	key, note, reference string
	amount               int
}

func newWish(name string) wish {
	return wish{key: "key-" + name, note: "note-" + name, reference: "ref-" + name, amount: 1200}
}

func (w wish) body() string {
	return fmt.Sprintf(`{"note": %q, "reference": %q, "item": "lamp", "amount": %d}`, w.note, w.reference, w.amount)
}

// reply is one whole answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// member is a string in the body's JSON object; empty if there is none.
func (r reply) member(name string) string {
	var members map[string]any
	_ = json.Unmarshal([]byte(r.body), &members)
	text, _ := members[name].(string)
	return text
}

// same is what a replay must repeat.
func (r reply) same() string {
	return fmt.Sprint(r.status, r.header.Get("Location"), r.header.Get("Content-Type"), r.body)
}

// send makes one exchange on a connection of its own, so that the library cannot send it twice.
func (s subject) send(ctx context.Context, w wish) (reply, error) {
	return s.sendBody(ctx, w.key, w.body())
}

func (s subject) sendBody(ctx context.Context, key, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/orders", strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Close = true
	req.GetBody = nil
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return exchange(req)
}

func exchange(req *http.Request) (reply, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, err
}

func (s subject) must(t *testing.T, w wish) reply {
	t.Helper()
	got, err := s.send(t.Context(), w)
	require.NoError(t, err)
	return got
}

// get reads a path of the API.
func (s subject) get(t *testing.T, path string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
	require.NoError(t, err)
	req.Close = true
	got, err := exchange(req)
	require.NoError(t, err)
	return got
}

// counts reads how many requests were received and how many are being executed.
func (s subject) counts(t *testing.T) (received, inFlight int) {
	t.Helper()
	var counts struct {
		Received int
		InFlight int `json:"in_flight"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.get(t, "/-/received").body), &counts))
	return counts.Received, counts.InFlight
}

// untilReceived waits until the API has taken n requests in.
func (s subject) untilReceived(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { received, _ := s.counts(t); return received >= n }, 10*time.Second, time.Millisecond)
}

// untilIdle waits until nothing is being executed.
func (s subject) untilIdle(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { _, inFlight := s.counts(t); return inFlight == 0 }, 20*time.Second, 2*time.Millisecond)
}

// together sends all wishes at once and returns their answers in order; a failed exchange is the zero reply.
func (s subject) together(ctx context.Context, wishes []wish) []reply {
	replies := make([]reply, len(wishes))
	var all sync.WaitGroup
	for i, w := range wishes {
		all.Go(func() { replies[i], _ = s.send(ctx, w) })
	}
	all.Wait()
	return replies
}
