package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/sut"
)

// watchSinks puts on record what reaches the sinks from now on.
func watchSinks(ctx context.Context, r *scenarioRun) error {
	hidden := sut.Hidden(r.session.System)
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range hidden {
		pairs = append(pairs, secret, "***")
	}
	own := strings.NewReplacer(pairs...)
	var fault sinks.Fault
	if f := r.scenario.Sinks; f != nil {
		fault = sinks.Fault{Kind: sinks.FaultKind(f.Answer), For: time.Duration(f.For)}
	}
	err := r.session.System.Sinks.Watch(ctx, sinks.Watch{
		Fault: fault,
		Base:  r.base, Record: func(m history.Message) { r.record.Message(m) },
		Hide: func(text string) string { return r.sender.Mask(own.Replace(text)) },
	})
	if err != nil {
		r.incident(history.SinkBehind, err.Error())
		r.cut = true
		return errHalt
	}
	return nil
}

// messagesSoFar returns what has reached the sinks, and everything that the target has given to brokers so far.
func messagesSoFar(ctx context.Context, r *scenarioRun) []history.Message {
	s := &r.session.System.Sinks
	_ = s.CatchUp(context.WithoutCancel(ctx)) // unwatchSinks says so
	return s.Messages()
}

// unwatchSinks ends the record, and says so where it is not whole.
func unwatchSinks(ctx context.Context, r *scenarioRun) error {
	if err := r.session.System.Sinks.CatchUp(context.WithoutCancel(ctx)); err != nil {
		r.incident(history.SinkBehind, err.Error())
	}
	for _, m := range unread(r.session.System.Sinks.Messages()) {
		r.incident(history.Flooded, fmt.Sprintf("%s, a %s at the sink %s, may be of any intent: %s", m.ID, m.What(), m.Sink, m.Error))
	}
	left := r.session.System.Sinks.Unwatch()
	for _, name := range slices.Sorted(maps.Keys(left)) {
		r.incident(history.Flooded, fmt.Sprintf("so much reached the sink %s that %d messages are not on record", name, left[name]))
	}
	return nil
}

// unread returns the first message of each sink that did what it asks, and of which too little was looked at to know of which intent it is.
func unread(all []history.Message) []history.Message {
	var some []history.Message
	for _, m := range all {
		named := len(m.Names) > 0 || m.Intent != "" || len(m.Traces) > 0
		if m.Acted && m.First == "" && m.Error != "" && !named && !slices.ContainsFunc(some, func(other history.Message) bool { return other.Sink == m.Sink }) {
			some = append(some, m)
		}
	}
	return some
}
