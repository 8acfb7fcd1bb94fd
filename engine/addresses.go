package engine

import (
	"net/url"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sut"
)

// createsEachAddress is how many plain creates the pilot sends to each of several addresses, to know how far they are.
const createsEachAddress = 3

// Addresses are those of a target with several, as the pilot measured them; none: it has one, or its instances were started.
func Addresses(s *Session) []history.Address { return s.addresses }

// pilotCreatesOf is how many plain creates the pilot sends to measure what one takes.
func pilotCreatesOf(s *Session) int { return max(3, createsEachAddress*len(sut.Addresses(s.System))) }

// measured is how far the addresses are, by what plain creates took: from the upstream tap, or from the client where there is none.
// What the target takes for a create is in it, which is the same at each.
func measured(s *Session, attempts []history.Attempt) []history.Address {
	var all []history.Address
	for n, name := range s.System.Target.InstanceNames() {
		var took []history.Offset
		for _, a := range attempts {
			if a.Instance != n+1 {
				continue
			}
			if p := a.Passage; p != nil && p.Arrived != 0 && p.Answered > p.Arrived {
				took = append(took, p.Answered-p.Arrived)
			} else if a.Wrote != 0 && a.Replied > a.Wrote {
				took = append(took, a.Replied-a.Wrote)
			}
		}
		one := history.Address{Name: name}
		if len(took) > 0 {
			one.Trip = slices.Min(took)
			one.Varied = slices.Max(took) - one.Trip
		}
		all = append(all, one)
	}
	return all
}

// aims are the addresses as a driver takes them. A request to a near one is released later than one to the farthest, by half of
// what its round trip is shorter. Before the pilot has measured them, none is.
func aims(s *Session) []driver.Place {
	var all []driver.Place
	farthest := history.Offset(0)
	for _, a := range s.addresses {
		farthest = max(farthest, a.Trip)
	}
	for n, t := range sut.Addresses(s.System) {
		place := driver.Place{}
		if u, err := url.Parse(t.BaseURL); err == nil { // the loader has seen that it can be parsed
			place.Host = u.Host
		}
		if n < len(s.addresses) && s.addresses[n].Trip > 0 {
			place.Aim = time.Duration(farthest-s.addresses[n].Trip) / 2
		}
		all = append(all, place)
	}
	return all
}
