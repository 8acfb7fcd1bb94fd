package servers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// ErrNoMariaDB says that MariaDB's programs are not on this machine.
var ErrNoMariaDB = errors.New("the programs of MariaDB are not installed: apt-get install mariadb-server")

// MariaDB starts a private MariaDB server and returns when it takes queries. The context bounds the
// start only; the server runs until Stop or until this process ends.
func MariaDB(ctx context.Context, options Options) (*Server, error) {
	programs, err := mariadbPrograms(options.Programs)
	if err != nil {
		return nil, err
	}
	return plan{
		name: "mariadb", program: programs.serve, user: "mysql",
		signal:  "KILL", // a polite end would write everything to disk first
		missing: ErrNoMariaDB,
		prepare: programs.prepare,
		args:    mariadbArgs,
		greet:   greetMariaDB,
		url:     func(where site) string { return where.link("mariadb", "") },
	}.start(ctx, options)
}

// mariadbBinaries are the two programs that make and serve a data folder.
type mariadbBinaries struct{ install, serve string }

// mariadbPrograms finds the programs of a server.
func mariadbPrograms(folder string) (mariadbBinaries, error) {
	usual := []string{"/usr/sbin", "/usr/bin", "/usr/libexec"}
	install, installErr := findProgram(folder, "mariadb-install-db", usual...)
	serve, serveErr := findProgram(folder, "mariadbd", usual...)
	if err := errors.Join(installErr, serveErr); err != nil {
		return mariadbBinaries{}, fmt.Errorf("%w (%w)", ErrNoMariaDB, err)
	}
	return mariadbBinaries{install: install, serve: serve}, nil
}

// prepare makes a data folder, and the statements with which the server begins.
func (b mariadbBinaries) prepare(ctx context.Context, where site) error {
	err := where.run(ctx, b.install, "--no-defaults", "--datadir="+filepath.Join(where.dir, "data"),
		"--auth-root-authentication-method=socket", "--skip-test-db", "--skip-name-resolve")
	if err != nil {
		return err
	}
	begin := fmt.Sprintf("create database %[1]s;\ncreate user %[1]s@'%%' identified by '%[2]s';\n"+
		"grant all on *.* to %[1]s@'%%' with grant option;\n", account, where.password)
	if err := where.owner.writeFile(filepath.Join(where.dir, "begin.sql"), begin); err != nil {
		return fmt.Errorf("write the server's first statements: %w", err)
	}
	return nil
}

// mariadbSocket is where the server listens in its folder.
func mariadbSocket(where site) string { return filepath.Join(where.dir, "mariadb.sock") }

// mariadbArgs has a server that reads no settings of the machine, keeps little in memory, and
// writes as little to disk as it can: what it has is thrown away.
func mariadbArgs(where site) []string {
	return []string{
		"--no-defaults", "--datadir=" + filepath.Join(where.dir, "data"), "--tmpdir=" + where.dir,
		"--init-file=" + filepath.Join(where.dir, "begin.sql"),
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(where.port),
		"--socket=" + mariadbSocket(where), "--pid-file=" + filepath.Join(where.dir, "mariadb.pid"),
		"--skip-name-resolve", "--max-connections=" + strconv.Itoa(where.connections),
		"--skip-log-bin", "--sync-binlog=0", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M", "--performance-schema=off",
	}
}
