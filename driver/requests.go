package driver

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// usualTimeout stands in for a deadline that is no time at all, and longestTimeout bounds what stands in for it where the
// target is slow. A client that waits longer than a plain create takes waits for leastPatience.
const (
	usualTimeout   = 10 * time.Second
	longestTimeout = time.Minute
	leastPatience  = 100 * time.Millisecond
)

// patience is how long a client waits that a scenario gives no deadline of its own: long
// enough for a target that executes all requests that are sent at once one after the
// other, three times over. A correct target that queues must not look as if it gave no
// answer.
func (c *Config) patience() time.Duration {
	atOnce := time.Duration(max(c.Plan.AtOnce(), 1) * c.atOnce())
	return min(max(usualTimeout, 3*atOnce*c.Normal), longestTimeout)
}

// requests builds the requests of a workload, with what steps have extracted for them. Steps fill it before
// anything is sent; after that it is read only, until a new login (see logInAgain).
type requests struct {
	config   *Config
	secrets  *secrets
	logins   map[string]map[string]string // by principal; nil: no principal is logged in
	prepared map[prepareScope]map[string]string
	issued   map[issuedKey]string
	lock     sync.RWMutex        // of rendered
	rendered map[string]rendered // by intent and body; a new login gives new ones
	patience time.Duration       // of a client that a scenario gives no deadline of its own
	inside   *insideTime         // of which times that count from the upstream tap are shares
	stands   int                 // placeholders so far, where nothing is sent

	mu     sync.Mutex
	clocks map[string]time.Time // by intent: when its last attempt was sent, by the clock that it tells
}

// issuedKey names a key that the target has handed out: by its intent, and by its name in the plan.
type issuedKey struct{ intent, name string }

// rendered is a request, with secrets, but without a key.
type rendered struct {
	operation Operation
	promise   contract.Contract
	marker    string
	request   targets.Rendered
	values    targets.Values // but for the attempt's
	first     []string       // IDs of the attempts with which its intent begins
}

// newRequests makes the requests of a config. Nothing is rendered yet: steps have to
// extract what templates use first.
func newRequests(c *Config) *requests {
	r := &requests{config: c, secrets: newSecrets(&c.Workload), logins: c.Logins, patience: c.patience()}
	r.inside = &insideTime{recent: []time.Duration{cmp.Or(c.Inside, c.Normal)}}
	r.secrets.keepLogins(r.logins)
	return r
}

// setLogins keeps what logins gave, and masks it from now on.
func (r *requests) setLogins(logins map[string]map[string]string) {
	r.logins = logins
	r.secrets.keepLogins(logins)
}

// values returns what the templates of an intent's requests can use.
func (r *requests) values(i scenarios.PlannedIntent, body string) targets.Values {
	w := &r.config.Workload
	p := w.principal(i)
	return targets.Values{
		Intent:    targets.IntentValues{Marker: w.ownMarker(i, body), Reference: w.Names.Reference(author(i)), Number: i.Number, Work: w.work(i).Milliseconds()},
		Principal: p.Values,
		Parent:    w.parent(i),
		Extracted: targets.Extracted{Login: r.logins[p.Name], Prepared: r.prepared[w.scope(i)]},
	}.Drawing(w.Names.Draws(author(i), w.Base))
}

// renderAll renders the requests of all intents once, and calls keep with each intent as
// it goes on record: with its secrets masked. Attempts then differ in key, spelling and
// headers of their own only, so that "the same request" is the same to the byte.
func (r *requests) renderAll(keep func(history.Intent) error) error {
	r.rendered = map[string]rendered{}
	for _, i := range r.config.Plan.Intents {
		intent, err := r.render(i)
		if err == nil {
			err = keep(intent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// render renders the requests of an intent, one for each of its bodies, and returns what
// goes on record of them. It fails where any of them could not be sent.
func (r *requests) render(i scenarios.PlannedIntent) (history.Intent, error) {
	w := &r.config.Workload
	operation := w.operation(i)
	if operation.Key.In == contract.KeyInPath && w.keyless(i) {
		return history.Intent{}, fmt.Errorf("prepare the request of intent %s: its key stands in the path, where it cannot be left out or blank", i.ID)
	}
	intent := history.Intent{ID: i.ID, Number: i.Number, Principal: w.principal(i).Name, Kin: kin(i), Behind: i.Background, Work: history.Offset(w.work(i)), Bodies: map[string]history.Body{}}
	if operation.Name != w.Operations[0].Name {
		intent.Operation = operation.Name
	}
	for _, body := range bodiesOf(i) {
		takes := w.operationFor(i, body)
		one, err := r.renderBody(i, takes, body)
		if err != nil {
			return intent, err
		}
		r.rendered[i.ID+body] = one
		shown := one.request.Clone()
		for _, name := range workHeaders(one) { // attempts have them for themselves
			delete(shown.Header, name)
		}
		_ = respell(&shown, body, one.promise) // sendable has seen that it can be done
		leaveCredential(&shown, one, body)
		said := history.Body{
			Marker: one.marker, Method: shown.Method, Path: shown.Path, Header: shown.Header, Content: string(shown.Body), Says: string(shown.Says),
		}
		if takes.Name != operation.Name {
			said.Operation = takes.Name
		}
		intent.Bodies[body] = r.secrets.body(said)
	}
	return intent, nil
}

// renderBody renders an intent's request with one of its bodies, and makes sure that it
// can be sent with every kind of key that it may carry.
func (r *requests) renderBody(i scenarios.PlannedIntent, operation Operation, body string) (rendered, error) {
	values, which := r.values(i, body), variantOf(body)
	request, err := operation.Render(values.OfAttempt(r.config.Names.Key(i.ID, body), r.config.Base), which)
	if err != nil {
		return rendered{}, fmt.Errorf("render the request of intent %s: %w", i.ID, err)
	}
	// Templates may draw at random. A body that is to be different must not draw the same
	// by chance: a correct target would then be blamed for replaying it.
	if which != targets.AsItIs && request.Drawn.Chance && !r.config.Target.Differs(operation.Operation, values, which) {
		return rendered{}, fmt.Errorf("render the request of intent %s: the %s body came out the same as the other one: %s has to draw from other values", i.ID, body, which)
	}
	one := rendered{operation: operation, promise: r.config.Target.Contract, marker: r.config.marker(i, body), request: request, values: values, first: firstOf(i)}
	keys := r.keysOf(i)
	if operation.Key.In == contract.KeyNowhere {
		keys = []string{""}
	}
	for _, key := range keys {
		if err := r.sendable(one, history.Attempt{Body: body, Key: key}); err != nil {
			return one, fmt.Errorf("prepare the request of intent %s: %s", i.ID, r.secrets.text(err.Error()))
		}
	}
	return one, nil
}

// variantOf returns which variant of the target file's request a body is. All spellings of
// the original are the original here; respell comes later.
func variantOf(body string) targets.Variant {
	switch body {
	case history.Altered:
		return targets.Altered
	case history.Invalid:
		return targets.Invalid
	default:
		return targets.AsItIs
	}
}

// operationOf returns the name of the operation of an intent.
func (r *requests) operationOf(intent string) string {
	return r.one(intent, history.Original).operation.Name
}

// newRequest builds the request of a planned attempt, under an ID, a key's name and a lane that may differ.
func (r *requests) newRequest(i scenarios.PlannedIntent, a scenarios.PlannedAttempt, id, keyName, lane string) *outgoing {
	record := history.Attempt{ID: id, Intent: i.ID, Lane: lane, Body: a.Body}
	switch {
	// Four sources of a key: none, the target (key.issued), the intent's own, and another name.
	case keyName == "":
	case len(r.config.operation(i).Key.Issued) > 0:
		record.Key = r.issued[issuedKey{i.ID, keyName}]
	case keyName == scenarios.OwnKey:
		record.Key = r.config.ownKey(i)
		record.BlankKey = record.Key == ""
	default:
		record.Key = r.config.otherKey(i, keyName)
	}
	return r.build(record, outwait(a.Timeout, r.insideOf(i)))
}

// outwait is how long a client waits. A share of 1 or more of a create's time means that
// the client is to get its answer, so such a client waits at least leastPatience: on a
// busy machine a server may drop a request whose client has left before it was read. A
// share below 1 means to leave early, and stays as short as it is.
func outwait(timeout scenarios.Span, inside time.Duration) time.Duration {
	if timeout.Share >= 1 {
		return max(timeout.Of(inside), leastPatience)
	}
	return timeout.Of(inside)
}

// build builds the request of an attempt whose intent, body, key and lane are known.
func (r *requests) build(a history.Attempt, timeout time.Duration) *outgoing {
	one := r.one(a.Intent, a.Body)
	if one.operation.Key.In == contract.KeyNowhere {
		a.Key, a.BlankKey = "", false
	}
	request := r.requestOf(one, &a)
	// Sign last: a signature covers the key, the spelling and the headers of this attempt.
	// sendable has seen that it can be done.
	_ = one.operation.Sign(&request, basePath(r.config.Target), a.Key, time.Now())
	leaveCredential(&request, one, a.Body)
	timeout = cmp.Or(max(timeout, 0), usualTimeout)
	// Only the clean lane: on a lane that swallows answers, more patience is only lost
	// time.
	if timeout == usualTimeout && a.Lane == scenarios.Clean {
		timeout = r.patience
	}
	a.Deadline = history.Offset(timeout)
	o := &outgoing{lane: a.Lane, target: vegetaTarget(r.config.Target, request, a.ID)}
	r.respellHeader(o.target.Header, one, a)
	o.exchange = exchange{
		record: a, timeout: timeout, tls: TLS(r.config.Target), pool: poolFor(r.config.Target),
		keep: cmp.Or(r.config.KeepBody, DefaultKeepBody), now: r.config.now, lasting: r.config.Lasting && a.Lane == scenarios.Clean,
	}
	return o
}

// requestOf returns the request of an attempt, and notes what of it no other attempt has. Sendable has seen that it
// can be made.
func (r *requests) requestOf(one rendered, a *history.Attempt) targets.Rendered {
	// Most targets have nothing in a request that differs per attempt, and get the
	// rendered one.
	elsewhere := a.Body == history.Elsewhere
	if !elsewhere && !one.operation.DiffersPerAttempt() {
		request, _ := one.withKey(*a)
		carryWork(&request, one, *a)
		a.Own = r.secrets.header(request.Own)
		return request
	}
	// The others are rendered again, with an ID and a time of this attempt's own.
	id, at := r.config.Names.Key(a.Intent, "attempt "+a.ID), r.clock(a.Intent)
	if anew, err := one.operation.Render(one.values.OfAttempt(id, at), variantOf(a.Body)); err == nil {
		one.request = anew
	}
	request, _ := one.withKey(*a)
	carryWork(&request, one, *a)
	if elsewhere {
		sendElsewhere(&request, id, at, one.promise.Fingerprint.Mode)
	}
	a.Own = r.secrets.header(request.Own)
	return request
}

// clock returns the time that an attempt of an intent tells: no two of them tell the same second. It begins some
// seconds late, so that a few attempts do not come from the future.
func (r *requests) clock(intent string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clocks == nil {
		r.clocks = map[string]time.Time{}
	}
	at := time.Now().Add(-5 * time.Second)
	if next := r.clocks[intent].Add(time.Second); at.Before(next) {
		at = next
	}
	r.clocks[intent] = at
	return at
}

// withKey returns the request of an attempt, with its key and in its spelling. It changes
// a copy: rendered requests are shared by all attempts of an intent.
func (one rendered) withKey(a history.Attempt) (targets.Rendered, error) {
	request := one.request.Clone()
	if a.Key != "" || a.BlankKey {
		if err := one.operation.PlaceKey(&request, a.Key); err != nil {
			return request, err
		}
	}
	return request, respell(&request, a.Body, one.promise)
}

// renderAgain renders all requests anew, after a new login. It reports whether it could: where a body holds what a login
// gave, it would be another body.
func (r *requests) renderAgain() bool {
	anew := map[string]rendered{}
	for _, i := range r.config.Plan.Intents {
		for _, body := range bodiesOf(i) {
			one := r.one(i.ID, body)
			values := r.values(i, body)
			request, err := one.operation.Render(values.OfAttempt(r.config.Names.Key(i.ID, body), r.config.Base), variantOf(body))
			if err != nil || !request.SaysAs(one.request) {
				return false
			}
			one.request, one.values = request, values
			anew[i.ID+body] = one
		}
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.rendered = anew
	return true
}

// one returns a request as it is rendered now. The lock is for a new login in mid-run,
// which replaces all of them (see logInAgain).
func (r *requests) one(intent, body string) rendered {
	r.lock.RLock()
	defer r.lock.RUnlock()
	return r.rendered[intent+body]
}

// vegetaTarget turns a rendered request into vegeta's. It carries the attempt's ID in the
// fragment of its URL, which never goes on the wire and comes back in vegeta's result.
// "identity" keeps the target from compressing answers, and net/http from unpacking them.
func vegetaTarget(t targets.Target, r targets.Rendered, id string) vegeta.Target {
	header := http.Header{"User-Agent": {"doubletap"}, "Accept-Encoding": {"identity"}}
	for name, value := range r.Header {
		header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return vegeta.Target{Method: r.Method, Header: header, Body: r.Body, URL: urlOf(t, r.Path) + "#" + id}
}

// basePath is what the path of every request begins with.
func basePath(t targets.Target) string {
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		return "" // which vegeta will notice
	}
	return strings.TrimSuffix(base.EscapedPath(), "/")
}
