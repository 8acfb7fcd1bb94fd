package learn

import (
	"context"
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// level is a number of a whole table.
type level struct {
	pool        drafting.Pool
	now         float64
	each, again float64 // by which a create changes it, and one that was repeated
}

// pools are numbers of whole tables that creates may change, and of which no row says which create it was.
type pools struct {
	db   *databases.Database
	all  []level
	rows []sums // of small tables, before creates
}

// mostColumns is how many columns of a table are looked at.
const mostColumns = 40

// poolsOf reads what may be a pool, of tables whose rows are counted.
func poolsOf(ctx context.Context, i *inquiry, db *databases.Database, tables []growth) *pools {
	p := &pools{db: db}
	for _, g := range tables {
		if g.rows == 0 || len(g.table.Columns) > mostColumns || drafting.OfElements(&i.file, g.table) {
			continue
		}
		values := func(column string) []string {
			if all, few, err := db.Values(ctx, g.table, column); err == nil && few {
				return all
			}
			return nil
		}
		if one, small := sumsOf(ctx, i, g.table); small && g.rows > mostTotals {
			p.rows = append(p.rows, one)
		}
		for _, one := range drafting.PoolsOf(g.table, values, g.rows > mostTotals) {
			p.all = append(p.all, level{pool: one})
		}
	}
	p.read(ctx, func(*level, float64) bool { return true })
	return p
}

// read asks for the numbers again, and leaves those for which a rule holds of by how much they have changed. Those of a table that cannot be asked
// are left out.
func (p *pools) read(ctx context.Context, rule func(l *level, by float64) bool) {
	var left []level
	for len(p.all) > 0 {
		table := p.all[0].pool.Table
		n := slices.IndexFunc(p.all, func(l level) bool { return l.pool.Table.FullName() != table.FullName() })
		if n < 0 {
			n = len(p.all)
		}
		var asked []string
		for _, l := range p.all[:n] {
			asked = append(asked, l.pool.Asked(p.db.Dialect))
		}
		numbers, err := p.db.Whole(ctx, table, asked)
		for k, l := range p.all[:n] {
			if err != nil {
				break
			}
			by := math.Round((numbers[k]-l.now)*1e6) / 1e6
			if l.now = numbers[k]; rule(&l, by) {
				left = append(left, l)
			}
		}
		p.all = p.all[n:]
	}
	p.all = left
}

// moved leaves the numbers that creates have changed, of tables that have as many rows as before.
func (p *pools) moved(ctx context.Context, grown []growth) {
	p.read(ctx, func(l *level, by float64) bool {
		l.each = by
		return by != 0 && !slices.ContainsFunc(grown, func(g growth) bool { return g.table.FullName() == l.pool.Table.FullName() })
	})
}

// each notes by how much one create changes each number. Of those that say the same of a table, the first one is left.
func (p *pools) each(ctx context.Context, i *inquiry) {
	var read []string // row by row, by what finds totals
	for _, was := range p.rows {
		if is, small := sumsOf(ctx, i, was.table); small && len(drafting.Moved(was.totals, is.totals)) <= mostTotals {
			read = append(read, was.table.FullName())
		}
	}
	p.read(ctx, func(l *level, by float64) bool {
		l.each = (l.each + by) / sentOnce
		return l.each == math.Trunc(l.each) && l.each != 0 && (l.pool.Kind != drafting.InAll || !slices.Contains(read, l.pool.Table.FullName()))
	})
	var left []level
	for _, kind := range []string{drafting.InState, drafting.WithAny, drafting.InAll} {
		for _, l := range p.all {
			said := func(o level) bool {
				return o.pool.Table.FullName() == l.pool.Table.FullName() && (kind != drafting.InAll || o.pool.Kind != kind && o.each == l.each)
			}
			if l.pool.Kind == kind && (l.each > 0 || kind != drafting.InState) && !slices.ContainsFunc(left, said) {
				left = append(left, l)
			}
		}
	}
	p.all = left
}

// still leaves out the numbers that changed when nothing was sent.
func (p *pools) still(ctx context.Context) {
	p.read(ctx, func(_ *level, by float64) bool { return by == 0 })
}

// again notes what creates that were repeated have changed.
func (p *pools) again(ctx context.Context) {
	p.read(ctx, func(l *level, by float64) bool {
		l.again = by / sentThrice
		return math.Abs(l.again) >= math.Abs(l.each)
	})
}

// note sends a create with another body where runs do, and writes down what is known then.
func (p *pools) note(ctx context.Context, i *inquiry, asking *questioner) {
	other := map[string]float64{}
	if len(p.all) > 0 && i.file.Draft.Keyed() && asking.alters() {
		p.read(ctx, func(*level, float64) bool { return true }) // as others were sent in between
		asking.done(ctx, "pools", "[{send: {}}, {alter: {key: fresh}}]")
		letBe(ctx, forChildren)
		p.read(ctx, func(l *level, by float64) bool {
			other[l.pool.Name()] = by - l.each
			return true
		})
	}
	for _, l := range p.all {
		another, was := other[l.pool.Name()]
		if !was {
			another = l.each
		}
		drafting.Pooled(&i.file, l.pool, l.each, l.again, another)
	}
}
