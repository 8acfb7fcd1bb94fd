package driver

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// usualTimeout stands in for a deadline that is no time at all.
const usualTimeout = 10 * time.Second

// aim makes a shot of an attempt whose intent, body, key and lane are known.
func (d *Driver) aim(a history.Attempt, timeout time.Duration) *shot {
	p := d.requests[a.Intent+a.Body]
	if p.operation.Key.In == contract.KeyNowhere {
		a.Key, a.BlankKey = "", false
	}
	request, _ := p.request(a) // sendable has seen that it can be made
	_ = p.operation.Sign(&request, d.basePath(), a.Key, time.Now())
	timeout = cmp.Or(max(timeout, 0), usualTimeout)
	a.Deadline = history.Offset(timeout)
	s := &shot{lane: a.Lane, target: d.targetOf(request, a.ID)}
	s.exchange = exchange{
		record: a, timeout: timeout, tls: tlsConfig(d.Target), party: partyFor(d.Target),
		keep: cmp.Or(d.KeepBody, DefaultKeepBody), now: d.now,
	}
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

// basePath is what the path of every request begins with.
func (d *Driver) basePath() string {
	base, err := url.Parse(d.Target.BaseURL)
	if err != nil {
		return "" // which vegeta will notice
	}
	return strings.TrimSuffix(base.EscapedPath(), "/")
}

// request returns the request of an attempt, with its key and in its spelling.
func (p prepared) request(a history.Attempt) (targets.Rendered, error) {
	r := p.rendered.Clone()
	if a.Key != "" || a.BlankKey {
		if err := p.operation.PlaceKey(&r, a.Key); err != nil {
			return r, err
		}
	}
	return r, respell(&r, a.Body)
}

// sendable says why a request cannot go on the wire. It is asked before anything is sent: an attempt
// that breaks on its way there would be missing in the history.
func (d *Driver) sendable(p prepared, body string, keys []string) error {
	for _, key := range keys {
		if err := d.sendableWith(p, history.Attempt{Body: body, Key: key}); err != nil {
			return err
		}
	}
	return nil
}

// keysOf returns the keys that an intent's requests may carry, as far as what they are matters.
func (d *Driver) keysOf(i scenarios.PlannedIntent) []string {
	switch key := d.operation(i).Key; {
	case key.In == contract.KeyNowhere:
		return []string{""}
	case len(key.Issued) == 0:
		return []string{d.Names.Key("", "")}
	}
	keys := []string{""}
	for _, name := range keyNames(i) {
		keys = append(keys, d.issued[issue{i.ID, name}])
	}
	return keys
}

// keyless reports whether an intent is ever sent without a key, or with a blank one.
func (d *Driver) keyless(i scenarios.PlannedIntent) bool {
	if i.Kin != nil && d.Names.KinKey(*i.Kin, i.ID) == "" {
		return true
	}
	return slices.ContainsFunc(i.Moves, func(m scenarios.Move) bool {
		return slices.ContainsFunc(m.Volley, func(a scenarios.PlannedAttempt) bool { return a.Key == "" })
	})
}

func (d *Driver) sendableWith(p prepared, a history.Attempt) error {
	r, err := p.request(a)
	if err == nil {
		err = p.operation.Sign(&r, d.basePath(), a.Key, time.Now())
	}
	if err != nil {
		return err
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
