package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitAltersWhatTheServiceTakes holds that another body of a file is one that makes a create of its own, where the text that has the marker is
// what makes two creates one: the version of a protocol is refused whatever else the body has.
func TestInitAltersWhatTheServiceTakes(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `create table users (id integer primary key, name text not null unique)`)
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Protocol, Weight int
			Name             string
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Protocol != 2 {
			says(w, http.StatusBadRequest, `{"code":"bad_protocol"}`)
			return
		}
		made, err := db.Exec("insert into users (name) values (?)", asked.Name)
		if err != nil {
			says(w, http.StatusConflict, `{"code":"taken"}`)
			return
		}
		id, _ := made.LastInsertId()
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -d '{"protocol":2,"name":"ada lovelace","weight":5}' `+address+"/users", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/name]")
	require.Contains(t, text, "alter: {weight: 6}")
}
