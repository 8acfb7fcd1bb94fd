package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
		Of:  databases.Table{Name: "wallets", Columns: columns("id", "balance", "payments", "version"), Primary: []string{"id"}},
		Key: "id", Value: "7",
		Entries: databases.Table{Name: "payments", Columns: columns("id", "wallet_id", "amount", "fee"), Primary: []string{"id"}}, By: "wallet_id",
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
