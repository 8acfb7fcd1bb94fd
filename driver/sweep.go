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

// sweep finds out when the second of two requests is answered differently, by the time
// between them: a bisection over offsets. A window of some 100 us is hit by chance once in
// thousands of tries; halving the gap between two different answers finds it in about
// twenty. It learns from every answer, so where it looks next is not known before. The
// zero value has learnt nothing. Safe for concurrent use.
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

// learn adds what was answered at an offset, in order of offsets.
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
	// Stay clear of the ends of the gap, which are known: between 1/4 and 3/4 of it.
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

// width is the time between the two offsets.
func (g gap) width() time.Duration { return g.hi - g.lo }

// at is the offset at a part of the gap, from 0 to 1.
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

// sweeps are the sweeps of a plan, by step. Safe for concurrent use.
type sweeps struct {
	normal  time.Duration
	offsets map[string]time.Duration // by intent: decided in the run that is repeated
	phase   func(operation string, first, second history.Attempt) string

	mu     sync.Mutex
	byStep map[int]*sweep
}

// offset decides when the second request of a sweep is released. What was decided in the run that is
// repeated is decided again.
func (s *sweeps) offset(i scenarios.PlannedIntent, m scenarios.Move) time.Duration {
	if again, decided := s.offsets[i.ID]; decided {
		return again
	}
	from, to := m.Sweep.From.Of(s.normal), m.Sweep.To.Of(s.normal)
	if m.Sweep.Even {
		return gap{lo: from, hi: max(from, to)}.at(m.Sweep.Part)
	}
	return s.of(m.Step).next(from, max(from, to), m.Sweep.Part)
}

// of returns the sweep of a step, and makes it on first use. All intents of a step share
// one.
func (s *sweeps) of(step int) *sweep {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byStep == nil {
		s.byStep = map[int]*sweep{}
	}
	if s.byStep[step] == nil {
		s.byStep[step] = &sweep{}
	}
	return s.byStep[step]
}

// learn notes how the second request of a sweep was answered, and when it really came: the
// planned offset and the measured one differ on a busy machine, and only the measured one
// is a fact.
func (s *sweeps) learn(m scenarios.Move, operation string, first, second *outgoing) {
	if released(first) == 0 || released(second) == 0 {
		return
	}
	between := released(second) - released(first)
	answer := strconv.Itoa(second.record.Status)
	if s.phase != nil {
		answer = s.phase(operation, first.record, second.record)
	}
	running := answered(first) == 0 || answered(first) > released(second)
	s.of(m.Step).learn(trial{offset: between.Duration(), answer: answer, running: running})
}

// answered returns when the target answered, as near to it as that was seen; zero: never.
func answered(o *outgoing) history.Offset {
	if o.tap != nil {
		if p := o.tap.Facts(); p.Answered != 0 {
			return p.Answered
		}
	}
	return o.record.Replied
}

// released returns when the last byte of a burst's member was released, as near to the target as that was
// seen; zero: never.
func released(o *outgoing) history.Offset {
	if o.tap != nil {
		if p := o.tap.Facts(); p.Released != 0 {
			return p.Released
		}
	}
	return o.record.Wrote
}
