// Package sqldrivers links the database drivers that doubletap brings: it registers "sqlite", "pgx" and "mysql" in
// database/sql. Import it for that effect only, in a program or a test. A library must not: two drivers with one
// name in a program panic.
package sqldrivers

import (
	_ "github.com/go-sql-driver/mysql" // registers "mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"
	_ "modernc.org/sqlite"             // registers "sqlite"
)
