package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const tagsDocument = `openapi: 3.1.0
info: {title: Tags, version: "1"}
paths:
  /tags: {post: {operationId: addTag, requestBody: {content: {application/json: {schema: {type: object, required: [slug, label],
    properties: {slug: {type: string, example: red-1}, label: {type: string}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}
  /tags/{id}: {delete: {operationId: dropTag, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"204": {description: Gone}}}}
`

// TestInitOfWhatCanBeMadeAgain holds that what a DELETE removes is made again in runs where that was seen to be right, or to be refused as if
// it were still there, by rows that were not removed.
func TestInitOfWhatCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		removes string // what removes a tag
		living  string // tags whose slug is taken
		taken   string // what one is told whose slug is taken; empty: as usual
		learns  string // empty: no remove
		doubts  string
		run     int
	}{
		"by a row that is gone":             {"delete from tags where id = ?", "true", "", "tags.label = :marker\"", "", exitPass},
		"by the time":                       {"update tags set gone_or_deleted_at = datetime() where id = ?", "gone_or_deleted_at is null", "", "and tags.gone_or_deleted_at is null", "", exitPass},
		"by a word":                         {"update tags set state = 'deleted' where id = ?", "state = 'on'", "", "and tags.state = 'on'", "", exitPass},
		"and blocks what is made after it":  {"update tags set state = 'deleted' where id = ?", "true", "", "and tags.state = 'on'", "as if it were still there", exitFinding},
		"and keeps its name for who had it": {"update tags set state = 'deleted' where id = ?", "true", "a deleted tag keeps its slug", "", "to make it again was answered 409", exitPass},
		"by what nothing says of":           {"update tags set other = 'x' where id = ?", "other is null", "", "", "no column was found that says so", exitPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate",
				"create table tags (id integer primary key, slug text, label text, state text default 'on', gone_or_deleted_at text, other text)")
			mux := http.NewServeMux()
			mux.HandleFunc("POST /tags", func(w http.ResponseWriter, r *http.Request) {
				var tag struct{ Slug, Label string }
				_ = json.NewDecoder(r.Body).Decode(&tag)
				id, made, err := addTag(db, tag.Slug, tag.Label, c.living)
				switch {
				case err != nil:
					http.Error(w, err.Error(), http.StatusInternalServerError)
				case made:
					says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
				default:
					says(w, http.StatusConflict, fmt.Sprintf(`{"error": %q, "id": %d}`, "taken"+c.taken, id))
				}
			})
			mux.HandleFunc("DELETE /tags/{id}", func(w http.ResponseWriter, r *http.Request) {
				_, err := db.Exec(c.removes, r.PathValue("id"))
				require.NoError(t, err)
				w.WriteHeader(http.StatusNoContent)
			})
			address := serveBoth(t, mux)
			document := filepath.Join(t.TempDir(), "openapi.yaml")
			require.NoError(t, os.WriteFile(document, []byte(tagsDocument), 0o600))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--openapi", document, "--url", address, "--db", "sqlite://"+path)
			text := readFile(t, file)
			scenarios := []string{"plain-create", "sequential-replay"}
			if c.learns != "" {
				require.Contains(t, text, "path: \"/tags/{{.Made.Identity}}\"", said)
				require.Contains(t, text, c.learns)
				scenarios = append(scenarios, "made-again")
			} else {
				require.NotContains(t, text, "remove:", said)
			}
			require.Contains(t, inOneLine(text), c.doubts)
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, scenarios...)...)
			require.Equal(t, c.run, got.code, got)
		})
	}
}

// addTag adds a tag unless its slug is taken, and says by which.
func addTag(db *sql.DB, slug, label, living string) (id int64, made bool, err error) {
	tx, err := db.Begin()
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = tx.Rollback() }()
	if tx.QueryRow("select id from tags where slug = ? and "+living, slug).Scan(&id) == nil {
		return id, false, nil
	}
	row, err := tx.Exec("insert into tags (slug, label) values (?, ?)", slug, label)
	if err != nil {
		return 0, false, err
	}
	id, _ = row.LastInsertId()
	return id, true, tx.Commit()
}
