package servers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
)

// ErrNoPostgres says that PostgreSQL's programs are not on this machine.
var ErrNoPostgres = errors.New("the programs of PostgreSQL are not installed: apt-get install postgresql")

// Postgres starts a private PostgreSQL server and returns when it takes queries. The context bounds
// the start only; the server runs until Stop or until this process ends.
func Postgres(ctx context.Context, options Options) (*Server, error) {
	programs, err := postgresPrograms(options.Programs)
	if err != nil {
		return nil, err
	}
	return plan{
		name: "postgres", program: programs.serve, user: "postgres",
		signal:  "QUIT", // at once: the other ways wait for clients or write everything to disk
		missing: ErrNoPostgres,
		prepare: func(ctx context.Context, where site) error { return programs.prepare(ctx, where, options.CheapLogin) },
		args:    postgresArgs,
		greet:   greetPostgres,
		url:     postgresURL,
	}.start(ctx, options)
}

// postgresURL asks for no TLS, which a private server does not have.
func postgresURL(where site) string { return where.link("postgres", "sslmode=disable") }

// postgresBinaries are the two programs that make and serve a cluster.
type postgresBinaries struct{ prepareCluster, serve string }

// postgresPrograms finds the programs. Debian keeps those of each version in a folder that is not
// in PATH.
func postgresPrograms(folder string) (postgresBinaries, error) {
	usual := newestFirst("/usr/lib/postgresql/*/bin")
	initdb, initErr := findProgram(folder, "initdb", usual...)
	serve, serveErr := findProgram(folder, "postgres", usual...)
	if err := errors.Join(initErr, serveErr); err != nil {
		return postgresBinaries{}, fmt.Errorf("%w (%w)", ErrNoPostgres, err)
	}
	return postgresBinaries{prepareCluster: initdb, serve: serve}, nil
}

// newestFirst lists the folders that match, by the version number in them.
func newestFirst(pattern string) []string {
	folders, _ := filepath.Glob(pattern) // the only error is a bad pattern
	version := func(folder string) float64 {
		number, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(folder)), 64)
		return number
	}
	sort.Slice(folders, func(i, j int) bool { return version(folders[i]) > version(folders[j]) })
	return folders
}

// prepare makes a cluster whose superuser is the account, and the account's database.
func (b postgresBinaries) prepare(ctx context.Context, where site, cheapLogin bool) error {
	secret := filepath.Join(where.dir, "password")
	if err := where.owner.writeFile(secret, where.password+"\n"); err != nil {
		return fmt.Errorf("write the password for initdb: %w", err)
	}
	data := filepath.Join(where.dir, "data")
	// A password is kept and asked for by SCRAM; where one is kept by MD5, as drivers before 2018 need it, it is asked for so.
	local := "scram-sha-256"
	if cheapLogin {
		local = "md5" // initdb keeps the password by MD5 if nothing asks for it by SCRAM
	}
	err := where.run(ctx, b.prepareCluster, "--pgdata="+data, "--username="+account, "--pwfile="+secret,
		"--auth-local="+local, "--auth-host=md5", "--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return err
	}
	creation := filepath.Join(where.dir, "create.sql")
	if err := where.owner.writeFile(creation, "create database "+account+";\n"); err != nil {
		return fmt.Errorf("write the statement that makes the database: %w", err)
	}
	// Single-user mode makes the database without a server and without a connection to another one.
	return where.run(ctx, "/bin/sh", "-c", `exec "$1" --single -D "$2" postgres < "$3"`,
		"sh", b.serve, data, creation)
}

// postgresArgs has a server that writes as little to disk as it can: what it has is thrown away.
func postgresArgs(where site) []string {
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(where.port), "unix_socket_directories=" + where.dir,
		"max_connections=" + strconv.Itoa(where.connections),
		"fsync=off", "synchronous_commit=off", "full_page_writes=off",
	}
	args := []string{"-D", filepath.Join(where.dir, "data")}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}
