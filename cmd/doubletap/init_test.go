package main

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/drafting/openapi"
)

const documents = "../../targets/drafting/openapi/testdata/"

// initiated runs init with an output file, and returns the file's path.
func initiated(t *testing.T, env map[string]string, code int, args ...string) (string, outcome) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target.yaml")
	got := callWith(t.Context(), env, append([]string{"init", "-o", path}, args...)...)
	require.Equal(t, code, got.code, "%s", got)
	require.Empty(t, got.out)
	return path, got
}

// requireRepeated plays repetitions and twins at the target of a file, and holds how that ends and what it says.
func requireRepeated(t *testing.T, env map[string]string, file string, code int, says string) {
	t.Helper()
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "sequential-replay", "distinct-twins")
	require.Equal(t, code, got.code, got)
	require.Contains(t, got.out, says)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// sqliteFile makes tables in a database file of the test, which options say how to open.
func sqliteFile(t *testing.T, options, schema string) (db *sql.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data.db")
	db, err := sql.Open("sqlite", "file:"+path+"?"+options)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec(schema)
	require.NoError(t, err)
	return db, path
}

// TestInitIsProvenByOneCreate takes the whole road: a document and a database become a target file by which
// a broken design is caught and a correct one passes.
func TestInitIsProvenByOneCreate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		design, database string
		code             int
	}{
		"a broken design on SQLite":      {"check-then-insert", "", exitFinding},
		"a broken design on PostgreSQL":  {"check-then-insert", os.Getenv(postgresVariable), exitFinding},
		"a correct design on SQLite":     {"unique-key", "", exitPass},
		"a correct design on PostgreSQL": {"unique-key", os.Getenv(postgresVariable), exitPass},
		"a correct design on MariaDB":    {"unique-key", os.Getenv(mariadbVariable), exitPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, env := servingOn(t, c.design, c.database)
			env["ORDERS_TOKEN"] = "alice-s3cret"
			file, got := initiated(t, env, exitPass, "--openapi", documents+"orders.yaml", "--url", env["ORDERS_URL"], "--db", env["DATABASE_URL"])
			require.Contains(t, got.err, "sending one create: POST "+env["ORDERS_URL"]+"/orders with a marker in /note, /reference\n")
			require.Contains(t, got.err, "/note landed in orders.note")
			require.Contains(t, got.err, "repeating a create to learn what is promised: again, with another body under its key, eight at once, three times, twice without a key\n")
			text := readFile(t, file)
			require.NotContains(t, text+got.err, "s3cret")
			if u, _ := url.Parse(c.database); u.User != nil {
				password, _ := u.User.Password()
				require.NotContains(t, text+got.err, password)
			}
			require.Contains(t, text, "on_mismatch: reject, statuses: [422]")
			require.Contains(t, text, "missing_key: {statuses: [400]")

			got = callWith(t.Context(), env, "doctor", "--target", file)
			for tries := 9; got.code == exitPass && c.code != exitPass && tries > 0; tries-- {
				t.Log("its burst missed the race, so it is sent again")
				got = callWith(t.Context(), env, "doctor", "--target", file)
			}
			require.Equal(t, c.code, got.code, "its burst shows the defect: %s", got)
			require.Contains(t, got.out, "the row query finds exactly it")
			got = callWith(t.Context(), env, "run", "burst-same-key", "altered-after", "--reports", t.TempDir(), "--target", file, "--seed", "3")
			require.Equal(t, c.code, got.code, "%s", got)
		})
	}
}

// TestInitWritesAFileForEveryDocument holds that each operation that takes a plain JSON object leads to a
// target file that validates.
func TestInitWritesAFileForEveryDocument(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob(documents + "*.*")
	require.NoError(t, err)
	written := 0
	for _, path := range found {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		doc, err := openapi.Read(path, data)
		if err != nil {
			initiated(t, nil, exitConfig, "--openapi", path, "--url", "http://localhost")
			continue
		}
		for _, c := range doc.Creates() {
			if strings.HasSuffix(path, "readonly.yaml") {
				_, got := initiated(t, nil, exitConfig, "--openapi", path, "--url", "http://localhost")
				require.Contains(t, got.err, "no JSON object")
				continue
			}
			file, _ := initiated(t, nil, exitPass, "--openapi", path, "--url", "http://localhost:1", "--operation", c.Name)
			got := callWith(t.Context(), everyVariable(t, file), "validate", file)
			require.Equal(t, exitPass, got.code, "%s\n%s", got, readFile(t, file))
			require.Contains(t, readFile(t, file), "What init was unsure of")
			written++
		}
	}
	require.Equal(t, 28, written)
}

// everyVariable sets the variables of a target file that have no default.
func everyVariable(t *testing.T, file string) map[string]string {
	t.Helper()
	env := map[string]string{"DATABASE_URL": "sqlite:///shop.db"}
	for _, found := range regexp.MustCompile(`\$\{([A-Z0-9_]+)\}`).FindAllStringSubmatch(readFile(t, file), -1) {
		if env[found[1]] == "" {
			env[found[1]] = "a-value"
		}
	}
	return env
}

func TestInitFromACurlCommand(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	command := writeFile(t, "curl.txt", `curl '`+s.url+`/things?api_key=qu3ry' \
  -X POST -H 'Authorization: Bearer h3ader' -H "X-Session: $SESSION" -H 'Idempotency-Key: 5' -H 'accept: */*' \
  -u me:us3r --compressed --data-raw $'{"note":"don\'t", "count": 3, "price": {"value": 7}, "password": "b0dy", "cost": "$5 {{x}}"}'`)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path, "SESSION": "sess10n"}
	file, got := initiated(t, env, exitPass, "--curl", "@"+command, "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	for _, secret := range []string{"qu3ry", "h3ader", "us3r", "b0dy", "sess10n", "bWU6dXMzcg"} {
		require.NotContains(t, text+got.err, secret)
	}
	require.Contains(t, text, `path: "/things?api_key=${API_API_KEY}"`)
	require.Contains(t, text, `X-Session: "${SESSION}"`)
	require.Contains(t, text, `password: "${API_PASSWORD}"`)
	require.Contains(t, text, "key: {in: header, name: Idempotency-Key}")
	require.Contains(t, text, `query: "select id, note from things where things.note = :marker"`)
	require.Contains(t, text, "refuses a second row in things with the same (key)")
	require.Equal(t, 12, s.things(t), "one create, one that is repeated, three that are sent at once, one without a key, two of which one is repeated after the other, three that a negative number or an empty text is sent with, and one without what says who sends")
	for name, value := range everyVariable(t, file) {
		if env[name] == "" {
			env[name] = value
		}
	}
	got = callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
}

// TestInitFindsMarkersInsideOfDocuments is for targets that store the body as JSON.
func TestInitFindsMarkersInsideOfDocuments(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.db.Exec("insert or ignore into things (key, body) values (?, ?)", r.Header.Get("Idempotency-Key"), string(body))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{}`)
	}))
	t.Cleanup(server.Close)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '{"note": "x"}' `+server.URL, "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "things.body like '%' || :marker || '%'")
	require.Contains(t, text, "things.body holds more than the marker")
	require.Contains(t, text, "nothing in it equals a key of the row in things")
	got := callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
}

func TestInitKnowsWhatTheDatabasePrevents(t *testing.T) {
	t.Parallel()
	_, env := serving(t, "natural-key")
	env["ORDERS_TOKEN"] = "alice"
	file, _ := initiated(t, env, exitPass, "--openapi", documents+"orders.yaml", "--url", env["ORDERS_URL"], "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "refuses a second row in orders with the same (customer, kind, reference)")
	require.Contains(t, text, "reference: '{{.Intent.Reference}}'", "what may be there once differs from create to create")
}

func TestInitCountsChildRows(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	_, err := s.db.Exec(`create table "thing parts" (part integer primary key, thing integer references things (id), label text);
		create trigger parts after insert on things begin
			insert into "thing parts" (thing, label) values (new.id, 'left'), (new.id, 'right');
			insert into thing_events (thing) values (new.id);
		end;
		create table thing_events (number integer primary key, thing integer references things (id))`)
	require.NoError(t, err)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '{"note": "x"}' `+s.url+"/things", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "    effects: # tables that refer to things")
	require.Contains(t, text, "        rows: 2\n")
	require.Contains(t, text, "    #  - name: thing-events\n", "it may have a row for each request")
	got := callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s\n%s", got, text)
}

func TestInitSuggestsToCountOtherTablesWithTheMarker(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	_, err := s.db.Exec(`create table notices (number integer primary key, about text);
		create trigger notify after insert on things begin insert into notices (about) values (new.note), (new.note); end`)
	require.NoError(t, err)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '{"note": "x"}' `+s.url+"/things", "--db", env["DATABASE_URL"])
	text := regexp.MustCompile(`(?m)^    # (effects|  )`).ReplaceAllString(readFile(t, file), "    $1")
	require.Contains(t, text, "- name: notices-about\n        query: \"select 1 from notices where notices.about = :marker\"\n        rows: 2\n")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	got := callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s\n%s", got, text)
}

// TestInitSaysWhyNothingIsProven holds that the file is there all the same, and validates.
func TestInitSaysWhyNothingIsProven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrap func(http.Handler) http.Handler
		says string
	}{
		"refused":               {answering(422, "text/plain", "count is missing"), "the create was answered 422, so the sample body is not what the target takes"},
		"no credentials":        {answering(401, "text/plain", "who are you"), "so the credentials are wrong or missing"},
		"not there":             {answering(404, "text/plain", "no"), "so --url or the path is wrong"},
		"elsewhere":             {answering(302, "text/plain", ""), "which leads elsewhere"},
		"not well":              {answering(500, "text/plain", "stack"), "so the target is not well"},
		"an error of GraphQL":   {answering(200, "application/json", `{"data":{"order":null},"errors":[{"message":"count is missing"}]}`), "/errors/0 of the answer says what went wrong"},
		"an error of JSON-RPC":  {answering(200, "application/json", `{"id":1,"error":{"code":-32602,"message":"count is missing"}}`), "/error of the answer says what went wrong"},
		"nothing is stored":     {answering(201, "application/json", "{}"), "its marker is in no text column"},
		"the answer is no JSON": {answering(201, "application/json", "<"), "its marker is in no text column"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, c.wrap)
			file, got := initiated(t, nil, exitPass, "--curl", `curl -d '{"note": "x"}' `+s.url, "--db", "sqlite://"+s.path)
			require.Contains(t, got.err, "not proven: ")
			require.Contains(t, got.err, c.says)
			require.Equal(t, strings.HasPrefix(name, "an error"), strings.Contains(got.err, "it was answered 200: ")) // and the error is shown
			require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(readFile(t, file), "\n#", "")), " "), c.says)
			validated := callWith(t.Context(), everyVariable(t, file), "validate", file)
			require.Equal(t, exitConfig, validated.code, "%s", validated)
			require.Contains(t, validated.err, "the key \"rows\" is missing", "what is not known is left to be filled in")
			require.Equal(t, 1, strings.Count(validated.err, "\n"), "and nothing else is: %s", validated)
		})
	}
}

func TestInitFollowsAPathThatHasMoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sent, to, want string }{
		"a slash at the end": {"/shop/things", "/shop/things/", "path: /shop/things/\n"},
		"another path":       {"/shop/things", "/shop/v2/things", "path: /shop/v2/things\n"},
		"a query stays":      {"/shop/things?dry=0", "/shop/things/", "path: /shop/things/?dry=0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, func(shop http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == c.to {
						shop.ServeHTTP(w, r)
						return
					}
					w.Header().Set("Location", c.to)
					w.WriteHeader(http.StatusTemporaryRedirect)
				})
			})
			file, got := initiated(t, nil, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '{"note": "x"}' '`+s.url+c.sent+`'`, "--db", "sqlite://"+s.path)
			require.Contains(t, got.err, "it leads to "+c.to+": trying that path")
			require.Contains(t, readFile(t, file), c.want)
			require.NotContains(t, got.err, "not proven")
		})
	}
	s := newShop(t, func(http.Handler) http.Handler {
		return http.RedirectHandler("https://shop.example/things", http.StatusPermanentRedirect)
	})
	_, got := initiated(t, nil, exitPass, "--curl", `curl -d '{"note": "x"}' `+s.url+"/things", "--db", "sqlite://"+s.path)
	require.Contains(t, got.err, `which leads elsewhere (Location: "https://shop.example/things"), so --url or the path is wrong`)
}

func TestInitSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	command := `curl -d '{"note": "x"}' ` + freeAddress(t)
	_, got := initiated(t, nil, exitEnvironment, "--curl", command, "--db", "sqlite://"+s.path)
	require.Contains(t, got.err, "is the target running?")
	_, got = initiated(t, nil, exitEnvironment, "--curl", command, "--db", "sqlite:///nowhere/shop.db")
	require.Contains(t, got.err, "reach database at /nowhere/shop.db")
	_, got = initiated(t, nil, exitEnvironment, "--openapi", freeAddress(t)+"/openapi.json", "--url", s.url)
	require.Contains(t, got.err, "fetch the OpenAPI document")
	require.Zero(t, s.things(t))
	got = callWith(t.Context(), nil, "init", "--curl", `curl -d '{"note": "x"}' `+s.url, "--db", withPassword(t, postgresVariable, "hunter22"))
	require.Equal(t, exitEnvironment, got.code)
	require.NotContains(t, got.String(), "hunter22")
}

func TestInitFetchesADocumentFromThisMachine(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.FileServer(http.Dir(documents)))
	t.Cleanup(server.Close)
	file, _ := initiated(t, nil, exitPass, "--openapi", server.URL+"/minimal.json", "--url", server.URL)
	require.Contains(t, readFile(t, file), "name: notes")
	file, _ = initiated(t, nil, exitPass, "--openapi", server.URL+"/minimal.json")
	require.Contains(t, readFile(t, file), "http://"+server.Listener.Addr().String()+"}", "requests go to where the document comes from")
	file, _ = initiated(t, nil, exitPass, "--openapi", server.URL+"/club.json", "--operation", "POST /auth/sign-in")
	require.Contains(t, readFile(t, file), "http://localhost:9}", "its server comes first")
	_, got := initiated(t, nil, exitEnvironment, "--openapi", server.URL+"/nothing.json", "--url", server.URL)
	require.Contains(t, got.err, "was answered 404")
	_, got = initiated(t, nil, exitConfig, "--openapi", "https://example.com/openapi.json", "--url", server.URL)
	require.Contains(t, got.err, "only a URL on this machine is fetched")
}
