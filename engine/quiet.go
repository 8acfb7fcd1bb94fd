package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// How long a scenario waits for the target to become quiet.
const (
	quietPoll    = 20 * time.Millisecond  // between two looks
	quietSeldom  = 250 * time.Millisecond // between two looks at rows that take their time
	quietLongest = 15 * time.Second
	longestLeft  = time.Minute     // that a request is taken to go on that its client has left
	lastLook     = 3 * time.Second // for the snapshot of an interrupted run, and for its cleanup
)

// settle waits until no request is inside the target, and longer where clients left
// requests behind whose end could not be seen: a row that such a request writes after the
// snapshot would be missed, and counted as lost. A target that is gone, or answers
// nothing, will not become quieter. A target that stays busy is an incident, not an error.
func (r *scenarioRun) settle(ctx context.Context) error {
	if lost := r.session.lost; lost == history.TargetGone || lost == history.NoAnswer {
		return nil
	}
	if r.session.System.Process.Fleet.Down() {
		_ = r.revived(ctx) // checkAlive tells if it is not
	}
	longest := max(quietLongest, leftRunning(r))
	deadline := time.Now().Add(longest)
	for r.lanes.InFlight() > 0 && ctx.Err() == nil {
		if time.Now().After(deadline) {
			r.incident(history.StillBusy, fmt.Sprintf("%s still unanswered %s after the last one was sent",
				english.Plural(r.lanes.InFlight(), "request was", "requests were"), longest))
			return nil
		}
		pause(ctx, quietPoll)
	}
	if left, _ := r.sender.Suspicious(); !left.IsZero() {
		pause(ctx, time.Until(left.Add(time.Duration(r.session.System.Target.Settle))))
	}
	return nil
}

// leftRunning is how long a request may go on that its client has left, at a target that executes all that are sent at once one after
// the other.
func leftRunning(r *scenarioRun) time.Duration {
	plan := r.sender.Workload().Plan
	atOnce := time.Duration(max(plan.AtOnce(), 2) * max(plan.Concurrency, 1))
	return min(atOnce*r.session.normal, longestLeft)
}

// checkAlive asks a target whose answers broke on the clean lane whether it is still there: a target
// that died is reported as such, not as so many lost writes.
func (r *scenarioRun) checkAlive(ctx context.Context) error {
	if r.tended.lost.Load() || r.pilot && r.session.System.Ended() != nil {
		return r.stopGone(driver.ErrTargetGone)
	}
	if _, broke := r.sender.Suspicious(); !broke {
		return nil
	}
	if err := driver.Alive(ctx, r.session.System.Target); err != nil && r.revived(ctx) != nil && ctx.Err() == nil {
		return r.stopGone(fmt.Errorf("%w: %w", errSilent, err))
	}
	return nil
}

// stopGone stops sending to a target that went away.
func (r *scenarioRun) stopGone(err error) error {
	r.gone(err)
	r.cut = true
	return errHalt
}

// gone notes that the target went away, with the last that was heard of it. One that takes connections and answers
// nothing is still there: that is what it does, and not what happened to it.
func (r *scenarioRun) gone(err error) {
	text := fmt.Sprintf("%s: %v%s", r.session.System.Address(), err, lastHeard(r))
	ended := r.session.System.Ended()
	switch {
	case ended != nil:
		r.incident(history.TargetGone, text+"; "+ended.Error())
	case errors.Is(err, driver.ErrNoAnswer):
		r.incident(history.NoAnswer, text)
		r.session.lost = history.NoAnswer
	default:
		r.incident(history.TargetGone, text)
	}
}

// lastHeard tells of the last answer, and of the first attempts after it that broke.
func lastHeard(r *scenarioRun) string {
	h, err := r.session.History(r.scenario.Name)
	if err != nil || len(h.Attempts) == 0 {
		return ""
	}
	const most = 3
	attempts := slices.DeleteFunc(h.Attempts, func(at history.Attempt) bool { return at.End == 0 })
	slices.SortStableFunc(attempts, func(x, y history.Attempt) int { return cmp.Compare(x.End, y.End) })
	text, from := "; it answered nothing at all in this scenario", 0
	for i, at := range attempts {
		if at.Complete {
			text = fmt.Sprintf("; its last answer was %d to attempt %s, %s into the scenario", at.Status, at.ID, short(at.End))
			from = i + 1
		}
	}
	broken := attempts[from:]
	for _, at := range broken[:min(len(broken), most)] {
		text += fmt.Sprintf("; then %s at %s: %s", at.ID, short(at.End), strings.TrimSpace(string(at.ErrorKind)+" "+at.Error))
	}
	if more := len(broken) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// short rounds a moment of the run for reading.
func short(o history.Offset) time.Duration { return o.Duration().Round(time.Millisecond) }

// snapshotBefore sees that no marker is there yet. Where the database cannot be asked, nothing that
// is sent could be judged, so nothing is.
func (r *scenarioRun) snapshotBefore(ctx context.Context) error {
	if r.rows.reader == nil {
		return nil
	}
	return r.recordSnapshot(ctx, history.BeforeName, r.rows.snapshot(ctx))
}

// snapshotBeforeRetry records T1.
func (r *scenarioRun) snapshotBeforeRetry(ctx context.Context) error {
	return r.quietSnapshot(ctx, history.T1Name)
}

// snapshotAfterRetry records T2. Without a final retry there is nothing new to see.
func (r *scenarioRun) snapshotAfterRetry(ctx context.Context) error {
	if !r.retried {
		return nil
	}
	return r.quietSnapshot(ctx, history.T2Name)
}

// quietSnapshot takes snapshots until nothing changes and nothing is owed any more, and
// records the last. After an interruption it still gets lastLook: what was sent can then
// be judged. A database that did not answer is not asked again.
func (r *scenarioRun) quietSnapshot(ctx context.Context, name string) error {
	if r.session.lost == history.DatabaseGone {
		return nil
	}
	if r.rows.reader == nil {
		r.record.Snapshot(name, history.Snapshot{At: r.now(), Error: "the target file names no database"})
		return nil
	}
	wait, answered := awaitingOf(ctx, r, name), time.Now()
	look, end := outlasting(ctx)
	defer end()
	s, changing := r.rows.settled(look, wait)
	if len(r.rows.volatile) > 0 && r.pilot {
		return runerror.Configf("the rows never come to rest: the column %s has another value in every look, as now() and random() have; leave it out of the query",
			strings.Join(r.rows.volatile, " and the column "))
	}
	if changing {
		r.incident(history.StillBusy, fmt.Sprintf("the rows of this scenario still changed %s after the last answer", quietLongest+wait.still+wait.owed+wait.grace))
	}
	if r.pilot {
		r.session.behind.lag = max(r.session.behind.lag, s.Waited.Duration())
	}
	s.At = r.now()
	if name == history.T2Name {
		own := answered.Add(max(wait.owed, wait.still, r.session.behind.own))
		if changing {
			own = answered // it had its time
		}
		s = watchTotals(look, r, s, wait, own)
	}
	return r.recordSnapshot(ctx, name, s)
}

// outlasting is a context for what comes to its end after an interruption too, if it takes no longer than lastLook.
func outlasting(ctx context.Context) (longer context.Context, end func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastLook, cancel) })
	return longer, func() { stop(); cancel() }
}

// awaitingOf says how long a snapshot waits for rows. Work that was accepted may take the contract's time, and after a
// crash a while longer; what was acknowledged may be seen later where the target file or the pilot says so. A job that
// is done twice is done after the first time: so what may come unannounced is waited for, too.
func awaitingOf(ctx context.Context, r *scenarioRun, name string) awaiting {
	target, lag := r.session.System.Target, r.session.behind.lag
	accepted, visible := target.Contract.Ack.Accepted, time.Duration(target.VisibleWithin())
	if r.session.lost != "" || r.cut && ctx.Err() == nil {
		return awaiting{}
	}
	w := awaiting{owed: max(time.Duration(target.Settle), visible), still: 2 * lag, stop: ctx, equal: r.pilot}
	w.heldUp = func() bool { return r.session.company.heldUp(r) }
	if r.pilot && r.session.Doubt.Text == "" {
		w.owed = max(w.owed, pilotLag)
	}
	w.owed = max(w.owed, lagged+4*lag)
	if accepted.ByRows() {
		w.owed, w.still = visible+time.Duration(accepted.Within), max(w.still, quietSeldom)
		w.grace = min(w.owed, quietLongest)
	}
	within, late, recovery := time.Duration(target.SeenWithin()), lateAnswers(r), time.Duration(recovery(r))
	w.owed = max(w.owed, time.Duration(target.Contract.Converged), visible+within+late*time.Duration(r.scenario.Intents)) + recovery
	if target.AlwaysSettles {
		w.still = max(w.still, time.Duration(target.Settle))
	}
	if name == history.T2Name { // no later snapshot would see the second of what comes twice
		w.still = max(w.still, visible, within+late, recovery)
	}
	h, err := r.session.History(r.scenario.Name)
	if err != nil {
		return awaiting{}
	}
	terms := r.session.System.Terms()
	// What is owed depends on the history so far, which does not grow while a snapshot
	// waits.
	w.missing = func(s history.Snapshot) []string {
		h.Messages, s.At = r.rows.messages(), r.now()
		owed := terms.Owed(h, s)
		if len(owed) == 0 && (r.pilot || r.recovering || name == history.T2Name) {
			owed = checker.OwedEffects(terms, h, s)
		}
		return owed
	}
	if ctx.Err() != nil { // what was answered a moment before the interruption may be seen a moment after it
		return awaiting{owed: min(lagged+4*lag, lastLook/2), missing: w.missing, stop: context.WithoutCancel(ctx)}
	}
	return w
}

// lateAnswers is how much later than the target file says an effect may come in this scenario, whose sinks answer late: what sends one
// after the other waits for the answer to the one before, and for those of all intents at most.
func lateAnswers(r *scenarioRun) time.Duration {
	if r.scenario.Sinks == nil || r.session.System.Target.SeenWithin() == 0 {
		return 0
	}
	return time.Duration(r.scenario.Sinks.For)
}

// What is waited for a row that was acknowledged, where the target file does not say how long it may be missing.
const (
	pilotLag = 5 * time.Second // by the pilot, which learns it
	lagged   = 2 * time.Second // by all others, and a multiple of what the pilot saw: a copy that lags may have kept up then

	longInside   = lagged / 2 // of a request of another scenario: what is missing may wait for the end of its work
	longerInside = 3          // times what a plain create takes
)

// recovery is how much longer accepted work may take in this scenario: it kills the target, or not.
func recovery(r *scenarioRun) contract.Duration {
	if !slices.Contains(r.scenario.Needs, scenarios.NeedsProcess) {
		return 0
	}
	return r.session.System.Target.Contract.Ack.Accepted.Recovery
}

// recordSnapshot records a snapshot. Without one no more is sent: a final retry could not be judged.
func (r *scenarioRun) recordSnapshot(ctx context.Context, name string, s history.Snapshot) error {
	s.At = cmp.Or(s.At, r.now())
	r.record.Snapshot(name, s)
	switch {
	case s.Error == "":
		return nil
	case ctx.Err() == nil:
		r.incident(history.DatabaseGone, s.Error)
		return errHalt
	case r.cut:
		return errHalt
	default:
		return r.stop(ctx, context.Cause(ctx))
	}
}

// countBefore asks the target how many requests it has received.
func (r *scenarioRun) countBefore(ctx context.Context) (err error) {
	r.received, err = r.count(ctx)
	return err
}

// countAfter asks again, and records both. There is nothing to compare them with where it is not known what reached the target.
func (r *scenarioRun) countAfter(ctx context.Context) error {
	after, err := r.count(context.WithoutCancel(ctx))
	if doubt := r.lanes.Doubtful(); doubt != "" && after >= 0 {
		r.incident(history.HarnessFault, "what reached the target is not known: "+doubt)
		return err
	}
	if after >= 0 && err == nil {
		r.record.Received(history.Received{Before: r.received, After: after})
	}
	return err
}

// count asks the target how many requests it has received; -1 where it cannot count, counts what is not
// of this scenario, or begins again with every crash. One that counted before and does not any more may be gone.
func (r *scenarioRun) count(ctx context.Context) (int64, error) {
	system := r.session.System
	if system.Target.Received == nil || r.session.beside || r.session.config.Shard.Several() || slices.Contains(r.scenario.Needs, scenarios.NeedsProcess) {
		return -1, nil
	}
	n, err := system.Received(ctx, r.session.pace)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return -1, r.stop(ctx, context.Cause(ctx))
	case r.session.alive(ctx):
		r.incident(history.HarnessFault, err.Error())
		r.cut = true
		return -1, errHalt
	default:
		return -1, r.stopGone(err)
	}
}

// pause waits for d, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
