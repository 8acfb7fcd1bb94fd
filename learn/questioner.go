package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// questioner sends requests to a target as a new client would.
type questioner struct {
	target    targets.Target
	operation string
	success   drafting.Success
	declined  *[]drafting.Answer                               // to creates where others like them were done
	names     func(operation string, a history.Attempt) string // what an answer calls the created thing; nil: nothing is removed
	throttled *time.Duration                                   // how long the target wanted to be left alone that answered 429
	took      time.Duration                                    // what a create takes, after which the patience of clients goes
	login     *login
	send      sending
	reference string // of the first intent that was sent last
	among     string // lines of a scenario that say what its intents have in common; empty: nothing
	err       error  // the first one
}

// questioner asks with the file as it is.
func (i *inquiry) questioner() (*questioner, error) { return i.questionerFor(i.file) }

// questionerFor asks with a file that differs from the inquiry's, to try something out.
func (i *inquiry) questionerFor(file drafting.File) (*questioner, error) {
	text, err := file.Text()
	if err != nil {
		return nil, err
	}
	return i.questionerOf(text)
}

// questionerWith asks with another body, to which nothing is altered.
func (i *inquiry) questionerWith(body map[string]any) (*questioner, error) {
	return i.questionerFor(withBody(i.file, body))
}

// withBody is a file whose creates have this body, and nothing of the source's besides.
func withBody(f drafting.File, body map[string]any) drafting.File {
	f.Draft.Body, f.Draft.Others = body, nil
	return f
}

// withValue is such a file whose creates have another value in a member, which may be the very one that an altered body would have.
func withValue(f drafting.File, other drafting.Other) drafting.File {
	body, _ := drafting.Put(f.Draft.Body, other.Pointer, other.Value).(map[string]any)
	return withBody(f, body)
}

// questionerOf asks with the text of a target file. No row is asked for through it, so that
// any URL does for a database that the file leaves to a variable.
func (i *inquiry) questionerOf(text string) (*questioner, error) {
	target, err := i.load(text, func(name string) (string, bool) {
		if name == "DATABASE_URL" {
			return "sqlite:///variable", true
		}
		return i.secret(name)
	})
	return &questioner{target: target, operation: i.file.Draft.Name, success: i.file.Success, declined: &i.declined, throttled: &i.throttled, took: i.took, login: &i.login, send: driver.Directly}, err
}

// alters reports that there is another body.
func (q *questioner) alters() bool { return len(q.target.Operations[q.operation].Alter) > 0 }

// done asks until the first answer of an intent is that it is done: a target may decline some creates.
func (q *questioner) done(ctx context.Context, name, steps string) ([]drafting.Answer, []string) {
	var refused []drafting.Answer
	for n := 0; ; n++ {
		answers, markers := q.ask(ctx, name, 1, steps)
		if len(answers) == 0 || !answers[0].Refused() || n == createTries {
			if len(answers) > 0 && answers[0].Done() {
				*q.declined = append(*q.declined, refused...)
			}
			return answers, markers
		}
		refused = append(refused, answers[0])
	}
}

// ask sends the steps of so many intents, and returns their answers and the markers. Where the target's rate limit turned one of them
// away, it waits and asks once more.
func (q *questioner) ask(ctx context.Context, name string, intents int, steps string) (answers []drafting.Answer, markers []string) {
	for range throttledTries {
		answers, markers = q.askOnce(ctx, name, intents, steps)
		if ctx.Err() != nil || !q.holdsBack(ctx, answers) {
			break
		}
	}
	return answers, markers
}

// holdsBack leaves the target alone for as long as its answers want, and reports whether they do.
func (q *questioner) holdsBack(ctx context.Context, answers []drafting.Answer) bool {
	wait := throttled(answers)
	if wait > 0 {
		*q.throttled = max(*q.throttled, wait)
		letBe(ctx, wait)
	}
	return wait > 0
}

// askOnce sends one scenario that was made for a question, and returns what the target answered,
// and the markers that were sent. Nothing is recorded.
func (q *questioner) askOnce(ctx context.Context, name string, intents int, steps string) ([]drafting.Answer, []string) {
	s, err := scenarios.Load(name, fmt.Appendf(nil, "name: %s\nsummary: init\nintents: %d\n%ssteps: %s\nexercised: [acknowledged]\n", name, intents, q.among, steps))
	if err != nil {
		q.err = errors.Join(q.err, err)
		return nil, nil
	}
	now := time.Now()
	d := driver.Config{
		Workload: driver.Workload{
			Target: q.target, Plan: scenarios.NewPlan(s, 1), Names: driver.Names{Run: rundir.NewID(now), Scenario: name}, Base: now,
			Operations: []driver.Operation{{Name: q.operation, Operation: q.target.Operations[q.operation]}},
		},
		Record: history.NewWriter(io.Discard), Normal: q.took,
	}
	d.Principals, d.Hooks.Identity = principals(q.target), q.names
	sent, err := q.login.send(ctx, &d, q.send)
	q.err = errors.Join(q.err, err)
	q.reference = d.Words()[0]
	answers := make([]drafting.Answer, 0, len(sent))
	for _, a := range sent {
		answers = append(answers, q.success.Read(answerOf(a)))
	}
	return answers, d.Markers()[q.operation]
}
