package sut

import (
	"context"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// givenDatabase stands for the URL of a database that the caller has opened: its kind says how queries are read. One that does not
// answer is SQLite until it is connected to, which says what is wrong.
func (o Options) givenDatabase() string {
	dialect := databases.SQLite
	if asked, err := databases.DialectOver(context.Background(), o.DB); err == nil {
		dialect = asked
	}
	return string(dialect) + ":the-database-that-was-given"
}

// loadWith reads the text of a target file with the caller's API and database in place of what it names.
func (o Options) loadWith(source []byte, env func(string) (string, bool)) (targets.Target, error) {
	instead := map[string]string{}
	if o.BaseURL != "" {
		instead["/base_url"] = o.BaseURL
	}
	if o.DB != nil {
		instead["/database/url"] = o.givenDatabase()
	}
	target, err := targets.LoadInstead(o.Target, source, env, instead)
	if err != nil {
		return targets.Target{}, err
	}
	return o.override(target)
}

// override puts the caller's API and database in place of what a target names.
func (o Options) override(target targets.Target) (targets.Target, error) {
	if len(target.Operations) == 0 {
		return targets.Target{}, runerror.Configf("%s has no operation", o.Target)
	}
	if o.BaseURL != "" {
		target.BaseURL, target.Socket, target.Process, target.Instances = o.BaseURL, "", nil, nil
		if target.Store.Ephemeral != targets.NoEngine {
			target.Store = targets.Store{}
		}
	}
	switch {
	case o.DB == nil && o.BaseURL != "" && target.Database.Ephemeral != targets.NoEngine:
		return targets.Target{}, runerror.Configf("%s: database.ephemeral is for a process that doubletap starts; give the database of the handler as well", o.Target)
	case o.DB == nil:
		return target, nil
	}
	for _, operation := range target.OperationNames() {
		if target.Operations[operation].Rows.Query == "" {
			return targets.Target{}, runerror.Configf("%s: operations.%s has no rows.query, and a database is given that it should ask", o.Target, operation)
		}
	}
	target.Database.URL, target.Database.Ephemeral, target.Database.Schema = o.givenDatabase(), targets.NoEngine, nil
	return target, nil
}
