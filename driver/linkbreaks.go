package driver

import (
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Link is a link inside the target that can be broken.
type Link struct {
	// Strike breaks it at a moment from now, for a while. Over calls that off, if it has not come, and returns
	// what came of it, by offsets from base. A write is known by the words that it carries.
	Strike  func(base time.Time, moment faults.Moment, pause time.Duration, words []string) (over func() history.Cut)
	Passing scenarios.Passing // for a plain create; zero: no create is known to use it
}

// mostSilence is how often a named moment may fail to come before it is looked for by its number: the target may
// not use that statement, or in other words.
const mostSilence = 2

// linkBreaks breaks links while requests are under way. A moment may be named ("after the
// commit") or counted ("after the third answer"). It learns which named moments come, and
// uses counted ones in place of those that never do. Safe for concurrent use.
type linkBreaks struct {
	links  map[string]Link
	repeat map[string]faults.Moment // by intent: at which it broke in the run that is repeated
	base   time.Time

	mu       sync.Mutex
	silences map[faults.Moment]int // how often a named moment did not come
}

// strike prepares the break of a link that is planned while a request is under way. The
// function that it returns is called when the exchange is over, and notes what came of the
// break. Without a planned break both do nothing. A repeated run takes the moment that was
// recorded, whatever has been learnt.
func (b *linkBreaks) strike(o *outgoing) (over func()) {
	if o.cut == nil {
		return func() {}
	}
	link := b.links[o.cut.Link]
	moment := o.cut.At(link.Passing)
	if b.silent(moment) {
		moment = o.cut.Counted(link.Passing.Moments)
	}
	if again, decided := b.repeat[o.record.Intent]; decided {
		moment = again
	}
	cut := link.Strike(b.base, moment, o.cut.For, o.words)
	return func() {
		facts := cut()
		o.record.Cut = &facts
		b.learn(moment, facts)
	}
}

// silent reports that a named moment did not come often enough to give it up.
func (b *linkBreaks) silent(moment faults.Moment) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.silences[moment] >= mostSilence
}

// learn notes whether a named moment came.
func (b *linkBreaks) learn(moment faults.Moment, facts history.Cut) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.silences == nil {
		b.silences = map[faults.Moment]int{}
	}
	switch {
	case moment.Count() > 0:
	case facts.At == 0:
		b.silences[moment]++
	default:
		b.silences[moment] = -1 << 30 // it does come
	}
}
