package cmd

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// How long a scenario waits for the target to become quiet.
const (
	quietPoll    = 20 * time.Millisecond // between two looks
	quietLongest = 15 * time.Second
	lastLook     = 3 * time.Second // for the snapshot of an interrupted run
)

// settle waits until no request is inside the target, and longer where clients left some behind
// whose end nobody could see. A target that is gone will not become quieter.
func (a *act) settle(ctx context.Context) {
	if a.lost == history.TargetGone {
		return
	}
	deadline := time.Now().Add(quietLongest)
	for a.lanes.InFlight() > 0 && ctx.Err() == nil {
		if time.Now().After(deadline) {
			a.incident(history.StillBusy, fmt.Sprintf("%s still unanswered %s after the last one was sent",
				plural(a.lanes.InFlight(), "request was", "requests were"), quietLongest))
			return
		}
		pause(ctx, quietPoll)
	}
	if unseen, _ := a.sender.Suspicious(); unseen {
		pause(ctx, time.Duration(a.subject.target.Settle))
	}
}

// checkAlive asks a target whose answers broke on the clean lane whether it is still there: a target
// that died is reported as such, not as so many lost writes.
func (a *act) checkAlive(ctx context.Context) {
	if a.halted {
		return
	}
	if ended := a.subject.ended(); ended != nil {
		a.gone(driver.ErrTargetGone)
		a.halted, a.cut = true, true
		return
	}
	if _, broke := a.sender.Suspicious(); !broke {
		return
	}
	if err := driver.Alive(ctx, a.subject.target); err != nil && ctx.Err() == nil {
		a.gone(fmt.Errorf("%w: %w", errSilent, err))
		a.halted, a.cut = true, true
	}
}

// gone notes that the target went away, with the last that was heard of it.
func (a *act) gone(err error) {
	text := fmt.Sprintf("%s: %v%s", a.subject.whereabouts(), err, a.lastHeard())
	if ended := a.subject.ended(); ended != nil {
		text += "; " + ended.Error()
	}
	a.incident(history.TargetGone, text)
}

// lastHeard tells of the last answer, and of the first attempts after it that broke.
func (a *act) lastHeard() string {
	h, err := a.dir.readHistory(a.scenario.Name)
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

// firstSnapshot sees that no marker is there yet. Where the database cannot be asked, nothing that
// is sent could be judged, so nothing is.
func (a *act) firstSnapshot(ctx context.Context) {
	if a.rows == nil || a.halted {
		return
	}
	s := a.rows.Snapshot(ctx, a.questions)
	a.recordSnapshot(ctx, history.BeforeName, s)
}

// quietSnapshot takes snapshots until two in a row are equal, and records the last. A database that
// did not answer is not asked again, and without a probe there is nothing new to see.
func (a *act) quietSnapshot(ctx context.Context, name string) {
	if a.lost == history.DatabaseGone || name == history.T2Name && !a.probed {
		return
	}
	if a.rows == nil {
		a.record.Snapshot(name, history.Snapshot{At: a.now(), Error: "the target file names no database"})
		return
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.patience())
	if ctx.Err() != nil {
		look, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	}
	defer cancel()
	last := a.rows.Snapshot(look, a.questions)
	for last.Error == "" {
		pause(look, quietPoll)
		next := a.rows.Snapshot(look, a.questions)
		if reflect.DeepEqual(a.judged(last), a.judged(next)) && reflect.DeepEqual(last.Effects, next.Effects) || next.Error != "" {
			last = next
			break
		}
		last = next
	}
	a.recordSnapshot(ctx, name, last)
}

// recordSnapshot records a snapshot. Without one no more is sent: a probe could not be judged.
func (a *act) recordSnapshot(ctx context.Context, name string, s history.Snapshot) {
	s.At = a.now()
	a.record.Snapshot(name, s)
	if s.Error == "" {
		return
	}
	a.halted = true
	switch {
	case ctx.Err() == nil:
		a.incident(history.DatabaseGone, s.Error)
	case !a.cut:
		a.ended(ctx, context.Cause(ctx))
	}
}

// count asks the target how many requests it has received; -1 where it cannot count, or begins anew with every
// crash. One that counted before and does not any more may be gone.
func (a *act) count(ctx context.Context) int64 {
	if a.subject.target.Received == nil || a.halted || slices.Contains(a.scenario.Needs, scenarios.NeedsProcess) {
		return -1
	}
	n, err := a.subject.received(ctx, a.pace)
	switch {
	case err == nil:
		return n
	case ctx.Err() != nil:
		a.ended(ctx, context.Cause(ctx))
	case a.alive(ctx):
		a.incident(history.HarnessFault, err.Error())
	default:
		a.gone(err)
	}
	a.halted, a.cut = true, true
	return -1
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
