package driver

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// usualTimeout stands in for a deadline that is no time at all.
const usualTimeout = 10 * time.Second

// aim makes a shot of an attempt whose intent, body, key and lane are known.
func (d *Driver) aim(a history.Attempt, timeout time.Duration) *shot {
	request := d.requests[a.Intent+a.Body].rendered.Clone()
	if d.Operation.Key.In == targets.KeyNowhere {
		a.Key = ""
	}
	if a.Key != "" {
		_ = d.Operation.PlaceKey(&request, a.Key) // sendable has seen that it can be placed
	}
	timeout = cmp.Or(max(timeout, 0), usualTimeout)
	a.Deadline = history.Offset(timeout)
	s := &shot{lane: a.Lane, target: d.targetOf(request, a.ID)}
	s.exchange = exchange{record: a, timeout: timeout, tls: d.tlsConfig(), keep: cmp.Or(d.KeepBody, DefaultKeepBody), now: d.now}
	return s
}

// targetOf carries an attempt's ID in the fragment of its URL, which never goes on the wire.
func (d *Driver) targetOf(r targets.Rendered, id string) vegeta.Target {
	header := http.Header{"User-Agent": {"doubletap"}, "Accept-Encoding": {"identity"}}
	for name, value := range r.Header {
		header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return vegeta.Target{
		Method: r.Method, Header: header, Body: r.Body,
		URL: strings.TrimSuffix(d.Target.BaseURL, "/") + r.Path + "#" + id,
	}
}

// sendable says why a rendered request cannot go on the wire. It is asked before anything is sent:
// an attempt that breaks on its way there would be missing in the history.
func (d *Driver) sendable(r targets.Rendered) error {
	r = r.Clone()
	if d.Operation.Key.In != targets.KeyNowhere {
		if err := d.Operation.PlaceKey(&r, d.Names.Key("", "")); err != nil {
			return err
		}
	}
	const id = "id"
	target := d.targetOf(r, id)
	request, err := target.Request()
	if err != nil {
		return err
	}
	if request.URL.Fragment != id {
		return errors.New("the path holds a #, and what follows that never reaches a server")
	}
	return request.Write(io.Discard)
}
