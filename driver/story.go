package driver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// tell plays one intent's story, move by move.
func (d *Driver) tell(ctx context.Context, i scenarios.PlannedIntent) {
	d.sweepOut(ctx, i)
	for _, m := range i.Moves {
		if ctx.Err() != nil {
			return
		}
		switch {
		case m.Wait != nil:
			d.wait(ctx, i, *m.Wait)
		case m.Look:
			d.look(ctx, i)
		case m.Remove:
			d.remove(ctx, i, m.Step)
		case m.Flush:
			d.flush(ctx, i.ID, m.Step)
		default:
			d.play(ctx, i, m)
		}
	}
}

// play sends a volley and the retries that its answers ask for, and returns when all have ended.
func (d *Driver) play(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move) {
	if !d.paced(ctx, len(m.Volley)) {
		return
	}
	planned := map[string]scenarios.PlannedAttempt{}
	shots := make([]*shot, 0, len(m.Volley))
	shared := newParty()
	var together *gate
	answered := func() {}
	if m.Together || m.Crash != nil {
		gate, stop := newGate(ctx, &d.releases, len(m.Volley), cmp.Or(d.Hold, DefaultHold))
		defer stop()
		together = gate
	}
	if m.Gate {
		answered = d.holdWrites(ctx, i, m, together)
	}
	if m.Crash != nil {
		d.crash(ctx, m, together)
	}
	for _, a := range m.Volley {
		planned[a.ID] = a
		s := d.load(i, a, a.ID, a.Key, a.Lane)
		s.record.Step, s.cut = m.Step, a.Cut
		if together != nil {
			s.seat, s.record.Together = together.seat(), m.Together
			s.shares(shared)
		}
		s.at = a.At.Of(d.Normal) + a.Plus.Of(d.Normal)
		shots = append(shots, s)
	}
	if m.Sweep != nil {
		first, second := shots[0], shots[1]
		second.seat.later = d.offset(i, m)
		second.record.After = history.Offset(second.seat.later)
		defer d.learn(m, first, second)
	}
	var retries sync.WaitGroup
	d.volley(ctx, shots, func(s *shot) {
		answered()
		retries.Go(func() {
			if m.Crash != nil {
				<-together.over // until the target is ready again
			}
			d.retry(ctx, i, planned[s.record.ID], s)
		})
	})
	retries.Wait()
}

// retry does what a client does that was not satisfied: pause, send again, as often as it may.
func (d *Driver) retry(ctx context.Context, i scenarios.PlannedIntent, a scenarios.PlannedAttempt, last *shot) {
	for n, pause := range a.Pauses {
		if !asksForRetry(a.RetryOn, last.record) {
			return
		}
		if !sleep(ctx, max(pause.Of(d.Normal), retryAfter(last.record))) || !d.paced(ctx, 1) {
			return
		}
		id, key := retryID(a, n), a.Key
		if a.RetryKey == scenarios.FreshKey {
			key = id
		}
		a.Timeout = cmp.Or(a.RetryTime, a.Timeout)
		next := d.load(i, a, id, key, cmp.Or(a.RetryLane, a.Lane))
		next.record.Step, next.record.Retry = last.record.Step, n+1
		d.volley(ctx, []*shot{next}, func(*shot) {})
		last = next
	}
}

// retryID names the n-th retry of an attempt, from 0.
func retryID(a scenarios.PlannedAttempt, n int) string { return fmt.Sprintf("%s.r%d", a.ID, n+1) }

// load makes a shot of a planned attempt, under an ID, a key's name and a lane that may differ.
func (d *Driver) load(i scenarios.PlannedIntent, a scenarios.PlannedAttempt, id, keyName, lane string) *shot {
	record := history.Attempt{ID: id, Intent: i.ID, Lane: lane, Body: a.Body}
	switch {
	case keyName == "":
	case len(d.operation(i).Key.Issued) > 0:
		record.Key = d.issued[issue{i.ID, keyName}]
	case keyName == scenarios.OwnKey && i.Kin != nil:
		record.Key = d.Names.KinKey(*i.Kin, i.ID)
		record.BlankKey = record.Key == ""
	default:
		record.Key = d.Names.Key(i.ID, keyName)
	}
	return d.aim(record, a.Timeout.Of(d.Normal))
}

// send runs a shot's exchange on its lane. The attempt is on record before its first byte is sent.
func (d *Driver) send(ctx context.Context, s *shot) {
	d.ledger.sending(s.record)
	d.mu.Lock()
	behind, unsent := d.unsent[s.record.Intent]
	delete(d.unsent, s.record.Intent)
	d.mu.Unlock()
	if unsent {
		_ = d.Record.Intent(behind) // a failed write is noticed below
	}
	begun := s.record
	begun.Start = d.now()
	if d.Record.Begin(begun) != nil {
		d.halt(d.Record.Err())
		s.record.End, s.record.ErrorKind, s.record.Error = d.now(), history.Interrupted, "the history cannot be written"
		return
	}
	defer d.strike(s)()
	s.run(ctx, func(ctx context.Context) (net.Conn, error) {
		conn, passage, err := d.road(s.record.Intent)(ctx, s.lane)
		if passage == nil || s.party != nil { // what is seen of a connection of many says nothing of one
			return conn, err
		}
		s.holder = passage.Hold
		d.mu.Lock()
		s.passage = passage
		d.mu.Unlock()
		return conn, err
	})
}

// road returns the road of an intent's next connection. With several instances each connection of an intent
// goes to the next one, so that a retry finds another than the request before it, in every run of a plan.
func (d *Driver) road(intent string) Road {
	if len(d.Roads) == 0 {
		return d.Road
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	turn := d.turns[intent]
	d.turns[intent] = turn + 1
	return d.Roads[turn%len(d.Roads)]
}

// finish records an attempt that has ended and notices when the target is gone.
func (d *Driver) finish(s *shot) {
	if err := d.Record.Attempt(d.mask().answer(s.record, d.name(s.record))); err != nil {
		d.halt(err)
		return
	}
	d.obey(s.record)
	d.ledger.sent(s, d.Record)
	if d.Following != nil {
		if where := d.Following.Monitor(s.record); where != "" {
			d.ledger.follow(accepted{
				attempt: s.record.ID, intent: s.record.Intent, body: s.record.Body, end: s.record.End,
				url: s.target.URL, where: where,
			})
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	found := s.record.ErrorKind != history.Refused && !(s.passage != nil && s.passage.Facts().Refused)
	if found {
		d.refused = 0
		return
	}
	if d.refused++; d.refused >= goneAfter {
		d.halt(ErrTargetGone)
	}
}
