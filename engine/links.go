package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// linksInUse are the names of the links that the scenario has to do with. A pilot counts what passes each.
func linksInUse(r *scenarioRun) []string {
	if r.pilot {
		return r.session.System.Links.Names()
	}
	return r.scenario.LinksInUse()
}

// slowLinks makes the links slow that the scenario wants so, and begins to note what passes those that it
// has to do with. By the words it knows writes.
func (r *scenarioRun) slowLinks(ctx context.Context, words []string) error {
	for _, name := range linksInUse(r) {
		link := r.session.System.Links.Named(name)
		facts, err := link.Slow(ctx, r.scenario.Links[name])
		if err != nil {
			return runerror.Environment(err)
		}
		passing := r.session.passing[name]
		facts.Moments, facts.Commits, facts.Writes = passing.Moments, passing.Commits, passing.Writes
		r.links = append(r.links, facts)
		link.Note(r.base, words...)
	}
	return nil
}

// delay is what the scenario's slow links add to a plain create, as far as the pilot's went over them.
func (r *scenarioRun) delay() time.Duration {
	var sum time.Duration
	for _, l := range r.links {
		sum += time.Duration(l.Moments/2) * l.Delay.Duration()
	}
	return sum
}

// clearLinks makes all links as fast as they are. It may be repeated.
func (r *scenarioRun) clearLinks(ctx context.Context) error {
	var errs []error
	for _, name := range linksInUse(r) {
		errs = append(errs, r.session.System.Links.Named(name).ClearToxics(ctx))
	}
	return errors.Join(errs...)
}

// recordTraffic puts on record what passed the links.
func (r *scenarioRun) recordTraffic() {
	for _, name := range linksInUse(r) {
		r.record.Traffic(r.session.System.Links.Named(name).Noted())
	}
}

// driverLinks are the links that a driver may break.
func driverLinks(r *scenarioRun) map[string]driver.Link {
	all := map[string]driver.Link{}
	for _, name := range linksInUse(r) {
		link := r.session.System.Links.Named(name)
		all[name] = driver.Link{Passing: r.session.passing[name], Strike: func(base time.Time, moment faults.Moment, pause time.Duration, words []string) func() history.Cut {
			return link.Strike(base, moment, pause, words...).Over
		}}
	}
	return all
}

// prolong holds what requests ask the target's database, in the scenarios whose requests are to take long and cannot be told
// so: in turn the beginning of the last transaction of a create, before which it may have claimed its key, and its commit.
// Without transactions, they are a question in its middle and its last.
func prolong(r *scenarioRun) func(int, time.Duration) (<-chan struct{}, func()) {
	const database = "database"
	link := r.session.System.Links.Named(database)
	if len(r.scenario.Work) == 0 || r.session.System.Operation().Work != nil || link == nil {
		return nil
	}
	asked := r.session.passing[database]
	return func(number int, work time.Duration) (<-chan struct{}, func()) {
		kind, n := proxy.AnyQuestion, max(asked.Moments/2, 1)
		switch late := number%2 == 0; {
		case late && asked.Commits > 0:
			kind, n = proxy.Commit, asked.Commits
		case !late && asked.Begins > 0:
			kind, n = proxy.Begin, asked.Begins
		case !late:
			n = n/2 + 1
		}
		h := link.Hold(kind, n, work)
		return h.Held(), h.CallOff
	}
}

// usedAfter reports that a link is used only behind the answers: there was something for each create, and by most answers it had come
// back for the creates before and not for this one. On a busy machine some of it may overtake an answer.
func usedAfter(h *history.History, all []history.Exchange) bool {
	done := slices.DeleteFunc(slices.Clone(h.Attempts), func(a history.Attempt) bool { return !a.Complete || a.Status >= 400 })
	if len(done) == 0 {
		return false
	}
	slices.SortFunc(done, func(a, b history.Attempt) int { return cmp.Compare(a.Start, b.Start) })
	all = slices.DeleteFunc(slices.Clone(all), func(e history.Exchange) bool { return e.Asked < done[0].Start })
	if len(all) < max(len(done)-1, 1) { // that of the last create may come after the last look
		return false
	}
	each := max((2*len(all)+len(done))/(2*len(done)), 1)
	inside := 0
	for n, a := range done {
		back := 0
		for _, e := range all {
			if e.Answered <= cmp.Or(a.Replied, a.End) {
				back++
			}
		}
		if 2*back >= each*(2*n+1) {
			inside++
		}
	}
	return 2*inside < len(done)
}

// notInside says why a scenario that breaks the link to another service while a request is inside has nothing to break; empty: it
// has, or the link is another one, whose traffic may be no more than a pool that looks whether it is alive.
func notInside(passing map[string]scenarios.Passing, f scenarios.Scenario) string {
	if !slices.Equal(f.LinksInUse(), []string{scenarios.Dependency}) || len(f.Links) > 0 || !passing[scenarios.Dependency].After {
		return ""
	}
	return "the target asks the other service only after its answers, when no request is inside"
}

// passingOf is what passed each link for a plain create: the median of those of a pilot.
func passingOf(h *history.History) map[string]scenarios.Passing {
	each := map[string]scenarios.Passing{}
	for _, t := range h.Traffic {
		var all []scenarios.Passing
		for _, a := range h.Attempts {
			var p scenarios.Passing
			for _, e := range t.Exchanges {
				if e.Asked < a.Start || e.Answered > a.End {
					continue
				}
				p.Moments += 2
				if e.Begins {
					p.Begins++
				}
				if e.Commits {
					p.Commits++
				}
				if e.Writes {
					p.Writes++
				}
			}
			all = append(all, p)
		}
		slices.SortFunc(all, func(x, y scenarios.Passing) int { return cmp.Compare(x.Moments, y.Moments) })
		if len(all) > 0 {
			usual := all[len(all)/2]
			usual.After = usedAfter(h, t.Exchanges)
			each[t.Link] = usual
		}
	}
	return each
}
