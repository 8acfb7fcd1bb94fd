package databases

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Few values of a column are read of a table at most.
const mostValues = 8

// Values are the values of a column, as texts, if there are few. Rows without one have none.
func (d *Database) Values(ctx context.Context, t Table, column string) (values []string, few bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	found, err := d.QueryContext(ctx, fmt.Sprintf("select distinct %s from %s where %s is not null limit %d", d.Dialect.asText(column), d.Dialect.TableName(t), d.Dialect.Name(column), mostValues+1))
	if err != nil {
		return nil, false, err
	}
	defer found.Close()
	for found.Next() {
		var value string
		if err := found.Scan(&value); err != nil {
			return nil, false, err
		}
		values = append(values, value)
	}
	return values, len(values) <= mostValues, found.Err()
}

// Whole asks for numbers of a whole table at once. One that is null is 0.
func (d *Database) Whole(ctx context.Context, t Table, numbers []string) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	all, into := make([]sql.NullFloat64, len(numbers)), make([]any, len(numbers))
	for n := range all {
		into[n] = &all[n]
	}
	if err := d.QueryRowContext(ctx, fmt.Sprintf("select %s from %s", strings.Join(numbers, ", "), d.Dialect.TableName(t))).Scan(into...); err != nil {
		return nil, err
	}
	values := make([]float64, len(all))
	for n, one := range all {
		values[n] = one.Float64
	}
	return values, nil
}
