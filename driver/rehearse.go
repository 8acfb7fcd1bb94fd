package driver

import (
	"io"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// Rehearsed is the request of a planned attempt as it would go on the wire, but for its signature, with its
// secrets, and the names in it that every run draws anew.
type Rehearsed struct {
	targets.Rendered
	Operation string
	Marker    string
	Reference string
	Key       string   // empty: none
	Secret    []string // names of the headers that hold one
	Sign      *targets.Sign
	Over      string // what is signed, with Moment for the time
}

// Moment stands in what is signed for the time, which is that of each attempt.
const Moment = "dtmomentdt"

// Rehearse returns the request of every attempt of the plan by the attempt's ID, without sending any. It
// takes the driver's Target, Operations, Principals, Plan, Names and Logins. Whatever else steps would take is made
// up.
func (d *Driver) Rehearse() (map[string]Rehearsed, error) {
	rehearsal := Driver{
		Target: d.Target, Operations: d.Operations, Principals: d.Principals, Plan: d.Plan, Names: d.Names, Base: d.Base,
		Record: history.NewWriter(io.Discard), Logins: d.Logins,
	}
	rehearsal.standIns()
	if err := rehearsal.prepareAll(); err != nil {
		return nil, err
	}
	all := map[string]Rehearsed{}
	for _, i := range d.Plan.Intents {
		for _, m := range i.Moves {
			for _, a := range m.Volley {
				all[a.ID] = rehearsal.rehearse(i, a)
			}
		}
	}
	return all, nil
}

func (d *Driver) rehearse(i scenarios.PlannedIntent, a scenarios.PlannedAttempt) Rehearsed {
	record := d.load(i, a, a.ID, a.Key, a.Lane).record
	p := d.requests[i.ID+a.Body]
	request, _ := p.request(record) // sendable has seen that it can be made
	all := Rehearsed{
		Rendered: request, Operation: p.operation.Name, Marker: p.marker, Reference: d.Names.Reference(author(i)), Key: record.Key,
	}
	if s := p.operation.Request.Sign; s != nil {
		all.Sign = s
		all.Over, _ = s.Text(request, d.basePath(), record.Key, Moment) // so it can
	}
	for _, name := range slices.Sorted(maps.Keys(request.Header)) {
		if d.mask().isSecret(name) {
			all.Secret = append(all.Secret, name)
		}
	}
	return all
}
