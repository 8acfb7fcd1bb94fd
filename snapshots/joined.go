package snapshots

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/sqltext"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Many markers are asked for by a join with a list of them, where the database can do so: it plans the query once for all of them, and
// not once for each. How many come at once grows while statements are answered soon.
const (
	manyMarkers = 1000
	mostJoined  = 16 * manyMarkers
	soon        = 500 * time.Millisecond
)

// asking makes the statement that asks for some markers, with the index of the marker in front of each row.
type asking func(markers []string) (statement string, args []any)

// joined asks PostgreSQL for many markers at once; nil: that is not possible for a query, and nothing has happened to the transaction.
// A parameter has the type that the database gives it: the query may compare a number or a UUID.
func (r *Reader) joined(ctx context.Context, from queryer, query string) asking {
	if r.db.Dialect != databases.PostgreSQL || sqltext.Query(query, sqltext.PostgreSQL) != nil {
		return nil
	}
	query = bare(query)
	types, err := parameterTypes(ctx, from, query)
	if err != nil || len(types) == 0 {
		return nil
	}
	n := -1
	bound := bind(query, func() string {
		n++
		return fmt.Sprintf("(doubletap_markers.marker::%s)", types[n])
	})
	statement := "select doubletap_markers.n - 1 as doubletap_index, doubletap_rows.* from unnest($1::text[]) with ordinality as doubletap_markers(marker, n)" +
		" cross join lateral (" + bound + "\n) doubletap_rows"
	ask := func(markers []string) (string, []any) { return statement, []any{markers} }
	if within(ctx, from, func() error { return run(ctx, from, statement, []string{}) }) != nil {
		return nil
	}
	return ask
}

// parameterTypes returns the types that the database gives to the parameters of a query, in their order.
func parameterTypes(ctx context.Context, from queryer, query string) (types []string, err error) {
	n := 0
	numbered := bind(query, func() string { n++; return databases.PostgreSQL.Parameter(n) })
	const named = "doubletap_rows"
	err = within(ctx, from, func() error {
		if err := run(ctx, from, "prepare "+named+" as "+numbered); err != nil {
			return err
		}
		rows, err := from.QueryContext(ctx, `select format_type(p.type, -1) from pg_prepared_statements, unnest(parameter_types) with ordinality as p(type, n)
			where name = $1 order by p.n`, named)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			types = append(types, name)
		}
		if rows.Err() != nil {
			return rows.Err()
		}
		return run(ctx, from, "deallocate "+named)
	})
	if err == nil && len(types) != n {
		return nil, fmt.Errorf("the query has %d parameters, and the database knows %d", n, len(types))
	}
	return types, err
}

// within does something in a transaction that goes on as if nothing had happened if it
// fails. In PostgreSQL a failed statement would end the transaction, and with it the
// moment that it sees.
func within(ctx context.Context, from queryer, do func() error) error {
	if err := run(ctx, from, "savepoint doubletap"); err != nil {
		return err
	}
	if err := do(); err != nil {
		_ = run(ctx, from, "rollback to savepoint doubletap") // what is asked next tells
		return err
	}
	return run(ctx, from, "release savepoint doubletap")
}

// run runs a statement and drops what it gives.
func run(ctx context.Context, from queryer, statement string, args ...any) error {
	rows, err := from.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return rows.Close()
}

// unions asks for each marker by a query of its own, joined by UNION ALL.
func (r *Reader) unions(query string) asking {
	query = bare(query)
	return func(markers []string) (string, []any) {
		var text strings.Builder
		args := []any{}
		for i, m := range markers {
			if i > 0 {
				text.WriteString(" union all ")
			}
			bound := bind(query, func() string {
				args = append(args, m)
				return r.db.Dialect.Parameter(len(args))
			})
			// The line break ends a comment that the query may end with.
			fmt.Fprintf(&text, "select %d as doubletap_index, doubletap_rows.* from (%s\n) doubletap_rows", i, bound)
		}
		return text.String(), args
	}
}

// bare is a query without what ends it: it becomes a part of another query.
func bare(query string) string { return strings.TrimRight(strings.TrimSpace(query), "; \t\n") }

// bind puts something in the place of each parameter of a query.
func bind(query string, parameter func() string) string {
	return parameters(query).ReplaceAllStringFunc(query, func(match string) string {
		return match[:strings.LastIndex(match, ":")] + parameter()
	})
}
