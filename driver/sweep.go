package driver

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// finest is the shortest gap between two offsets in which a sweep looks for anything. Below it the
// clocks and schedulers of the machine decide.
const finest = 100 * time.Microsecond

// sweep finds out when the second of two requests is answered differently, by the time between them. It
// learns from every answer, so where it looks next is not known before. Safe for concurrent use.
type sweep struct {
	mu    sync.Mutex
	tried []trial // by offset
}

// trial is one offset and what came of the second request there.
type trial struct {
	offset  time.Duration
	answer  string
	running bool // it came while the first was not answered
}

// learn adds what was answered at an offset.
func (s *sweep) learn(t trial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.tried, t, func(a, b trial) int { return cmp.Compare(a.offset, b.offset) })
	s.tried = slices.Insert(s.tried, i, t)
}

// next returns an offset between from and to, part of the way (0 to 1, random) across the gap that is
// worth a closer look. That is the widest at whose ends the answers differ: a window in which a second
// request does harm lies where the first one's state changes, and half of the gap is ruled out each time.
// When all of those are as narrow as can be told apart, it is in turn the surroundings of one of them,
// where a window that moves may be now, and the widest gap of all.
func (s *sweep) next(from, to time.Duration, part float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	gaps := s.gaps(from, to)
	widest := func(a, b gap) int { return cmp.Compare(a.width(), b.width()) }
	changes := slices.DeleteFunc(slices.Clone(gaps), func(g gap) bool { return !g.change })
	if wide := slices.DeleteFunc(slices.Clone(changes), func(g gap) bool { return g.width() < finest }); len(wide) > 0 {
		return slices.MaxFunc(wide, widest).at(0.25 + part/2)
	}
	whole, place := math.Modf(part * float64(len(changes)))
	if len(changes) > 0 && len(s.tried)%2 == 0 {
		around := changes[int(whole)]
		around.lo, around.hi = max(from, around.lo-(to-from)/nearby), min(to, around.hi+(to-from)/nearby)
		return around.at(place)
	}
	return slices.MaxFunc(gaps, widest).at(part)
}

// nearby is the part of a sweep's range that counts as the surroundings of an offset: a hundredth.
const nearby = 100

// gap lies between two neighbouring offsets that were tried.
type gap struct {
	lo, hi time.Duration
	change bool // the answers at its ends differ
}

func (g gap) width() time.Duration { return g.hi - g.lo }

func (g gap) at(part float64) time.Duration { return g.lo + time.Duration(part*float64(g.width())) }

// gaps divides the range at the offsets that were tried. There is at least one. What is answered at the ends
// of the range is not known, so it may change there as well.
func (s *sweep) gaps(from, to time.Duration) []gap {
	var gaps []gap
	last := trial{offset: from}
	for i, t := range s.tried {
		t.offset = min(max(t.offset, from), to)
		gaps = append(gaps, gap{lo: last.offset, hi: t.offset, change: i == 0 || t.answer != last.answer || t.running != last.running})
		last = t
	}
	return append(gaps, gap{lo: last.offset, hi: to, change: true})
}

// offset decides when the second request of a sweep is let go. What was decided in the run that is
// repeated is decided again.
func (d *Driver) offset(i scenarios.PlannedIntent, m scenarios.Move) time.Duration {
	if again, decided := d.Offsets[i.ID]; decided {
		return again
	}
	from, to := m.Sweep.From.Of(d.Normal), m.Sweep.To.Of(d.Normal)
	if m.Sweep.Even {
		return gap{lo: from, hi: max(from, to)}.at(m.Sweep.Part)
	}
	return d.sweep(m.Step).next(from, max(from, to), m.Sweep.Part)
}

// sweep returns what was learned in a step.
func (d *Driver) sweep(step int) *sweep {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sweeps == nil {
		d.sweeps = map[int]*sweep{}
	}
	if d.sweeps[step] == nil {
		d.sweeps[step] = &sweep{}
	}
	return d.sweeps[step]
}

// learn takes down how the second request of a sweep was answered, and when it really came.
func (d *Driver) learn(m scenarios.Move, first, second *shot) {
	if letGo(first) == 0 || letGo(second) == 0 {
		return
	}
	between := letGo(second) - letGo(first)
	answer := strconv.Itoa(second.record.Status)
	if d.Phase != nil {
		answer = d.Phase(d.requests[first.record.Intent+first.record.Body].operation.Name, first.record, second.record)
	}
	running := answered(first) == 0 || answered(first) > letGo(second)
	d.sweep(m.Step).learn(trial{offset: between.Duration(), answer: answer, running: running})
}

// answered returns when the target answered, as near to it as that was seen; zero: never.
func answered(s *shot) history.Offset {
	if s.passage != nil {
		if p := s.passage.Facts(); p.Answered != 0 {
			return p.Answered
		}
	}
	return s.record.Replied
}

// letGo returns when the last byte of a burst's member was let go, as near to the target as it was
// seen; zero: never.
func letGo(s *shot) history.Offset {
	if s.passage != nil {
		if p := s.passage.Facts(); p.Released != 0 {
			return p.Released
		}
	}
	return s.record.Wrote
}
