package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

var (
	// ofRequests matches names of columns by which a table says something of requests, and not of what they do: it may have a row for each
	// key, or for each answer.
	ofRequests = regexp.MustCompile(`(?i)idem|dedup|nonce|^key$|[a-z_]key$|token|request|fingerprint|hash|digest|response|status_?code|lock|expire|endpoint|http|url|user_?agent|remote|^ip$|_ip$|duration|elapsed|latency|bytes|_ms$`)
	// ofCalls matches names of tables that have rows for requests as well, beside those that bookkeeping matches.
	ofCalls = regexp.MustCompile(`(?i)call|hit|click|metric|statist|usage|deliver|webhook|ping|debug|error|fail|reject|refus|conflict|limit|rate|probe|poll|draft|submission|replay|response`)
)

// MayBeUnlinked reports that rows of a table may be an effect of creates although nothing in them says of which: going by its names, it is no log
// and no record of requests, and no other effect counts it.
func MayBeUnlinked(f *File, t databases.Table) bool {
	return MayBePool(f, t) && !slices.ContainsFunc(f.Proof.Others, func(o Beside) bool { return o.Table.FullName() == t.FullName() && asksFor(*f, o) })
}

// MayBePool reports that creates may change the rows of a table although none of them is of one create: they may write there what a body says.
func MayBePool(f *File, t databases.Table) bool {
	same := func(o databases.Table) bool { return o.FullName() == t.FullName() }
	return !same(f.Proof.Table) && (f.Proof.Through == nil || !same(f.Proof.Through.Table)) && (HoldsMessages(t) || !bookkeeping.MatchString(t.Name) && !noting.MatchString(t.Name) && !ofCalls.MatchString(t.Name)) &&
		!slices.ContainsFunc(t.Columns, func(c databases.Column) bool { return ofRequests.MatchString(c.Name) }) &&
		!slices.ContainsFunc(f.Children, func(c Child) bool { return same(c.Table) }) &&
		!slices.ContainsFunc(f.Proof.Others, func(o Beside) bool { return same(o.Table) && o.unlinked() }) &&
		!slices.ContainsFunc(f.Proof.Books, func(b Book) bool { return same(b.Of) || same(b.Entries) })
}

// asksFor reports that effects can ask for the rows of another table: what came there in the one create is sent by all, and by it runs ask.
func asksFor(f File, o Beside) bool {
	if f.settle() != nil {
		return true
	}
	condition, rows := holds(&f, o)
	return rows > 0 && (f.Proof.ByReference || strings.Contains(condition, ":marker"))
}

// Unlinked notes that each create adds so many rows to a table, and that there were so many when it had been repeated. Where a repetition adds
// some, rows of a table without a number may say no more than that there was a request.
func Unlinked(f *File, t databases.Table, rows, again int) {
	counts := HoldsMessages(t) || slices.ContainsFunc(t.Columns, func(c databases.Column) bool {
		return c.HoldsNumber() && !slices.Contains(t.Primary, c.Name) && !idLike.MatchString(c.Name)
	})
	if again > rows && !counts {
		f.Doubt("Whether %s may have more rows: one create made %d there, and there were %d when it was repeated. Nothing in them says of which create they are, and they may be a log, so they are not counted.", t.FullName(), rows, again)
		return
	}
	f.Doubt("Whether anything but creates adds rows to %s: nothing in them says of which create they are, so runs count all that there are. If others write there, leave the effect out.", t.FullName())
	f.Proof.Others = append(f.Proof.Others, Beside{Table: t, Rows: rows, Again: again})
}

// Taken notes that each create takes so many rows away from a table, such as a code from a pool, and how many it took when it had been repeated.
func Taken(f *File, t databases.Table, rows, again int) {
	if again > rows {
		f.Doubt("Whether a repetition may take more rows of %s: one create took %d away, and %d when it was repeated: a defect, if they are what creates give away, of which runs say nothing. If so, add an effect with count(*) and a delta of -%d.", t.FullName(), rows, again, rows)
		return
	}
	f.Doubt("Whether anything but creates takes rows away from %s, or fills it up: each create takes %d, and runs count all that there are. If others do, leave the effect out.", t.FullName(), rows)
	f.Proof.Others = append(f.Proof.Others, Beside{Table: t, Rows: -rows, Again: -again})
}

// Owed reports that each create may owe a row of a table, such as a payment, though two that say the same made one there: the created row does not
// refer to it, and it has a number that is no id.
func Owed(f *File, t databases.Table) bool {
	return !slices.ContainsFunc(f.Proof.Table.Refers, func(r databases.Reference) bool { return r.Table == t.FullName() }) && holdsAmounts(t)
}

// holdsAmounts reports that a table has a number that is no key.
func holdsAmounts(t databases.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c databases.Column) bool { return countsOrMeasures(t, c) })
}

// FoundOrMade notes that creates which say the same share a row of a table, which is found by a column, or made where there is none. Without a
// column, nothing can be watched.
func FoundOrMade(f *File, t databases.Table, column string) {
	const why = "two creates that said the same, under two keys, made one row there"
	if column == "" {
		f.Doubt("Whether %s has a row for what bodies say, or is to have one for each create: %s. Nothing is known by which it is found, so no effect watches it. If each create is to make one, such as of a payment, add an effect with count(*) and a delta: runs show then that it is missing.", t.FullName(), why)
		return
	}
	f.Doubt("Whether two rows of %s may have one %s: %s, so it is found by what is said, or made. Runs say so if creates at the same time make two. If two may have the same, leave the effect out; if each create is to make one, such as of a payment, let it count all rows, with a delta of 1.", t.FullName(), column, why)
	f.Proof.Others = append(f.Proof.Others, Beside{Table: t, Rows: 1, Found: column})
}

// unlinked reports that nothing in the rows of a table says of which create they are.
func (b Beside) unlinked() bool { return b.Column == "" }

// unequal matches types of which PostgreSQL cannot say whether two values are the same.
var unequal = regexp.MustCompile(`(?i)^(json|xml)$`)

// totalled counts all rows of tables of which no row says of which create it is.
func totalled(f *File, all []Beside) {
	for _, o := range all {
		if o.Pool != nil {
			f.line("      - name: %s # each create changes it, and nothing says of which", literal(o.Pool.slug()))
			f.line("        query: %s", literal("select "+o.Pool.Asked(f.Dialect)+" from "+f.Dialect.TableName(o.Table)))
			f.line("        delta: %d", o.Rows)
			continue
		}
		if o.Found != "" {
			column := f.Dialect.Name(o.Found)
			comparable := column
			if f.Dialect == databases.PostgreSQL && unequal.MatchString(o.Table.TypeOf(o.Found)) {
				comparable = "cast(" + column + " as text)"
			}
			f.line("      - name: %s # a row is found by it, or made, so no two have the same", literal("same-"+Slug(o.Table.FullName()+"."+o.Found)))
			f.line("        query: %s", literal(fmt.Sprintf("select count(%s) - count(distinct %s) from %s", column, comparable, f.Dialect.TableName(o.Table))))
			f.line("        delta: 0")
			continue
		}
		why := "nothing in its rows says of which create they are, so all are counted"
		if o.Rows < 0 {
			why = "each create takes its rows away, such as a code out of a pool"
		}
		if OfElements(f, o.Table) {
			why = "a row for each element of the list, of which only one has the marker"
		}
		f.line("      - name: %s # %s", literal(Slug(o.Table.FullName())), why)
		f.line("        query: %s", literal("select count(*) from "+f.Dialect.TableName(o.Table)))
		f.line("        delta: %d", o.Rows)
	}
}
