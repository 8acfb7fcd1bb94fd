package driver

import (
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// Link is a link inside the target that can be broken.
type Link struct {
	// Strike breaks it at a moment from now, for a while. Over calls that off, if it has not come, and tells
	// what came of it by offsets from base.
	Strike  func(base time.Time, moment int, pause time.Duration) (over func() history.Cut)
	Moments int // of a plain create; 0: nothing is known to pass it
}

// strike prepares the break of a link that is planned while a shot is under way. The function that it
// returns is called when the shot is over.
func (d *Driver) strike(s *shot) (over func()) {
	if s.cut == nil {
		return func() {}
	}
	moment := s.cut.At(d.Links[s.cut.Link].Moments)
	if again, decided := d.Moments[s.record.Intent]; decided {
		moment = again
	}
	cut := d.Links[s.cut.Link].Strike(d.Base, moment, s.cut.For)
	return func() {
		facts := cut()
		s.record.Cut = &facts
	}
}
