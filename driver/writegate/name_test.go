package writegate_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver/writegate"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

func TestATableIsNamedAsInAQuery(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		quote, schema := `"%s"`, "main"
		switch on.Dialect {
		case databases.PostgreSQL:
			schema = "public"
		case databases.MariaDB:
			quote, schema = "`%s`", "doubletap"
		}
		names := []string{schema + "." + on.name}
		for _, strange := range []string{
			"Or.ders", "we" + quote[:1] + quote[:1] + "ird", "x; drop table " + on.name + "; --", "'quoted'", "Bestellüngen", "select",
		} {
			names = append(names, fmt.Sprintf(quote, strange), schema+"."+fmt.Sprintf(quote, strange))
			on.exec(t, "create table "+fmt.Sprintf(quote, strange)+" (id varchar(40) primary key, note varchar(100))")
		}
		for _, name := range names {
			there := on
			there.name = name
			h := there.hold(t)
			ended := there.inserts(t, 2)
			there.arrive(t, h, 2)
			require.Empty(t, ended, name)
			require.NoError(t, h.Release())
			require.NoError(t, <-ended, name)
			require.NoError(t, <-ended, name)
			there.exec(t, "delete from "+name)
		}
		on.free(t, "still there")
	})
}

func TestATableOfAnotherSchemaIsHeld(t *testing.T) {
	for kind, create := range map[string]string{"postgres": "create schema shop", "mariadb": "create database shop"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			on := newTable(t, kind)
			on.exec(t, create)
			on.name = "shop.orders"
			on.exec(t, "create table shop.orders (id varchar(40) primary key, note varchar(100))")
			h := on.hold(t)
			ended := on.inserts(t, 3)
			on.arrive(t, h, 3)
			require.NoError(t, h.Release())
			for range 3 {
				require.NoError(t, <-ended)
			}
		})
	}
}

func TestOpenSaysWhatIsWrongAndNotThePassword(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		u, err := url.Parse(on.url)
		require.NoError(t, err)
		password, _ := u.User.Password()
		for _, name := range []string{
			"nothing_of_the_kind", "nowhere." + on.name, on.name + "; drop table " + on.name, on.name + `"; drop table ` + on.name + "; --",
			on.name + "`; drop table " + on.name + "; --", "", ".", on.name + ".", "a.b.c", `"open`, "''", "or'ders",
		} {
			_, err := writegate.Open(t.Context(), on.url, name)
			require.ErrorContains(t, err, "hold back the writers of "+name, name)
			require.NotContains(t, err.Error(), "\n")
			if password != "" {
				require.NotContains(t, err.Error(), password)
			}
		}
		on.free(t, "still there")
	})
}

func TestWhoMayNotLockIsToldSo(t *testing.T) {
	for kind, create := range map[string][]string{
		"postgres": {"create user reader password 'hunter22'", "grant select, insert on %s to reader"},
		"mariadb":  {"create user reader@'%%' identified by 'hunter22'", "grant select, insert on doubletap.%s to reader@'%%'"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			on := newTable(t, kind)
			on.exec(t, strings.ReplaceAll(create[0], "%%", "%"))
			on.exec(t, fmt.Sprintf(create[1], on.name))
			u, err := url.Parse(on.url)
			require.NoError(t, err)
			u.User = url.UserPassword("reader", "hunter22")
			_, err = writegate.Open(t.Context(), u.String(), on.name)
			require.ErrorContains(t, err, "denied")
			require.NotContains(t, err.Error(), "hunter22")
			on.free(t, "1")
		})
	}
}
