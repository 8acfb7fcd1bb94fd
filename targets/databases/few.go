package databases

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Few reads columns of all rows of a table, if it has no more rows than so many: of one that has more, few is false, and no more is read.
func (d *Database) Few(ctx context.Context, t Table, columns []string, most int) (rows []map[string]string, few bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = d.Dialect.Name(column)
	}
	found, err := d.QueryContext(ctx, fmt.Sprintf("select %s from %s limit %d", strings.Join(names, ", "), d.Dialect.TableName(t), most+1))
	if err != nil {
		return nil, false, err
	}
	defer found.Close()
	all, err := landings(found, t, "")
	if err != nil || len(all) > most {
		return nil, false, err
	}
	for _, l := range all {
		rows = append(rows, l.Row)
	}
	return rows, true, nil
}

// GivesNumber reports that the database itself numbers the rows of a table in a column.
func (d *Database) GivesNumber(ctx context.Context, t Table, column string) (bool, error) {
	n := 0
	query, args := "", []any{t.Name, column}
	switch d.Dialect {
	case PostgreSQL:
		query = `select count(*) from information_schema.columns where table_name = $1 and column_name = $2
			and (is_identity = 'YES' or column_default like 'nextval(%') and ($3::text = '' and table_schema = any (current_schemas(false)) or table_schema = $3::text)`
		args = append(args, t.Schema)
	case MariaDB:
		query = `select count(*) from information_schema.columns where table_name = ? and column_name = ? and table_schema = database() and extra like '%auto_increment%'`
	default:
		return len(t.Primary) == 1 && t.Primary[0] == column && strings.EqualFold(t.TypeOf(column), "integer"), nil
	}
	err := d.QueryRowContext(ctx, query, args...).Scan(&n)
	return n > 0, err
}

// Greater counts the rows of a table with a greater number than this in a column, behind the same prefix where it holds texts.
func (d *Database) Greater(ctx context.Context, t Table, c Column, prefix, number string) (rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	query, args := fmt.Sprintf("select count(*) from %s where %s > %s", d.Dialect.TableName(t), d.Dialect.Name(c.Name), d.Dialect.Parameter(1)), []any{number}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && c.HoldsNumber() {
		args[0] = n
	} else { // longer, or as long and behind it in the alphabet, where digits stand as numbers do
		name, length := d.Dialect.asText(c.Name), len(prefix)+len(number)
		query = fmt.Sprintf("select count(*) from %s where %s like %s and (length(%s) > %d or length(%s) = %d and %s > %s)", d.Dialect.TableName(t),
			name, d.Dialect.Parameter(1), name, length, name, length, name, d.Dialect.Parameter(2))
		args = []any{prefix + "%", prefix + number}
	}
	err = d.QueryRowContext(ctx, query, args...).Scan(&rows)
	return rows, err
}
