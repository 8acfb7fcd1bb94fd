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

// outgoing is one request that is ready to be sent, with its exchange, and what is seen of
// it. It belongs to its batch until done is called.
type outgoing struct {
	exchange
	lane   string
	at     time.Duration // after the batch began
	target vegeta.Target
	tap    Tap                // nil: nothing was seen of it
	cut    *scenarios.Cutting // of a link while it is under way; nil: none
	words  []string           // by which its writes are known on that link

	impatient bool // the upstream tap ends its timeout
}

// batch sends requests at their times, and calls done for each as it ends, from one goroutine. It returns
// when the last has ended; those that were not due when the context ended are not sent.
func (t *transmitter) batch(ctx context.Context, all []*outgoing, done func(*outgoing)) {
	t.attack(ctx, schedule{ctx: ctx, all: all}, done)
}

// attack sends the requests of a schedule until that ends, as one vegeta attack. An
// Attacker is good for one attack and stays stopped afterwards, so each batch makes a new
// one. There are as many workers as requests: with fewer, a held member of a burst would
// keep the others from being sent, and the burst would wait for itself.
//
// The fragments of the URLs carry the IDs of the attempts. vegeta's sequence numbers do
// not say which request a result belongs to: workers draw them in another order.
func (t *transmitter) attack(ctx context.Context, when schedule, done func(*outgoing)) {
	slices.SortStableFunc(when.all, func(a, b *outgoing) int { return cmp.Compare(a.at, b.at) })
	transport := &roundTripper{ctx: ctx, transmitter: t, byID: map[string]*outgoing{}}
	for _, o := range when.all {
		transport.byID[o.record.ID] = o
	}
	members := uint64(len(when.all))
	attacker := vegeta.NewAttacker(
		vegeta.Client(&http.Client{Transport: transport}),
		vegeta.Redirects(vegeta.NoFollow), vegeta.Workers(members), vegeta.MaxWorkers(members),
	)
	for result := range attacker.Attack(targeter(when.all), when, 0, "") {
		o := transport.byID[fragment(result.URL)]
		// vegeta made a result without calling the transport: the request is not on
		// record.
		if o == nil || o.http == nil {
			t.halt(fmt.Errorf("send an attempt: vegeta did not: %s", t.requests.secrets.text(result.Error)))
			continue
		}
		t.finish(o)
		done(o)
	}
}

// targeter hands out the requests in their order. A targeter that runs dry adds results of
// requests that never were, so the schedule stops by its count before that happens.
func targeter(all []*outgoing) vegeta.Targeter {
	var next atomic.Int64
	return func(t *vegeta.Target) error {
		n := int(next.Add(1)) - 1
		if n >= len(all) {
			return vegeta.ErrNoTargets
		}
		*t = all[n].target
		return nil
	}
}

// schedule is a vegeta pacer that sends each request at its own time, and then stops.
type schedule struct {
	ctx  context.Context
	all  []*outgoing
	pace *Pace // for each of them; nil: the caller has waited for all
}

// Pace pauses until the next request is due. It does so itself, because vegeta sleeps through the end
// of a context.
func (s schedule) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if hits >= uint64(len(s.all)) {
		return 0, true
	}
	return 0, !sleep(s.ctx, s.all[hits].at-elapsed) || s.pace.Wait(s.ctx, 1) != nil
}

// Rate is part of vegeta's interface; a batch has no rate.
func (s schedule) Rate(time.Duration) float64 { return 0 }

// fragment returns the attempt's ID, which vegetaTarget has put into the URL.
func fragment(url string) string {
	_, id, _ := strings.Cut(url, "#")
	return id
}

// roundTripper makes every vegeta hit one exchange on the wire. It takes the place of
// http.Transport, so that no code of net/http dials, retries or follows. One batch has
// one.
type roundTripper struct {
	ctx         context.Context
	transmitter *transmitter
	byID        map[string]*outgoing
}

// RoundTrip runs the exchange that the request's fragment names. What vegeta gets back is
// the status alone, with an empty body; headers, body and times are in the exchange's
// record. An exchange without an answer is an error to vegeta, which it only notes in its
// result.
func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	o := r.byID[request.URL.Fragment]
	if o == nil {
		return nil, fmt.Errorf("no attempt %q in this batch", request.URL.Fragment)
	}
	// vegeta adds a header that counts. It would make each repetition a different request.
	request.Header.Del("X-Vegeta-Seq")
	o.http = request
	r.transmitter.send(r.ctx, o)
	if o.record.Status == 0 {
		return nil, errors.New(o.record.Error)
	}
	return &http.Response{
		StatusCode: o.record.Status, Status: http.StatusText(o.record.Status), Request: request,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}
