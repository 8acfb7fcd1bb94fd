package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAMistakeThatSeveralPlainCreatesShow holds that a file which takes other rows, or another name, for what a create makes is
// said to be wrong before the library plays: the service is right, and each create is sent once.
func TestAMistakeThatSeveralPlainCreatesShow(t *testing.T) {
	t.Parallel()
	const log = "create table log (id integer primary key, what text, said text, thing int);"
	const on = "create trigger after_create after insert on things begin "
	sameName := wrapped(func(answer *httptest.ResponseRecorder, _ int) {
		text := strings.Replace(answer.Body.String(), "{", `{"user":7,`, 1)
		answer.Body.Reset()
		answer.Body.WriteString(text)
	})
	for name, c := range map[string]struct {
		wrap     func(http.Handler) http.Handler
		sql      string
		from, to string // what is wrong in the file
		says     []string
	}{
		"a history has two rows of each": {
			sql:  log + on + "insert into log (what, said) values ('begun', new.note), ('done', new.note); end",
			from: "select id from things where note", to: "select id from log where said",
			says: []string{"operations.create.rows.query of", "finds 2 rows for each of 3 plain creates", `differ in log.what alike ("begun" and "done")`, "or the target makes 2 for one request"},
		},
		"a log has one row of each": {
			sql:  log + on + "insert into log (id, said) values (new.id + 100, new.note); end",
			from: "select id from things where note", to: "select id from log where said",
			says: []string{"told the name of something that is not its row", `the first was told "2" at /id`, "finds 1 row with 102 in id", "unless the target names what it did not make"},
		},
		"the answer is asked for another name": {
			wrap: sameName, from: "identity: /id", to: "identity: /user",
			says: []string{"told the name of something that is not its row", `"7" at /user`, "operations.create.identity"},
		},
		"all answers have one name, and rows none": {
			wrap: sameName, from: "identity: /id\n    rows: {query: select id from things where note = :marker, identity: id}",
			to:   "identity: /user\n    rows: {query: select note from things where note = :marker}",
			says: []string{"has a row of its own, and was told \"7\" at /user as the name of it", "operations.create.identity of", "unless the target names one for the other"},
		},
		"all rows have one name": {
			wrap: sameName, from: "identity: /id\n    rows: {query: select id from things where note = :marker, identity: id}",
			to:   "identity: /user\n    rows: {query: select 7 as owner from things where note = :marker, identity: owner}",
			says: []string{"all of them have 7 in owner", "operations.create.rows.identity of", "tells created things apart"},
		},
		"the column is short": {
			sql:  on + "update things set note = substr(note, 1, 10), body = null where id = new.id; end",
			says: []string{"finds no row for any; but things, where it looks, has 3 rows more than before", "and note of its row is", "stores it in another form than it was sent"},
		},
		"the column is in capitals": {
			sql:  on + "update things set note = upper(note), body = null where id = new.id; end",
			says: []string{"no row that operations.create.rows.query of", `it is in things.note (stored as "DT`},
		},
		"the query goes by what creates share": {
			from: "where note = :marker", to: "where note like 'd%' and :marker <> ''",
			says: []string{"operations.create.rows.query of", "finds 1 row for a marker that was not sent yet (id 1)", "something that creates share"},
		},
		"a view has a row for each line": {
			sql:  log + on + "insert into log (thing) values (new.id), (new.id); end; create view shown as select t.id, t.note from things t join log on thing = t.id",
			from: "from things", to: "from shown",
			says: []string{"finds 2 rows for one plain create that was sent once (id 1; id 1)", "or the target makes 2 for one request (the marker is in 1 row of things)"},
		},
		"a total changes by another number": {
			from: ", identity: id}", to: ", identity: id}\n    effects: [{name: things, query: select 2 * count(*) from things, delta: 1}]",
			says: []string{`the query of "things" gives 6 more after 3 plain creates that were sent once, so 2 for each, and the file says 1`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, c.wrap)
			_, err := s.db.Exec(c.sql)
			require.NoError(t, err)
			x := s.trial(t, "sequential-replay")
			if c.from != "" {
				require.Contains(t, x.file, c.from)
				x.file = edited(c.from, c.to)
			}
			got := x.run(t)
			require.Equal(t, exitConfig, got.code, "%s", got)
			for _, text := range c.says {
				require.Contains(t, got.err, text)
			}
			require.LessOrEqual(t, lines(got.err), 2, "one message: %s", got.err)
		})
	}
}

// TestInitSaysThatTheThingMayHaveItsNameInOtherLetters holds that a table by which things are found is not taken without a word, where the
// thing itself has its name with a capital.
func TestInitSaysThatTheThingMayHaveItsNameInOtherLetters(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	_, err := s.db.Exec(`create table searchindex (thing integer primary key, title text);
		create trigger after_create after insert on things begin
			insert into searchindex values (new.id, new.note);
			update things set note = upper(substr(note, 1, 1)) || substr(note, 2), body = null where id = new.id;
		end`)
	require.NoError(t, err)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note":"two lamps"}' `+s.url+"/things", "--db", env["DATABASE_URL"])
	text := strings.Join(strings.Fields(strings.ReplaceAll(readFile(t, file), "#", "")), " ")
	require.Contains(t, text, "Whether searchindex is what creates make: things holds the text in other letters than it was sent")
}
