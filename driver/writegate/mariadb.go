package writegate

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// mariadb is a table's name, unquoted, in its parts: the schema, if it is named, and the table.
type mariadb []string

// findMariaDB leaves it to the lock to say that there is no such table: the server says it well.
func findMariaDB(table string) (lock, error) {
	name, err := parts(table)
	return mariadb(name), err
}

// quoted is the name as a statement takes it.
func (table mariadb) quoted() string {
	var quoted []string
	for _, part := range table {
		quoted = append(quoted, "`"+strings.ReplaceAll(part, "`", "``")+"`")
	}
	return strings.Join(quoted, ".")
}

// take locks for reading: writers wait for the table's metadata lock, which no deadlock detection of
// InnoDB and none of its timeouts touch. A locking read waits too.
func (table mariadb) take(ctx context.Context, conn *sql.Conn, longest time.Duration) error {
	// A server counts in whole seconds.
	settings := fmt.Sprintf("set session lock_wait_timeout = %.0f, session wait_timeout = %.0f",
		patience.Seconds(), math.Ceil((longest + margin).Seconds()))
	if _, err := conn.ExecContext(ctx, settings); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "lock tables "+table.quoted()+" read")
	return err
}

// give leaves a connection with settings of its own.
func (mariadb) give() (string, bool) { return "unlock tables", false }

// waiting reads the list of sessions: the server's tables of metadata locks are switched off, or not
// installed, unless the administrator turned them on.
func (table mariadb) waiting(ctx context.Context, db *sql.DB) (n int, known bool, err error) {
	rows, err := db.QueryContext(ctx, `select info from information_schema.processlist
		where state in ('Waiting for table metadata lock', 'Waiting for table level lock') and info is not null`)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return 0, false, err
		}
		if table.writtenBy(statement) {
			n++
		}
	}
	return n, true, rows.Err()
}

// writtenBy reports whether a statement writes and holds the table's name.
func (table mariadb) writtenBy(statement string) bool {
	name := table[len(table)-1]
	statement = strings.ToLower(strings.ReplaceAll(statement, "``", "`"))
	return writing.MatchString(statement) && strings.Contains(statement, strings.ToLower(name))
}

// writing finds the statements that write, behind the comments that some libraries put in front.
var writing = regexp.MustCompile(`^(?:\s|/\*(?s:.*?)\*/|(?:#|-- ).*\n)*(?:insert|update|replace|delete|load)\b`)
