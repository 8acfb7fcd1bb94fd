package cmd

import (
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// worthTelling is how long a run is that somebody wants to know of beforehand.
const worthTelling = time.Minute

// paced is how long so many requests take at a rate limit, in whole minutes or seconds.
func paced(limit targets.RateLimit, requests int) time.Duration {
	takes := time.Duration(max(requests-limit.Requests, 0)) * limit.Every()
	if takes > time.Hour {
		return takes.Round(time.Minute)
	}
	return takes.Round(time.Second)
}

// rateLimit says how long the library takes at the target's rate limit.
func (d *doctor) rateLimit() {
	limit := d.subject.target.RateLimit
	if limit == nil {
		return
	}
	requests := 0
	for _, f := range d.library {
		if d.subject.leavesOut(f.Scenario) == "" {
			p := scenarios.NewPlan(f.Scenario, d.options.seed)
			steps := driver.Workload{Operations: d.subject.operations, Principals: d.subject.principals, Plan: p}
			requests += p.Requests() + len(p.Intents) + steps.Steps()
		}
	}
	text := fmt.Sprintf("%s in %s: a run of the whole library, of up to %s, takes up to %s", plural(limit.Requests, "request"), time.Duration(limit.Per), plural(requests, "request"), paced(*limit, requests))
	if paced(*limit, requests) >= slowRun {
		d.say(warning, "rate limit", text, "try a target with a higher limit, or name fewer scenarios")
		return
	}
	d.say(well, "rate limit", text)
}

// slowRun is how long a run takes that few people wait for.
const slowRun = 15 * time.Minute
