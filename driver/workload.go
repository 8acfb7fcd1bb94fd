package driver

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// Operation is one of the target's operations, with its name in the target file. The name
// is what the history says, and what [Config].Rows is asked with.
type Operation struct {
	Name string
	targets.Operation
}

// Principal is one of the target's principals, by its name. Values may be secret.
type Principal struct {
	Name   string
	Values targets.Principal
}

// Workload is what is to be sent: a plan, for operations of a target. Its methods send nothing and are safe for
// concurrent use.
type Workload struct {
	Target     targets.Target
	Operations []Operation // the first is the run's; neighbours across operations take one each
	Ways       []Operation // other operations that make the same as the first; only what is sent by another way takes one of them
	Principals []Principal // as Operations; none: requests name no principal
	Plan       scenarios.Plan
	Names      Names
	Base       time.Time // start of the run, from which offsets count

	// Logins has what the target's login gave each principal, by name. Nil: SetUp logs in.
	Logins map[string]map[string]string
}

// operation returns the operation of an intent: the first, or for neighbours across
// operations the one at the neighbour's place. Places wrap around, since a plan does not
// know how many operations the target has.
func (w *Workload) operation(i scenarios.PlannedIntent) Operation {
	if i.Neighbour != nil && i.Neighbour.Across == scenarios.AcrossOperations {
		return w.answering(w.Operations[i.Neighbour.Place%len(w.Operations)])
	}
	return w.answering(w.Operations[0])
}

// operationFor returns the operation that takes a body of an intent. Each other way is taken by two intents in a row, since
// a scenario may have each second one begin with it.
func (w *Workload) operationFor(i scenarios.PlannedIntent, body string) Operation {
	if body != history.OtherWay || len(w.Ways) == 0 {
		return w.operation(i)
	}
	return w.answering(w.Ways[(i.Number-1)/2%len(w.Ways)])
}

// all are the operations and the other ways.
func (w *Workload) all() []Operation { return slices.Concat(w.Operations, w.Ways) }

// answering returns an operation whose requests ask for answers of the plan's size (see
// scenarios with large, huge or empty answers).
func (w *Workload) answering(o Operation) Operation {
	o.Operation = o.Answering(targets.AnswerSize(w.Plan.Answer))
	return o
}

// principal returns the sender of an intent; the zero Principal where the target names
// none.
func (w *Workload) principal(i scenarios.PlannedIntent) Principal {
	switch {
	case len(w.Principals) == 0:
		return Principal{}
	case i.Neighbour != nil && i.Neighbour.Across == scenarios.AcrossPrincipals:
		return w.Principals[i.Neighbour.Place%len(w.Principals)]
	default:
		return w.Principals[0]
	}
}

// intents returns the plan's intents: those of the background traffic, or the others.
func (w *Workload) intents(background bool) []scenarios.PlannedIntent {
	var some []scenarios.PlannedIntent
	for _, i := range w.Plan.Intents {
		if i.Background == background {
			some = append(some, i)
		}
	}
	return some
}

// prepareScope is what prepared data is shared by: intents with one body, of one principal, at one operation, unless
// they are to have different parents.
type prepareScope struct {
	operation, principal string
	author               int
}

// scope returns the prepare scope of an intent. Twins share one, because two intents with
// the same body must refer to the same prepared things to be the same.
func (w *Workload) scope(i scenarios.PlannedIntent) prepareScope {
	scope := prepareScope{operation: w.operation(i).Name, principal: w.principal(i).Name, author: author(i)}
	if i.Neighbour != nil && i.Neighbour.Across == scenarios.AcrossParents {
		scope.author = i.Number
	}
	return scope
}

// parent is which of the things that are there already the requests of an intent name: the first of each, or for intents that are to have different
// parents those at its place.
func (w *Workload) parent(i scenarios.PlannedIntent) map[string]string {
	if i.Neighbour != nil && i.Neighbour.Across == scenarios.AcrossParents {
		return w.operation(i).Parent(i.Neighbour.Place)
	}
	return w.operation(i).Parent(0)
}

// firsts returns the first intent of each prepare scope. Prepare and cleanup run for these
// only: all others share what was prepared.
func (w *Workload) firsts() []scenarios.PlannedIntent {
	var all []scenarios.PlannedIntent
	seen := map[prepareScope]bool{}
	for _, i := range w.Plan.Intents {
		if s := w.scope(i); !seen[s] {
			seen[s] = true
			all = append(all, i)
		}
	}
	return all
}

// work is how long the requests of an intent are made to take: no longer than for three quarters of the time after which the
// contract takes an execution for dead.
func (w *Workload) work(i scenarios.PlannedIntent) time.Duration {
	if lease := time.Duration(w.Target.Contract.Lease); lease > 0 {
		return min(i.Work, lease*3/4)
	}
	return i.Work
}

// author is the number of the intent whose body an intent has: a twin sends the body of
// another one; all other intents send their own.
func author(i scenarios.PlannedIntent) int { return cmp.Or(i.Twin, i.Number) }

// marker is what the rows of a body are asked for with: its own marker, or the reference or the key of both.
func (w *Workload) marker(i scenarios.PlannedIntent, body string) string {
	switch rows := w.operation(i).Rows; {
	case rows.ByReference():
		return w.Names.Reference(author(i))
	case rows.ByKey():
		return w.ownKey(i)
	default:
		return w.ownMarker(i, body)
	}
}

// ownKey is the key that a client chooses for an intent: one that resembles its neighbours', if it has some.
func (w *Workload) ownKey(i scenarios.PlannedIntent) string {
	if i.Neighbour != nil {
		return w.operation(i).Key.Shaped(w.Names.NeighbourKey(*i.Neighbour, i.ID))
	}
	return w.otherKey(i, scenarios.OwnKey)
}

// otherKey is the key that a client chooses for an intent under a name.
func (w *Workload) otherKey(i scenarios.PlannedIntent, name string) string {
	return w.operation(i).Key.Shaped(w.Names.Key(i.ID, name))
}

// ownMarker is the marker that one body carries. Bodies that mean the same share it, so an
// altered body can be told from the original by its rows.
func (w *Workload) ownMarker(i scenarios.PlannedIntent, body string) string {
	if w.operation(i).Marker == targets.NumberMarker {
		return w.Names.NumberMarker(author(i), history.Meaning(body))
	}
	return w.Names.Marker(author(i), history.Meaning(body))
}

// words are the texts by which a request is recognised on a link to the database: markers
// and references. They are plain letters and digits, so no driver escapes or encodes them.
func (w *Workload) words(i scenarios.PlannedIntent) []string {
	words := []string{w.Names.Reference(author(i))}
	for _, body := range bodiesOf(i) {
		words = append(words, w.marker(i, body))
	}
	return words
}

// Words returns what the requests of the plan carry, and a database gets as it is: markers and references.
func (w *Workload) Words() []string {
	var words []string
	for _, i := range w.Plan.Intents {
		words = append(words, w.words(i)...)
	}
	return words
}

// Markers returns the markers of every body of the plan by the name of the operation, so that a caller
// can see before the first request that the database holds none of them.
func (w *Workload) Markers() map[string][]string {
	markers := map[string][]string{}
	seen := map[string]bool{}
	for _, i := range w.Plan.Intents {
		name := w.operation(i).Name
		for _, body := range bodiesOf(i) {
			if m := w.marker(i, body); !seen[name+m] {
				seen[name+m] = true
				markers[name] = append(markers[name], m)
			}
		}
	}
	return markers
}

// Steps counts the requests of the target file's steps, without those that log in.
func (w *Workload) Steps() int {
	n := 0
	for _, i := range w.firsts() {
		o := w.operation(i)
		n += len(o.Prepare) + len(o.Cleanup)
	}
	for _, i := range w.Plan.Intents {
		n += len(w.operation(i).Key.Issued)*len(keyNames(i)) + len(w.operation(i).Remove)*removals(i)
	}
	return n
}

// keyless reports whether an intent is ever sent without a key, or with a blank one. A key
// in the path cannot be left out, so render rejects such an intent.
func (w *Workload) keyless(i scenarios.PlannedIntent) bool {
	if i.Neighbour != nil && w.Names.NeighbourKey(*i.Neighbour, i.ID) == "" {
		return true
	}
	return slices.ContainsFunc(i.Moves, func(m scenarios.Move) bool {
		return slices.ContainsFunc(m.Batch, func(a scenarios.PlannedAttempt) bool { return a.Key == "" })
	})
}

// URL returns where a path of the target is.
func (w *Workload) URL(path string) string { return urlOf(w.Target, path) }

// urlOf returns the URL of a path under the target's base URL.
func urlOf(t targets.Target, path string) string { return strings.TrimSuffix(t.BaseURL, "/") + path }

// bodiesOf returns the bodies that an intent is sent with. The original is always among them.
func bodiesOf(i scenarios.PlannedIntent) []string {
	bodies := []string{history.Original}
	for _, m := range i.Moves {
		for _, a := range m.Batch {
			if !slices.Contains(bodies, a.Body) {
				bodies = append(bodies, a.Body)
			}
		}
	}
	return bodies
}

// keyNames returns the names of the keys that an intent's requests may carry, sorted, each
// once. A name is that of the plan; Names.Key or the target turns it into a key. Retries
// with a fresh key are named by the retry's ID.
func keyNames(i scenarios.PlannedIntent) []string {
	var names []string
	for _, m := range i.Moves {
		for _, a := range m.Batch {
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

// removals counts how often an intent removes what it has made.
func removals(i scenarios.PlannedIntent) int {
	n := 0
	for _, m := range i.Moves {
		if m.Remove {
			n++
		}
	}
	return n
}

// kin is the ID of the first of an intent's neighbours, which stands for the group of them
// in the history; empty: it has none.
func kin(i scenarios.PlannedIntent) string {
	if i.Neighbour == nil {
		return ""
	}
	return scenarios.IntentID(i.Neighbour.First)
}
