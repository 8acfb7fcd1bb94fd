package targets_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

// invoices is a target file with a row query and a contract.
func invoices(database, query, contract string) []byte {
	return fmt.Appendf(nil, `name: invoices
base_url: http://localhost:8080
database: {url: "%s"}
contract: %s
principals: {ada: {tenant: t-1}}
operations:
  create_invoice:
    request: {path: /invoices, body: {customer: c-17, tenant: "{{.Principal.tenant}}", no: "{{.Intent.Reference}}", memo: "{{.Intent.Marker}}"}}
    identity: /id
    rows: {query: %q, identity: id}
`, database, contract, query)
}

// TestARowQueryThatCanFoldRowsIsWarnedOf holds which row queries may return one row where there are two, and that others are left alone.
func TestARowQueryThatCanFoldRowsIsWarnedOf(t *testing.T) {
	t.Parallel()
	const where = " from invoices where memo = :marker"
	for query, fold := range map[string]string{
		"select id, total" + where + " limit 1":                                                            "limit 1",
		"SELECT id" + where + " order by id desc LIMIT 1 OFFSET 0":                                         "limit 1",
		"select id" + where + " fetch first 1 row only":                                                    "fetch first row",
		"select id" + where + " fetch first row only":                                                      "fetch first row",
		"select distinct no as id, total" + where:                                                          "distinct",
		"select distinct total, memo as id" + where:                                                        "distinct",
		"select distinct on (no) id, total" + where:                                                        "distinct",
		"select min(id) as id" + where + " group by no":                                                    "group by",
		"select max(id) as id" + where:                                                                     "max",
		"select count(*) as n" + where:                                                                     "count",
		"select string_agg(id, ',') as id" + where:                                                         "string_agg",
		"select id, total" + where:                                                                         "",
		"select id" + where + " limit 2":                                                                   "",
		"select id" + where + " and note <> 'limit 1' -- limit 1":                                          "",
		"select distinct o.id, total" + where:                                                              "",
		"select distinct transfer_id" + where:                                                              "",
		"select o.id, count(*) from invoices o join lines l on true where memo = :marker group by o.id":    "",
		"select id, count(*) over (partition by memo) as n" + where:                                        "",
		"select id, (select max(n) from lines where invoice = invoices.id) as n" + where:                   "",
		"select id from (select distinct id from invoices) i where 'a' <> :marker":                         "",
		"with one as (select id from users limit 1) select i.id from invoices i, one where memo = :marker": "",
		"select greatest(a, b) as id, max_total" + where:                                                   "",
		"select max(a, b) as id" + where:                                                                   "", // the larger of two values
	} {
		source := invoices("sqlite:///x.db", query, "{preset: dedup-only}")
		target, err := targets.Load("f.yaml", source, nil)
		if always := fold != "" && fold != "distinct" && fold != "group by"; always {
			require.EqualError(t, err, fmt.Sprintf("f.yaml:10:19: operations.create_invoice.rows.query: %q makes one row of all, so that no duplicate could show; select each created row, with its id", fold))
			continue
		}
		require.NoError(t, err, query)
		warnings := targets.Warnings("f.yaml", source, target)
		if fold == "" {
			require.Empty(t, warnings, query)
			continue
		}
		require.Len(t, warnings, 1, query)
		require.Equal(t, fmt.Sprintf("f.yaml:10:19: operations.create_invoice.rows.query: %q can make one row of several: a duplicate, or two things that were asked for with one body, may not show; select each created row, with its id", fold), warnings[0].String())
	}
}

// TestAParameterInQuotesIsNone holds that a query has to have its parameter where the database takes it for one.
func TestAParameterInQuotesIsNone(t *testing.T) {
	t.Parallel()
	for query, told := range map[string]bool{
		"select id from invoices where memo = ':marker'":                     true,
		"select id from invoices where memo like '%:marker%'":                true,
		"select id from invoices where true -- memo = :marker":               true,
		"select id from invoices where memo = :marker and memo <> ':marker'": false,
		"select id from invoices where memo like '%' || :marker || '%'":      false,
		"select id::text from invoices where memo = :marker::text":           false,
	} {
		_, err := targets.Load("f.yaml", invoices("postgres://localhost/x", query, "{preset: dedup-only}"), nil)
		if told {
			require.ErrorContains(t, err, "rows.query: the parameter stands in quotes or in a comment, where it is none", query)
			continue
		}
		require.NoError(t, err, query)
	}
}

// TestANaturalKeyThatIsTheSameInAllRequestsIsAMistake holds that a contract cannot say that all of a run is one intent.
func TestANaturalKeyThatIsTheSameInAllRequestsIsAMistake(t *testing.T) {
	t.Parallel()
	for natural, told := range map[string]bool{
		"/customer":          true,
		"/tenant":            true, // of the principal
		"/customer, /tenant": true,
		"path":               true,
		"/customer, /no":     false,
		"/memo":              false,
	} {
		_, err := targets.Load("f.yaml", invoices("postgres://localhost/x", "select id from invoices where memo = :marker", "{natural_key: ["+natural+"]}"), nil)
		if told {
			require.EqualError(t, err, "f.yaml:4:12: contract.natural_key: its value is the same in all requests of create_invoice, so that all of them would be one intent; write {{.Intent.Reference}} into one of its members, or name what differs from one intent to the next", natural)
			continue
		}
		require.NoError(t, err, natural)
	}
}

// TestAnEffectThatGoesByWhatIsAlteredIsWarnedOf holds that an effect by a fixed number is warned of where the body has that number and the
// altered body has another one: a correct target would be told that its effect is wrong.
func TestAnEffectThatGoesByWhatIsAlteredIsWarnedOf(t *testing.T) {
	t.Parallel()
	const sum = "query: 'select sum(amount) from ledger where note = :marker', "
	const balance = "query: 'select balance from wallets where id = 1', "
	for _, test := range []struct{ body, alter, effect, warned string }{
		{"{note: '{{.Intent.Marker}}', amount: 1200}", "{amount: 9900}", sum + "value: 1200", "effects[0].value: the body has this number at /amount, and an altered one has 9900 there: if the effect goes by it, what the altered body does is called wrong; take the sum of what the rows say off in the query, with value: 0, or alter another member"},
		{"{note: '{{.Intent.Marker}}', price: {amount: 12.50}}", "{price: {amount: 99}}", balance + "delta: -12.5", "effects[0].delta: the body has this number at /price/amount, and an altered one has 99 there: if the effect goes by it, what the altered body does is called wrong; add up in the query what the rows say, with delta: 0, or alter another member"},
		{"{note: '{{.Intent.Marker}}', amount: 1200}", "{note: '{{.Intent.Marker}}'}", sum + "value: 1200", ""},
		{"{note: '{{.Intent.Marker}}', amount: 1200}", "{amount: 9900}", balance + "delta: 0", ""},
		{"{note: '{{.Intent.Marker}}', amount: 1200}", "{amount: 9900}", sum + "value: 1300", ""},
		{"{note: '{{.Intent.Marker}}', amount: 1}", "{amount: 2}", sum + "value: 1", ""}, // rather a count
		{"{note: '{{.Intent.Marker}}', amount: 1200}", "{amount: 9900}", "query: 'select 1 from lines where note = :marker', rows: 1200", ""},
	} {
		source := fmt.Appendf(nil, `name: payments
base_url: http://localhost:8080
database: {url: "sqlite:///x.db"}
operations:
  pay:
    request: {path: /payments, body: %s}
    key: {in: header}
    alter: %s
    rows: {query: select id from payments where note = :marker}
    effects: [{name: books, %s}]
`, test.body, test.alter, test.effect)
		requireWarning(t, source, test.warned, test.effect)
	}
}

// TestALineThatIsTriedWithKeysIsWarnedOfWithoutOne holds that a promise which no run can try for want of a key is said to be untried, and
// that a preset's is not: the file does not say it.
func TestALineThatIsTriedWithKeysIsWarnedOfWithoutOne(t *testing.T) {
	t.Parallel()
	const none = "no operation has a key, and a run tries this with keys only: it says nothing of this line"
	const window = "contract.content_window: no operation has a key, and there is no natural_key: each request is an intent of its own"
	for _, test := range []struct{ contract, key, warned string }{
		{"{natural_key: [/no], scope: {principal: separate}}", "", "contract.scope.principal: " + none},
		{"{natural_key: [/no], scope: {principal: shared}}", "", ""}, // what one is shown of the other is no leak then
		{"{natural_key: [/no], expiry: {after: 30s}}", "", "contract.expiry.after: " + none},
		{"{content_window: 4s}", "", window},
		{"{content_window: 4s, natural_key: [/no]}", "", ""},
		{"{preset: stripe, natural_key: [/no]}", "", ""},
		{"{scope: {principal: separate}}", "key: {in: header}", ""},
		{"{content_window: 4s}", "key: {in: header}", ""},
	} {
		source := fmt.Appendf(nil, `name: invoices
base_url: http://localhost:8080
database: {url: "sqlite:///x.db"}
contract: %s
principals: {ada: {tenant: t-1}, bob: {tenant: t-2}}
operations:
  create_invoice:
    request: {path: /invoices, body: {tenant: "{{.Principal.tenant}}", no: "{{.Intent.Reference}}", memo: "{{.Intent.Marker}}"}}
    rows: {query: select id from invoices where memo = :marker}
    %s
`, test.contract, test.key)
		requireWarning(t, source, test.warned, test.contract)
	}
}

// requireWarning holds that a file has one warning, which says something; empty: that it has none.
func requireWarning(t *testing.T, source []byte, warned, of string) {
	t.Helper()
	target, err := targets.Load("f.yaml", source, nil)
	require.NoError(t, err, of)
	warnings := targets.Warnings("f.yaml", source, target)
	if warned == "" {
		require.Empty(t, warnings, of)
		return
	}
	require.Len(t, warnings, 1, of)
	require.Contains(t, warnings[0].String(), warned)
}
