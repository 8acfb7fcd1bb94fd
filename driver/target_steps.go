package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// stepRun is a list of steps of one purpose (log in, prepare, fetch a key, remove, clean
// up), sent one after the other, each with what those before it extracted.
type stepRun struct {
	steps  []targets.Step
	values targets.Values
	fact   history.Step // that all of them have in common
	intent scenarios.PlannedIntent
	known  map[string]string // what the steps know before they have extracted anything
	key    string            // name of the key that is fetched
}

// ErrStep is wrapped by what SetUp returns where a step did not do what it was sent for.
var ErrStep = errors.New("a step failed")

// stepTimeout is how long one step may take, also after its run has ended.
const stepTimeout = 10 * time.Second

// stepRunFor returns the steps of one purpose for an intent and those of its prepare scope.
func (r *requests) stepRunFor(i scenarios.PlannedIntent, purpose history.Purpose, steps []targets.Step) stepRun {
	return stepRun{steps: steps, values: r.values(i, history.Original), intent: i, fact: history.Step{
		For: purpose, Principal: r.config.principal(i).Name, Operation: r.config.operation(i).Name, Intent: i.ID,
	}}
}

// run sends the steps of a list and returns what they extracted. It stops at the first
// that fails: those behind it would use what is not there.
func (s *stepRunner) run(ctx context.Context, r stepRun) (map[string]string, error) {
	extracted := map[string]string{}
	maps.Copy(extracted, r.known)
	*r.into() = extracted
	for n, step := range r.steps {
		r.fact.Number = n + 1
		if err := s.pace.Wait(ctx, 1); err != nil {
			return nil, err
		}
		if err := s.send(ctx, &r, step, extracted); err != nil {
			return nil, err
		}
	}
	return extracted, nil
}

// into is where the templates of a step run find what its steps extract: .Login in login,
// .Prepared in prepare, and so on.
func (r *stepRun) into() *map[string]string {
	switch r.fact.For {
	case history.Login:
		return &r.values.Login
	case history.Prepare:
		return &r.values.Prepared
	case history.Issue:
		return &r.values.Issued
	case history.Remove:
		return &r.values.Made
	default:
		return &r.values.Cleanup
	}
}

// send sends one step, extracts what is wanted from its answer, and puts it on record with
// its secrets masked. Secrets are kept before the line is written, or the line would hold
// them.
func (s *stepRunner) send(ctx context.Context, r *stepRun, step targets.Step, extracted map[string]string) error {
	now, fact, late := s.requests.config.now, r.fact, false
	fact.Method, fact.Path, fact.Start = step.Request.Method, step.Request.Path, now()
	x, err := s.exchangeOf(step, r.values.At(fmt.Sprint(fact.For, fact.Number)))
	if err == nil {
		fact.Method, fact.Path = x.http.Method, x.http.URL.RequestURI()
		// A step that was sent is read to its end, whatever becomes of the run: the secret in its answer can only be kept off
		// the record by who has seen it.
		x.direct(context.WithoutCancel(ctx), s.requests.config.Target)
		fact.Status, late = x.record.Status, x.record.ErrorKind == history.Timeout
		if x.record.Error != "" {
			err = errors.New("got no answer: " + x.record.Error)
		}
	}
	if err == nil {
		var secret []string
		secret, err = r.extract(step, x, extracted)
		s.requests.secrets.keep(secret)
	}
	s.pace.hold(RetryAfter(x.record))
	mask := s.requests.secrets
	fact.End, fact.Path = now(), mask.text(fact.Path)
	if err != nil {
		fact.Error = fmt.Sprintf("%s (%s %s)%s %s", r.at(fact.Number), fact.Method, fact.Path, r.whose(), mask.text(err.Error()))
		err = fmt.Errorf("%w: %s", ErrStep, fact.Error)
	}
	_ = s.record.Step(fact) // a failed write is noticed when all steps are through
	switch {
	case late:
		return stepHung{err}
	case err != nil && fact.Status == http.StatusTooManyRequests:
		return stepThrottled{err, untilLet(x.record.Header, time.Now())}
	case err != nil && s.requests.config.Hooks.Unauthenticated != nil && s.requests.config.Hooks.Unauthenticated(x.record):
		return stepUnauthenticated{err}
	}
	return err
}

// stepThrottled is the error of a step that a rate limit turned away, and how long it wants to be left alone.
type stepThrottled struct {
	error
	wait time.Duration
}

// Unwrap is what the error says.
func (e stepThrottled) Unwrap() error { return e.error }

// stepUnauthenticated is the error of a step whose login the target does not take.
type stepUnauthenticated struct{ error }

// Unwrap is what the error says.
func (e stepUnauthenticated) Unwrap() error { return e.error }

// stepHung is the error of a step that was not answered in time.
type stepHung struct{ error }

// Unwrap is what the error says, and what it is besides.
func (e stepHung) Unwrap() []error { return []error{e.error, ErrNoAnswer} }

// unsent puts on record that the steps of a list are not sent.
func (s *stepRunner) unsent(r stepRun) error {
	now, step := s.requests.config.now(), r.steps[0].Request
	r.fact.Number, r.fact.Method, r.fact.Path, r.fact.Start, r.fact.End = 1, step.Method, step.Path, now, now
	r.fact.Error = fmt.Sprintf("%s (%s %s)%s %s", r.at(1), step.Method, step.Path, r.whose(), errHung)
	_ = s.record.Step(r.fact) // likewise
	return errHung
}

// exchangeOf makes an exchange of a step. It goes through vegeta's Target as attempts do,
// so that both build requests alike, and the fragment shows whether the path holds a "#".
func (s *stepRunner) exchangeOf(step targets.Step, v targets.Values) (exchange, error) {
	target := s.requests.config.Target
	rendered, err := step.Render(v)
	if err == nil {
		err = targets.Operation{Request: step.Request}.Sign(&rendered, basePath(target), "", time.Now())
	}
	if err != nil {
		return exchange{}, fmt.Errorf("cannot be rendered: %w", err)
	}
	const id = "step"
	blueprint := vegetaTarget(target, rendered, id)
	request, err := blueprint.Request()
	if err != nil {
		return exchange{}, fmt.Errorf("cannot be sent: %w", err)
	}
	if request.URL.Fragment != id {
		return exchange{}, errors.New("cannot be sent: the path holds a #")
	}
	return exchange{
		http: request, timeout: stepTimeout, tls: TLS(target), pool: poolFor(target),
		keep: longestAnswer, now: s.requests.config.now,
	}, nil
}

// extract extracts what a step is sent for, and returns what of it must not be on record. Its error quotes an answer only where that surely holds no secret: a
// login that succeeded is full of them.
func (r *stepRun) extract(step targets.Step, x exchange, extracted map[string]string) (secret []string, err error) {
	status := x.record.Status
	if !step.Expects(status) {
		said := ""
		if r.fact.For != history.Login || status >= http.StatusBadRequest {
			said = ": " + Snippet(x.record.Content)
		}
		return nil, fmt.Errorf("was answered %d, expected %s%s%s", status, expected(step), said, r.hint(status))
	}
	answer := targets.Answer{Header: x.record.Header, Cookies: x.cookies, Body: x.record.Content}
	for _, name := range step.Names() {
		value, err := step.Extract[name].From(answer)
		if err != nil {
			return secret, fmt.Errorf("was answered %d, and there is no %s: %w", status, name, err)
		}
		extracted[name] = value
		if r.fact.For == history.Login || step.Extract[name].Secret() && !r.isKey(name) {
			secret = append(secret, value)
		}
	}
	return secret, nil
}

// isKey reports that what is extracted under a name is a key. It is on record, because it tells attempts apart.
func (r *stepRun) isKey(name string) bool {
	return r.fact.For == history.Issue && name == targets.IssuedKey
}

// expected says which statuses a step takes, for its error.
func expected(step targets.Step) string {
	if len(step.Statuses) == 0 {
		return "2xx or 3xx"
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(step.Statuses)), ", "), "[]")
}

// hint says what the user can do about a status; empty: nothing is known. Only 429 is a
// matter of the harness's settings.
func (r *stepRun) hint(status int) string {
	switch refused := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity}; {
	case status == http.StatusTooManyRequests:
		return " (rate_limit makes doubletap keep to a limit)"
	case r.fact.For == history.Login && r.fact.Principal != "" && slices.Contains(refused, status):
		return fmt.Sprintf(" (are the credentials right that principals.%s has, and the variables that it takes them from?)", r.fact.Principal)
	}
	return ""
}

// place names the steps of a step run as the target file does.
func (r *stepRun) place() string {
	under := "operations." + r.fact.Operation + "."
	switch r.fact.For {
	case history.Login:
		return "login"
	case history.Issue:
		return under + "key.issued"
	default:
		return under + string(r.fact.For)
	}
}

// at names one of the steps as the target file does, counted from 0 as in the file.
func (r *stepRun) at(number int) string { return fmt.Sprintf("%s[%d]", r.place(), number-1) }

// whose says for whom a step is sent.
func (r *stepRun) whose() string {
	text := ""
	if r.fact.Intent != "" {
		text = " for intent " + r.fact.Intent
	}
	if r.fact.Principal != "" {
		text += " for the principal " + r.fact.Principal
	}
	return text
}
