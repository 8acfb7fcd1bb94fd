package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// How long a total is watched while nothing is sent, after a scenario in which it changed by another number than its rows say.
const (
	idleLeast   = 500 * time.Millisecond
	idleLongest = 30 * time.Second
	idleTimes   = 3 // as long as others took for one change, if all such scenarios were their doing: in 19 of 20 times they are seen again
)

// behind is what a session knows of what comes behind the answers of its target, and of what moves there while nothing is sent.
type behind struct {
	lag    time.Duration  // of a row, from the pilot
	driven time.Duration  // of scenarios at whose end totals were compared
	wrong  int            // of them
	rested time.Duration  // for so long totals were seen not to change
	moved  []history.Idle // totals that did
	least  time.Duration  // that one is watched; 0: idleLeast
	own    time.Duration  // that work behind the last answer may take, at least
	work   time.Duration  // that accepted requests are done after their answers, from the pilot; 0: none is accepted
}

// patience is how long a total is watched. The fewer scenarios went wrong, the seldomer somebody else may have written; and what was seen to
// rest before counts as well.
func (b behind) patience() time.Duration {
	least := cmp.Or(b.least, idleLeast)
	return max(least, min(idleTimes*b.driven/time.Duration(max(b.wrong, 1))-b.rested, idleLongest))
}

// watchTotals looks on after the last answer of a scenario where totals changed by another number than the rows of all intents say: one that
// changes while nothing is sent is changed by others as well. What comes behind the answers until own is the target's own work: the snapshot is
// taken again.
func watchTotals(ctx context.Context, r *scenarioRun, s history.Snapshot, wait awaiting, own time.Time) history.Snapshot {
	if !counted(r) || s.Error != "" || wait.stop == nil || r.session.config.Shard.Several() {
		return s
	}
	h, err := r.session.History(r.scenario.Name)
	if err != nil || h.Before == nil {
		return s
	}
	b := &r.session.behind
	wrong := wrongTotals(r, h, s)
	b.driven += (s.At - h.Before.At).Duration()
	if len(wrong) > 0 {
		b.wrong++
	}
	for len(wrong) > 0 {
		s.Idle = b.movedOf(wrong)
		wrong = slices.DeleteFunc(wrong, func(name string) bool {
			return slices.ContainsFunc(s.Idle, func(i history.Idle) bool { return i.Effect == name })
		})
		seen, late := idle(ctx, r, s, wrong, b.patience(), own)
		if !late {
			s.Idle = append(s.Idle, seen...)
			b.note(seen, r.scenario.Name)
			return s
		}
		next, changing := r.rows.settled(ctx, wait)
		if next.Error != "" {
			return s
		}
		if changing {
			own = time.Time{}
		}
		s, s.At = next, r.now()
		wrong = wrongTotals(r, h, s)
	}
	return s
}

// wrongTotals names the totals that changed by another number than the rows say, with a snapshot after the final retry.
func wrongTotals(r *scenarioRun, h *history.History, s history.Snapshot) []string {
	h.Messages, h.T2 = r.rows.messages(), &s
	return checker.WrongTotals(r.session.System.Terms(), h)
}

// movedOf is what was seen of totals that changed while nothing was sent.
func (b behind) movedOf(names []string) []history.Idle {
	return slices.DeleteFunc(slices.Clone(b.moved), func(i history.Idle) bool { return !slices.Contains(names, i.Effect) })
}

// note keeps what was seen of totals after a scenario.
func (b *behind) note(seen []history.Idle, scenario string) {
	for _, i := range seen {
		if i.Was != i.Is {
			i.Scenario = scenario
			b.moved = append(b.moved, i)
		}
	}
	if len(seen) > 0 {
		b.rested += (seen[0].To - seen[0].From).Duration()
	}
}

// counted reports that an effect is the change of a total.
func counted(r *scenarioRun) bool {
	for _, o := range r.session.System.Operations {
		if slices.ContainsFunc(o.Effects, func(e contract.Effect) bool { return e.Delta != nil }) {
			return true
		}
	}
	return false
}

// idle reads totals while nothing is sent, until one has changed or they have been watched for long enough. It reports that one changed so
// soon that the target's own work may be late.
func idle(ctx context.Context, r *scenarioRun, s history.Snapshot, names []string, patience time.Duration, own time.Time) (seen []history.Idle, late bool) {
	if len(names) == 0 {
		return nil, false
	}
	questions := r.rows.totals()
	last, at, begun := s.Effects, s.At, time.Now()
	for between := quietPoll; time.Since(begun) < patience && ctx.Err() == nil; between = min(between+quietPoll, quietSeldom) {
		pause(ctx, between)
		next := r.rows.reader.Snapshot(ctx, questions)
		now := r.now()
		if next.Error != "" {
			return nil, false
		}
		moved := slices.ContainsFunc(names, func(name string) bool { return next.Effects[name][""] != last[name][""] })
		if moved && time.Now().Before(own) {
			return nil, true
		}
		last, at = next.Effects, now
		if moved {
			break
		}
	}
	if at == s.At { // it was not read again
		return nil, false
	}
	for _, name := range names {
		seen = append(seen, history.Idle{Effect: name, From: s.At, To: at, Was: s.Effects[name][""], Is: last[name][""]})
	}
	return seen, false
}
