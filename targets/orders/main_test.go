package orders_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// databases are the stores that every design is tested over, by name; SQLite needs no URL.
var databases = map[string]string{"sqlite": ""}

// store is the URL of the Redis server of all tests that need none of their own.
var store string

func TestMain(m *testing.M) {
	orders.KeepKeys(time.Hour)
	os.Exit(servers.Serving(func(postgres, mariadb string) int {
		databases["postgres"], databases["mariadb"] = postgres, mariadb
		return servers.ServingRedis(func(redis string) int {
			store = redis
			return runWithoutLeaks(m)
		})
	}))
}

// runWithoutLeaks runs all tests and then looks whether a server that they closed has left a goroutine behind.
func runWithoutLeaks(m *testing.M) int {
	before := goleak.IgnoreCurrent()
	code := m.Run()
	admins.Range(func(_, open any) bool {
		_ = open.(func() *sql.DB)().Close()
		return true
	})
	if err := goleak.Find(before); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "a server that was closed left this behind:", err)
		return 1
	}
	return code
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

// every keeps all designs.
func every(orders.Design) bool { return true }

// everywhereVariable is set where what one store shows is to be seen on all of them, as in make controls.
const everywhereVariable = "DOUBLETAP_SEEDS"

// allStores are the names of databases. The tests take them in different orders, so that a design meets one database after the other.
var allStores = []string{"postgres", "mariadb", "sqlite"}

// overDealtDesigns runs the test once for each design that is kept, on one of the stores; the designs are dealt to them in turn.
func overDealtDesigns(t *testing.T, stores []string, keep func(orders.Design) bool, test func(t *testing.T, design orders.Design, database string)) {
	t.Parallel()
	kept := slices.DeleteFunc(orders.Designs(), func(d orders.Design) bool { return !keep(d) })
	for i, design := range kept {
		on := slices.DeleteFunc(slices.Clone(stores), func(name string) bool { return !design.StandsOn(name) })
		if os.Getenv(everywhereVariable) == "" {
			on = on[i%len(on):][:1]
		}
		for _, name := range on {
			t.Run(design.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, design, databases[name])
			})
		}
	}
}

// subject is a running API under test and a look into its tables.
type subject struct {
	*orders.Server
	pool *sql.DB
	took *sync.Map // what steps of prepare and key.issued took, by intent
}

func serve(t *testing.T, options orders.Options) subject {
	t.Helper()
	options.Store = cmp.Or(options.Store, store)
	server, err := orders.Start(t.Context(), options)
	require.NoError(t, err)
	pool := openURL(t, server.DatabaseURL())
	t.Cleanup(func() {
		require.NoError(t, pool.Close())
		require.NoError(t, server.Close())
		if !options.Keep {
			requireGone(t, options.Database, server.DatabaseURL())
		}
	})
	return subject{server, pool, new(sync.Map)}
}

// requireGone holds that a closed server has removed its place in the database.
func requireGone(t *testing.T, admin, address string) {
	t.Helper()
	link, err := url.Parse(address)
	require.NoError(t, err)
	if link.Scheme == "sqlite" {
		require.NoFileExists(t, link.Path)
		if admin == "" { // the folder is the server's as well
			require.NoDirExists(t, filepath.Dir(link.Path))
		}
		return
	}
	name := strings.TrimPrefix(link.Path, "/")
	if link.Scheme == "postgres" {
		name = link.Query().Get("search_path")
	}
	require.Regexp(t, "^doubletap_[a-z0-9]+$", name)
	var left int
	query := fmt.Sprintf("select count(*) from information_schema.schemata where schema_name = '%s'", name)
	require.NoError(t, asAdmin(t, admin).QueryRow(query).Scan(&left))
	require.Zero(t, left)
}

// admins are pools that all tests share, by the URL of their server: to open a connection costs PostgreSQL more than a test asks on it.
var admins sync.Map

// asAdmin is a pool of the server of all tests. It stays open until all have ended.
func asAdmin(t *testing.T, address string) *sql.DB {
	t.Helper()
	open, _ := admins.LoadOrStore(address, sync.OnceValue(func() *sql.DB { return openURL(t, address) }))
	return open.(func() *sql.DB)()
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
	return s.rowsOf(t, "create_order", marker)
}

// rowsOf waits for rows that come later than their answer. In a correct design nothing comes once its queue is empty;
// a broken one is given time for more.
func (s subject) rowsOf(t *testing.T, operation, marker string) []string {
	t.Helper()
	queue := s.queue()
	if queue != "" && s.Design().Correct {
		require.Eventually(t, func() bool { return s.number(t, "select count(*) from "+queue, "") == 0 }, soon, 5*time.Millisecond)
	}
	ids := s.rowsNow(t, operation, marker)
	if queue == "" || s.Design().Correct {
		return ids
	}
	for same, waited := 0, 0; waited < 60 && (same < 10 || len(ids) == 0); waited++ {
		time.Sleep(50 * time.Millisecond)
		now := s.rowsNow(t, operation, marker)
		if same++; len(now) != len(ids) {
			same = 0
		}
		ids = now
	}
	return ids
}

// queue is the table of what is still to become a row after its answer; empty if answers come with their rows.
func (s subject) queue() string {
	switch {
	case s.Design().Contract.Ack.Accepted.ByRows():
		return "jobs"
	case strings.Contains(s.Target().Operations["create_order"].Rows.Query, "order_views"):
		return "events"
	}
	return ""
}

func (s subject) rowsNow(t *testing.T, operation, marker string) []string {
	t.Helper()
	query, args := s.bind(s.Target().Operations[operation].Rows.Query, marker)
	found, err := s.pool.Query(query, args...)
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

// bind writes the parameter of a target's query as the database wants it.
func (s subject) bind(query, marker string) (string, []any) {
	placeholder := "?"
	if strings.HasPrefix(s.DatabaseURL(), "postgres:") {
		placeholder = "$1"
	}
	return strings.ReplaceAll(query, ":marker", placeholder), slices.Repeat([]any{marker}, strings.Count(query, ":marker"))
}

// intent is one body with its key and its customer.
type intent struct {
	who, operation       string
	key, note, reference string
	amount               int
}

func newIntent(name string) intent {
	return intent{
		who: "alice", operation: "create_order",
		key: "key-" + name, note: "note-" + name, reference: "ref-" + name, amount: 1200,
	}
}

// called is the same intent of another name.
func (w intent) called(name string) intent {
	other := newIntent(name)
	w.key, w.note, w.reference = other.key, other.note, other.reference
	return w
}

func (w intent) by(who string) intent       { w.who = who; return w }
func (w intent) keyed(key string) intent    { w.key = key; return w }
func (w intent) as(operation string) intent { w.operation = operation; return w }

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

// send makes one exchange on a connection of its own, so that the library cannot send it twice. An
// empty key is not sent.
func (s subject) send(ctx context.Context, w intent) (reply, error) {
	r, op := s.render(w)
	if w.key != "" {
		if err := op.PlaceKey(&r, s.keyOf(w, op)); op.Key.In != contract.KeyNowhere && err != nil {
			return reply{}, err
		}
	}
	return s.sendRendered(ctx, r)
}

// render fills in the target's own template.
func (s subject) render(w intent) (targets.Rendered, targets.Operation) {
	target := s.Target()
	op := target.Operations[w.operation]
	if _, members := op.Request.Payload(); members["amount"] != nil {
		members["amount"] = w.amount
	}
	values := s.values(w)
	values.Prepared = s.taken(op.Prepare, values, w.operation, w.who, w.reference)
	r, err := op.Render(values, targets.AsItIs)
	if err != nil {
		panic(err)
	}
	return r, op
}

func (s subject) values(w intent) targets.Values {
	return targets.Values{
		Intent: targets.IntentValues{Marker: w.note, Reference: w.reference}, Principal: s.Target().Principals[w.who],
	}
}

// keyOf is the key of an intent, or what the target hands out in its place.
func (s subject) keyOf(w intent, op targets.Operation) string {
	if len(op.Key.Issued) == 0 {
		return w.key
	}
	return s.taken(op.Key.Issued, s.values(w), w.operation, w.who, "key", w.key)[targets.IssuedKey]
}

// taken is what steps take from their answers. They are sent once for each name.
func (s subject) taken(steps []targets.Step, values targets.Values, name ...string) map[string]string {
	once, _ := s.took.LoadOrStore(fmt.Sprintf("%q", name), sync.OnceValue(func() map[string]string {
		taken := map[string]string{}
		for _, step := range steps {
			s.take(step, values, taken)
		}
		return taken
	}))
	return once.(func() map[string]string)()
}

// take sends a step, and keeps what is to be taken from its answer.
func (s subject) take(step targets.Step, values targets.Values, into map[string]string) {
	r, err := step.Render(values)
	if err != nil {
		panic(err)
	}
	got, err := s.sendRendered(context.Background(), r)
	if err != nil {
		panic(err)
	}
	answer := targets.Answer{Header: map[string]string{}, Body: got.body}
	for name := range got.header {
		answer.Header[name] = got.header.Get(name)
	}
	for name, what := range step.Extract {
		if into[name], err = what.From(answer); err != nil {
			panic(err)
		}
	}
}

// sendBody sends a body as it is, with or without a key.
func (s subject) sendBody(ctx context.Context, key, body string) (reply, error) {
	r, op := s.render(newIntent("any"))
	r.Body = []byte(body)
	if key != "" {
		r.Header[op.Key.Name] = key
	}
	return s.sendRendered(ctx, r)
}

// sendWith sends an intent with one more header.
func (s subject) sendWith(t *testing.T, w intent, name, value string) reply {
	t.Helper()
	r, op := s.render(w)
	require.NoError(t, op.PlaceKey(&r, w.key))
	r.Header[name] = value
	got, err := s.sendRendered(t.Context(), r)
	require.NoError(t, err)
	return got
}

func (s subject) sendRendered(ctx context.Context, r targets.Rendered) (reply, error) {
	req, err := s.request(ctx, r)
	if err != nil {
		return reply{}, err
	}
	return exchange(req)
}

func (s subject) request(ctx context.Context, r targets.Rendered) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, s.URL()+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Close = true
	req.GetBody = nil
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// exchange follows no redirect: a 303 is an answer like any other.
func exchange(req *http.Request) (reply, error) {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, err
}

func (s subject) must(t *testing.T, w intent) reply {
	t.Helper()
	got, err := s.send(t.Context(), w)
	require.NoError(t, err)
	return got
}

// get reads a path of the API as alice.
func (s subject) get(t *testing.T, path string) reply {
	t.Helper()
	got, err := s.read(t.Context(), "alice", path)
	require.NoError(t, err)
	return got
}

func (s subject) read(ctx context.Context, who, path string) (reply, error) {
	return s.sendRendered(ctx, s.bare(who, http.MethodGet, path))
}

// bare is a request without a body. It takes nothing that has to be prepared.
func (s subject) bare(who, method, path string) targets.Rendered {
	target := s.Target()
	op := target.Operations["create_order"]
	header := op.Request.Header
	if len(op.Prepare) > 0 {
		header = op.Prepare[0].Request.Header
	}
	step := targets.Step{Request: targets.Request{Method: method, Path: path, Header: header}}
	r, err := step.Render(targets.Values{Principal: target.Principals[who]})
	if err != nil {
		panic(err)
	}
	return r
}

// delete deletes what is at a path, as alice.
func (s subject) delete(t *testing.T, path string) {
	t.Helper()
	got, err := s.sendRendered(t.Context(), s.bare("alice", http.MethodDelete, path))
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, got.status)
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
	require.Eventually(t, func() bool { received, _ := s.counts(t); return received >= n }, soon, time.Millisecond)
}

// untilIdle waits until nothing is being executed.
func (s subject) untilIdle(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { _, inFlight := s.counts(t); return inFlight == 0 }, soon, 2*time.Millisecond)
}

// together sends all intents at once and returns their answers in order; a failed exchange is the zero reply.
func (s subject) together(ctx context.Context, intents []intent) []reply {
	replies := make([]reply, len(intents))
	var all sync.WaitGroup
	for i, w := range intents {
		all.Go(func() { replies[i], _ = s.send(ctx, w) })
	}
	all.Wait()
	return replies
}
