package learn

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

const (
	moreCreates = 5                     // that are sent to see that each makes as many rows as the first
	apartBy     = 70 * time.Millisecond // longer after each
	quietLooks  = 3                     // how often is looked, at most, until no more rows come
	onceAgain   = 4                     // how often a create is repeated again, where its second row may be none of the repetition's
)

// creation is how many rows a create has made that was sent once.
type creation struct {
	rows             int              // of the created thing's table
	different        int              // of them, by what they hold
	children, others []drafting.Count // of each table that refers to that one, and of each other one that holds the marker
}

// alike are creates that differ by their marker only. The first one is among them.
type alike []creation

// equals sends plain creates, and sees what each has made when all have had their time. Where some made more than others, that is what comes of
// one create by chance: neither the body says it, as that is the same, nor is it a repetition. The least is what one is to make.
func equals(ctx context.Context, i *inquiry, r *drafting.Repeated) (alike, error) {
	all := alike{firstOf(i.file)}
	if r.Rows < 2 && len(i.file.Proof.Several.Rows) == 0 && !drafting.MayCount(i.file) {
		return all, nil
	}
	asking, err := i.questioner()
	if err != nil {
		return all, err
	}
	var markers []string
	for n := range moreCreates {
		letBe(ctx, time.Duration(n)*apartBy) // who looks for work every so often is not to find all at once, nor each at the same moment
		_, marker := asking.ask(ctx, "alike", 1, "[{send: {}}]")
		markers = append(markers, marker...)
	}
	all, quiet := all.with(ctx, i, markers)
	settle(i, all, quiet)
	if !quiet || slices.Max(all.rows()) == slices.Min(all.rows()) {
		return all, asking.err
	}
	for n := 0; n < onceAgain && r.Rows > 1; n++ {
		again, err := i.questioner()
		if err != nil {
			return all, err
		}
		if *r, err = i.repeated(ctx, again); err != nil {
			return all, err
		}
	}
	return all, asking.err
}

// firstOf is what the first create has made.
func firstOf(f drafting.File) creation {
	first := creation{rows: max(len(f.Proof.Several.Rows), 1), different: drafting.DifferentRows(f.Proof.Table, f.Proof.Several.Rows)}
	for _, c := range f.Children {
		first.children = append(first.children, drafting.Count{Rows: c.Rows})
	}
	for _, o := range f.Proof.Others {
		first.others = append(first.others, drafting.Count{Rows: o.Rows})
	}
	return first
}

// with adds creates that have had their time. It is not quiet where rows came all the while.
func (a alike) with(ctx context.Context, i *inquiry, markers []string) (all alike, quiet bool) {
	seen := make(alike, len(markers))
	for look := range quietLooks {
		letBe(ctx, max(forChildren, 2*i.waited+betweenLook))
		more := false
		for n, marker := range markers {
			more = seen[n].raise(creationOf(ctx, i, marker)) || more
		}
		all = append(slices.Clone(a), slices.DeleteFunc(slices.Clone(seen), func(c creation) bool { return c.rows == 0 })...)
		if quiet = all.even() || look > 0 && !more; quiet {
			break
		}
	}
	return all, quiet
}

// creationOf counts what there is of one create now.
func creationOf(ctx context.Context, i *inquiry, marker string) (c creation) {
	landings := search(ctx, i, marker)
	rows := rowsIn(landings, i.file.Proof.Table)
	c.rows, c.different = len(rows), drafting.DifferentRows(i.file.Proof.Table, rows)
	for _, child := range i.file.Children {
		var one drafting.Count
		if len(rows) == 1 {
			one = referring(ctx, i, child, rows[0])
		}
		c.children = append(c.children, one)
	}
	for _, o := range i.file.Proof.Others {
		c.others = append(c.others, drafting.Count{Rows: o.CountIn(landings), Different: drafting.Different(o.Table, "", rowsIn(landings, o.Table))})
	}
	return c
}

// referring counts what refers to a created row, and how many of it differ where they are messages.
func referring(ctx context.Context, i *inquiry, c drafting.Child, row map[string]string) drafting.Count {
	value := row[c.By.Theirs]
	if value == "" {
		return drafting.Count{}
	}
	n, _ := i.db.Referring(ctx, c.Table, c.By, value)
	count := drafting.Count{Rows: n}
	if n > 1 && drafting.HoldsMessages(c.Table) {
		if rows, _ := i.db.With(ctx, c.Table, c.By.Column, value); len(rows) == n { // it lists a few only
			count.Different = drafting.Different(c.Table, c.By.Column, rows)
		}
	}
	return count
}

// raise takes what there is more of, as messages may be gone again, and reports whether there is.
func (c *creation) raise(now creation) (more bool) {
	if c.children == nil {
		c.children, c.others = make([]drafting.Count, len(now.children)), make([]drafting.Count, len(now.others))
	}
	more, c.rows, c.different = now.rows > c.rows, max(c.rows, now.rows), max(c.different, now.different)
	for _, of := range [][2][]drafting.Count{{c.children, now.children}, {c.others, now.others}} {
		for n, count := range of[1] {
			if old := &of[0][n]; count.Rows > old.Rows {
				more, *old = true, count
			}
		}
	}
	return more
}

// even reports that all have made the same.
func (a alike) even() bool {
	return !slices.ContainsFunc(a, func(c creation) bool {
		return c.rows != a[0].rows || !slices.EqualFunc(c.children, a[0].children, sameRows) || !slices.EqualFunc(c.others, a[0].others, sameRows)
	})
}

func sameRows(a, b drafting.Count) bool { return a.Rows == b.Rows }

// rows are how many each has made in the created thing's table.
func (a alike) rows() (all []int) {
	for _, c := range a {
		all = append(all, c.rows)
	}
	return all
}

// least are those that have made no more rows than another one.
func (a alike) least() alike {
	least := slices.Min(a.rows())
	return slices.DeleteFunc(slices.Clone(a), func(c creation) bool { return c.rows > least })
}

// child are how many rows each of the least has made in a table that refers to the created row. Of several rows it is not known which one
// has them.
func (a alike) child(n int) (all []drafting.Count) {
	for _, c := range a.least() {
		if c.rows == 1 {
			all = append(all, c.children[n])
		}
	}
	return all
}

// other are how many rows each of the least has made in another table that holds the marker.
func (a alike) other(n int) (all []drafting.Count) {
	for _, c := range a.least() {
		all = append(all, c.others[n])
	}
	return all
}

// settle writes down what a create is to make.
func settle(i *inquiry, all alike, quiet bool) {
	if quiet {
		drafting.Fewer(&i.file, all.rows())
	}
	for n := range i.file.Children {
		drafting.SettleChild(&i.file, n, all.child(n), quiet)
	}
	for n := range i.file.Proof.Others {
		drafting.SettleOther(&i.file, n, all.other(n), quiet)
	}
}

// twins writes down that some of the rows which each create made differ in nothing but their keys and times: the create may be done more than
// once. What is done behind an answer often is, so that each row is one create then.
func twins(i *inquiry, r drafting.Repeated, all alike) {
	rows, different := len(i.file.Proof.Several.Rows), 0
	for _, c := range all {
		different = max(different, c.different)
	}
	if rows > 1 && all.even() && different > 0 && different < rows && !drafting.SaysSoMany(i.file, rows) {
		drafting.Twins(&i.file, different, r.First.Status == http.StatusAccepted || i.looked > 1)
	}
}
