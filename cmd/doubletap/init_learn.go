package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// learn repeats a create in the ways that contracts speak of, and reads the contract off the answers. What stands in the way
// of that leaves the contract open.
func (i *initiation) learn(ctx context.Context) {
	if err := i.repeat(ctx); err != nil {
		fmt.Fprintf(i.streams.err, "a create could not be repeated: %s\n", err)
		i.file.Doubts = append(i.file.Doubts, "What is promised: a create could not be repeated.")
	}
}

func (i *initiation) repeat(ctx context.Context) error {
	text, err := i.file.Text()
	if err != nil {
		return err
	}
	target, err := i.load(text, func(name string) (string, bool) {
		if name == "DATABASE_URL" {
			return "sqlite:///variable", true
		}
		return i.secret(name)
	})
	if err != nil {
		return err
	}
	keyed, altered := i.file.Draft.Keyed(), len(target.Operations[i.file.Draft.Name].Alter) > 0
	steps := "[{send: {}}, {send: {}}"
	ways := []string{"again"}
	if keyed && altered {
		steps += ", {alter: {}}"
		ways = append(ways, "with another body under its key")
	}
	if keyed {
		ways = append(ways, "eight at once, three times")
	}
	if keyed {
		ways = append(ways, "twice without a key")
	}
	fmt.Fprintf(i.streams.err, "repeating a create to learn what is promised: %s\n", strings.Join(ways, ", "))

	asking := questioner{target: target, operation: i.file.Draft.Name}
	answers, markers := asking.ask(ctx, "again", 1, steps+"]")
	if len(answers) < 2 {
		return asking.err
	}
	r := drafting.Repeated{First: answers[0], Again: answers[1]}
	if len(answers) > 2 {
		r.Altered = &answers[2]
	}
	if keyed {
		for range crowds {
			together, _ := asking.ask(ctx, "crowd", 1, fmt.Sprintf("[{burst: {copies: %d}}, {send: {}}]", crowdSize))
			if n := len(together); n > 0 {
				r.Crowds = append(r.Crowds, drafting.Crowd{Copies: together[:n-1], After: together[n-1]})
			}
		}
	}
	if keyed {
		r.Keyless, _ = asking.ask(ctx, "keyless", 2, "[{send: {key: none}}]")
	}
	if asking.err != nil || !answers[0].Done() {
		return asking.err
	}
	landings, _ := i.db.Search(ctx, i.tables, markers[0])
	for _, l := range landings {
		if l.Table.FullName() == i.file.Proof.Table.FullName() {
			r.Rows++
		}
	}
	i.file.Learn(r)
	return nil
}

// How many copies of a create are sent at once, and how often, to see what one is answered that meets another.
const crowds, crowdSize = 3, 8

// questioner sends requests to a target as a new client would.
type questioner struct {
	target    targets.Target
	operation string
	err       error // the first one
}

// ask sends the steps of so many intents, and returns their answers and the markers.
func (q *questioner) ask(ctx context.Context, name string, intents int, steps string) ([]drafting.Answer, []string) {
	s, err := scenarios.Load(name, fmt.Appendf(nil, "name: %s\nsummary: init\nintents: %d\nsteps: %s\nexercised: [acknowledged]\n", name, intents, steps))
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
		Record: history.NewWriter(io.Discard),
	}
	d.Principals = principals(q.target)
	sent, err := driver.Directly(ctx, d)
	q.err = errors.Join(q.err, err)
	answers := make([]drafting.Answer, 0, len(sent))
	for _, a := range sent {
		answers = append(answers, answerOf(a))
	}
	return answers, d.Markers()[q.operation]
}
