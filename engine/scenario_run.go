package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Play runs one scenario from its plan to its history. An error is doubletap's own or the
// environment's; whatever the target does ends in the history. The bursts are calibrated
// before the clock of the run starts, at a target of our own.
func (s *Session) Play(ctx context.Context, f scenarios.File, plan scenarios.Plan) error {
	file, err := s.dir.Begin(f, plan)
	if err != nil {
		return err
	}
	defer file.Close()
	r := &scenarioRun{session: s, scenario: f.Scenario, record: history.NewWriter(file), tended: tended{often: make(chan struct{})}}
	r.recovering = rundir.IsPilotAfter(f.Scenario.Name)
	r.pilot = rundir.Reserved(f.Scenario.Name) && !r.recovering
	if r.calibrated, err = s.calibrate(ctx, f.Scenario); err != nil {
		return err
	}
	r.base = time.Now()
	if err := r.play(ctx, plan); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return runerror.Environment(fmt.Errorf("write history: %w", err))
	}
	return nil
}

// alive reports whether the target answers anything at all. One that has lost a process is not what it was.
func (s *Session) alive(ctx context.Context) bool { return s.life(ctx) == nil }

// life says why the target is not alive; nil: it is.
func (s *Session) life(ctx context.Context) error {
	if err := s.System.Ended(); err != nil {
		return err
	}
	return driver.Alive(ctx, s.System.Target)
}

// scenarioRun is one run of one scenario: the state that its steps share. Its steps are
// taken one after the other; what hooks of the driver change is atomic.
type scenarioRun struct {
	session    *Session
	scenario   scenarios.Scenario
	record     *history.Writer
	base       time.Time
	lanes      *proxy.Lanes
	links      []history.Link // that the scenario has to do with, as they are
	sender     *driver.Sender
	prepared   *driver.Prepared // nil: it is not logged in and prepared
	sent       *driver.Sent     // nil: nothing was sent
	rows       rowQueries
	calibrated []history.Calibration
	received   int64        // requests that the target had counted before; negative: it cannot count
	ended      atomic.Int64 // intents and final retries that are over
	stale      atomic.Bool  // an answer said that the login is not valid: the next scenario logs in again
	pilot      bool         // no final retry, and every link is watched
	recovering bool         // no final retry either: it sees whether the target has recovered
	retried    bool         // the final retry was sent
	cut        bool         // the history is not what was planned
	tended     tended
}

// errHalt stops sending: what is still to be seen is looked at, and nothing more is sent.
var errHalt = errors.New("nothing more is sent")

// play goes from plan to history, one step after the other. This list is the order of a
// scenario; each step is a method that returns nil, errHalt or a failure. After errHalt
// only the steps are taken that look and tidy up, so that what did happen can still be
// judged.
//
// Two snapshots are needed. A final retry repairs a lost write and reveals a missing key:
// only T1 shows the first, and only T2 the second. Faults go before T1, or a delayed
// request could still write behind it.
func (r *scenarioRun) play(ctx context.Context, plan scenarios.Plan) error {
	if err := r.open(ctx, plan); err != nil {
		return err
	}
	defer r.lanes.Close()
	r.session.company.join(ctx, r)
	defer r.session.company.leave(ctx, r)
	defer r.clearLinks(context.WithoutCancel(ctx))
	defer r.session.System.Sinks.Unwatch()
	defer noteBreaks(r)
	noteNotRecovered(r)
	noteDoubt(r)
	const always = true
	halted := false
	for _, step := range []struct {
		take   func(context.Context) error
		always bool
	}{
		{r.setUp, false},
		{func(ctx context.Context) error { return watchSinks(ctx, r) }, false},
		{r.prepareQuestions, always},
		{r.countBefore, false},
		{r.snapshotBefore, false},

		{r.drive, false},
		{r.settle, always},
		{r.removeFaults, always},
		{r.checkAlive, false},
		{r.follow, false},
		{r.snapshotBeforeRetry, always}, // T1

		{r.finalRetry, false},
		{r.settle, always},
		{r.follow, false},
		{r.snapshotAfterRetry, always}, // T2

		{r.noteUnanswered, always},
		{r.recordPassages, always},
		{r.countAfter, false},
		{r.tidyUp, always},
		{func(ctx context.Context) error { return unwatchSinks(ctx, r) }, always},
		{r.finish, always},
	} {
		if halted && !step.always {
			continue
		}
		err := step.take(ctx)
		if err != nil && !errors.Is(err, errHalt) {
			return err
		}
		halted = halted || err != nil
	}
	return nil
}

// enoughUnanswered is how many intents without an answer say enough: each of them waits out its deadline.
const enoughUnanswered = 3

// noteUnanswered says that not all was sent because the target left requests without an answer. One that answered nothing
// at all will not do so in the next scenario.
func (r *scenarioRun) noteUnanswered(context.Context) error {
	gaveUp, nothing := r.sender.GaveUp()
	if gaveUp && r.session.lost != history.NoAnswer {
		r.incident(history.NoAnswer, fmt.Sprintf("not all was sent: %d intents had a request that was not answered until its deadline", enoughUnanswered))
	}
	if nothing {
		r.session.lost = history.NoAnswer
	}
	return nil
}

// drive sends the plan, as long as the target answers anything.
func (r *scenarioRun) drive(ctx context.Context) error {
	return r.stop(ctx, r.watched(ctx, func(ctx context.Context) (err error) {
		r.sent, err = r.prepared.Send(ctx)
		return err
	}))
}

// finalRetry sends every key of every intent once more. It asks until the answer is final,
// for as long as the contract lets a dead execution block its key, and longer behind what
// broke a link or the process. A pilot has none: it only measures.
func (r *scenarioRun) finalRetry(ctx context.Context) error {
	if r.pilot || r.recovering {
		return nil
	}
	r.retried = true
	target, terms, intents := r.session.System.Target, r.session.System.Terms(), len(r.sender.Workload().Plan.Intents)
	stopped := r.stop(ctx, r.watched(ctx, func(ctx context.Context) error {
		patience := driver.Patience(time.Duration(terms.Contract.Lease), leftRunning(r))
		patience.Unclear = terms.Unclear
		if r.session.slow.sideBySide {
			patience.AtOnce = slowCreatesAtOnce
		}
		refused := func(a history.Attempt) bool { return terms.Classify(a) == checker.Rejected }
		switch {
		case r.scenario.Twins > 1: // a refusal beside a twin may be for the other, or business
			patience.Refused = refused
		case r.scenario.Neighbours != nil || r.scenario.Respells(scenarios.SpellingTwoHeaders): // or for the form of the key, if a plain one is taken
			patience.Refused, patience.Alone = refused, 1
		}
		if r.scenario.Respells(scenarios.SpellingNoCredential) {
			patience.TurnedAway = func(a history.Attempt) bool { return checker.TurnedAway(terms, a) }
		}
		if breaks(r.scenario) {
			patience.Recovery = r.session.aftermath.within
			if terms.Contract.Lease == 0 && waitsForKeys(r) {
				patience.Blocked = func(a history.Attempt) bool { return terms.Classify(a) == checker.InProgress }
				patience.Lease = contract.UsualLease
			}
		}
		return r.sent.Probe(ctx, patience, terms.Keyless(), terms.Settled)
	}))
	if r.sent.Outlasted() {
		r.session.aftermath.stuck = true
	}
	if planned := len(r.sender.Workload().Plan.Intents); planned > intents && stopped == nil { // fresh keys have rows, too
		stopped = r.stop(ctx, r.prepareQuestions(ctx))
	}
	if target.AsksItself() && len(target.Login) > 0 { // a new login asks for the rows anew
		if stopped != nil {
			r.prepared = nil // and with it the login
		}
		stopped = errors.Join(stopped, r.stop(ctx, r.prepareQuestions(ctx)))
	}
	return stopped
}

// waitsForKeys reports that the final retry waits as long for a blocked key as a request that died usually blocks it, where the
// contract does not say how long. One scenario that has waited in vain is enough; the others wait if a bug is listed for them that only this
// shows.
func waitsForKeys(r *scenarioRun) bool {
	return !r.session.aftermath.stuck || slices.ContainsFunc(r.session.knownBugs(r.scenario), func(k checker.KnownBug) bool { return k.Expect == checker.StuckKey })
}

// follow asks what became of the requests that were accepted, for as long as the contract gives them.
func (r *scenarioRun) follow(ctx context.Context) error {
	return r.stop(ctx, r.sent.Follow(ctx))
}

// stop notes why sending came to its end before its time; nil: it did not. It turns errors
// into facts of the history: what the target does, or the user's Ctrl-C, is no error of
// the run.
func (r *scenarioRun) stop(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errBudget):
		r.incident(history.Interruption, errBudget.Error())
	case ctx.Err() != nil:
		r.incident(history.Interruption, err.Error())
	case errors.Is(err, errDying):
		r.incident(history.Interruption, err.Error())
	case errors.Is(err, driver.ErrTargetGone), errors.Is(err, errSilent):
		r.gone(err)
	default:
		r.incident(history.HarnessFault, err.Error())
	}
	r.cut = true
	return errHalt
}

// removeFaults closes the lanes with faults and makes the links fast. It does so whatever
// became of the context: a link that stays slow would spoil all later scenarios.
func (r *scenarioRun) removeFaults(ctx context.Context) error {
	for _, err := range []error{r.lanes.RemoveFaults(context.WithoutCancel(ctx)), r.clearLinks(context.WithoutCancel(ctx))} {
		if err != nil {
			r.incident(history.HarnessFault, err.Error())
		}
	}
	r.recordTraffic()
	return nil
}

// recordPassages puts on record what the taps have seen, now that the target is quiet.
func (r *scenarioRun) recordPassages(context.Context) error {
	return runerror.Environment(r.sender.RecordPassages())
}

// How much of what the target printed during a scenario is on record: the last lines, and of each the beginning, in bytes.
const (
	mostPrinted    = 2000
	longestPrinted = 400
)

// recordPrinted records what the target's processes printed.
func recordPrinted(r *scenarioRun) {
	lines := r.session.System.Process.PrintedSince(r.base)
	for _, line := range lines[max(0, len(lines)-mostPrinted):] {
		text := line.Text
		if len(text) > longestPrinted {
			text = text[:longestPrinted] + "…"
		}
		at := max(1, history.Offset(line.At.Sub(r.base)))
		_ = r.record.Printed(history.Printed{At: at, Instance: line.Instance, Text: strings.ToValidUTF8(text, "")}) // finish asks for errors
	}
}

// finish ends the history. Only a run that came to its planned end gets the line
// "complete": all others cannot pass. Proxies that stay behind on a toxiproxy server that
// is not ours are worth an error.
func (r *scenarioRun) finish(ctx context.Context) error {
	r.session.company.leave(ctx, r)
	if r.stale.Load() {
		r.session.login = login{}
	}
	recordPrinted(r)
	if !r.cut {
		r.record.Complete()
	}
	err := r.record.Err()
	if r.session.config.SUT.Toxiproxy != "" {
		err = errors.Join(err, r.lanes.Close())
	}
	return runerror.Environment(err)
}

// incident puts on record what happened to the run itself. The checker will say
// inconclusive, or broken, where it would say pass otherwise.
func (r *scenarioRun) incident(kind history.IncidentKind, text string) {
	// A target that is lost may take its tables with it: it is the one that is missed.
	if kind == history.TargetGone || kind == history.DatabaseGone && r.session.lost == "" {
		r.session.lost = kind
	}
	r.record.Incident(history.Incident{At: r.now(), Kind: kind, Text: text})
}

// now is the present moment of the run, at least 1 ns: zero means never.
func (r *scenarioRun) now() history.Offset { return max(1, history.Offset(time.Since(r.base))) }
