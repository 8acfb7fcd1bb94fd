package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// How often a status resource is asked: soon, and then less and less often.
const (
	followSoon   = 10 * time.Millisecond
	followSeldom = 500 * time.Millisecond
	followAtOnce = 16 // questions under way
)

// Following says which attempts are followed, and for how long.
type Following struct {
	Monitor func(history.Attempt) string // URL of an attempt's status resource; empty: none
	Settled func(history.Followup) bool  // the answer is final
	Within  time.Duration                // since the attempt was answered
}

// follower asks the status resources of accepted attempts (202, RFC 9110 section 15.3.3)
// for their outcome. Its questions are no attempts: they create nothing, and go to the
// target directly, on no lane.
type follower struct {
	Following
	*transmitter
	waited hung
}

// followAll is [Sent.Follow]. After enough questions that were not answered, what came to its deadline
// meanwhile is not asked any more.
func (f *follower) followAll(ctx context.Context) error {
	inParallel(ctx, f.books.unfollowed(), followAtOnce, func(ctx context.Context, a accepted) {
		_ = f.config.Record.Followup(f.follow(ctx, a)) // a failed write is noticed below
	}, func(accepted) {})
	return f.cutShort(ctx)
}

// follow asks one status resource until it has come to an end or its time is over, and
// returns its last answer. The time counts from when the attempt was answered, as a
// client's would, and not from now: sending others may have taken long. It asks at least
// once.
func (f *follower) follow(ctx context.Context, a accepted) history.Followup {
	header := withoutBody(f.requests.one(a.intent, a.body).request.Header)
	deadline := f.config.Base.Add(a.end.Duration()).Add(f.Within)
	last := history.Followup{Attempt: a.attempt}
	for pause := followSoon; ; pause = min(2*pause, followSeldom) {
		last = f.question(ctx, last, a.url, a.where, header, time.Now().After(deadline))
		if f.Settled(last) || !time.Now().Add(pause).Before(deadline) || !sleep(ctx, pause) {
			return last
		}
	}
}

// withoutBody returns the headers of a request for a GET: those that say who asks stay,
// and those of the body go.
func withoutBody(header map[string]string) map[string]string {
	header = maps.Clone(header)
	maps.DeleteFunc(header, func(name, _ string) bool { return strings.HasPrefix(strings.ToLower(name), "content-") })
	return header
}

// question asks a status resource once. Its URL may be relative to that of the request. Late says that its time is over.
func (f *follower) question(ctx context.Context, last history.Followup, from, reference string, header map[string]string, late bool) history.Followup {
	said := history.Followup{Attempt: last.Attempt, Tries: last.Tries + 1}
	where, err := sameHost(from, reference)
	if err == nil && late && f.waited.enough() {
		err = errHung
	}
	var answer history.Attempt
	if err == nil {
		if err = f.config.Pace.Wait(ctx, 1); err == nil {
			answer, err = get(ctx, f.config.Target, where, header)
			f.waited.note(!errors.Is(err, ErrNoAnswer))
			f.backOff(answer)
		}
	}
	said.At, said.Status, said.Content, said.Complete = f.config.now(), answer.Status, f.requests.secrets.content(answer.Content), err == nil
	if err != nil {
		said.Error = f.maskError(err)
	}
	return said
}

// sameHost resolves a reference (RFC 3986, section 5). It fails on another host: an answer
// must not make the harness send to a host that the user did not allow, with the headers
// of a login.
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
