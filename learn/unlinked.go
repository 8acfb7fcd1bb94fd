package learn

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// What is sent to see how many rows creates add to tables that nothing links to them.
const (
	countedTables = 60                     // are counted at most
	sentOnce      = 3                      // creates
	sentThrice    = 2                      // creates
	behindAnswer  = 300 * time.Millisecond // for a first look
	undisturbed   = time.Second            // in which nothing is sent
)

// growth is a table, and how many rows it had when it was counted last.
type growth struct {
	table       databases.Table
	rows        int
	each, again int    // that a create adds, or takes away if it is negative, and that there are of one when it has been repeated
	found       bool   // two creates that say the same have one together
	column      string // that has what a create says, and by which it is found; empty: not known
}

// unlinked finds the tables to which each create adds rows that neither refer to the created one nor hold its marker: of those, nothing but
// their number can be watched. What others write there would count as well, so a table is taken only if each create adds as many rows, and
// none come when nothing is sent.
func unlinked(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	f := &i.file
	db, is := i.db.(*databases.Database)
	if !is || !oneRowEach(i, r) || notAlone(i) {
		return nil
	}
	all, changed := countable(ctx, i, db)
	if len(all) == 0 && len(changed) == 0 {
		return nil
	}
	pools := poolsOf(ctx, i, db, changed)
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	var answers []drafting.Answer
	creates := func(n int, steps string) (each bool) {
		answers, each = makeOneEach(ctx, i, asking, "unlinked", n, steps)
		return each
	}
	if !creates(sentOnce, "[{send: {}}]") {
		return asking.err
	}
	letBe(ctx, behindAnswer)
	all = grown(ctx, db, all, func(_ *growth, by int) bool { return by != 0 })
	changed = grown(ctx, db, changed, func(_ *growth, by int) bool { return by != 0 })
	if pools.moved(ctx, changed); len(all) == 0 && len(pools.all) == 0 {
		return nil
	}
	letBe(ctx, forChildren)
	pools.each(ctx, i)
	all = grown(ctx, db, all, func(g *growth, by int) bool {
		g.rows, g.each = g.rows+by, by/sentOnce
		return g.each != 0 && by%sentOnce == 0 && (g.each != 1 || !drafting.OfElements(f, g.table)) // of one element, the row query says all
	})
	letBe(ctx, undisturbed)
	all = still(ctx, db, all)
	if pools.still(ctx); len(all) == 0 && len(pools.all) == 0 || !creates(sentThrice, "[{send: {}}, {send: {}}, {send: {}}]") {
		return asking.err
	}
	letBe(ctx, forChildren)
	pools.again(ctx)
	all = grown(ctx, db, all, func(g *growth, by int) bool {
		g.rows, g.again = g.rows+by, int(math.Ceil(float64(by)/sentThrice))
		if g.each < 0 {
			g.again = int(math.Floor(float64(by) / sentThrice))
			return g.again <= g.each
		}
		return g.again >= g.each
	})
	taken := slices.DeleteFunc(slices.Clone(all), func(g growth) bool { return g.each > 0 })
	all = slices.DeleteFunc(all, func(g growth) bool { return g.each < 0 })
	noteAdded(ctx, i, asking, db, all, answers)
	noteTaken(ctx, i, asking, db, taken)
	pools.note(ctx, i, asking)
	return asking.err
}

// countable are the tables whose rows are counted: those to which creates may add some that nothing links to them, and those in which they may change
// what is there.
func countable(ctx context.Context, i *inquiry, db *databases.Database) (all, changed []growth) {
	f := &i.file
	shadows := db.Shadows(ctx)
	for _, t := range near(i) {
		if slices.Contains(shadows, t.Name) {
			continue
		}
		if (drafting.MayBeUnlinked(f, t) || drafting.OfElements(f, t)) && len(all) < countedTables {
			all = append(all, growth{table: t})
		}
		if drafting.MayBePool(f, t) && len(changed) < countedTables {
			changed = append(changed, growth{table: t})
		}
	}
	count := func(g *growth, by int) bool { g.rows = by; return true }
	return grown(ctx, db, all, count), grown(ctx, db, changed, count)
}

// noteAdded writes down the tables to which each create adds rows.
func noteAdded(ctx context.Context, i *inquiry, asking *questioner, db *databases.Database, all []growth, answers []drafting.Answer) {
	f := &i.file
	if len(all) > 0 {
		letBe(ctx, undisturbed)
	}
	for _, g := range foundOrMade(ctx, i, asking, db, still(ctx, db, all)) {
		switch {
		case keepsAnswers(ctx, db, g.table, answers):
			f.Doubt("Whether %s has anything but what repetitions are answered from: what creates were answered stands there as a text, so its rows are not counted. If each says that something was done, such as for other services to read, add it to effects.", g.table.FullName())
		case drafting.OfElements(f, g.table):
			drafting.Elements(f, g.each)
		case g.found:
			drafting.FoundOrMade(f, g.table, g.column)
		default:
			drafting.Unlinked(f, g.table, g.each, g.again)
		}
	}
}

// noteTaken writes down the tables from which each create takes rows away.
func noteTaken(ctx context.Context, i *inquiry, asking *questioner, db *databases.Database, taken []growth) {
	for _, g := range taken {
		if handedOver(ctx, i, asking, db, g) {
			drafting.Taken(&i.file, g.table, -g.each, -g.again)
			continue
		}
		i.file.Doubt("Whether creates give rows of %s away: each takes %d of about %d, and nothing that it leaves has what stood there, so it may be what is cleaned up, until nothing is left. No effect counts them; if creates give them away, add one with count(*) and a delta of %d.", g.table.FullName(), -g.each, g.rows, g.each)
	}
}

// foundOrMade notes the tables in which two creates that say the same, each under a key of its own, share a row, as that of a customer who is found
// or made by the address: what there is follows from bodies, and not from how many creates there were.
func foundOrMade(ctx context.Context, i *inquiry, asking *questioner, db *databases.Database, all []growth) []growth {
	if len(all) == 0 || !i.file.Draft.Keyed() {
		return all
	}
	_, markers := asking.done(ctx, "alike", "[{send: {}}, {send: {key: fresh}}]")
	if asking.err != nil || len(markers) == 0 || i.made(ctx, markers[0]) != 2 {
		return all
	}
	letBe(ctx, forChildren)
	reference := asking.reference
	all = grown(ctx, db, all, func(g *growth, by int) bool {
		g.rows, g.found = g.rows+by, by < 2*g.each
		return true
	})
	for n, g := range all {
		if landings, _ := db.Search(ctx, []databases.Table{g.table}, reference); g.found && len(landings) == 1 && len(landings[0].Columns) > 0 {
			all[n].column = landings[0].Columns[0]
		}
	}
	if !slices.ContainsFunc(all, func(g growth) bool { return g.found }) || !asking.alters() {
		return all
	}
	asking.done(ctx, "alike-other", "[{send: {}}, {alter: {key: fresh}}]")
	letBe(ctx, forChildren)
	return grown(ctx, db, all, func(g *growth, by int) bool {
		if g.rows += by; by > g.each { // what is altered tells rows apart as well
			g.column, g.found = "", g.found && !drafting.Owed(&i.file, g.table)
		}
		return true
	})
}

// keepsAnswers reports that a table has what the answers said as the text of a column, and another one to find it by: it is what repetitions are
// answered from, whatever it is called, and may have a row for a refusal, too. A table of messages may say the same to others. Answers that are
// alike, or no more than a word or a number, may stand anywhere. JSON may be written in another way there, if it stands beside the request's key.
func keepsAnswers(ctx context.Context, db *databases.Database, t databases.Table, answers []drafting.Answer) bool {
	var said []string
	for _, a := range answers {
		if text := strings.TrimSpace(a.Written); strings.ContainsAny(text[:min(1, len(text))], "{[<") && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if len(said) < 2 || drafting.HoldsMessages(t) {
		return false
	}
	return slices.ContainsFunc(t.Columns, func(c databases.Column) bool {
		named := slices.ContainsFunc(t.Columns, func(o databases.Column) bool { return o.Name != c.Name && !o.HoldsNumber() })
		return named && !c.HoldsNumber() && slices.ContainsFunc(said, func(text string) bool {
			rows, err := db.With(ctx, t, c.Name, text)
			return err == nil && len(rows) > 0
		}) || !c.HoldsNumber() && slices.ContainsFunc(answers, func(a drafting.Answer) bool { return besideKey(ctx, db, t, c, a) })
	})
}

// besideKey reports that rows of a table have the key of a request in a column, and its answer, as JSON in whatever spelling, in another one.
func besideKey(ctx context.Context, db *databases.Database, t databases.Table, column databases.Column, a drafting.Answer) bool {
	if a.Key == "" || a.Body == nil {
		return false
	}
	rows, err := db.With(ctx, t, column.Name, a.Key)
	return err == nil && slices.ContainsFunc(rows, func(row map[string]string) bool {
		for name, text := range row {
			if said := map[string]any{}; name != column.Name && strings.HasPrefix(strings.TrimSpace(text), "{") {
				decoder := json.NewDecoder(strings.NewReader(text))
				decoder.UseNumber() // as answers are read
				if decoder.Decode(&said) == nil && reflect.DeepEqual(a.Body, any(said)) {
					return true
				}
			}
		}
		return false
	})
}

// grown counts the rows of tables again, and leaves the tables for which a rule holds of how many more there are. One that cannot be counted is
// left out.
func grown(ctx context.Context, db *databases.Database, all []growth, rule func(g *growth, by int) bool) (left []growth) {
	for _, g := range all {
		if n, err := db.Count(ctx, g.table); err == nil && rule(&g, n-g.rows) {
			left = append(left, g)
		}
	}
	return left
}

// still leaves out the tables that got rows when nothing was sent.
func still(ctx context.Context, db *databases.Database, all []growth) []growth {
	return grown(ctx, db, all, func(_ *growth, by int) bool { return by == 0 })
}
