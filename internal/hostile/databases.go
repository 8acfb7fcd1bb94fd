package main

import (
	"context"
	"database/sql"
	"os"
	"strings"
)

// daysOfDatabases are those of databases and row queries that no run should meet.
func daysOfDatabases() []day {
	var days []day
	add := func(name string, exits []int, says string, set func(context.Context, *bench) error) {
		days = append(days, day{class: "databases", name: name, exits: exits, says: says, set: set})
	}
	for _, q := range []struct {
		name, query string
		exits       []int
	}{
		{"a query that writes", "insert into things (note) values (:marker) returning id", []int{3, 4}},
		{"a query that deletes", "delete from things where note <> :marker returning id", []int{3, 4}},
		{"two statements", "select id from things where note = :marker; drop table things", []int{3, 4}},
		{"an ATTACH", "attach database '" + pwned + "' as x; select id from things where note = :marker", []int{3, 4}},
		{"a PRAGMA", "pragma writable_schema = on; select id from things where note = :marker", []int{3, 4}},
		{"a file by VACUUM INTO", "vacuum into '" + pwned + "'", []int{3, 4}},
		{"a query without the marker", "select id from things", []int{3, 4}},
		{"a query of another table", "select id from nowhere where note = :marker", []int{3, 4}},
		{"no query at all", "hello :marker", []int{3, 4}},
		{"a query without an end", "with recursive r(x) as (select 1 union all select x + 1 from r) select x as id from r where x = :marker", []int{2, 3, 4}},
		{"rows of 20 MiB", "select hex(zeroblob(10485760)) as id from things where note = :marker", []int{1, 2, 3, 4}},
		{"random rows", "select random() as id from things where note = :marker", []int{1, 2, 3, 4}},
		{"Infinity", "select 9e999 as id from things where note = :marker", []int{1, 2, 3, 4}},
		{"bytes that are no text", "select x'fffe00' as id from things where note = :marker", []int{1, 2, 3, 4}},
		{"escape sequences in a row", "select char(27) || ']0;" + pwned + "' || char(7) as id from things where note = :marker", []int{1, 2, 3, 4}},
		{"a million rows", "with recursive r(x) as (select 1 union all select x + 1 from r limit 1000000) select x as id from r, things where note = :marker", []int{1, 2, 3, 4}},
		{"2,000 columns", "select id, " + strings.Repeat("1, ", 1990) + "1 from things where note = :marker", []int{0, 1, 2, 3, 4}},
		{"a comment that hides the rest", "select id from things where note = :marker -- or '", []int{0, 3}},
	} {
		add(q.name, q.exits, "", quiet("QUERY", q.query))
	}
	file := func(name string, exits []int, change func(path string) error) {
		add(name, exits, "", func(_ context.Context, b *bench) error {
			s, err := openShop(b, nil)
			if err != nil {
				return err
			}
			s.file = b.path("other.db")
			if err := change(s.file); err != nil {
				return err
			}
			return s.runAt(b)
		})
	}
	file("a database that is not there", []int{3, 4}, func(string) error { return nil })
	file("a database that is a folder", []int{3, 4}, func(p string) error { return os.Mkdir(p, 0o755) })
	file("a database that is text", []int{3, 4}, text("hello"))
	file("a database that is empty", []int{3, 4}, text(""))
	file("a database that is cut short", []int{3, 4}, text("SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20"))
	file("a database that is a device", []int{3, 4}, func(p string) error { return os.Symlink("/dev/zero", p) })
	add("a database that somebody holds", []int{1, 2, 4}, "", func(ctx context.Context, b *bench) error {
		s, err := openShop(b, nil)
		if err != nil {
			return err
		}
		db, err := sql.Open("sqlite", s.file)
		if err != nil {
			return err
		}
		b.wait = append(b.wait, func() { _ = db.Close() })
		conn, err := db.Conn(ctx)
		if err == nil {
			_, err = conn.ExecContext(ctx, "begin exclusive")
		}
		if err != nil {
			return err
		}
		return s.runAt(b)
	})
	for name, url := range map[string]string{
		"a server that is not there": "postgres://u:" + canary + "p@127.0.0.1:1/x", "MariaDB that is not there": "mysql://u:" + canary + "p@127.0.0.1:1/x",
		"a server on another host": "postgres://u:" + canary + "p@192.0.2.1/x", "a scheme that nobody knows": "oracle://u:" + canary + "p@127.0.0.1/x",
		"MariaDB on another host, by a parameter": "mysql://u:" + canary + "p@127.0.0.1:1/x?x%40tcp(192.0.2.1%3A1)%2Fy=1",
		"a URL that is none":                      "postgres://u:" + canary + "p@[::1/x", "a path out of the folder": "sqlite:///../../../../../../etc/passwd",
	} {
		add(name, []int{3, 4}, "", func(_ context.Context, b *bench) error {
			s, err := openShop(b, nil)
			if err != nil {
				return err
			}
			b.secrets = []string{canary + "p"}
			return s.runAt(b, "sqlite://DATABASE", url)
		})
	}
	add("another service in place of PostgreSQL", []int{3, 4}, "", func(_ context.Context, b *bench) error {
		s, err := openShop(b, nil)
		if err != nil {
			return err
		}
		return s.runAt(b, "sqlite://DATABASE", strings.Replace(s.url, "http://", "postgres://u:p@", 1)+"/x?sslmode=disable")
	})
	return days
}
