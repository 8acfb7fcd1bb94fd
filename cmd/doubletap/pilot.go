package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// pilotName is the name of the scenario that goes ahead of every run.
const pilotName = "pilot"

// pilotFile is three plain creates, one after the other.
func pilotFile() scenarios.File {
	source := []byte(`name: pilot
summary: Three plain creates, before anything is broken. They prove the target file and measure what a create takes.
intents: 3
concurrency: 1
steps:
  - send: {timeout: 5s}
exercised: [{proof: acknowledged, at_least: 100%}]
`)
	s, err := scenarios.Load("pilot.yaml", source)
	if err != nil {
		panic(err) // the text above is wrong
	}
	return scenarios.File{Path: "pilot.yaml", Source: source, Scenario: s}
}

// pilot plays the pilot and says what is wrong with the target file or its surroundings, so that
// it is said once and not as hundreds of findings. It sets the stage's normal time.
func (s *stage) pilot(ctx context.Context) error {
	f := pilotFile()
	if _, err := s.play(ctx, f, scenarios.NewPlan(f.Scenario, s.seed)); err != nil {
		return err
	}
	h, err := s.dir.readHistory(pilotName)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, a := range h.Attempts {
		if a.Probe {
			continue
		}
		if err := s.troubleWith(a); err != nil {
			return err
		}
	}
	if err := s.troubleWithRows(h); err != nil {
		return err
	}
	s.normal = normalTime(h.Attempts)
	return nil
}

// troubleWith says what a plain create's failure means.
func (s *stage) troubleWith(a history.Attempt) error {
	where := s.subject.target.BaseURL
	refused := a.ErrorKind == history.Refused || a.Passage != nil && a.Passage.Refused
	switch {
	case refused:
		return surroundings(fmt.Errorf("%s takes no connections: is the target running?", where))
	case a.ErrorKind == history.Timeout:
		return surroundings(fmt.Errorf("%s takes connections and did not answer a plain create within %s", where, a.Deadline.Duration()))
	case a.ErrorKind == history.Garbage:
		return surroundings(fmt.Errorf("%s does not answer in HTTP: %s", where, a.Error))
	case a.ErrorKind != "":
		return surroundings(fmt.Errorf("%s broke off the answer to a plain create: %s", where, a.Error))
	}
	return s.troubleWithAnswer(a)
}

func (s *stage) troubleWithAnswer(a history.Attempt) error {
	outcome := s.subject.terms().Classify(a)
	switch {
	case outcome == checker.Acknowledged:
		return s.troubleWithIdentity(a)
	case slices.Contains([]int{401, 403}, a.Status):
		return mistakef("a plain create was answered %d: %s's credentials are wrong or missing (operations.%s.request.headers)\n  %s", a.Status, s.subject.name, s.subject.opName, snippet(a.Content))
	case a.Status == 404:
		return mistakef("a plain create was answered 404: base_url or operations.%s.request.path of %s is wrong\n  %s", s.subject.opName, s.subject.name, snippet(a.Content))
	case a.Status >= 500:
		return surroundings(fmt.Errorf("a plain create was answered %d: the target is not well\n  %s", a.Status, snippet(a.Content)))
	case a.Status >= 400:
		return mistakef("a plain create was refused with %d: operations.%s.request of %s is not what the target takes\n  %s", a.Status, s.subject.opName, s.subject.name, snippet(a.Content))
	default:
		return mistakef("a plain create was answered %d, which contract.ack of %s does not declare (it has %v)\n  %s", a.Status, s.subject.name, s.subject.target.Contract.Ack.Statuses, snippet(a.Content))
	}
}

func (s *stage) troubleWithIdentity(a history.Attempt) error {
	if s.subject.operation.Identity == "" || a.Length == 0 || s.subject.terms().Identity(a) != "" {
		return nil
	}
	return mistakef("a plain create was acknowledged, and its answer has nothing at operations.%s.identity (%s)\n  %s", s.subject.opName, s.subject.operation.Identity, snippet(a.Content))
}

// troubleWithRows says why the row query does not find exactly what three plain creates made.
func (s *stage) troubleWithRows(h *history.History) error {
	if s.subject.reader == nil {
		return nil
	}
	if h.T1 == nil || h.T1.Error != "" {
		return s.troubleWithQuery(h)
	}
	column := s.subject.operation.Rows.Identity
	for _, i := range h.Intents {
		marker := i.Bodies[history.Original].Marker
		rows := h.T1.Rows[marker]
		switch {
		case len(rows) == 0:
			return mistakef("a plain create was acknowledged, and the row query finds no row with its marker %q: the target does not store the field that carries {{.Intent.Marker}}, or operations.%s.rows.query of %s looks elsewhere, or database.url is another database", marker, s.subject.opName, s.subject.name)
		case len(rows) > 1:
			return mistakef("one plain create made %d rows for operations.%s.rows.query of %s: let the query find exactly the created thing", len(rows), s.subject.opName, s.subject.name)
		}
		if _, found := rows[0][column]; !found && column != "" {
			return mistakef("operations.%s.rows.identity of %s is %q, and the row query returns no such column", s.subject.opName, s.subject.name, column)
		}
	}
	return nil
}

// troubleWithQuery tells a query that the database refuses from a database that is not there.
func (s *stage) troubleWithQuery(h *history.History) error {
	text := "the snapshot was not taken"
	if h.T1 != nil {
		text = h.T1.Error
	}
	err := fmt.Errorf("operations.%s.rows.query of %s failed: %s", s.subject.opName, s.subject.name, text)
	if s.subject.reader.Alive() {
		return mistake(err)
	}
	return surroundings(err)
}

// normalTime is the median duration of the plain creates.
func normalTime(attempts []history.Attempt) time.Duration {
	var took []time.Duration
	for _, a := range attempts {
		if !a.Probe {
			took = append(took, (a.End - a.Start).Duration())
		}
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// snippet is the beginning of an answer, for a message.
func snippet(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
