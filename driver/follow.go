package driver

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// How often a status resource is asked: soon, and then less and less often.
const (
	followSoon   = 10 * time.Millisecond
	followSeldom = 500 * time.Millisecond
	followAtOnce = 16 // questions under way
)

// Following says which attempts are to be followed, and for how long. It is the judge's, so that the
// driver need not know what an answer means.
type Following struct {
	Monitor func(history.Attempt) string // where to ask what became of an attempt; empty: nothing is to come
	Settled func(history.Followup) bool  // nothing more is to come
	Within  time.Duration                // since the attempt was answered
}

// Follow asks the status resources of accepted attempts until they have come to an end or their time is
// over, and records the last that each said. An attempt is followed once.
func (d *Driver) Follow(ctx context.Context) error {
	var waiting sync.WaitGroup
	room := make(chan struct{}, followAtOnce)
	for _, a := range d.ledger.unfollowed() {
		room <- struct{}{}
		waiting.Go(func() {
			defer func() { <-room }()
			_ = d.Record.Followup(d.follow(ctx, a)) // a failed write is noticed below
		})
	}
	waiting.Wait()
	return d.cutShort(ctx)
}

func (d *Driver) follow(ctx context.Context, a accepted) history.Followup {
	header := withoutBody(d.requests[a.intent+a.body].rendered.Header)
	deadline := d.Base.Add(a.end.Duration()).Add(d.Following.Within)
	last := history.Followup{Attempt: a.attempt}
	for pause := followSoon; ; pause = min(2*pause, followSeldom) {
		last = d.question(ctx, last, a.url, a.where, header)
		if d.Following.Settled(last) || !time.Now().Add(pause).Before(deadline) || !sleep(ctx, pause) {
			return last
		}
	}
}

// withoutBody returns the headers that a request without a body can carry.
func withoutBody(header map[string]string) map[string]string {
	header = maps.Clone(header)
	maps.DeleteFunc(header, func(name, _ string) bool { return strings.HasPrefix(strings.ToLower(name), "content-") })
	return header
}

// question asks a status resource once. Where it is, is a reference to be resolved by the request's URL.
func (d *Driver) question(ctx context.Context, last history.Followup, from, reference string, header map[string]string) history.Followup {
	said := history.Followup{Attempt: last.Attempt, Tries: last.Tries + 1}
	where, err := sameHost(from, reference)
	var answer history.Attempt
	if err == nil {
		if err = d.Pace.Wait(ctx, 1); err == nil {
			answer, err = get(ctx, d.Target, where, header)
			d.obey(answer)
		}
	}
	said.At, said.Status, said.Content, said.Complete = d.now(), answer.Status, d.mask().content(answer.Content), err == nil
	if err != nil {
		said.Error = d.mask().text(err.Error())
	}
	return said
}

// sameHost resolves a reference (RFC 3986, section 5). Nobody but the target is asked.
func sameHost(from, reference string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	where, err := base.Parse(reference)
	if err != nil {
		return "", err
	}
	if where.Scheme != base.Scheme || where.Host != base.Host {
		return "", fmt.Errorf("the status resource is on another host: %s", where.Host)
	}
	return where.String(), nil
}
