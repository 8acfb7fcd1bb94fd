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

// errand is a list of steps of one purpose, sent one after the other, each with what those before it took.
type errand struct {
	steps  []targets.Step
	values targets.Values
	fact   history.Step // that all of them have in common
	intent scenarios.PlannedIntent
	known  map[string]string // what the steps know before they have taken anything
	key    string            // name of the key that is asked for
	secret []string          // what was taken and must not be on record
}

// ErrStep is wrapped by what SetUp returns where a step did not do what it was sent for.
var ErrStep = errors.New("a step failed")

// How long one step may take, and how much of an answer its failure tells, in bytes.
const (
	stepTimeout = 10 * time.Second
	stepSays    = 200
)

// errandFor is an errand for an intent and those of its household.
func (d *Driver) errandFor(i scenarios.PlannedIntent, purpose history.Purpose, steps []targets.Step) errand {
	return errand{steps: steps, values: d.values(i, history.Original), intent: i, fact: history.Step{
		For: purpose, Principal: d.principal(i).Name, Operation: d.operation(i).Name, Intent: i.ID,
	}}
}

// run sends the steps of an errand and returns what they took.
func (d *Driver) run(ctx context.Context, e errand) (map[string]string, error) {
	taken := map[string]string{}
	maps.Copy(taken, e.known)
	*e.into() = taken
	defer func() {
		d.keepSecret(e.secret)
		if e.fact.For == history.Remove && len(e.secret) > 0 { // in the middle of what is recorded
			d.remask()
		}
	}()
	for n, step := range e.steps {
		e.fact.Number = n + 1
		if err := d.Pace.Wait(ctx, 1); err != nil {
			return nil, err
		}
		if err := d.step(ctx, &e, step, taken); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// into is where the values of an errand have what its steps take.
func (e *errand) into() *map[string]string {
	switch e.fact.For {
	case history.Login:
		return &e.values.Login
	case history.Prepare:
		return &e.values.Prepared
	case history.Issue:
		return &e.values.Issued
	case history.Remove:
		return &e.values.Made
	default:
		return &e.values.Cleanup
	}
}

// step sends one step, takes what is to be taken from its answer, and puts it on record.
func (d *Driver) step(ctx context.Context, e *errand, step targets.Step, taken map[string]string) error {
	fact := e.fact
	fact.Method, fact.Path, fact.Start = step.Request.Method, step.Request.Path, d.now()
	x, err := d.exchangeOf(step, e.values.At(fmt.Sprint(fact.For, fact.Number)))
	if err == nil {
		fact.Method, fact.Path = x.request.Method, x.request.URL.RequestURI()
		x.direct(ctx, d.Target)
		fact.Status = x.record.Status
		if x.record.Error != "" {
			err = errors.New("got no answer: " + x.record.Error)
		}
	}
	if err == nil {
		err = e.take(step, x, taken)
	}
	d.Pace.hold(retryAfter(x.record))
	mask := d.mask()
	if len(e.secret) > 0 {
		mask = d.newMasker(e.secret...)
	}
	fact.End, fact.Path = d.now(), mask.text(fact.Path)
	if err != nil {
		fact.Error = fmt.Sprintf("%s (%s %s)%s %s", e.at(fact.Number), fact.Method, fact.Path, e.whose(), mask.text(err.Error()))
		err = fmt.Errorf("%w: %s", ErrStep, fact.Error)
	}
	_ = d.Record.Step(fact) // a failed write is noticed when all steps are through
	return err
}

// exchangeOf makes an exchange of a step.
func (d *Driver) exchangeOf(step targets.Step, v targets.Values) (exchange, error) {
	rendered, err := step.Render(v)
	if err == nil {
		err = targets.Operation{Request: step.Request}.Sign(&rendered, d.basePath(), "", time.Now())
	}
	if err != nil {
		return exchange{}, fmt.Errorf("cannot be rendered: %w", err)
	}
	const id = "step"
	target := d.targetOf(rendered, id)
	request, err := target.Request()
	if err != nil {
		return exchange{}, fmt.Errorf("cannot be sent: %w", err)
	}
	if request.URL.Fragment != id {
		return exchange{}, errors.New("cannot be sent: the path holds a #")
	}
	return exchange{
		request: request, timeout: stepTimeout, tls: tlsConfig(d.Target), party: partyFor(d.Target),
		keep: longestAnswer, now: d.now,
	}, nil
}

// take takes what a step is sent for. Why it cannot tells of an answer only what is surely no secret: a login
// that went well is full of them.
func (e *errand) take(step targets.Step, x exchange, taken map[string]string) error {
	status := x.record.Status
	if !step.Expects(status) {
		said := ""
		if e.fact.For != history.Login || status >= http.StatusBadRequest {
			said = ": " + beginning(x.record.Content)
		}
		return fmt.Errorf("was answered %d, expected %s%s%s", status, expected(step), said, hint(status))
	}
	answer := targets.Answer{Header: x.record.Header, Cookies: x.cookies, Body: x.record.Content}
	for _, name := range step.Names() {
		value, err := step.Take[name].From(answer)
		if err != nil {
			return fmt.Errorf("was answered %d, and there is no %s: %w", status, name, err)
		}
		taken[name] = value
		if e.fact.For == history.Login || step.Take[name].Secret() && !e.isKey(name) {
			e.secret = append(e.secret, value)
		}
	}
	return nil
}

// isKey reports that what is taken under a name is a key: attempts are told apart by it, so it is on record.
func (e *errand) isKey(name string) bool {
	return e.fact.For == history.Issue && name == targets.IssuedKey
}

func expected(step targets.Step) string {
	if len(step.Statuses) == 0 {
		return "2xx or 3xx"
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(step.Statuses)), ", "), "[]")
}

// hint says what a status may have to do with the harness.
func hint(status int) string {
	if status == http.StatusTooManyRequests {
		return " (rate_limit makes doubletap keep to a limit)"
	}
	return ""
}

// beginning is the first of what a target said.
func beginning(text string) string {
	if len(text) > stepSays {
		text = strings.ToValidUTF8(text[:stepSays], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}

// place names the steps of an errand as the target file does.
func (e *errand) place() string {
	under := "operations." + e.fact.Operation + "."
	switch e.fact.For {
	case history.Login:
		return "login"
	case history.Issue:
		return under + "key.issued"
	default:
		return under + string(e.fact.For)
	}
}

func (e *errand) at(number int) string { return fmt.Sprintf("%s[%d]", e.place(), number-1) }

// whose says for whom a step is sent.
func (e *errand) whose() string {
	text := ""
	if e.fact.Intent != "" {
		text = " for intent " + e.fact.Intent
	}
	if e.fact.Principal != "" {
		text += " as " + e.fact.Principal
	}
	return text
}

// keepSecret keeps what was taken from all that is recorded from now on.
func (d *Driver) keepSecret(taken []string) {
	if len(taken) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.secret = append(d.secret, slices.Clone(taken)...)
}

// Secrets returns the texts that are masked in all that is recorded now. What steps take adds to them.
func (d *Driver) Secrets() []string { return d.newMasker().texts }
