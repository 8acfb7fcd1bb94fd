package cmd

import (
	"fmt"
	"net/url"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
)

// announce says what will be sent, how much and where, and refuses too much. A dry run lists every
// scenario.
func (r *runner) announce() error {
	out := r.streams.out
	total := 0
	for _, p := range r.plans {
		total += p.Requests()
	}
	where := r.subject.whereabouts()
	switch n := r.subject.instances(); {
	case n > 1:
		where += fmt.Sprintf(", %d instances started for this run", n)
	case n > 0:
		where += ", started for this run"
	}
	fmt.Fprintf(out, "doubletap %s · target %s at %s · seed %d\n", version(), r.subject.target.Name, where, r.options.seed)
	fmt.Fprintf(out, "%s, at most %s and a final probe of each intent", plural(r.applicable(), "scenario"), plural(total, "request"))
	if place := r.subject.rowsPlace(); place != "" {
		fmt.Fprintf(out, " · rows read from %s", place)
	}
	if n := r.steps(); n > 0 {
		fmt.Fprintf(out, " · %s besides, for the steps of its file", plural(n, "request"))
		total += n
	}
	if limit := r.subject.target.RateLimit; limit != nil {
		fmt.Fprintf(out, " · at most %s in %s", plural(limit.Requests, "request"), time.Duration(limit.Per))
		if takes := paced(*limit, total+r.intents()); takes >= worthTelling {
			fmt.Fprintf(out, ", so that the run takes up to %s", takes)
		}
	}
	fmt.Fprint(out, "\n\n")
	if r.options.dryRun {
		r.list()
	}
	if total > r.options.maxRequests {
		return mistakef("the scenarios may send %d requests, more than --max-requests %d", total, r.options.maxRequests)
	}
	return nil
}

// intents counts those of all scenarios: each has a final probe.
func (r *runner) intents() int {
	n := 0
	for _, p := range r.plans {
		n += len(p.Intents)
	}
	return n
}

// steps counts the requests that scenarios send besides their own.
func (r *runner) steps() int {
	n := 0
	for _, p := range r.plans {
		d := driver.Workload{Operations: r.subject.operations, Principals: r.subject.principals, Plan: p}
		n += d.Steps()
	}
	return n
}

// list prints what each scenario would send.
func (r *runner) list() {
	for i, e := range r.manifest.Scenarios {
		if e.Verdict == checker.NotApplicable {
			fmt.Fprintf(r.streams.out, "  %-*s  not applicable: %s\n", r.style.Names, e.Scenario, e.Why)
			continue
		}
		fmt.Fprintf(r.streams.out, "  %-*s  %s, at most %s\n", r.style.Names, e.Scenario,
			plural(len(r.plans[i].Intents), "intent"), plural(r.plans[i].Requests(), "request"))
	}
	fmt.Fprintln(r.streams.out, "\nnothing was sent (--dry-run)")
}

// databasePlace shows a database's URL without its user, password and parameters.
func databasePlace(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
