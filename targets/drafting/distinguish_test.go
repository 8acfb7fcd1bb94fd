package drafting

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestWhatTheDatabaseAllowsOnce holds what a second create must have other than the first: one member of each constraint, and none that names a
// row of another table.
func TestWhatTheDatabaseAllowsOnce(t *testing.T) {
	t.Parallel()
	const tenant = "0b7e2a54-7c1e-4a57-9a49-5a0a1b8f2c11"
	for name, c := range map[string]struct {
		body            map[string]any
		unique          [][]string
		primary, refers string
		differ          map[string]string
	}{
		"a tenant of another table": {
			map[string]any{"tenant_id": tenant, "email": "ada@example.org"}, [][]string{{"tenant_id", "email"}}, "id", "tenant_id",
			map[string]string{"/email": "{{.Intent.Reference}}@example.org"},
		},
		"a tenant of which no constraint says so": {
			map[string]any{"domain_id": "default", "code": "A-1"}, [][]string{{"domain_id", "code"}}, "id", "",
			map[string]string{"/code": "A-{{.Intent.Reference}}"},
		},
		"what took any text comes first": {
			map[string]any{"name": "Ada", "code": "A-1"}, [][]string{{"name", "code"}}, "id", "",
			map[string]string{"/name": "{{.Intent.Reference}}"},
		},
		"the name of a domain": {
			map[string]any{"domain_name": "shop.example.net"}, [][]string{{"domain_name"}}, "id", "",
			map[string]string{"/domain_name": "{{.Intent.Reference}}.shop.example.net"},
		},
		"the name of a zone": {
			map[string]any{"apex": "shop.example.net."}, [][]string{{"apex"}}, "id", "",
			map[string]string{"/apex": "{{.Intent.Reference}}.shop.example.net."},
		},
		"an address in the source's own domain that nobody has": {
			map[string]any{"list": "ant@lists.example.org"}, [][]string{{"list"}}, "id", "",
			map[string]string{"/list": "{{.Intent.Reference}}@lists.example.org"},
		},
		"a handle is alone in its constraint": {
			map[string]any{"handle": "acme"}, [][]string{{"handle"}}, "id", "",
			map[string]string{"/handle": "{{.Intent.Reference}}"},
		},
		"an address of which there is one": {
			map[string]any{"feed_url": "https://example.org/feeds/a"}, [][]string{{"feed_url"}}, "id", "",
			map[string]string{"/feed_url": "https://example.org/feeds/{{.Intent.Reference}}"},
		},
		"a slug within a workspace of another table": {
			map[string]any{"workspace": tenant, "slug": "spring"}, [][]string{{"workspace", "slug"}}, "id", "workspace",
			map[string]string{"/slug": "{{.Intent.Reference}}"},
		},
		"a word where a name differs": {
			map[string]any{"name": "Ada", "team": "red"}, [][]string{{"name", "team"}}, "id", "",
			map[string]string{"/name": "{{.Intent.Reference}}"},
		},
		"the last of those alike": {
			map[string]any{"source_no": "s-1", "event_no": "e-1"}, [][]string{{"source_no", "event_no"}}, "id", "",
			map[string]string{"/event_no": "e-{{.Intent.Reference}}"},
		},
		"one that is a constraint by itself is enough for the others": {
			map[string]any{"code": "A-1", "ref": "r-1"}, [][]string{{"code", "ref"}, {"code"}}, "id", "",
			map[string]string{"/code": "A-{{.Intent.Reference}}"},
		},
		"one row of another table has one":         {map[string]any{"user_id": tenant}, [][]string{{"user_id"}}, "id", "user_id", map[string]string{}},
		"a time where the room is another table's": {map[string]any{"room_id": tenant, "from": "2024-05-01"}, [][]string{{"room_id", "from"}}, "id", "room_id", map[string]string{"/from": `{{unique "time" "2006-01-02"}}`}},
		"the primary key is a word":                {map[string]any{"id": "RegionNorth"}, nil, "id", "", map[string]string{"/id": "{{.Intent.Reference}}"}},
		"the primary key is drawn":                 {map[string]any{"id": "k3f9a8b7c6d5e4f"}, nil, "id", "", map[string]string{"/id": `k{{slice (unique "number") 0 14}}`}},
		"the primary key is hexadecimal":           {map[string]any{"id": "65f1c0ffee0123456789abcd"}, nil, "id", "", map[string]string{"/id": `65f1c0ffe{{unique "number"}}`}},
		"the primary key is a UUID":                {map[string]any{"id": tenant}, nil, "id", "", map[string]string{"/id": `{{unique "uuid"}}`}},
		"the number of a call":                     {map[string]any{"id": "1"}, nil, "id", "", map[string]string{}},
		"the primary key is another table's":       {map[string]any{"user_id": tenant}, nil, "user_id", "user_id", map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.body["note"] = "x"
			f := File{Draft: Draft{Body: c.body, Texts: []string{"/note", "/name"}}, Proof: &Proof{
				Table: databases.Table{Name: "orders", Unique: c.unique, Primary: []string{c.primary}}, Row: map[string]string{},
				Where: Where{Column: "note", Exact: true}, Text: "/note",
			}}
			if c.refers != "" {
				f.Proof.Table.Refers = []databases.Reference{{Column: c.refers, Table: "others", Theirs: "id"}}
			}
			for _, column := range slices.Sorted(maps.Keys(c.body)) {
				f.Proof.Table.Columns = append(f.Proof.Table.Columns, databases.Column{Name: column, Type: "text"})
				f.Proof.Row[column] = c.body[column].(string)
			}
			f.Proof.Row["note"] = "mx0"
			if c.body["name"] != nil {
				f.Proof.Row["name"] = "mx1"
			}
			if c.body["email"] != nil {
				f.Proof.Row["email"] = "refabcdefgh@example.org" // of another one for each create from the start
			}
			require.NoError(t, f.settle())
			delete(f.Draft.Templates, "/note")
			require.Equal(t, c.differ, f.Draft.Templates)
			if len(c.differ) > 0 {
				require.NotContains(t, strings.Join(f.Doubts, "\n"), "the database allows each value")
			}
			if c.refers != "" {
				require.NotContains(t, f.MayName(), "/"+c.refers)
			}
			if c.differ["/email"] != "" {
				kept := f
				kept.Draft.Templates, kept.same, kept.Doubts = nil, []string{"/email"}, nil
				require.NoError(t, kept.settle())
				require.NotContains(t, strings.Join(kept.Doubts, "\n"), "the database allows each value", "it is the same for once, to see what becomes of that")
			}
		})
	}
}

// TestValuesThatARefusalSpeaksOf holds which values are others in the next create, after one was refused.
func TestValuesThatARefusalSpeaksOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body      map[string]any
		differing []string
		status    int
		refusal   string
		long      map[string]string
		quoted    string
	}{
		"an id that is too long": {
			map[string]any{"id": "k3f9a8b7c6d5e4f", "title": "x"}, []string{"/id"}, 400, "Must be no more than 15 character(s).",
			map[string]string{"/id": `k{{slice (unique "number") 0 14}}`}, "",
		},
		"one with a name before it": {
			map[string]any{"ref": "ord_9f8a7b6c5d4e3f2a"}, []string{"/ref"}, 422, "ref is not valid", map[string]string{"/ref": `ord_9{{unique "number"}}`}, "",
		},
		"nine signs":                      {map[string]any{"no": "123456789"}, []string{"/no"}, 400, "wrong format", map[string]string{}, ""},
		"no room":                         {map[string]any{"no": "A-17"}, []string{"/no"}, 400, "wrong format", map[string]string{}, ""},
		"nothing of the form":             {map[string]any{"id": "k3f9a8b7c6d5e4f"}, []string{"/id"}, 400, "no such customer", map[string]string{}, ""},
		"a failure":                       {map[string]any{"id": "k3f9a8b7c6d5e4f"}, []string{"/id"}, 500, "value too long", map[string]string{}, ""},
		"a value that is not there":       {map[string]any{"order_no": "o-1", "account_no": "a-1"}, nil, 400, "Could not find account a-refabcdefgh", map[string]string{}, "/account_no"},
		"one that is there":               {map[string]any{"order_no": "o-1", "account_no": "a-1"}, nil, 409, "a-refabcdefgh is taken", map[string]string{}, ""},
		"one that has shown that it must": {map[string]any{"order_no": "o-1", "account_no": "a-1"}, []string{"/account_no"}, 400, "no a-refabcdefgh", map[string]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.body["note"] = "x"
			f := File{Differing: c.differing, Draft: Draft{Body: c.body, Texts: []string{"/note"}}, Proof: &Proof{
				Table: databases.Table{Unique: [][]string{{"order_no", "account_no"}}, Columns: []databases.Column{{Name: "order_no"}, {Name: "account_no"}}},
				Row:   map[string]string{"order_no": "o-1", "account_no": "a-1", "note": "mx0"}, Where: Where{Column: "note", Exact: true}, Text: "/note",
			}}
			refused := Answer{Status: c.status, Written: c.refusal}
			require.Equal(t, c.quoted, Quoted(f, refused))
			if c.quoted != "" {
				anew, members := Anew(f, nil)
				require.Equal(t, []string{"/account_no"}, members)
				require.Equal(t, `a-ref{{unique "text"}}`, settledOf(anew)["/account_no"])
				_, members = Anew(f, members)
				require.Empty(t, members, "it is kept")
				AsGiven(&f.Draft, c.quoted)
				require.Equal(t, "o-{{.Intent.Reference}}", settledOf(f)["/order_no"], "another of the constraint differs")
				return
			}
			members := AsLong(&f, refused)
			require.ElementsMatch(t, slices.Collect(maps.Keys(c.long)), members)
			for pointer, template := range c.long {
				require.Equal(t, template, settledOf(f)[pointer])
				require.Empty(t, AsLong(&f, refused), "only once")
				require.Contains(t, f.Suspects(), pointer)
				same, err := f.WithSame(pointer)
				require.NoError(t, err)
				require.Contains(t, same, fmt.Sprintf("%s: %s\n", pointer[1:], c.body[pointer[1:]]), "the source's value, in place of a drawn one")
				anew, members := Anew(f, nil)
				require.Contains(t, members, pointer)
				require.Equal(t, template, settledOf(anew)[pointer], "it is drawn already")
			}
		})
	}
}

// TestWhatMayBeTakenFromTheSecondCreateOn holds which members have the source's value in each create though another one was stored in the first.
func TestWhatMayBeTakenFromTheSecondCreateOn(t *testing.T) {
	t.Parallel()
	f := File{Draft: Draft{
		Body:  map[string]any{"note": "x", "username": "ada", "nick": "a", "bio": "b", "email": "ada@example.org"},
		Texts: []string{"/note", "/username", "/nick", "/bio", "/email"},
	}, Proof: &Proof{Where: Where{Column: "note", Exact: true}, Text: "/note"}}
	stored := Stored(f.Draft, Created{Marker: "dtabc", Landings: []databases.Landing{
		{Row: map[string]string{"note": "dtabcx0", "id": "7"}},
		{Row: map[string]string{"login": "DTABCx1", "mail": "dtabcx4@example.com", "body": `{"bio": "dtabcx3"}`}},
		{Row: map[string]string{"nick": "u/dtabcx2"}},
	}})
	require.Equal(t, []string{"/note", "/username", "/nick"}, stored)
	require.Equal(t, []string{"/username", "/nick"}, Left(f, stored))
	f.Differing = []string{"/nick"}
	require.Equal(t, []string{"/username"}, Left(f, stored))
}
