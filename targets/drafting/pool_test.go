package drafting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestWhatMayBeAskedOfAPool holds that states and what is set are asked for, and sums where not each row is read; keys and what counts requests are
// not.
func TestWhatMayBeAskedOfAPool(t *testing.T) {
	table := databases.Table{Name: "lots", Primary: []string{"id"}, Columns: []databases.Column{
		{Name: "id", Type: "integer"}, {Name: "state", Type: "text"}, {Name: "used", Type: "boolean"}, {Name: "left_over", Type: "integer"}, {Name: "last_seen", Type: "timestamp"}, {Name: "sold_at", Type: "timestamp"}}}
	values := map[string][]string{"state": {"free", "it's"}, "used": {"false", "true"}}
	asked := func(sums bool) (all []string) {
		for _, p := range PoolsOf(table, func(column string) []string { return values[column] }, sums) {
			if p.Kind != WithAny || p.Column == "sold_at" {
				all = append(all, p.Asked(databases.PostgreSQL))
			}
		}
		return all
	}
	states := []string{"count(case when state = 'free' then 1 end)", "count(case when used = 'false' then 1 end)", "count(case when used = 'true' then 1 end)"}
	assert.Equal(t, append(states, "count(sold_at)"), asked(false))
	assert.Equal(t, append(states, "coalesce(sum(left_over), 0)", "count(sold_at)"), asked(true))
}

// TestAPoolIsAnEffectOnlyIfNothingElseMovesIt holds what becomes an effect, and what a doubt.
func TestAPoolIsAnEffectOnlyIfNothingElseMovesIt(t *testing.T) {
	lots := databases.Table{Name: "lots"}
	for name, c := range map[string]struct {
		kind               string
		each, again, other float64
		doubt              string
		effects            int
	}{
		"each takes one":          {InState, 1, 1, 1, "Whether anything but creates changes how many rows have sold in lots.state", 1},
		"a repetition takes more": {InState, 1, 3, 1, "Whether a repetition may change how many rows", 0},
		"it takes what is said":   {InAll, -3, -3, -4, "Whether each create changes the sum of lots.state by what it says", 0},
		"it may give out numbers": {InAll, 1, 1, 1, "may be what gives each its number", 0},
		"many rows rise":          {InAll, 12, 12, 12, "Whether anything but creates", 1},
		"it is no whole number":   {InAll, 0.5, 0.5, 0.5, "Whether each create changes", 0},
	} {
		f := &File{Proof: &Proof{Table: databases.Table{Name: "sales"}}}
		Pooled(f, Pool{lots, c.kind, "state", "sold"}, c.each, c.again, c.other)
		assert.Len(t, f.Proof.Others, c.effects, name)
		assert.Contains(t, strings.Join(f.Doubts, "\n"), c.doubt, name)
	}
}

// TestAPartOfANameIsNoNote holds that tables which are called after a thing are not taken for logs and records of requests.
func TestAPartOfANameIsNoNote(t *testing.T) {
	f := &File{Proof: &Proof{Table: databases.Table{Name: "sales"}}}
	for name, may := range map[string]bool{
		"conversions": true, "reviews": true, "interviews": true, "catalog_entries": true, "blocks": true, "releases": true, "exchanges": true,
		"versions": false, "order_versions": false, "OrderVersion": false, "logs": false, "audit_log": false, "accesslog": false, "views": false, "page_views": false, "pageviews": false,
		"locks": false, "leases": false, "changes": false, "ChangeLog": false, "user_changes": false,
		"ApiLog": false, "JobLock": false, "NodeLease": false, "TaxChange": false,
	} {
		assert.Equal(t, may, MayBeUnlinked(f, databases.Table{Name: name}), name)
	}
}

// TestASmallLotIsSummedWithTheNext holds that a number which soon runs out in one row is asked of all rows, and one that lasts of its own.
func TestASmallLotIsSummedWithTheNext(t *testing.T) {
	for left, over := range map[float64]string{100: "lots", 1e6: "lots where lots.id = '1'"} {
		at := func(n float64) Standing { return Standing{Numbers: map[string]float64{"left_over": n}} }
		b := Book{Of: databases.Table{Name: "lots"}, Total: true, Where: []Cell{{"id", "1"}}, Number: "left_over"}
		_, from := b.OverLots([]Posting{{Before: at(left + 2), After: at(left + 1)}, {Before: at(left + 1), After: at(left)}}).from(databases.PostgreSQL)
		assert.Equal(t, over, from)
	}
}
