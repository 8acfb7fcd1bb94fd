package driver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// household is who shares what was prepared: intents with one body, of one principal and at one operation.
type household struct {
	operation, principal string
	author               int
}

// errandsAtOnce is how many lists of steps are under way at once.
const errandsAtOnce = 4

// SetUp sends what goes ahead of the first look into the database: it logs the principals in, unless Logins
// has them, prepares what the intents take, and asks for the keys that the target hands out. Call it before
// Drive, which cannot do without it where the target has such steps. The error is ErrStep, or the context's,
// or that of the history.
func (d *Driver) SetUp(ctx context.Context) error {
	d.remask()
	err := d.logIn(ctx)
	if err == nil {
		err = d.makeReady(ctx)
	}
	if err == nil {
		err = d.askForKeys(ctx)
	}
	if unwritten := d.Record.Err(); unwritten != nil {
		return unwritten
	}
	return err
}

// TidyUp sends what comes after the last look into the database. What fails is on record.
func (d *Driver) TidyUp(ctx context.Context) {
	var errands []errand
	for _, i := range d.firsts() {
		o := d.operation(i)
		_, made := d.made[d.household(i)]
		if len(o.Cleanup) == 0 || len(o.Prepare) > 0 && !made {
			continue
		}
		errands = append(errands, d.errandFor(i, history.Cleanup, o.Cleanup))
	}
	_ = d.runAll(ctx, errands, true, func(errand, map[string]string) error { return nil })
}

// Steps counts the requests of the target file's steps, without those of logging in.
func (d *Driver) Steps() int {
	n := 0
	for _, i := range d.firsts() {
		o := d.operation(i)
		n += len(o.Prepare) + len(o.Cleanup)
	}
	for _, i := range d.Plan.Intents {
		n += len(d.operation(i).Key.Issued)*len(keyNames(i)) + len(d.operation(i).Remove)*removals(i)
	}
	return n
}

func (d *Driver) logIn(ctx context.Context) error {
	if len(d.Target.Login) == 0 || d.Logins != nil {
		return nil
	}
	principals := d.Principals
	if len(principals) == 0 {
		principals = []Principal{{}}
	}
	logins := map[string]map[string]string{}
	for _, p := range principals {
		taken, err := d.run(ctx, errand{
			steps: d.Target.Login, values: targets.Values{Principal: p.Values}.Drawing(d.Names.Draws(0, d.Base)),
			fact: history.Step{For: history.Login, Principal: p.Name},
		})
		if err != nil {
			return err
		}
		logins[p.Name] = taken
	}
	d.Logins = logins
	d.remask()
	return nil
}

// makeReady runs the steps of prepare, once for each household.
func (d *Driver) makeReady(ctx context.Context) error {
	d.made = map[household]map[string]string{}
	var errands []errand
	for _, i := range d.firsts() {
		if o := d.operation(i); len(o.Prepare) > 0 {
			errands = append(errands, d.errandFor(i, history.Prepare, o.Prepare))
		}
	}
	return d.runAll(ctx, errands, false, func(e errand, taken map[string]string) error {
		d.made[d.household(e.intent)] = taken
		return nil
	})
}

// askForKeys runs the steps of key.issued, once for each key that the plan can come to need.
func (d *Driver) askForKeys(ctx context.Context) error {
	d.issued = map[issue]string{}
	var errands []errand
	for _, i := range d.Plan.Intents {
		for _, name := range keyNames(i) {
			if o := d.operation(i); len(o.Key.Issued) > 0 {
				e := d.errandFor(i, history.Issue, o.Key.Issued)
				e.key = name
				errands = append(errands, e)
			}
		}
	}
	seen := map[string]bool{}
	return d.runAll(ctx, errands, false, func(e errand, taken map[string]string) error {
		key := taken[targets.IssuedKey]
		if seen[key] {
			return fmt.Errorf("%w: %s gave the same key twice: it has to give another one each time; a token that is good for many forms is no key, and can be taken in prepare", ErrStep, e.place())
		}
		seen[key] = true
		d.issued[issue{e.intent.ID, e.key}] = key
		return nil
	})
}

// issue names a key that the target has handed out: by its intent, and by its name in the plan.
type issue struct{ intent, name string }

// keyNames returns the names of the keys that an intent's requests can come to carry.
func keyNames(i scenarios.PlannedIntent) []string {
	var names []string
	for _, m := range i.Moves {
		for _, a := range m.Volley {
			if a.Key == "" {
				continue
			}
			names = append(names, a.Key)
			for n := range a.Pauses {
				if a.RetryKey == scenarios.FreshKey {
					names = append(names, retryID(a, n))
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// firsts returns the first intent of each household.
func (d *Driver) firsts() []scenarios.PlannedIntent {
	var all []scenarios.PlannedIntent
	seen := map[household]bool{}
	for _, i := range d.Plan.Intents {
		if h := d.household(i); !seen[h] {
			seen[h] = true
			all = append(all, i)
		}
	}
	return all
}

func (d *Driver) household(i scenarios.PlannedIntent) household {
	return household{operation: d.operation(i).Name, principal: d.principal(i).Name, author: author(i)}
}

// values returns what the templates of an intent's requests can use.
func (d *Driver) values(i scenarios.PlannedIntent, body string) targets.Values {
	p := d.principal(i)
	return targets.Values{
		Intent:    targets.IntentValues{Marker: d.marker(i, body), Reference: d.Names.Reference(author(i)), Number: i.Number},
		Principal: p.Values,
		Taken:     targets.Taken{Login: d.Logins[p.Name], Prepared: d.made[d.household(i)]},
	}.Drawing(d.Names.Draws(author(i), d.Base))
}

// runAll runs errands, some at a time, and lets keep have what each took, never twice at once. The first that
// fails ends the others, unless all are to be tried.
func (d *Driver) runAll(ctx context.Context, errands []errand, all bool, keep func(errand, map[string]string) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan errand)
	var workers sync.WaitGroup
	var keeping sync.Mutex
	for range min(errandsAtOnce, len(errands)) {
		workers.Go(func() {
			for e := range queue {
				taken, err := d.run(ctx, e)
				keeping.Lock()
				if err == nil {
					err = keep(e, taken)
				}
				keeping.Unlock()
				if err != nil && !all {
					stop(err)
				}
			}
		})
	}
	feed(ctx, queue, errands)
	workers.Wait()
	return context.Cause(ctx)
}

// standIns puts made-up data in place of what steps take, for requests that are not sent.
func (d *Driver) standIns() {
	if d.Logins == nil {
		d.Logins = map[string]map[string]string{"": StandIns(d.Target.Login)}
		for _, p := range d.Principals {
			d.Logins[p.Name] = StandIns(d.Target.Login)
		}
	}
	d.made, d.issued = map[household]map[string]string{}, map[issue]string{}
	for _, i := range d.Plan.Intents {
		d.made[d.household(i)] = StandIns(d.operation(i).Prepare)
		for _, name := range keyNames(i) {
			d.issued[issue{i.ID, name}] = d.Names.Key(i.ID, name)
		}
	}
}

// StandIn begins what stands in requests that are not sent in place of what steps take.
const StandIn = "dttaken"

// StandIns is made-up data in place of what steps take, by name.
func StandIns(steps []targets.Step) map[string]string {
	all := map[string]string{}
	for _, step := range steps {
		for name := range maps.Keys(step.Take) {
			all[name] = StandIn + name + "dt"
		}
	}
	return all
}
