package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// activating is a service that activates the device which the path names: with a POST, what is active is refused, and with a PUT it is answered as it
// is, if the body says so. Where devices must be there, only those that were made are known. The broken one looks whether the device is active, and
// takes its time until it activates it.
type activating struct {
	db       *sql.DB
	known    bool // devices must be there
	replaces bool // a PUT does
	broken   bool
}

func newActivating(t *testing.T, a activating) (address, database string) {
	t.Helper()
	unique := " unique"
	if a.broken {
		unique = ""
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
		"create table devices (serial text primary key, note text); create table activations (id integer primary key, device text"+unique+", owner text, slots integer)")
	a.db = db
	_, err := db.Exec("insert into devices values ('SN-000417', 'of the shop')")
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /devices", a.make)
	mux.HandleFunc("POST /devices/{serial}/activation", a.activate)
	mux.HandleFunc("PUT /devices/{serial}/activation", a.activate)
	return serveBoth(t, mux), "sqlite://" + path
}

func (a activating) make(w http.ResponseWriter, r *http.Request) {
	var body struct{ Note string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	serial := ""
	_ = a.db.QueryRow("insert into devices values (lower(hex(randomblob(8))), ?) returning serial", body.Note).Scan(&serial)
	says(w, http.StatusCreated, fmt.Sprintf(`{"id":%q}`, serial))
}

func (a activating) activate(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Owner string
		Slots int
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	serial, owner, slots, found := r.PathValue("serial"), "", 0, 0
	if body.Owner == "" || body.Slots < 1 {
		says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
		return
	}
	if a.known && a.db.QueryRow("select 1 from devices where serial = ?", serial).Scan(&found) != nil {
		says(w, http.StatusNotFound, `{"error":"no such device"}`)
		return
	}
	status := http.StatusOK
	if a.db.QueryRow("select id from activations where device = ?", serial).Scan(&found) != nil {
		if a.broken {
			time.Sleep(20 * time.Millisecond)
		}
		if _, err := a.db.Exec("insert into activations (device, owner, slots) values (?, ?, ?)", serial, body.Owner, body.Slots); err == nil {
			status = http.StatusCreated
		}
	}
	if a.replaces {
		_, _ = a.db.Exec("update activations set owner = ?, slots = ? where device = ?", body.Owner, body.Slots, serial)
	}
	if a.db.QueryRow("select id, owner, slots from activations where device = ? order by id", serial).Scan(&found, &owner, &slots) != nil || owner != body.Owner || slots != body.Slots ||
		r.Method == http.MethodPost && status == http.StatusOK {
		says(w, http.StatusConflict, `{"error":"active"}`)
		return
	}
	says(w, status, fmt.Sprintf(`{"id":%d}`, found))
}

// TestInitOfWhatTheMiddleOfThePathNames holds that a request to a part of what its path names is sent to another thing in each create, also where that
// of the source is there already, and that the path is what makes two requests one.
func TestInitOfWhatTheMiddleOfThePathNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		activating
		method, path string
		before       bool // the request of the source was sent before
		learns       []string
	}{
		"PUT":               {activating{}, "PUT", "SN-000417", false, []string{`path: "/devices/SN-{{.Intent.Reference}}/activation"`, "replay: {status: {201: [200]}", "fingerprint: {on_mismatch: reject, statuses: [409]"}},
		"PUT, sent before":  {activating{}, "PUT", "SN-000417", true, []string{`path: "/devices/SN-{{.Intent.Reference}}/activation"`, "fingerprint: {on_mismatch: reject, statuses: [409]"}},
		"PUT, replaces":     {activating{replaces: true}, "PUT", "SN-000417", false, []string{`path: "/devices/SN-{{.Intent.Reference}}/activation"`, "Whether another body with the same path may replace the first one"}},
		"POST":              {activating{}, "POST", "417", false, []string{`path: "/devices/{{unique \"int\"}}/activation"`, "existing: {statuses: [409], where: {/error: active}}"}},
		"POST, sent before": {activating{}, "POST", "SN-000417", true, []string{`path: "/devices/SN-{{.Intent.Reference}}/activation"`, "existing: {statuses: [409], where: {/error: active}}"}},
		"POST, a word":      {activating{}, "POST", "kitchen", false, []string{`path: "/devices/{{.Intent.Reference}}/activation"`, "existing: {statuses: [409]"}},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				c := c
				c.broken = broken
				address, database := newActivating(t, c.activating)
				env := map[string]string{"DATABASE_URL": database}
				curl := `curl -X ` + c.method + ` -d '{"owner": "Ada of the office", "slots": 3}' ` + address + "/devices/" + c.path + "/activation"
				if c.before {
					request, err := http.NewRequestWithContext(t.Context(), c.method, address+"/devices/"+c.path+"/activation", strings.NewReader(`{"owner": "Ada of the office", "slots": 3}`))
					require.NoError(t, err)
					answer, err := http.DefaultClient.Do(request)
					require.NoError(t, err)
					require.NoError(t, answer.Body.Close())
				}
				file, said := initiated(t, env, exitPass, "--curl", curl, "--db", database)
				text := readFile(t, file)
				for _, line := range append(c.learns, "natural_key: [path] # another create at the same path made no second row") {
					require.Contains(t, strings.ReplaceAll(text, "\n#", ""), line, said)
				}
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// TestInitOfWhatMustBeThere holds that init says how each create gets a thing of its own, where what the path names must be there first, and that a
// file with such a step runs.
func TestInitOfWhatMustBeThere(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{false, true} {
		address, database := newActivating(t, activating{known: true})
		env := map[string]string{"DATABASE_URL": database}
		const body = `{"owner": "Ada of the office", "slots": 3}`
		if before {
			answer, err := http.Post(address+"/devices/SN-000417/activation", "application/json", strings.NewReader(body))
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
		}
		file, said := initiated(t, env, exitPass, "--curl", `curl -d '`+body+`' `+address+"/devices/SN-000417/activation", "--db", database)
		text := strings.ReplaceAll(readFile(t, file), "\n#", "")
		require.Contains(t, text, "Whether SN-000417 in the path takes more than one create: one was answered 409", said)
		require.Contains(t, text, "prepare: [{request: {method: POST, path: /devices, body: {name: '{{.Intent.Reference}}'}}, extract: {ID: {json: /id}}}]", said)
		require.Contains(t, text, "'/devices/{{.Prepared.ID}}/activation'", said)
		require.Contains(t, text, "path: /devices/SN-000417/activation", said)
	}
}

const activationsDocument = `openapi: 3.1.0
info: {title: Devices, version: "1"}
paths:
  /devices: {post: {operationId: addDevice, requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}}}
  /devices/{deviceId}/activation: {post: {operationId: activate,
    parameters: [{name: deviceId, in: path, required: true, schema: {type: string}}],
    requestBody: {content: {application/json: {schema: {type: object, required: [owner, slots], properties: {owner: {type: string}, slots: {type: integer, minimum: 1}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}
`

// TestInitOfAStepOfWhatWasPrepared holds that what makes two requests one is the thing in their path where another body for the same thing makes no
// row, and one body for two things makes two; and that it is the body, or both, where that is so.
func TestInitOfAStepOfWhatWasPrepared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ unique, natural string }{
		"the thing":          {"device", "[path]"},
		"thing and body":     {"device, owner", "[path, /owner]"},
		"the body, anywhere": {"owner", "[/owner]"},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := activatingOnce(t, c.unique, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--openapi", writeFile(t, "devices.yaml", activationsDocument), "--operation", "activate", "--url", address, "--db", database)
				text := readFile(t, file)
				require.Contains(t, text, "natural_key: "+c.natural+" # another create", said)
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// activatingOnce is a service that activates devices, each activation once by some columns, which the catalogue does not show. The broken one looks
// whether it is there, and takes its time.
func activatingOnce(t *testing.T, unique string, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
		"create table devices (serial text primary key, note text); create table activations (id integer primary key, device text, owner text, slots integer); create table taken (what text primary key)")
	mux := http.NewServeMux()
	mux.HandleFunc("POST /devices", activating{db: db}.make)
	mux.HandleFunc("POST /devices/{serial}/activation", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Owner string
			Slots int
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		id, serial := int64(0), r.PathValue("serial")
		by := map[string]string{"device": serial, "owner": body.Owner, "device, owner": serial + " " + body.Owner}[unique]
		if broken {
			found := 0
			if db.QueryRow("select 1 from taken where what = ?", by).Scan(&found) == nil {
				says(w, http.StatusConflict, `{"error":"active"}`)
				return
			}
			time.Sleep(20 * time.Millisecond)
			_, _ = db.Exec("insert into taken values (?) on conflict do nothing", by)
		} else if _, err := db.Exec("insert into taken values (?)", by); err != nil {
			says(w, http.StatusConflict, `{"error":"active"}`)
			return
		}
		_ = db.QueryRow("insert into activations (device, owner, slots) values (?, ?, ?) returning id", serial, body.Owner, body.Slots).Scan(&id)
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	})
	return serveBoth(t, mux), "sqlite://" + path
}
