package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// linksInUse are the names of the links that the scenario has to do with. A pilot counts what passes each.
func (r *scenarioRun) linksInUse() []string {
	if r.pilot {
		return r.session.System.Links.Names()
	}
	return r.scenario.LinksInUse()
}

// slowLinks makes the links slow that the scenario wants so, and begins to note what passes those that it
// has to do with.
func (r *scenarioRun) slowLinks(ctx context.Context) error {
	for _, name := range r.linksInUse() {
		link := r.session.System.Links.Named(name)
		facts, err := link.Slow(ctx, r.scenario.Links[name])
		if err != nil {
			return runerror.Environment(err)
		}
		facts.Moments = r.session.moments[name]
		r.links = append(r.links, facts)
		link.Note(r.base)
	}
	return nil
}

// clearLinks makes all links as fast as they are. It may be repeated.
func (r *scenarioRun) clearLinks(ctx context.Context) error {
	var errs []error
	for _, name := range r.linksInUse() {
		errs = append(errs, r.session.System.Links.Named(name).ClearToxics(ctx))
	}
	return errors.Join(errs...)
}

// recordTraffic puts on record what passed the links.
func (r *scenarioRun) recordTraffic() {
	for _, name := range r.linksInUse() {
		r.record.Traffic(r.session.System.Links.Named(name).Noted())
	}
}

// driverLinks are the links that a driver may break.
func (r *scenarioRun) driverLinks() map[string]driver.Link {
	all := map[string]driver.Link{}
	for _, name := range r.linksInUse() {
		link := r.session.System.Links.Named(name)
		all[name] = driver.Link{Moments: r.session.moments[name], Strike: func(base time.Time, moment faults.Moment, pause time.Duration) func() history.Cut {
			return link.Strike(base, moment, pause).Over
		}}
	}
	return all
}

// momentsOf is how many questions and answers passed each link for a plain create: the median of those of a
// pilot.
func momentsOf(h *history.History) map[string]int {
	each := map[string]int{}
	for _, t := range h.Traffic {
		var counts []int
		for _, a := range h.Attempts {
			n := 0
			for _, e := range t.Exchanges {
				if e.Asked >= a.Start && e.Answered <= a.End {
					n += 2
				}
			}
			counts = append(counts, n)
		}
		slices.Sort(counts)
		if len(counts) > 0 {
			each[t.Link] = counts[len(counts)/2]
		}
	}
	return each
}
