package driver

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// pretended is a target whose answers change once in 300 ms: a second request is told "in progress", in
// a window of 2 ms it does harm, and after that it is told what the first was told. No time passes.
type pretended struct {
	draw  *rand.Rand
	opens time.Duration
}

const (
	lifetime  = 300 * time.Millisecond
	dangerous = 2 * time.Millisecond
)

func pretend(seed uint64) pretended {
	p := pretended{draw: rand.New(rand.NewPCG(seed, 1))}
	p.opens = time.Duration(p.draw.Int64N(int64(lifetime - dangerous)))
	return p
}

// ask lets the second request go at an offset, to some tenths of a millisecond.
func (p pretended) ask(offset time.Duration) trial {
	offset += time.Duration(p.draw.Int64N(int64(600*time.Microsecond))) - 300*time.Microsecond
	t := trial{offset: offset, answer: "replay"}
	switch {
	case offset < p.opens:
		t.answer, t.running = "in progress", true
	case offset < p.opens+dangerous:
		t.answer, t.running = "another thing", true
	}
	return t
}

// mostTries is how many tries a sweep has, and evenTries how many of them are even: those of the built-in scenario.
const (
	mostTries = 60
	evenTries = 20
)

// tries returns how many it takes until the window is hit, as the driver decides: a third of the tries
// evenly, the others where the answers change.
func (p pretended) tries() int {
	var s sweep
	for n := range mostTries {
		part := p.draw.Float64()
		offset := gap{hi: lifetime}.at((float64(n) + part) / evenTries)
		if n >= evenTries {
			offset = s.next(0, lifetime, part)
		}
		t := p.ask(offset)
		if t.answer == "another thing" {
			return n + 1
		}
		s.learn(t)
	}
	return mostTries + 1
}

// luck returns how many tries it takes at random.
func (p pretended) luck() int {
	for n := 1; ; n++ {
		if p.ask(time.Duration(p.draw.Int64N(int64(lifetime)))).answer == "another thing" {
			return n
		}
	}
}

func TestASweepFindsAShortWindow(t *testing.T) {
	t.Parallel()
	const seeds = 100
	var ours, lucky []int
	for seed := range uint64(seeds) {
		ours = append(ours, pretend(seed).tries())
		lucky = append(lucky, pretend(seed).luck())
	}
	slices.Sort(ours)
	slices.Sort(lucky)
	t.Logf("tries until a window of %v in %v is hit: %d (median), %d (95%%); at random: %d, %d",
		dangerous, lifetime, ours[seeds/2], ours[seeds*95/100], lucky[seeds/2], lucky[seeds*95/100])
	require.LessOrEqual(t, ours[seeds*95/100-1], mostTries, "in 95 of 100")
	require.Less(t, ours[seeds*95/100], lucky[seeds/2], "luck takes longer most times than a sweep takes nearly always")
}

func TestASweepStaysInItsRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "from"))
		to := from + time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "width"))
		var s sweep
		for range rapid.IntRange(0, 30).Draw(t, "tries") {
			s.learn(trial{
				offset: time.Duration(rapid.Int64Range(-int64(time.Second), 3*int64(time.Second)).Draw(t, "offset")),
				answer: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "answer"), running: rapid.Bool().Draw(t, "running"),
			})
		}
		next := s.next(from, to, rapid.Float64Range(0, 0.999999).Draw(t, "part"))
		require.GreaterOrEqual(t, next, from)
		require.LessOrEqual(t, next, to)
	})
}

func millis(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// saw makes a sweep of what was answered at offsets in ms, such as "0 a", "100 b".
func saw(trials ...string) *sweep {
	var s sweep
	for _, text := range trials {
		var at float64
		var t trial
		if n, _ := fmt.Sscanf(text, "%f %s %t", &at, &t.answer, &t.running); n < 2 {
			panic(text)
		}
		t.offset = millis(at)
		s.learn(t)
	}
	return &s
}

func TestWhereASweepLooksNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		saw       []string
		low, high float64 // of what is between, in ms
	}{
		"in the middle where nothing is known":                   {nil, 25, 75},
		"an end where nothing changes in between":                {[]string{"10 a", "40 a", "90 a"}, 2.5, 7.5},
		"the gap before the first, if that is the widest":        {[]string{"60 a", "80 a"}, 15, 45},
		"the gap after the last, if that is the widest":          {[]string{"10 a", "30 a"}, 47.5, 82.5},
		"the middle half of a gap at whose ends answers differ":  {[]string{"1 a", "20 b", "99 b"}, 5.75, 15.25},
		"in whatever order it was learned":                       {[]string{"99 b", "20 b", "1 a"}, 5.75, 15.25},
		"the widest of several of those":                         {[]string{"10 a", "20 b", "60 c", "90 c"}, 30, 50},
		"where the first was answered in between":                {[]string{"1 a true", "20 a false", "99 a false"}, 5.75, 15.25},
		"a change may be as narrow as can be told apart":         {[]string{"0.05 a", "50 a", "50.1 b", "99.95 b"}, 50.025, 50.075},
		"the surroundings of one of them where all are narrower": {[]string{"0.05 a", "50 a", "50.05 b", "99.95 b"}, 0, 100},
		"at every other try the widest gap instead":              {[]string{"0.05 a", "50 a", "50.05 b", "60 b", "99.95 b"}, 0.05, 50},
		"offsets beyond the range count as its ends":             {[]string{"-5 a", "70 a", "140 a"}, 0, 70},
		"a change beyond the range is looked for at its end":     {[]string{"10 a", "60 a", "101 b"}, 70, 90},
		"a change that lies wholly beyond the range is no place": {[]string{"10 a", "120 a", "140 b", "150 b"}, 2.5, 7.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := saw(c.saw...)
			require.Equal(t, millis(c.low), s.next(0, millis(100), 0).Round(time.Microsecond))
			require.InDelta(t, c.high, s.next(0, millis(100), 0.999999).Seconds()*1000, 0.002)
		})
	}
}

// Where several changes are narrow, the first part of the random number says which is looked at.
func TestASweepTakesNarrowChangesInTurn(t *testing.T) {
	t.Parallel()
	s := saw("0.05 a", "20 a", "20.05 b", "70 b", "70.05 c", "99.95 c")
	require.Equal(t, millis(0), s.next(0, millis(100), 0), "the beginning is one of them")
	require.Equal(t, millis(19), s.next(0, millis(100), 0.25))
	require.Equal(t, millis(69), s.next(0, millis(100), 0.5))
}

func moving(from, to, part float64, even bool) scenarios.Move {
	return scenarios.Move{Step: 3, Sweep: &scenarios.Sweeping{
		From: scenarios.Span{Fixed: millis(from)}, To: scenarios.Span{Share: to / 100}, Part: part, Even: even,
	}}
}

func TestOffsetsOfASweep(t *testing.T) {
	t.Parallel()
	intent := scenarios.PlannedIntent{ID: "i007"}
	d := &sweeps{normal: millis(100)}
	require.Equal(t, millis(30), d.offset(intent, moving(20, 60, 0.25, true)))
	require.Equal(t, millis(80), d.offset(intent, moving(80, 60, 0.25, true)), "shares may turn out shorter than times")
	require.Equal(t, millis(80), d.offset(intent, moving(80, 60, 0.25, false)))
	d.of(3).learn(trial{offset: millis(30), answer: "a"})
	d.of(3).learn(trial{offset: millis(58), answer: "b"})
	require.Equal(t, millis(44), d.offset(intent, moving(20, 60, 0.5, false)))
	require.Equal(t, millis(40), d.offset(intent, moving(20, 60, 0.5, true)), "an even one has learned nothing")
	other := moving(20, 60, 0.5, false)
	other.Step = 4
	require.Equal(t, millis(40), d.offset(intent, other), "every step learns for itself")
	d.offsets = map[string]time.Duration{"i007": millis(33), "i008": millis(44)}
	require.Equal(t, millis(33), d.offset(intent, moving(20, 60, 0.5, false)), "what was decided is decided again")
	require.Equal(t, millis(33), d.offset(intent, moving(20, 60, 0.5, true)))
	require.Equal(t, millis(44), d.offset(scenarios.PlannedIntent{ID: "i009"}, moving(20, 60, 0.5, false)))
}

// there is a passage that was seen at the upstream tap.
type there history.Passage

func (p there) Facts() history.Passage                                      { return history.Passage(p) }
func (there) LeaveAfter(time.Duration)                                      {}
func (there) Over() bool                                                    { return true }
func (there) Hold(int64, func(func()), func(), func() <-chan struct{}) bool { return false }

func moment(n float64) history.Offset { return history.Offset(millis(n)) }

func attempt(status int, wrote, replied float64, p *history.Passage) *outgoing {
	s := &outgoing{exchange: exchange{record: history.Attempt{Intent: "i1", Body: history.Original, Status: status, Wrote: moment(wrote), Replied: moment(replied)}}}
	if p != nil {
		s.tap = there(*p)
	}
	return s
}

func TestWhatASweepLearns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second *outgoing
		want          []trial
	}{
		"by the client where there is no upstream tap": {
			attempt(201, 10, 50, nil), attempt(409, 35, 40, nil), []trial{{millis(25), "409", true}},
		},
		"after the first was answered": {
			attempt(201, 10, 30, nil), attempt(201, 35, 40, nil), []trial{{millis(25), "201", false}},
		},
		"while the first is not answered at all": {
			attempt(0, 10, 0, nil), attempt(409, 35, 40, nil), []trial{{millis(25), "409", true}},
		},
		"the upstream tap knows better": {
			attempt(201, 10, 50, &history.Passage{Released: moment(20), Answered: moment(28)}), attempt(201, 35, 60, &history.Passage{Released: moment(29)}),
			[]trial{{millis(9), "201", false}},
		},
		"an upstream tap that saw no more than the connection": {
			attempt(201, 10, 50, &history.Passage{Opened: 1}), attempt(409, 35, 60, &history.Passage{Opened: 1}), []trial{{millis(25), "409", true}},
		},
		"which comes first is seen at the upstream tap": {
			attempt(201, 10, 50, &history.Passage{Released: moment(20)}), attempt(201, 35, 60, &history.Passage{Released: moment(19)}), []trial{{millis(-1), "201", true}},
		},
		"nothing where the first was never sent":  {attempt(0, 0, 0, nil), attempt(409, 35, 40, nil), nil},
		"nothing where the second was never sent": {attempt(201, 10, 50, nil), attempt(0, 0, 0, nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d sweeps
			d.learn(scenarios.Move{Step: 3}, "create", c.first, c.second)
			require.Equal(t, c.want, d.of(3).tried)
		})
	}
}

func TestASweepLearnsInTheWordsOfTheContract(t *testing.T) {
	t.Parallel()
	var d sweeps
	d.phase = func(operation string, first, second history.Attempt) string {
		return fmt.Sprint(operation, " ", first.Status, " ", second.Status)
	}
	d.learn(scenarios.Move{}, "create", attempt(201, 10, 30, nil), attempt(409, 35, 40, nil))
	require.Equal(t, []trial{{millis(25), "create 201 409", false}}, d.of(0).tried)
}

func TestWhatWasTriedIsKeptInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s sweep
		offsets := rapid.SliceOf(rapid.Int64Range(0, 50)).Draw(t, "offsets")
		for _, o := range offsets {
			s.learn(trial{offset: time.Duration(o)})
		}
		require.Len(t, s.tried, len(offsets))
		require.True(t, slices.IsSortedFunc(s.tried, func(a, b trial) int { return cmp.Compare(a.offset, b.offset) }))
	})
}
