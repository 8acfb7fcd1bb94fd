package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// keyGroup is the attempts that the contract maps to one idempotency record, or to one natural key.
type keyGroup []*classified

// groups splits attempts as the contract does. With a natural key all attempts with its value are one group, whatever
// their keys. Without one, each key is a group, again after the target forgot it, and each attempt without a key.
func (t *Terms) groups(attempts []*classified) []keyGroup {
	var all []keyGroup
	for _, record := range t.records(attempts) {
		all = append(all, t.epochs(record)...)
	}
	return all
}

// records splits attempts by natural key, or else by key, in the order of sending.
func (t *Terms) records(attempts []*classified) []keyGroup {
	var all []keyGroup
	if len(t.Contract.NaturalKey) > 0 {
		for _, a := range attempts {
			i := slices.IndexFunc(all, func(g keyGroup) bool { return t.joined(a, g[0]) })
			if i < 0 {
				i, all = len(all), append(all, nil)
			}
			all[i] = append(all[i], a)
		}
		return all
	}
	if oneKey(attempts) {
		return []keyGroup{slices.Clip(attempts)}
	}
	if len(attempts) > fewAttempts {
		return recordsOfMany(attempts)
	}
	for _, a := range attempts {
		i := slices.IndexFunc(all, func(g keyGroup) bool { return a.Key != "" && g[0].Key == a.Key })
		if i < 0 {
			i, all = len(all), append(all, nil)
		}
		all[i] = append(all[i], a)
	}
	return all
}

// oneKey reports that all attempts have one key.
func oneKey(attempts []*classified) bool {
	return len(attempts) > 0 && attempts[0].Key != "" && !slices.ContainsFunc(attempts, func(a *classified) bool { return a.Key != attempts[0].Key })
}

// fewAttempts are compared with each other sooner than they are put into a map.
const fewAttempts = 16

// recordsOfMany does the same for many attempts.
func recordsOfMany(attempts []*classified) []keyGroup {
	var all []keyGroup
	byKey := map[string]int{}
	for _, a := range attempts {
		i, known := byKey[a.Key]
		if !known || a.Key == "" {
			i = len(all)
			all = append(all, nil)
			byKey[a.Key] = i
		}
		all[i] = append(all[i], a)
	}
	return all
}

// joined reports that two attempts of an intent have one natural key. Bodies that differ there are two intents, unless
// they came with one key which the target says belongs to one body.
func (t *Terms) joined(a, b *classified) bool {
	return a.natural == b.natural ||
		a.Key != "" && a.Key == b.Key && t.Contract.Fingerprint.OnMismatch != contract.MismatchUnspecified
}

// naturalKey returns the value of the natural key in a request; empty: none is declared.
func (t *Terms) naturalKey(b history.Body) string {
	if len(t.Contract.NaturalKey) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", naturalMembers(t.Contract.NaturalKey, b))
}

// naturalMembers returns what a request has in each place of a natural key.
func naturalMembers(key []string, b history.Body) []string {
	var members []string
	said, _ := parse(b.JSON())
	for _, pointer := range key {
		if pointer == contract.WholePath {
			members = append(members, b.Path)
			continue
		}
		value, _ := jsonpointer.Resolve(said, pointer)
		members = append(members, plain(exactly(value)))
	}
	return members
}

// bodiesApart reports that the two bodies of an intent have two natural keys, and so are two intents.
func (t *Terms) bodiesApart(tr *trace) bool {
	return len(t.Contract.NaturalKey) > 0 && len(t.records(tr.attempts)) > 1
}

// bounds is what the answers say about the number of rows (invariants I2 and I3).
type bounds struct {
	lower    int // effects that a client was told of
	upper    int // groups that can have had an effect
	intended int // groups that may have one; a request without a key is an intent only if it got through
}

// bounds counts over the groups of a trace. "Exists already" speaks of an effect of the intent, in whichever group,
// and is no effect itself. Where nothing can have had an effect, it is no promise of a row but a false conflict.
func (t *Terms) bounds(tr *trace) bounds {
	var b bounds
	records := t.records(tr.attempts)
	b.lower = effectsToldOf(t, records)
	for _, record := range records {
		for _, g := range t.executions(record) {
			possible := mayHaveEffect(g)
			if possible {
				b.upper++
			}
			if possible || !t.separate(g) {
				b.intended++
			}
		}
	}
	if has(tr.attempts, Exists) && has(tr.attempts, Acknowledged, Accepted, Unknown) {
		b.lower = max(b.lower, 1)
	}
	return b
}

// separate reports that each attempt of a group is an intent of its own: it has no key, and no natural key joins it
// to others.
func (t *Terms) separate(g keyGroup) bool { return len(t.Contract.NaturalKey) == 0 && g[0].Key == "" }

// boundsOf sums the bounds of traces that share a marker.
func (t *Terms) boundsOf(traces []*trace) bounds {
	var sum bounds
	for _, tr := range traces {
		b := t.bounds(tr)
		sum.lower, sum.upper, sum.intended = sum.lower+b.lower, sum.upper+b.upper, sum.intended+b.intended
	}
	return sum
}
