package driver

import (
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// Rehearsed is the request of a planned attempt as it would go on the wire, with its
// secrets and without its signature. An export prints it as curl or Go, and replaces the
// names in it that every run draws anew (marker, reference, key).
type Rehearsed struct {
	targets.Rendered
	Operation string
	Marker    string
	Reference string
	Key       string             // empty: none
	SecondKey string             // in a second header of the same name; empty: none
	Form      []contract.KeyPart // of its keys; empty: they are UUIDs, or what the scenario makes of one
	Fresh     []string           // where the target hands the keys out: those of the attempt's retries, if they take others
	Secret    []string           // names of the headers that hold one
	Sign      *targets.Sign
	Over      string // what is signed, with Moment for the time
}

// Moment stands in what is signed for the time in seconds, which is that of each attempt.
const Moment = "dtmomentdt"

// Rehearse returns the request of every attempt of the plan, by the attempt's ID, without
// sending any. Where steps would extract something, there is a [Placeholder]. It uses the
// same code as a run, so that an export shows what a run sends. The error is a template's.
func (w *Workload) Rehearse() (map[string]Rehearsed, error) {
	r := newRequests(&Config{Workload: *w})
	r.placeholders()
	if err := r.renderAll(func(history.Intent) error { return nil }); err != nil {
		return nil, err
	}
	all := map[string]Rehearsed{}
	for _, i := range w.Plan.Intents {
		for _, m := range i.Moves {
			for _, a := range m.Batch {
				all[a.ID] = r.rehearse(i, a)
			}
		}
	}
	return all, nil
}

// rehearse returns the request of a planned attempt, as newRequest would build it.
func (r *requests) rehearse(i scenarios.PlannedIntent, a scenarios.PlannedAttempt) Rehearsed {
	record := r.newRequest(i, a, a.ID, a.Key, a.Lane).record
	one := r.one(i.ID, a.Body)
	request := r.requestOf(one, &record)
	all := Rehearsed{
		Rendered: request, Operation: one.operation.Name, Marker: one.marker,
		Reference: r.config.Names.Reference(author(i)), Key: record.Key,
	}
	if key := one.operation.Key; key.Like != "" {
		all.Form = key.Form()
	}
	all.SecondKey = r.rehearseHeader(request.Header, one, record)
	if a.RetryKey == scenarios.FreshKey {
		for n := range a.Pauses {
			if key, issued := r.issued[issuedKey{i.ID, retryID(a, n)}]; issued {
				all.Fresh = append(all.Fresh, key)
			}
		}
	}
	leaveCredential(&all.Rendered, one, a.Body)
	r.rehearseSecrets(&all, one.operation.Request)
	if all.Sign != nil && leaves(one, a.Body, all.Sign.Header) {
		all.Sign, all.Over = nil, ""
	}
	return all
}

// rehearseSecrets says what of a request is signed, and which of its headers hold a secret.
func (r *requests) rehearseSecrets(all *Rehearsed, request targets.Request) {
	if s := request.Sign; s != nil {
		sign, stamp := *s, s.Stamp(Moment)
		sign.Prefix, _ = s.Begins(all.Rendered, basePath(r.config.Target), all.Key, stamp)
		all.Sign = &sign
		all.Over, _ = s.Text(all.Rendered, basePath(r.config.Target), all.Key, stamp) // so it can
	}
	for _, name := range slices.Sorted(maps.Keys(all.Header)) {
		if r.secrets.isSecret(name) {
			all.Secret = append(all.Secret, name)
		}
	}
}
