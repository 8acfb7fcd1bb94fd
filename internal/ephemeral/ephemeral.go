// Package ephemeral starts the private database and the private store of a service under test: it turns a kind of
// database and files with SQL, or nothing, into a URL that works until Close, and leaves nothing behind.
package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Kinds of databases.
const (
	Postgres = "postgres"
	MariaDB  = "mariadb"
	SQLite   = "sqlite"
)

// Redis starts a private Redis server, which is empty.
func Redis(ctx context.Context) (*Database, error) {
	return serve(servers.Redis(ctx, servers.Options{}))
}

// ErrSchema says that a file with SQL cannot be read, or does not run.
var ErrSchema = errors.New("the schema does not run")

// Database is a running private database, or a store.
type Database struct {
	url  string
	stop func() error
}

// URL is the address of the database, with the password if there is one.
func (d *Database) URL() string { return d.url }

// Close ends the database and removes its files. Closing again does nothing.
func (d *Database) Close() error { return d.stop() }

// Start starts a database of a kind, and runs the files with SQL in it, one after the other.
func Start(ctx context.Context, kind string, schema []string) (*Database, error) {
	d, err := start(ctx, kind)
	if err != nil {
		return nil, err
	}
	for _, file := range schema {
		if err := d.run(ctx, file); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return d, nil
}

// start starts a database of a kind without a schema.
func start(ctx context.Context, kind string) (*Database, error) {
	switch kind {
	case Postgres:
		return serve(servers.Postgres(ctx, servers.Options{}))
	case MariaDB:
		return serve(servers.MariaDB(ctx, servers.Options{}))
	case SQLite:
		return file()
	default:
		return nil, fmt.Errorf("there is no kind of database %q", kind)
	}
}

// serve is a database on a server of its own.
func serve(s *servers.Server, err error) (*Database, error) {
	if err != nil {
		return nil, err
	}
	return &Database{url: s.URL(), stop: s.Stop}, nil
}

// file makes an empty SQLite database in a folder of its own.
func file() (*Database, error) {
	dir, err := servers.TemporaryFolder("doubletap-sqlite-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir.Path(), "database.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make the SQLite file: %w", err), dir.Remove())
	}
	return &Database{url: "sqlite://" + (&url.URL{Path: path}).EscapedPath(), stop: dir.Remove}, nil
}

// run runs a file with any number of statements, on one connection.
func (d *Database) run(ctx context.Context, file string) error {
	text, err := files.Read(file, files.MostText)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	db, err := databases.Open(ctx, manyStatements(d.url), databases.ReadWrite)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, string(text)); err != nil {
		return fmt.Errorf("%w: %s: %s", ErrSchema, file, databases.OneLine(err))
	}
	return nil
}

// manyStatements lets a text hold more than one statement, for which MariaDB's driver has to be asked.
func manyStatements(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != MariaDB {
		return address
	}
	u.RawQuery = "multiStatements=true"
	return u.String()
}
