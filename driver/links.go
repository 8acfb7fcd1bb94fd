package driver

import (
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Link is a link inside the target that can be broken.
type Link struct {
	// Strike breaks it at a moment from now, for a while. Over calls that off, if it has not come, and tells
	// what came of it by offsets from base.
	Strike  func(base time.Time, moment scenarios.Moment, pause time.Duration) (over func() history.Cut)
	Moments int // of a plain create; 0: nothing is known to pass it
}

// mostSilence is how often a moment that has a word may not come before it is looked for by its number:
// the target may not ask for commits, or not in so many words.
const mostSilence = 2

// strike prepares the break of a link that is planned while a shot is under way. The function that it
// returns is called when the shot is over.
func (d *Driver) strike(s *shot) (over func()) {
	if s.cut == nil {
		return func() {}
	}
	link := d.Links[s.cut.Link]
	moment := s.cut.At(link.Moments)
	d.mu.Lock()
	silent := d.silences[moment] >= mostSilence
	d.mu.Unlock()
	if silent {
		moment = s.cut.Counted(link.Moments)
	}
	if again, decided := d.Moments[s.record.Intent]; decided {
		moment = again
	}
	cut := link.Strike(d.Base, moment, s.cut.For)
	return func() {
		facts := cut()
		s.record.Cut = &facts
		d.heard(moment, facts)
	}
}

// heard takes down whether a moment that has a word came.
func (d *Driver) heard(moment scenarios.Moment, facts history.Cut) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.silences == nil {
		d.silences = map[scenarios.Moment]int{}
	}
	switch {
	case moment.Count() > 0:
	case facts.At == 0:
		d.silences[moment]++
	default:
		d.silences[moment] = -1 << 30 // it does come
	}
}
