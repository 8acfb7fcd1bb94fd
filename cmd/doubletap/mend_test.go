package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

func TestMendSaysHowACauseIsMended(t *testing.T) {
	t.Parallel()
	list := callWith(t.Context(), nil, "mend")
	require.Equal(t, exitPass, list.code)
	for _, d := range diagnosis.Defects() {
		require.Contains(t, list.out, d.Name)
		got := callWith(t.Context(), nil, "mend", d.Name)
		require.Equal(t, exitPass, got.code, "%s", got)
	}
	got := callWith(t.Context(), nil, "mend", "check-then-act", "--for", "rails")
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "rescue ActiveRecord::RecordNotUnique")
	require.NotContains(t, got.out, "Laravel")

	for _, c := range []struct {
		args []string
		said string
	}{
		{[]string{"no-such-cause"}, `there is no cause "no-such-cause", expected one of: check-then-act, `},
		{[]string{"check-then-act", "--for", "cobol"}, "--for cobol: there is no code for it, expected one of: PostgreSQL, "},
		{[]string{"key-optional", "--for", "rails"}, "--for rails: there is no code for key-optional"},
	} {
		got := callWith(t.Context(), nil, append([]string{"mend"}, c.args...)...)
		require.Equal(t, exitConfig, got.code, "%s", got)
		require.Contains(t, got.err, c.said)
	}
}

// tablesToMend are the tables that the code of the pages works on, in the spelling of a database.
func tablesToMend(d databases.Dialect) map[string]string {
	key := map[databases.Dialect]string{databases.MariaDB: "`key` varchar(80)"}[d]
	if key == "" {
		key = "key varchar(80)"
	}
	return map[string]string{
		"idempotency_keys": "create table idempotency_keys (customer varchar(40), operation varchar(40), parent varchar(40), " + key + ", created_at timestamp)",
		"orders":           "create table orders (id varchar(40) primary key, customer varchar(40), amount int, number int, reference varchar(40), deleted_at timestamp null, " + key + " unique)",
		"stock":            "create table stock (item varchar(40) primary key, left_over int)",
		"outbox":           "create table outbox (order_id varchar(40), event varchar(40))",
	}
}

func TestTheSQLOfEveryMendRuns(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"key": "'k'", "customer": "'c'", "fingerprint": "'f'", "id": "'o'", "amount": "12", "body": "'{}'", "headers": "'{}'", "status": "201",
		"item": "'lamp'", "number": "7", "owner": "'6f2c3b0e-5a2c-4a7e-9d53-0d2f4c1b7a90'",
	}
	parameter := regexp.MustCompile(`:([a-z]+)\b`)
	comment := regexp.MustCompile(`--[^\n]*`)
	places := map[string]string{"SQLite": "", "PostgreSQL": os.Getenv(postgresVariable), "MariaDB and MySQL": os.Getenv(mariadbVariable)}
	done := map[string]bool{}
	for _, d := range diagnosis.Defects() {
		page, _ := d.Page()
		if done[d.How] {
			continue
		}
		done[d.How] = true
		for _, section := range page.Sections {
			address, known := places[section.Stack]
			if section.Language != "sql" {
				continue
			}
			require.True(t, known, "%s: %s", d.How, section.Stack)
			t.Run(d.How+"/"+section.Stack, func(t *testing.T) {
				t.Parallel()
				name := "mend_" + strings.ReplaceAll(d.How, "-", "_")
				before := []string{"create schema " + name, "set search_path to " + name}
				if section.Stack == "MariaDB and MySQL" {
					before = []string{"create database " + name, "use " + name}
				}
				if address == "" {
					file := filepath.Join(t.TempDir(), "mend.db")
					require.NoError(t, os.WriteFile(file, nil, 0o600))
					address, before = "sqlite://"+file, nil
				}
				db, err := databases.Open(t.Context(), address, databases.ReadWrite)
				require.NoError(t, err)
				defer db.Close()
				one, err := db.Conn(t.Context())
				require.NoError(t, err)
				defer one.Close()
				for table, create := range tablesToMend(db.Dialect) {
					if !strings.Contains(section.Code, "create table "+table+" ") {
						before = append(before, create)
					}
				}
				code := comment.ReplaceAllString(section.Code, "")
				code = parameter.ReplaceAllStringFunc(code, func(p string) string {
					value, known := values[p[1:]]
					require.True(t, known, "the parameter %s has no value", p)
					return value
				})
				for _, statement := range append(before, strings.Split(code, ";")...) {
					if strings.TrimSpace(statement) == "" {
						continue
					}
					_, err := one.ExecContext(t.Context(), statement)
					require.NoError(t, err, statement)
				}
				if d.How == "claim" {
					var status int
					var body string
					query := "select status, body from idempotency_keys where " + db.Dialect.Name("key") + " = 'k'"
					require.NoError(t, one.QueryRowContext(t.Context(), query).Scan(&status, &body))
					require.Equal(t, "201 {}", fmt.Sprint(status, " ", body))
				}
			})
		}
	}
	require.GreaterOrEqual(t, len(done), 9)
}
