package driver

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// RehearsedRun is a list of steps as they would be sent, one after the other.
type RehearsedRun struct {
	For       history.Purpose
	Principal string // of login; empty: there is one login for all
	Intent    string // of all others: the first one that they are sent for
	Place     string // of the steps in the target file
	Steps     []RehearsedStep
	Identity  contract.Identity // of remove: how an answer names what is to be removed
	Made      string            // of remove: what stands for that name in the steps
}

// RehearsedStep is one of them, and by name what stands in requests for what it extracts.
type RehearsedStep struct {
	Rehearsed
	Step    targets.Step
	Extract map[string]string
}

// Placeholder begins every number that stands for what steps extract, in requests that are
// not sent. A reader of the request replaces it by the real value. It stands in quotes,
// which are part of the value: how the quotes come out ("..., \"..., %22...) shows in
// which encoding the place of the value is.
const Placeholder = "714092358"

// placeholders puts made-up data in place of what steps extract, for requests that are not sent: other data for each login, each
// prepare scope and each key.
func (r *requests) placeholders() {
	w := &r.config.Workload
	r.stands = 0
	logins := map[string]map[string]string{}
	for _, name := range r.loggedIn() {
		logins[name] = r.placeholdersFor(w.Target.Login)
	}
	r.logins = logins
	r.prepared, r.issued = map[prepareScope]map[string]string{}, map[issuedKey]string{}
	for _, i := range w.firsts() {
		r.prepared[w.scope(i)] = r.placeholdersFor(w.operation(i).Prepare)
	}
	for _, i := range w.Plan.Intents {
		if len(w.operation(i).Key.Issued) > 0 {
			for _, name := range keyNames(i) {
				r.issued[issuedKey{i.ID, name}] = r.placeholder()
			}
		}
	}
}

// loggedIn are the names of those that log in: of one, where there are no principals.
func (r *requests) loggedIn() []string {
	if len(r.config.Workload.Principals) == 0 {
		return []string{""}
	}
	var names []string
	for _, p := range r.config.Workload.Principals {
		names = append(names, p.Name)
	}
	return names
}

// placeholder makes one that was not used yet.
func (r *requests) placeholder() string {
	r.stands++
	return fmt.Sprintf(`"%s%05d"`, Placeholder, r.stands)
}

// placeholdersFor makes one for each name that steps extract.
func (r *requests) placeholdersFor(steps []targets.Step) map[string]string {
	all := map[string]string{}
	for _, step := range steps {
		for _, name := range step.Names() {
			all[name] = r.placeholder()
		}
	}
	return all
}

// RehearseSteps returns the steps that the plan takes, in the order in which they would be sent, but for those of remove, which are
// sent in its middle. What stands for what they extract is what [Workload.Rehearse] has.
func (w *Workload) RehearseSteps() ([]RehearsedRun, error) {
	r := newRequests(&Config{Workload: *w})
	r.placeholders()
	var all []RehearsedRun
	var failed error
	add := func(run stepRun, extracted map[string]string) {
		one, err := r.rehearseSteps(run, extracted)
		if err != nil && failed == nil {
			failed = err
		}
		all = append(all, one)
	}
	if len(w.Target.Login) > 0 {
		for _, name := range r.loggedIn() {
			add(r.loginRun(name), r.logins[name])
		}
	}
	for _, i := range w.firsts() {
		if steps := w.operation(i).Prepare; len(steps) > 0 {
			add(r.stepRunFor(i, history.Prepare, steps), r.prepared[w.scope(i)])
		}
	}
	for _, i := range w.Plan.Intents {
		issued := w.operation(i).Key.Issued
		for _, name := range keyNames(i) {
			if len(issued) > 0 {
				extracted := r.placeholdersFor(issued)
				extracted[targets.IssuedKey] = r.issued[issuedKey{i.ID, name}]
				add(r.stepRunFor(i, history.Issue, issued), extracted)
			}
		}
		if steps := w.operation(i).Remove; removals(i) > 0 {
			extracted := r.placeholdersFor(steps)
			// What is removed is known by the answer to a request.
			extracted[targets.MadeIdentity] = r.placeholder()
			add(r.stepRunFor(i, history.Remove, steps), extracted)
			last := &all[len(all)-1]
			last.Identity, last.Made = w.operation(i).Identity, extracted[targets.MadeIdentity]
		}
	}
	for _, i := range w.firsts() {
		if steps := w.operation(i).Cleanup; len(steps) > 0 {
			add(r.stepRunFor(i, history.Cleanup, steps), r.placeholdersFor(steps))
		}
	}
	return all, failed
}

// loginRun returns the steps that log a principal in.
func (r *requests) loginRun(principal string) stepRun {
	w := &r.config.Workload
	values := targets.Principal{}
	if at := slices.IndexFunc(w.Principals, func(p Principal) bool { return p.Name == principal }); at >= 0 {
		values = w.Principals[at].Values
	}
	return stepRun{
		steps: w.Target.Login, values: targets.Values{Principal: values}.Drawing(w.Names.Draws(0, w.Base)),
		fact: history.Step{For: history.Login, Principal: principal},
	}
}

// rehearseSteps renders steps that extract some data.
func (r *requests) rehearseSteps(run stepRun, extracted map[string]string) (RehearsedRun, error) {
	all := RehearsedRun{For: run.fact.For, Principal: run.fact.Principal, Intent: run.fact.Intent, Place: run.place()}
	*run.into() = extracted
	for n, step := range run.steps {
		rendered, err := step.Render(run.values.At(fmt.Sprint(run.fact.For, n+1)))
		if err != nil {
			return all, fmt.Errorf("%s cannot be rendered: %w", run.at(n+1), err)
		}
		one := RehearsedStep{Rehearsed: Rehearsed{
			Rendered: rendered, Operation: run.fact.Operation, Marker: run.values.Intent.Marker, Reference: run.values.Intent.Reference,
		}, Step: step, Extract: map[string]string{}}
		for _, name := range step.Names() {
			one.Extract[name] = extracted[name]
		}
		r.rehearseSecrets(&one.Rehearsed, step.Request)
		all.Steps = append(all.Steps, one)
	}
	return all, nil
}
