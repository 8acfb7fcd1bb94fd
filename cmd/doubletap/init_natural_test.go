package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// choosy is a correct service that knows a thing by a member of its body, without a constraint in its database.
type choosy struct {
	by       string // member whose value is known
	taken    int    // status of the answer to a value that is known
	keyed    bool   // a request with a key that was sent before gets the answer that it got then
	header   string // of the key; empty: the usual one
	declines int    // the first of so many creates is declined; 0: none is

	db      *sql.DB
	mu      sync.Mutex
	known   map[string]bool
	answers map[string]choice // by key
	creates int
}

type choice struct {
	status int
	body   string
}

func (c *choosy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	c.mu.Lock()
	defer c.mu.Unlock()
	key := r.Header.Get(cmp.Or(c.header, "Idempotency-Key"))
	answer, before := c.answers[key]
	if !before || key == "" {
		answer = c.create(body)
	}
	if c.keyed {
		c.answers[key] = answer
	}
	says(w, answer.status, answer.body)
}

func (c *choosy) create(body map[string]any) choice {
	value, named := body[c.by].(string)
	if named && c.known[value] {
		return choice{c.taken, `{"received":true,"code":"taken"}`}
	}
	if c.creates++; c.declines > 0 && c.creates%c.declines == 1 {
		return choice{http.StatusPaymentRequired, `{"code":"card_declined"}`}
	}
	c.known[value] = true
	data, _ := body["data"].(map[string]any)
	_, _ = c.db.Exec("insert into things (name, invoice) values (?, ?)", body["name"], data["invoice"])
	return choice{http.StatusCreated, `{"received":true}`}
}

// setting is a service that sets the quantity of an article, or adds to it.
func setting(t *testing.T, adds bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table items (cart integer, name text, quantity integer, primary key (cart, name))")
	to := "excluded.quantity"
	if adds {
		to = "quantity + excluded.quantity"
	}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var item struct {
			Name     string
			Quantity int
		}
		_ = json.NewDecoder(r.Body).Decode(&item)
		_, err := db.Exec("insert into items values (1, ?, ?) on conflict (cart, name) do update set quantity = "+to, item.Name, item.Quantity)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		says(w, http.StatusOK, "{}")
	})), "sqlite://" + path
}

// TestInitOfAPutThatSetsAQuantity holds that a client's text in the primary key is what makes two requests one.
func TestInitOfAPutThatSetsAQuantity(t *testing.T) {
	t.Parallel()
	for adds, want := range map[bool]int{false: exitPass, true: exitFinding} {
		address, database := setting(t, adds)
		env := map[string]string{"DATABASE_URL": database}
		file, _ := initiated(t, env, exitPass, "--curl", `curl -X PUT -d '{"name": "lamp", "quantity": 2}' `+address+"/carts/1/items", "--db", database)
		text := readFile(t, file)
		require.Contains(t, text, "natural_key: [/name]")
		require.Contains(t, text, "where items.name = :reference", "both bodies of an intent have one name")
		require.Equal(t, !adds, strings.Contains(text, "Whether another body with the same /name may replace the first one"), text)
		got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
		require.Equal(t, want, got.code, got)
	}
}

// TestInitOfARowThatOneTextNames holds that another body under a natural key which has the marker is tried, and compared with the
// first one.
func TestInitOfARowThatOneTextNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		conflict string // what is done about a taken name
		again    int    // status of the answer then
		learns   []string
		altered  int // exit code where another body is sent
	}{
		"the first one stays": {"nothing", http.StatusCreated, []string{"fingerprint: {on_mismatch: replay-original}", "alter: {seats: 6}", "name: '{{.Intent.Reference}}'"}, exitPass},
		"the last one wins":   {"update set seats = excluded.seats", http.StatusOK, []string{"Whether another body with the same /name may replace the first one", "If it must not, add"}, exitFinding},
		"the last one wins as if it were new": {"update set seats = excluded.seats", http.StatusCreated, []string{
			"Whether another body with the same /name may replace the first one", "if it may, take alter out", "alter: {seats: 6}"}, exitFinding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table spaces (id integer primary key, name text unique, seats integer)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var space struct {
					Name  string
					Seats int
				}
				_ = json.NewDecoder(r.Body).Decode(&space)
				status, id := http.StatusCreated, 0
				if db.QueryRow("select id from spaces where name = ?", space.Name).Scan(&id) == nil {
					status = c.again
				}
				_, _ = db.Exec("insert into spaces (name, seats) values (?, ?) on conflict (name) do "+c.conflict, space.Name, space.Seats)
				_ = db.QueryRow("select id, seats from spaces where name = ?", space.Name).Scan(&id, &space.Seats)
				says(w, status, fmt.Sprintf(`{"id":%d,"seats":%d}`, id, space.Seats))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, _ := initiated(t, env, exitPass, "--curl", `curl -d '{"name": "acme", "seats": 5}' `+address+"/spaces", "--db", "sqlite://"+path)
			text := readFile(t, file)
			for _, learnt := range c.learns {
				require.Contains(t, text, learnt)
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "withheld-answer")
			require.Equal(t, exitPass, got.code, got)

			// Only a file that says that the first one stays finds out who replaces it.
			if !strings.Contains(text, "    alter:") {
				require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, "identity: /id", "alter: {seats: 6}\n    identity: /id", 1)), 0o600))
			}
			got = callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "altered-after")
			require.Equal(t, c.altered, got.code, got)
		})
	}
}

// TestInitOfAnIDThatTheClientChooses holds that a create which replaces the row of the one before has something in common with it, and
// that the text which was replaced is not what names the thing.
func TestInitOfAnIDThatTheClientChooses(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table readings (id text primary key, sensor text, value integer)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var reading struct {
			ID, Sensor string
			Value      int
		}
		_ = json.NewDecoder(r.Body).Decode(&reading)
		_, _ = db.Exec("insert into readings values (?, ?, ?) on conflict (id) do update set sensor = excluded.sensor, value = excluded.value", reading.ID, reading.Sensor, reading.Value)
		says(w, http.StatusOK, fmt.Sprintf(`{"id":%q}`, reading.ID))
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	body := `{"id": "0b0e8f0e-5b1c-4f3a-9b1e-2f6f7a8b9c0d", "sensor": "kitchen", "value": 21}`
	file, _ := initiated(t, env, exitPass, "--curl", "curl -d '"+body+"' "+address+"/readings", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/id]")
	require.Contains(t, text, `id: '{{unique "uuid"}}'`)
	require.Contains(t, text, "refuses a second row in readings with the same (id)")
	require.Contains(t, text, "Whether another body with the same /id may replace the first one")
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
	require.Equal(t, exitPass, got.code, got)
}

// TestInitFindsWhatMakesTwoCreatesOne holds that init needs no constraint of the database to see that, and no luck to see a
// decline.
func TestInitFindsWhatMakesTwoCreatesOne(t *testing.T) {
	t.Parallel()
	const user, event = `{"email": "jane@example.com", "name": "Jane"}`, `{"id": "evt_1JkQ2x", "type": "invoice.paid", "data": {"invoice": "in_771"}}`
	for name, c := range map[string]struct {
		*choosy
		header, body string
		learns, not  []string
	}{
		"an e-mail address": {&choosy{by: "email", taken: 409}, "", user,
			[]string{"natural_key: [/email]", "existing: {statuses: [409], where: {/code: taken}}", "email: '{{.Intent.Reference}}@example.com'", "name: '{{.Intent.Marker}}'"}, nil},
		"an address beside a key": {&choosy{by: "email", taken: 409, keyed: true}, "-H 'Idempotency-Key: 1' ", user,
			[]string{"level: idempotent", "natural_key: [/email]", "existing: {statuses: [409], where: {/code: taken}}", "key: {in: header, name: Idempotency-Key}"}, nil},
		"the id of an event": {&choosy{by: "id", taken: 200}, "", event,
			[]string{"natural_key: [/id]", "id: evt_{{.Intent.Reference}}", "invoice: '{{.Intent.Marker}}'", "replay: {status: {201: [200]}"}, []string{"existing"}},
		"a number that no create had yet": {&choosy{by: "number", taken: 409}, "", `{"number": "INV-7", "name": "Jane", "amount": 3}`,
			[]string{"natural_key: [/number]", "number: INV-{{.Intent.Reference}}", "existing: {statuses: [409], where: {/code: taken}}"}, []string{"preset"}},
		"a word that is not called like a name": {&choosy{by: "handle", taken: 409}, "", `{"handle": "jane", "name": "Jane", "amount": 3}`,
			[]string{"natural_key: [/handle]", "handle: '{{.Intent.Reference}}'", "existing: {statuses: [409], where: {/code: taken}}"}, []string{"preset"}},
		"the text that has the marker": {&choosy{by: "name", taken: 200}, "", `{"name": "Jane", "plan": "p-1"}`,
			[]string{"natural_key: [/name]", "plan: p-1", "replay: {status: {201: [200]}"}, []string{"preset"}},
		"a key header of another name": {&choosy{by: "nothing", keyed: true, header: "X-Request-Key"}, "-H 'X-Request-Key: abc' ", event,
			[]string{"key: {in: header, name: X-Request-Key}"}, []string{"natural_key", "API_REQUEST_KEY"}},
		"a header with the id of a delivery": {&choosy{by: "nothing", keyed: true, header: "X-Delivery"}, "-H 'X-Event: push' -H 'X-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958' ", event,
			[]string{"key: {in: header, name: X-Delivery}", "headers: {X-Event: push}", "id: evt_1JkQ2x"}, []string{"natural_key"}},
		"a header that is not called like a key": {&choosy{by: "nothing", keyed: true, header: "X-Client-Ref"}, "-H 'X-Client-Ref: abc' ", user,
			[]string{"key: {in: header, name: X-Client-Ref}"}, []string{"natural_key"}},
		"a key that looks like a secret": {&choosy{by: "nothing", keyed: true, header: "X-Form-Token"}, "-H 'X-Form-Token: abc' ", user,
			[]string{"key: {in: header, name: X-Form-Token}"}, []string{"natural_key", "API_FORM_TOKEN"}},
		"such a header beside a number": {&choosy{by: "number", taken: 409, keyed: true, header: "X-Client-Ref"}, "-H 'X-Client-Ref: abc' ", `{"number": "INV-7", "name": "Jane", "amount": 3}`,
			[]string{"key: {in: header, name: X-Client-Ref}", "natural_key: [/number]", "existing: {statuses: [409]"}, nil},
		"a key, and nothing else": {&choosy{by: "nothing", keyed: true}, "-H 'Idempotency-Key: 1' ", user, []string{"level: idempotent"}, []string{"natural_key", "declined"}},
		"a key, and some declines": {&choosy{by: "nothing", keyed: true, declines: 4}, "-H 'Idempotency-Key: 1' ", user,
			[]string{"errors: {declined: {statuses: [402], where: {/code: card_declined}}}"}, []string{"natural_key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)", "create table things (number integer primary key, name text, invoice text)")
			c.db, c.known, c.answers = db, map[string]bool{"jane@example.com": true, "evt_1JkQ2x": true}, map[string]choice{"72d3162e-cc78-11e3-81ab-4c9367dc0958": {http.StatusCreated, "{}"}}
			address := serveBoth(t, c.choosy)
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, _ := initiated(t, env, exitPass, "--curl", "curl "+c.header+"-d '"+c.body+"' "+address+"/things", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			for _, line := range c.learns {
				require.Contains(t, text, line)
			}
			for _, line := range c.not {
				require.NotContains(t, text, line)
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1",
				"plain-create", "sequential-replay", "fresh-key-retry", "double-click", "tabs-natural-key", "altered-after", "distinct-twins", "key-case")
			require.Contains(t, []int{exitPass, exitInconclusive}, got.code, "%s\n%s", text, got) // a busy machine may leave a race untried
		})
	}
}

// TestInitAsksWhatTheMarkersMemberNames holds that the member with the marker is the natural key only if a create with the same value in it, and others in all
// else, makes no second row: also where an id that was drawn as long as the source's makes two creates one.
func TestInitAsksWhatTheMarkersMemberNames(t *testing.T) {
	t.Parallel()
	const taken = `{"data": {"id": {"code": "validation_not_unique"}}, "message": "Failed to create record."}`
	ids := regexp.MustCompile("^[a-z0-9]{15}$")
	for name, c := range map[string]struct{ known, learns string }{
		"an id of a fixed length": {"id = ?1", "natural_key: [/id]"},
		"the marker's member":     {"reference = ?2", "natural_key: [/reference]"},
		"it and what differs":     {"reference = ?2 and contact = ?3", "natural_key: [/reference, /contact]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id text, reference text, contact text, amount integer)")
			_, err := db.Exec("insert into orders values ('abcde1234567890', 'PO-1', 'ada@example.org', 12)")
			require.NoError(t, err)
			var mu sync.Mutex
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var order struct {
					ID, Reference, Contact string
					Amount                 int
				}
				_ = json.NewDecoder(r.Body).Decode(&order)
				if !ids.MatchString(order.ID) {
					says(w, http.StatusBadRequest, `{"data": {"id": {"code": "validation_max_text_constraint"}}, "message": "Failed to create record."}`)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				made, err := db.Exec("insert into orders select ?1, ?2, ?3, ?4 where not exists (select 1 from orders where "+c.known+")", order.ID, order.Reference, order.Contact, order.Amount)
				require.NoError(t, err)
				if n, _ := made.RowsAffected(); n == 0 {
					says(w, http.StatusBadRequest, taken)
					return
				}
				says(w, http.StatusOK, fmt.Sprintf(`{"id": %q}`, order.ID))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			curl := `curl -d '{"id": "abcde1234567890", "reference": "PO-1", "contact": "ada@example.org", "amount": 12}' ` + address + "/orders"
			file, said := initiated(t, env, exitPass, "--curl", curl, "--db", env["DATABASE_URL"])
			require.Contains(t, readFile(t, file), c.learns, said)
		})
	}
}

// TestInitLetsDifferWhatIsTakenFromTheSecondCreateOn holds that a name, which had the marker in the first create only, differs in each where a third create with the
// source's is refused as if the service failed.
func TestInitLetsDifferWhatIsTakenFromTheSecondCreateOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ refused, learns string }{
		"it differs":           {"login = '@' || ?1 or mail = ?2", "username: '{{.Intent.Reference}}'"},
		"nothing that differs": {"(select count(*) from users) > 2", "Whether creates go on as the file has them: a third one was answered 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
				create table users (id integer primary key, login text, mail text);
				create table meta (id integer primary key, user_id integer, name text, value text)`)
			var mu sync.Mutex
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var user struct {
					Username, Email string
					FirstName       string `json:"first_name"`
				}
				_ = json.NewDecoder(r.Body).Decode(&user)
				mu.Lock()
				defer mu.Unlock()
				made, err := db.Exec("insert into users (login, mail) select '@' || ?1, ?2 where not exists (select 1 from users where "+c.refused+")", user.Username, user.Email)
				require.NoError(t, err)
				if n, _ := made.RowsAffected(); n == 0 {
					says(w, http.StatusInternalServerError, `{"code": "existing_user_login", "message": "Sorry, that username already exists!"}`)
					return
				}
				id, _ := made.LastInsertId()
				_, err = db.Exec("insert into meta (user_id, name, value) values (?, 'first_name', ?)", id, user.FirstName)
				require.NoError(t, err)
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			curl := `curl -d '{"username": "ada", "email": "ada@example.org", "first_name": "Ada"}' ` + address + "/users"
			file, said := initiated(t, env, exitPass, "--curl", curl, "--db", env["DATABASE_URL"])
			require.Contains(t, readFile(t, file), c.learns, said)
		})
	}
}
