package drafting_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func columns(names ...string) (all []databases.Column) {
	for _, name := range names {
		all = append(all, databases.Column{Name: name, Type: "integer"})
	}
	return all
}

func TestNumbersThatCreatesHaveInCommon(t *testing.T) {
	t.Parallel()
	wallet := drafting.Book{
		Of:  databases.Table{Name: "wallets", Columns: columns("id", "balance", "payments", "version", "last_seq", "reviews"), Primary: []string{"id"}},
		Key: "id", Value: "7",
		Entries: databases.Table{Name: "payments", Columns: columns("id", "wallet_id", "amount", "fee", "state"), Primary: []string{"id"}}, By: "wallet_id",
	}
	row := func(balance, payments, version string) map[string]string {
		return map[string]string{"id": "7", "balance": balance, "payments": payments, "version": version}
	}
	paid := func(amount, fee string) map[string]string {
		return map[string]string{"id": "1", "wallet_id": "7", "amount": amount, "fee": fee}
	}
	type create struct{ after, entry map[string]string }
	for name, c := range map[string]struct {
		creates []create
		found   []string
		unsure  []string
	}{
		"a balance, and a counter":         {[]create{{row("95", "1", "1"), paid("5", "0")}, {row("88", "2", "2"), paid("7", "0")}}, []string{"balance -amount", "payments +"}, nil},
		"one that rises":                   {[]create{{row("105", "0", "0"), paid("5", "1")}}, []string{"balance +amount"}, nil},
		"nothing changes":                  {[]create{{row("100", "0", "0"), paid("5", "1")}}, nil, nil},
		"an amount of one":                 {[]create{{row("99", "0", "0"), paid("1", "0")}}, nil, []string{"wallets.balance"}},
		"an amount of one, and another":    {[]create{{row("99", "0", "0"), paid("1", "0")}, {row("96", "0", "0"), paid("3", "0")}}, []string{"balance -amount"}, nil},
		"what the second contradicts":      {[]create{{row("95", "0", "0"), paid("5", "1")}, {row("94", "0", "0"), paid("6", "1")}}, nil, nil},
		"a fee that is another's, too":     {[]create{{row("95", "0", "0"), paid("5", "5")}, {row("89", "0", "0"), paid("6", "5")}}, []string{"balance -amount"}, nil},
		"by a number that nobody recorded": {[]create{{row("58", "0", "0"), paid("5", "1")}}, nil, nil},
		"no create":                        {nil, nil, nil},
		"a code that is no amount":         {[]create{{row("99", "0", "0"), map[string]string{"id": "1", "wallet_id": "7", "amount": "5", "state": "1"}}}, []string{"balance -"}, nil},
		"a number that a loser draws":      {[]create{{map[string]string{"balance": "100", "payments": "0", "version": "0", "last_seq": "1"}, paid("5", "0")}}, nil, nil},
		"a part of a word":                 {[]create{{map[string]string{"balance": "100", "payments": "0", "version": "0", "reviews": "1"}, paid("5", "0")}}, []string{"reviews +"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := drafting.StandingIn(wallet, row("100", "0", "0"))
			var postings []drafting.Posting
			for _, create := range c.creates {
				after := drafting.StandingIn(wallet, create.after)
				postings = append(postings, drafting.Posting{Before: before, After: after, Entry: drafting.EntryOf(wallet.Entries, []map[string]string{create.entry})})
				before = after
			}
			books, unsure := drafting.BooksIn(postings)
			var found []string
			for _, b := range books {
				sign := " +"
				if b.Falls {
					sign = " -"
				}
				found = append(found, b.Number+sign+b.Amount)
			}
			require.Equal(t, c.found, found)
			require.Equal(t, c.unsure, unsure)
		})
	}
}

// TestWhatIsWrittenOfNumbersThatCreatesHaveInCommon holds that a file with such numbers is read, and that neither a type that cannot be
// negative nor one that does not add up to the last digit changes them.
func TestWhatIsWrittenOfNumbersThatCreatesHaveInCommon(t *testing.T) {
	t.Parallel()
	of := func(value, kind string) drafting.Book {
		items := databases.Table{Name: "warehouse_inventory_items", Columns: []databases.Column{{Name: "available_quantity", Type: kind}}}
		moves := databases.Table{Name: "moves", Columns: columns("item_id", "quantity")}
		return drafting.Book{Of: items, Key: "id", Value: value, Number: "available_quantity", Entries: moves, By: "item_id", Amount: "quantity", Counted: drafting.Counting{Condition: "moves.status in ('done')"}}
	}
	for name, c := range map[string]struct {
		dialect     databases.Dialect
		kind, query string
	}{
		"a whole number":                 {databases.PostgreSQL, "bigint", "select warehouse_inventory_items.available_quantity - ("},
		"one that may not be negative":   {databases.MariaDB, "int(10) unsigned", "select 0.0 + warehouse_inventory_items.available_quantity - ("},
		"a floating-point number":        {databases.PostgreSQL, "double precision", "select round(cast(warehouse_inventory_items.available_quantity - ("},
		"one of MariaDB":                 {databases.MariaDB, "double", "select round(0.0 + warehouse_inventory_items.available_quantity - ("},
		"what may be one, as SQLite has": {databases.SQLite, "numeric(12,2)", "select round(0.0 + warehouse_inventory_items.available_quantity - ("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := drafting.File{Target: "shop", Source: "a test", BaseURL: "http://localhost/", Dialect: c.dialect, Database: true,
				Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "sample"}, Texts: []string{"/note"}},
				Proof: &drafting.Proof{Table: databases.Table{Name: "moves"}, Text: "/note", Where: drafting.Where{Column: "note", Exact: true},
					Books: []drafting.Book{of("warehouse-north-shelf-1", c.kind), of("warehouse-north-shelf-2", c.kind)}}}
			text, err := f.Text()
			require.NoError(t, err)
			target, err := targets.Load("shop.yaml", []byte(text), func(name string) (string, bool) { return "sqlite:///x", name == "DATABASE_URL" })
			require.NoError(t, err, text)
			effects := target.Operations["create"].Effects
			require.Len(t, effects, 2)
			require.NotEqual(t, effects[0].Name, effects[1].Name)
			require.True(t, strings.HasPrefix(effects[0].Query, c.query), effects[0].Query)
			require.Contains(t, effects[0].Query, "where moves.item_id = 'warehouse-north-shelf-1' and moves.status in ('done'))")
		})
	}
}

// TestNumbersThatMayChangeOtherwise holds which numbers are not held against what was written down, although they changed with it.
func TestNumbersThatMayChangeOtherwise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		book drafting.Book
		sure bool
	}{
		"a balance":                          {drafting.Book{Number: "balance", Amount: "amount", Counted: drafting.Counting{Condition: "x", Told: true}}, true},
		"what says nothing of a row's state": {drafting.Book{Number: "balance", Amount: "amount"}, false},
		"a counter":                          {drafting.Book{Number: "orders", Counted: drafting.Counting{Told: true}}, true},
		"a counter of what may be declined":  {drafting.Book{Number: "orders", Counted: drafting.Counting{Condition: "x", Told: true}}, false},
		"places of which some may be given":  {drafting.Book{Number: "left", Falls: true, Counted: drafting.Counting{Condition: "x", Told: true}}, true},
		"what is held":                       {drafting.Book{Number: "held", Amount: "amount", Counted: drafting.Counting{Told: true}}, true},
		"what is held until it is taken":     {drafting.Book{Number: "held", Amount: "amount", Counted: drafting.Counting{Moves: true, Told: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.sure, c.book.Sure())
		})
	}
}

func TestOtherAmounts(t *testing.T) {
	t.Parallel()
	f := drafting.File{Draft: drafting.Draft{Body: map[string]any{
		"a": "12", "amount": int64(5), "customer_id": int64(7), "note": "two", "price": "12.50", "rate": 0.5, "yes": true,
	}}}
	require.Equal(t, []drafting.Other{{Pointer: "/amount", Value: int64(7)}, {Pointer: "/rate", Value: 2.5}, {Pointer: "/a", Value: "14"}, {Pointer: "/price", Value: "14.50"}}, drafting.Amounts(&f))
}

// TestNumbersThatLagBehindTheAnswers holds that a number which changes by what all creates say together, and not by what each of them says, is
// known for one that is changed later.
func TestNumbersThatLagBehindTheAnswers(t *testing.T) {
	t.Parallel()
	account := drafting.Book{
		Of:  databases.Table{Name: "merchants", Columns: columns("id", "balance", "level"), Primary: []string{"id"}},
		Key: "id", Value: "7",
		Entries: databases.Table{Name: "payments", Columns: columns("id", "merchant_id", "amount"), Primary: []string{"id"}}, By: "merchant_id",
	}
	standing := func(balance string) drafting.Standing {
		return drafting.StandingIn(account, map[string]string{"id": "7", "balance": balance, "level": "1"})
	}
	for name, c := range map[string]struct {
		after, amounts []string // of each create
		later          string
		lags           bool
	}{
		"each at its time":               {[]string{"50", "120", "170"}, []string{"50", "70", "50"}, "170", false},
		"each when the next one is sent": {[]string{"0", "50", "120"}, []string{"50", "70", "50"}, "170", true},
		"two at once":                    {[]string{"0", "120", "170"}, []string{"50", "70", "50"}, "170", true},
		"by another number with each":    {[]string{"5", "12", "17"}, []string{"50", "70", "50"}, "17", false},
		"what others do besides":         {[]string{"51", "122", "173"}, []string{"50", "70", "50"}, "173", false},
		"nothing":                        {[]string{"0", "0"}, []string{"50", "70"}, "0", false},
		"no create":                      {nil, nil, "50", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := standing("0")
			var postings []drafting.Posting
			for i, balance := range c.after {
				after := standing(balance)
				entry := drafting.EntryOf(account.Entries, []map[string]string{{"id": "1", "merchant_id": "7", "amount": c.amounts[i]}})
				postings = append(postings, drafting.Posting{Before: before, After: after, Entry: entry})
				before = after
			}
			require.Equal(t, c.lags, drafting.Lags(postings, standing(c.later)))
		})
	}
}
