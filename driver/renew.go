package driver

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// unknown notes a question whose last answer was that nobody is known at the door, and reports whether it was. A
// target that counts its requests may count logins as well, so that another one would look like a request that is
// not on record.
func (d *Driver) unknown(a asking, last history.Attempt) bool {
	if d.TurnedAway == nil || !d.TurnedAway(last) || len(d.Target.Login) == 0 || d.Target.Received != nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strangers = append(d.strangers, a)
	return true
}

// renew logs the principals in anew and renders all requests with what that gave. It reports whether it did: a
// login that fails is on record, and where a body holds what a login gave, it would be another body. Nothing else
// may be under way.
func (d *Driver) renew(ctx context.Context) bool {
	before := d.Logins
	for _, taken := range before {
		d.keepSecret(slices.Collect(maps.Values(taken)))
	}
	d.Logins = nil
	if d.logIn(ctx) != nil {
		d.Logins = before
		return false
	}
	renewed := map[string]prepared{}
	for _, i := range d.Plan.Intents {
		for _, body := range bodiesOf(i) {
			p := d.requests[i.ID+body]
			rendered, err := p.operation.Render(d.values(i, body), body == history.Altered)
			if err != nil || !bytes.Equal(rendered.Body, p.rendered.Body) {
				return false
			}
			p.rendered = rendered
			renewed[i.ID+body] = p
		}
	}
	d.requests = renewed
	return true
}
