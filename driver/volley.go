package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// shot is one request that is ready to go.
type shot struct {
	exchange
	lane    string
	at      time.Duration // after the volley began
	target  vegeta.Target
	passage Passage
	cut     *scenarios.Cutting // of a link while it is under way; nil: none
}

// volley sends shots at their times, and calls done for each as it ends, from one goroutine. It returns
// when the last has ended; those that were not due when the context ended are not sent.
func (d *Driver) volley(ctx context.Context, shots []*shot, done func(*shot)) {
	d.attack(ctx, schedule{ctx: ctx, shots: shots}, done)
}

// attack sends the shots of a schedule until that ends. It is one vegeta attack, with each shot on its own
// worker. The attack's URL fragments carry the attempts' IDs,
// because vegeta's sequence numbers do not say which target a result belongs to and fragments never
// go on the wire.
func (d *Driver) attack(ctx context.Context, when schedule, done func(*shot)) {
	shots := when.shots
	slices.SortStableFunc(shots, func(a, b *shot) int { return cmp.Compare(a.at, b.at) })
	road := &roundTripper{ctx: ctx, driver: d, shots: map[string]*shot{}}
	for _, s := range shots {
		road.shots[s.record.ID] = s
	}
	members := uint64(len(shots))
	attacker := vegeta.NewAttacker(
		vegeta.Client(&http.Client{Transport: road}),
		vegeta.Redirects(vegeta.NoFollow), vegeta.Workers(members), vegeta.MaxWorkers(members),
	)
	for result := range attacker.Attack(targeter(shots), when, 0, "") {
		s := road.shots[fragment(result.URL)]
		if s == nil || s.request == nil {
			d.halt(fmt.Errorf("send an attempt: vegeta did not: %s", d.mask().text(result.Error)))
			continue
		}
		d.finish(s)
		done(s)
	}
}

// targeter hands the shots out in their order. It never runs dry: the schedule stops first.
func targeter(shots []*shot) vegeta.Targeter {
	var next atomic.Int64
	return func(t *vegeta.Target) error {
		n := int(next.Add(1)) - 1
		if n >= len(shots) {
			return vegeta.ErrNoTargets
		}
		*t = shots[n].target
		return nil
	}
}

// schedule is a vegeta pacer that sends each shot at its own time, and then stops.
type schedule struct {
	ctx   context.Context
	shots []*shot
	pace  *Pace // for each of them; nil: they have been waited for
}

// Pace pauses until the next shot is due. It does so itself, because vegeta sleeps through the end
// of a context.
func (s schedule) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if hits >= uint64(len(s.shots)) {
		return 0, true
	}
	return 0, !sleep(s.ctx, s.shots[hits].at-elapsed) || s.pace.Wait(s.ctx, 1) != nil
}

// Rate is part of vegeta's interface; a volley has no rate.
func (s schedule) Rate(time.Duration) float64 { return 0 }

func fragment(url string) string {
	_, id, _ := strings.Cut(url, "#")
	return id
}

// roundTripper makes every vegeta hit one exchange on the wire.
type roundTripper struct {
	ctx    context.Context
	driver *Driver
	shots  map[string]*shot
}

// RoundTrip runs the exchange that the request's fragment names. What vegeta gets back is the
// status alone; headers, body and times are in the exchange's record.
func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	s := r.shots[request.URL.Fragment]
	if s == nil {
		return nil, fmt.Errorf("no attempt %q in this volley", request.URL.Fragment)
	}
	request.Header.Del("X-Vegeta-Seq")
	s.request = request
	r.driver.send(r.ctx, s)
	if s.record.Status == 0 {
		return nil, errors.New(s.record.Error)
	}
	return &http.Response{
		StatusCode: s.record.Status, Status: http.StatusText(s.record.Status), Request: request,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}
