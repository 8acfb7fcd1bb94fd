package engine

import (
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// announcement says what will be sent, how much and where.
func (s *Session) announcement() Announced {
	a := Announced{
		Tool: Version(), Target: s.System.Target.Name, Operation: s.System.Operation().Name, OwnWord: s.System.Target.AsksItself(), Address: s.System.Address(), Instances: s.System.Instances(),
		Seed: s.config.Seed, RowsSource: s.System.RowsSource(), DryRun: s.config.DryRun, Warnings: sut.Warnings(s.System), Hunt: s.config.Hunt,
	}
	a.NotPlayed, a.Together = s.System.NotPlayed(), s.config.SUT.EachOperation
	final := 0
	for i, p := range s.plans {
		e := s.manifest.Scenarios[i]
		a.Scenarios = append(a.Scenarios, Planned{Name: e.Scenario, Why: e.Why, Intents: len(p.Intents), Requests: p.Requests()})
		a.Requests += p.Requests()
		a.Steps += s.steps(p)
		final += len(p.Intents)
	}
	if limit := s.System.Target.RateLimit; limit != nil {
		a.Limit = &Limit{Requests: limit.Requests, Per: time.Duration(limit.Per), Takes: paced(*limit, a.Requests+a.Steps+final)}
	}
	return a
}

// steps counts the requests that a scenario sends besides its own.
func (s *Session) steps(p scenarios.Plan) int {
	d := driver.Workload{Operations: s.System.Operations, Ways: s.System.Ways, Principals: s.System.Principals, Plan: p}
	return d.Steps()
}

// paced is how long so many requests take at a rate limit, in whole minutes or seconds.
func paced(limit targets.RateLimit, requests int) time.Duration {
	takes := time.Duration(max(requests-limit.Requests, 0)) * limit.Every()
	if takes > time.Hour {
		return takes.Round(time.Minute)
	}
	return takes.Round(time.Second)
}
