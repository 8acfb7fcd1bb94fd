package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestNumbersWithinOtherColumns holds what of a column that is no number is one: a member of its JSON, how many elements, lines or seconds it has,
// an amount that is a text or of the type money, and the end of a range. Ids, keys, and lists that keep the last ones only are none.
func TestNumbersWithinOtherColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		column, kind, text string
		want               map[string]float64
	}{
		"member":         {"data", "jsonb", `{"holder":"Bo","balance":900,"wallet":{"points":3},"shop_id":7}`, map[string]float64{"data at balance": 900, "data at wallet.points": 3}},
		"in a text":      {"data", "longtext", `{"balance":2.5}`, map[string]float64{"data at balance": 2.5}},
		"list":           {"thread", "jsonb", `[{"by":"Bo"},{"by":"Jo"}]`, map[string]float64{"thread in elements": 2}},
		"list within":    {"data", "text", `{"thread":[1,2,3],"recent":[1]}`, map[string]float64{"data at thread in elements": 3}},
		"array":          {"waiting", "text[]", `{Ada,"Bo, Jo","a\"b"}`, map[string]float64{"waiting in members": 3}},
		"empty array":    {"waiting", "text[]", `{}`, map[string]float64{"waiting in members": 0}},
		"last ones only": {"last_names", "text[]", `{Ada}`, map[string]float64{}},
		"interval":       {"spent", "interval", "1 day 02:00:30", map[string]float64{"spent in seconds": 93630}},
		"negative":       {"spent", "interval", "-00:30:00", map[string]float64{"spent in seconds": -1800}},
		"money":          {"balance", "money", "$1,234.50", map[string]float64{"balance as an amount": 1234.5}},
		"money abroad":   {"balance", "money", "-1.234,50 €", map[string]float64{"balance as an amount": -1234.5}},
		"setting":        {"value", "text", "1200", map[string]float64{"value as an amount": 1200}},
		"no amount":      {"postcode", "text", "53111", map[string]float64{}},
		"lines":          {"history", "text", "a\nb\n", map[string]float64{"history in lines": 2}},
		"a word":         {"name", "text", "Bo", map[string]float64{}},
		"a key":          {"id", "text", "[1]", map[string]float64{}},
	} {
		of := databases.Table{Name: "t", Primary: []string{"id"}, Columns: []databases.Column{{Name: c.column, Type: c.kind}}}
		require.Equal(t, c.want, gathered(of, map[string]string{c.column: c.text}), name)
	}
	of := databases.Table{Name: "licences", Primary: []string{"id"}, Columns: []databases.Column{{Name: "valid", Type: "daterange"}}}
	numbers := StandingIn(Book{Of: of}, map[string]string{"valid": "[2027-01-01,2027-02-01)"}).Numbers
	require.Equal(t, 2027.0*12+2, numbers["valid end in months"])
}

// TestHowANumberWithinAColumnIsAskedFor holds how each database is asked for such numbers.
func TestHowANumberWithinAColumnIsAskedFor(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		of     databases.Dialect
		number string
	}{
		"coalesce(cast(cast(g.data as jsonb) #>> '{wallet,points}' as numeric), 0)":               {databases.PostgreSQL, "data at wallet.points"},
		"coalesce(cast(json_value(g.data, '$.balance') as decimal(40, 6)), 0)":                    {databases.MariaDB, "data at balance"},
		"coalesce(json_array_length(g.data, '$.thread'), 0)":                                      {databases.SQLite, "data at thread in elements"},
		"coalesce(jsonb_array_length(cast(g.data as jsonb)), 0)":                                  {databases.PostgreSQL, "data in elements"},
		"coalesce(cardinality(g.waiting), 0)":                                                     {databases.PostgreSQL, "waiting in members"},
		"coalesce(cast(extract(epoch from g.spent) as numeric), 0)":                               {databases.PostgreSQL, "spent in seconds"},
		"coalesce(cast(g.value as decimal(40, 6)), 0)":                                            {databases.MariaDB, "value as an amount"},
		"coalesce((char_length(g.h) - char_length(replace(g.h, char(10 using utf8mb4), ''))), 0)": {databases.MariaDB, "h in lines"},
		"(cast(upper(g.valid) as date) - date '1970-01-01')":                                      {databases.PostgreSQL, "valid end in days"},
	} {
		require.Equal(t, want, numberIn(c.of, "g", c.number))
	}
}

// TestAHeaderRepeatsWhatTheBodyNamesAThingBy holds that a header which says what the body does goes with it, as that of a conditional create of FHIR;
// a word, a value within a longer one, and a header that is a variable stay as they are.
func TestAHeaderRepeatsWhatTheBodyNamesAThingBy(t *testing.T) {
	t.Parallel()
	d := Draft{
		Header:    map[string]string{"If-None-Exist": "identifier=urn:mrn|M-1001", "X-Shop": "M-10012", "X-Kind": "person", "Authorization": "${TOKEN} M-1001"},
		Body:      map[string]any{"value": "M-1001", "kind": "person"},
		Templates: map[string]string{"/value": "M-{{.Intent.Reference}}", "/kind": "{{.Intent.Marker}}"},
	}
	require.Equal(t, map[string]string{"If-None-Exist": "identifier=urn:mrn|M-{{.Intent.Reference}}", "X-Shop": "M-10012", "X-Kind": "person", "Authorization": "${TOKEN} M-1001"}, repeating(d))
	require.Equal(t, "identifier=urn:mrn|M-1001", d.Header["If-None-Exist"], "the draft stays as it was")
}

// TestTwoSecretsOfOneNameAreTwoVariables holds that two members of one name, as the accounts of a list of payouts, keep their own values.
func TestTwoSecretsOfOneNameAreTwoVariables(t *testing.T) {
	t.Parallel()
	given := map[string]string{}
	for _, want := range [][2]string{{"API_IBAN", "DE1"}, {"API_IBAN_2", "FR7"}, {"API_IBAN", "DE1"}, {"API_IBAN_3", "ES9"}} {
		name := freeVariable(given, "API_IBAN", want[1])
		require.Equal(t, want[0], name)
		given[name] = want[1]
	}
}

// TestAColumnThatIsCalledAfterTheCreatedTable holds which columns of other tables refer to a created row by something else than its id.
func TestAColumnThatIsCalledAfterTheCreatedTable(t *testing.T) {
	t.Parallel()
	p := Proof{
		Table: databases.Table{Name: "orders", Primary: []string{"id"}, Unique: [][]string{{"number"}}, Columns: []databases.Column{
			{Name: "id", Type: "bigint"}, {Name: "number", Type: "text"}, {Name: "idem_key", Type: "text"}, {Name: "status", Type: "text"}, {Name: "kind", Type: "text"}}},
		Row: map[string]string{"id": "7", "number": "17", "idem_key": "52da2674-88f6-4bfd-8634-3c20b1a28084", "status": "open", "kind": "x"},
	}
	for column, want := range map[string]string{"order_number": "number", "order_key": "idem_key", "order_status": "", "order_kind": "", "ticket_key": "", "ordering": ""} {
		require.Equal(t, want, p.namedFor(databases.Column{Name: column, Type: "text"}), column)
	}
	p = Proof{
		Table: databases.Table{Name: "orders", Primary: []string{"id"}, Refers: []databases.Reference{{Column: "shop_id", Table: "shops", Theirs: "id"}}, Columns: []databases.Column{
			{Name: "shop_id", Type: "uuid"}, {Name: "id", Type: "uuid"}, {Name: "key", Type: "text"}}},
		Row: map[string]string{"shop_id": "0d0f6f6e-0d5c-4b41-9a43-1f0b2a7f3b22", "id": "52da2674-88f6-4bfd-8634-3c20b1a28084", "key": "wc_order_5f3a1c"},
	}
	for column, want := range map[string]string{"order_key": "key", "order_ref": "id", "order_shop_id": "id"} {
		require.Equal(t, want, p.namedFor(databases.Column{Name: column, Type: "text"}), "beside what every order of a shop has: %s", column)
	}
}

// TestAnAddressInAMemberIsNoWordOfAText holds that a name which stands in an address, as a resource's name does, is not taken for how many there are.
func TestAnAddressInAMemberIsNoWordOfAText(t *testing.T) {
	t.Parallel()
	answer := `{"name":"shelves/7/books/12"}`
	named := inLinks(map[string]any{"name": "shelves/7/books/12"}, answer, "12")
	require.True(t, named.InText())
	require.False(t, SaidInWords(File{Proof: &Proof{Named: named}}))
	require.True(t, SaidInWords(File{Proof: &Proof{Named: contract.Identity{Pattern: inWords("order 12", "12").Pattern}}}))
}
