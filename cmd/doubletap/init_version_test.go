package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const ticketsDocument = `openapi: 3.1.0
info: {title: Tickets, version: "1"}
paths:
  /tickets: {post: {operationId: open, requestBody: {content: {application/json: {schema: {type: object, required: [title, points],
    properties: {title: {type: string}, points: {type: integer, example: 3}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}
  /tickets/{ticketId}: {METHOD: {operationId: change, parameters: [{name: ticketId, in: path, required: true, schema: {type: integer}}HEADER],
    requestBody: {content: {application/json: {schema: {type: object, required: [title, points],
    properties: {title: {type: string}, points: {type: integer, example: 5}}}}}},
    responses: {"200": {description: Changed}, "412": {description: Changed meanwhile}, "428": {description: Say which version}}}}
`

// plansDocument has the version in the body.
const plansDocument = `openapi: 3.1.0
info: {title: Tickets, version: "1"}
paths:
  /tickets: {post: {operationId: open, requestBody: {content: {application/json: {schema: {type: object, required: [title, points],
    properties: {title: {type: string}, points: {type: integer, example: 3}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}, version: {type: integer}}}}}}}}}
  /tickets/{ticketId}: {METHOD: {operationId: change, parameters: [{name: ticketId, in: path, required: true, schema: {type: integer}}],
    requestBody: {content: {application/json: {schema: {type: object, required: [title, points, version],
    properties: {title: {type: string}, points: {type: integer, example: 5}, version: {type: integer}}}}}},
    responses: {"200": {description: Changed}, "412": {description: Changed meanwhile}}}}
`

// versioned is a service whose tickets are changed by who knows their version.
type versioned struct {
	tells   string // where it says which version there is: POST, GET (both by ETag), or a member of what a POST is answered
	forgets bool   // whether that is the version which was known is not asked

	db *sql.DB
}

func (v versioned) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tickets", func(w http.ResponseWriter, r *http.Request) {
		title, points, _ := v.read(r)
		made, err := v.db.Exec("insert into tickets (title, points, version) values (?, ?, 4)", title, points)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		id, _ := made.LastInsertId()
		answer := fmt.Sprintf(`{"id": %d}`, id)
		switch v.tells {
		case "GET":
		case "POST":
			w.Header().Set("ETag", `"4"`)
		default:
			answer = fmt.Sprintf(`{"id": %d, %q: 4}`, id, v.tells)
		}
		says(w, http.StatusCreated, answer)
	})
	mux.HandleFunc("GET /tickets/{id}", func(w http.ResponseWriter, r *http.Request) {
		if v.tells == "GET" {
			w.Header().Set("ETag", `"4"`)
		}
		says(w, http.StatusOK, "{}")
	})
	mux.HandleFunc("/tickets/{id}", v.change)
	return mux
}

func (v versioned) read(r *http.Request) (title string, points int, version string) {
	var ticket struct {
		Title   string
		Points  int
		Version json.Number
	}
	_ = json.NewDecoder(r.Body).Decode(&ticket)
	return ticket.Title, ticket.Points, ticket.Version.String()
}

func (v versioned) change(w http.ResponseWriter, r *http.Request) {
	title, points, known := v.read(r)
	if known = cmp.Or(r.Header.Get("If-Match"), known); known == "" {
		says(w, http.StatusPreconditionRequired, `{"error": "say by If-Match which version"}`)
		return
	}
	done, err := v.db.Exec(`update tickets set title = ?, points = ?, version = version + 1 where id = ? and (version = ? or ?)`,
		title, points, r.PathValue("id"), strings.Trim(known, `"`), v.forgets)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if n, _ := done.RowsAffected(); n == 0 {
		says(w, http.StatusPreconditionFailed, `{"error": "stale"}`)
		return
	}
	says(w, http.StatusOK, fmt.Sprintf(`{"id": %s}`, r.PathValue("id")))
}

// TestInitOfAChangeThatNamesItsVersion holds that a change which has to say by If-Match which version it is for gets that from where the
// target tells it, and that runs then see who applies it twice.
func TestInitOfAChangeThatNamesItsVersion(t *testing.T) {
	t.Parallel()
	const header = ", {name: If-Match, in: header, required: true, schema: {type: string}}"
	for name, c := range map[string]struct {
		versioned
		method, header, takes string
		run                   int
	}{
		"by the same member":      {versioned{tells: "version"}, "put", "body", "version: '{{.Prepared.Version | json}}'", exitPass},
		"by the POST":             {versioned{tells: "POST"}, "patch", header, "Version: {header: ETag}}\n    request:", exitPass},
		"by a GET":                {versioned{tells: "GET"}, "put", header, "extract: {Version: {header: ETag}}", exitPass},
		"by a member":             {versioned{tells: "version"}, "put", header, "Version: {json: /version}", exitPass},
		"asked for by answers":    {versioned{tells: "POST"}, "patch", "", "Version: {header: ETag}}\n    request:", exitPass},
		"and compares it to none": {versioned{tells: "POST", forgets: true}, "patch", header, "Version: {header: ETag}}\n    request:", exitFinding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table tickets (id integer primary key, title text, points integer, version integer)")
			c.db = db
			address := serveBoth(t, c.routes())
			document := filepath.Join(t.TempDir(), "openapi.yaml")
			source := ticketsDocument
			if c.header == "body" {
				source = plansDocument
			}
			require.NoError(t, os.WriteFile(document, []byte(strings.NewReplacer("METHOD", c.method, "HEADER", c.header).Replace(source)), 0o600))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--openapi", document, "--operation", "change", "--url", address, "--db", "sqlite://"+path)
			text := readFile(t, file)
			require.Contains(t, text, c.takes, said)
			require.Contains(t, text, "select coalesce(sum(version - 4), 0) from tickets")
			if !c.forgets {
				require.Contains(t, text, "existing: {statuses: [412], where: {/error: stale}}")
				require.Contains(t, text, "fingerprint: {on_mismatch: reject, statuses: [412]")
				require.Contains(t, text, "alter: {points: 6}")
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "burst-same-key", "withheld-answer")
			require.Equal(t, c.run, got.code, got)
		})
	}
}

// TestInitSaysWhatAChangeLacks holds that the lines are named by which a change of one thing becomes one of a thing of each intent.
func TestInitSaysWhatAChangeLacks(t *testing.T) {
	t.Parallel()
	for _, known := range []string{"", `-H 'If-Match: "4"' `} {
		db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table tickets (id integer primary key, title text, points integer, version integer)")
		_, err := db.Exec("insert into tickets (title, points, version) values ('old', 1, 4)")
		require.NoError(t, err)
		address := serveBoth(t, versioned{tells: "GET", db: db}.routes())
		file, _ := initiated(t, nil, exitPass, "--curl", `curl -X PATCH `+known+`-d '{"title": "new", "points": 3}' `+address+"/tickets/1", "--db", "sqlite://"+path)
		said := inOneLine(readFile(t, file))
		require.Contains(t, said, "Version: {header: ETag}")
		require.Contains(t, said, "headers: {If-Match: '{{.Prepared.Version}}'}")
	}
}

// inOneLine is a text without its comment marks and line ends.
func inOneLine(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
}
