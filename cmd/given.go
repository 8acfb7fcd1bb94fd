package cmd

import (
	"database/sql"

	"github.com/doubletap-harness/doubletap/targets"
)

// given is what another program gives in place of what files and flags say, see [Call].
type given struct {
	baseURL string
	db      *sql.DB
	intents int
	again   string
}

// givenDatabase stands for the URL of a database that was given open.
const givenDatabase = "sqlite:the-database-that-was-given"

// load reads the text of a target file with what is given in its place.
func (g given) load(name string, source []byte, env func(string) (string, bool)) (targets.Target, error) {
	instead := map[string]string{}
	if g.baseURL != "" {
		instead["/base_url"] = g.baseURL
	}
	if g.db != nil {
		instead["/database/url"] = givenDatabase
	}
	target, err := targets.LoadInstead(name, source, env, instead)
	if err != nil {
		return targets.Target{}, err
	}
	if g.baseURL != "" {
		target.Socket, target.Process = "", nil
		if target.Store.Ephemeral != targets.NoEngine {
			target.Store = targets.Store{}
		}
	}
	switch {
	case g.db == nil && g.baseURL != "" && target.Database.Ephemeral != targets.NoEngine:
		return targets.Target{}, mistakef("%s: database.ephemeral is for a process that the harness starts; give the database of the handler as well", name)
	case g.db == nil:
		return target, nil
	}
	for _, operation := range target.OperationNames() {
		if target.Operations[operation].Rows.Query == "" {
			return targets.Target{}, mistakef("%s: operations.%s has no rows.query, and a database is given that it should ask", name, operation)
		}
	}
	target.Database.URL, target.Database.Ephemeral, target.Database.Schema = givenDatabase, targets.NoEngine, nil
	return target, nil
}

// first are the numbers of the intents that are sent; nil: all.
func (g given) first() []int {
	var numbers []int
	for n := range g.intents {
		numbers = append(numbers, n+1)
	}
	return numbers
}
