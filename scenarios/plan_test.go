package scenarios_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func drawnSend(t *rapid.T) scenarios.Send {
	s := scenarios.Send{
		Lane: scenarios.Clean, Timeout: anySpan(t),
		Key: rapid.SampledFrom([]scenarios.KeyChoice{"", scenarios.SameKey, scenarios.FreshKey, scenarios.NoKey}).Draw(t, "key"),
	}
	if rapid.Bool().Draw(t, "retries") {
		s.Retry = &scenarios.Retry{
			Max: rapid.IntRange(0, 4).Draw(t, "max"), Jitter: rapid.Float64Range(0, 1).Draw(t, "jitter"),
			Backoff: scenarios.Span{Fixed: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "backoff"))},
		}
	}
	return s
}

func drawnStep(t *rapid.T) scenarios.Step {
	s := drawnSend(t)
	switch rapid.IntRange(0, 9).Draw(t, "step") {
	case 0:
		if rapid.Bool().Draw(t, "cut") {
			moment := rapid.SampledFrom([]faults.Moment{"", "7", faults.AtCommit}).Draw(t, "moment")
			s.Cut = &scenarios.LinkCut{Link: "database", Moment: moment, For: new(faults.Duration(50 * time.Millisecond))}
		}
		return scenarios.Step{Send: &s}
	case 1:
		return scenarios.Step{Alter: &s}
	case 2:
		return scenarios.Step{Wait: &scenarios.Wait{For: scenarios.WaitCommitted}}
	case 4:
		return scenarios.Step{Look: &scenarios.Look{}}
	case 5:
		spelling := rapid.SampledFrom([]scenarios.Spelling{"", scenarios.SpellingOrder, scenarios.SpellingNumbers}).Draw(t, "spelling")
		return scenarios.Step{Respell: &scenarios.Respell{Spelling: spelling, Send: s}}
	case 3:
		copies := rapid.IntRange(1, 8).Draw(t, "copies")
		return scenarios.Step{Burst: &scenarios.Burst{Copies: copies, Altered: rapid.IntRange(0, copies).Draw(t, "altered"), WriteGate: rapid.Bool().Draw(t, "write gate"), Send: s}}
	case 8:
		return scenarios.Step{Remove: &scenarios.Remove{}}
	case 6:
		return scenarios.Step{Sweep: &scenarios.Sweep{From: anySpan(t), To: anySpan(t), Send: s}}
	case 7:
		return scenarios.Step{Crash: &scenarios.Crash{From: anySpan(t), To: anySpan(t), Send: s}}
	}
	return scenarios.Step{Tabs: []scenarios.Tab{
		{Count: rapid.IntRange(0, 3).Draw(t, "count"), Within: scenarios.Span{Share: 1}, Send: s},
		{At: anySpan(t), Altered: true, Send: drawnSend(t)},
	}}
}

func drawnScenario(t *rapid.T) scenarios.Scenario {
	s := scenarios.Scenario{
		Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Intents: rapid.IntRange(1, 12).Draw(t, "intents"),
		Twins: rapid.IntRange(0, 4).Draw(t, "twins"), Steps: rapid.SliceOfN(rapid.Custom(drawnStep), 1, 4).Draw(t, "steps"),
	}
	if rapid.Bool().Draw(t, "neighbours") {
		s.Neighbours = &scenarios.Neighbours{Of: max(s.Twins, 2), Keys: scenarios.KeysEqual, Across: scenarios.AcrossPrincipals}
	}
	if rapid.Bool().Draw(t, "background") {
		s.Background = &scenarios.Background{
			Rate: rapid.Float64Range(0.1, 1000).Draw(t, "rate"), Intents: rapid.IntRange(1, 9).Draw(t, "traffic"), Send: drawnSend(t),
		}
	}
	return s
}

func written(t require.TestingT, p scenarios.Plan) string {
	var out bytes.Buffer
	n, err := p.WriteTo(&out)
	require.NoError(t, err)
	require.Equal(t, int64(out.Len()), n)
	return out.String()
}

func TestTheSameSeedGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, seed := drawnScenario(t), rapid.Uint64().Draw(t, "seed")
		require.Equal(t, written(t, scenarios.NewPlan(s, seed)), written(t, scenarios.NewPlan(s, seed)))
	})
}

func TestEveryIntentIsPlannedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawnScenario(t)
		p := scenarios.NewPlan(s, rapid.Uint64().Draw(t, "seed"))
		require.Len(t, p.Intents, s.Intents+traffic(s))
		seen := map[string]bool{}
		for n, i := range p.Intents {
			require.Equal(t, n+1, i.Number)
			require.False(t, seen[i.ID])
			seen[i.ID] = true
			require.Equal(t, i.Number > s.Intents, i.Background)
			steps := s.Steps
			if i.Background {
				steps = []scenarios.Step{{Send: &s.Background.Send}}
				require.Zero(t, i.Twin)
				require.Nil(t, i.Neighbour)
			} else {
				requireKin(t, s, i)
			}
			require.Len(t, i.Moves, len(steps))
			for step, m := range i.Moves {
				require.Equal(t, step, m.Step)
				requireMove(t, steps[step], m)
				requireTogether(t, s.Intents, i.Number, steps[step], m)
				requireCrash(t, s.Intents, i.Number, steps[step], m)
				for _, a := range m.Batch {
					require.True(t, strings.HasPrefix(a.ID, i.ID+"."))
					require.False(t, seen[a.ID])
					seen[a.ID] = true
				}
			}
		}
	})
}

// traffic is how many intents a scenario's background has.
func traffic(s scenarios.Scenario) int {
	if s.Background == nil {
		return 0
	}
	return s.Background.Intents
}

// requireTogether checks which requests are let go together, which of those have their writes held back,
// and which follow the first at a time of their own.
func requireTogether(t *rapid.T, intents, number int, step scenarios.Step, m scenarios.Move) {
	require.Equal(t, step.Burst != nil || step.Sweep != nil, m.Together)
	require.Equal(t, step.Burst != nil && step.Burst.WriteGate, m.WriteGate)
	require.Equal(t, step.Sweep != nil, m.Sweep != nil)
	if m.Sweep == nil {
		return
	}
	require.Equal(t, []scenarios.Span{step.Sweep.From, step.Sweep.To}, []scenarios.Span{m.Sweep.From, m.Sweep.To})
	even := (intents + 2) / 3
	require.Equal(t, number <= even, m.Sweep.Even, "a third of the intents, rounded up, go over the whole way")
	low, high := 0.0, 1.0
	if m.Sweep.Even {
		low, high = float64(number-1)/float64(even), float64(number)/float64(even)
	}
	require.GreaterOrEqual(t, m.Sweep.Part, low)
	require.LessOrEqual(t, m.Sweep.Part, high)
}

// requireCrash checks that the crashes of all intents are spread evenly, each within its share of the time.
func requireCrash(t *rapid.T, intents, number int, step scenarios.Step, m scenarios.Move) {
	require.Equal(t, step.Crash != nil, m.Crash != nil)
	if m.Crash == nil {
		return
	}
	require.Equal(t, []scenarios.Span{step.Crash.From, step.Crash.To}, []scenarios.Span{m.Crash.From, m.Crash.To})
	if number <= intents {
		require.GreaterOrEqual(t, m.Crash.Part, float64(number-1)/float64(intents))
		require.LessOrEqual(t, m.Crash.Part, float64(number)/float64(intents))
	}
}

// requireKin checks an intent's place among its neighbours.
func requireKin(t *rapid.T, s scenarios.Scenario, i scenarios.PlannedIntent) {
	if s.Neighbours == nil {
		require.Nil(t, i.Neighbour)
		return
	}
	require.Equal(t, i.Number, i.Neighbour.First+i.Neighbour.Place)
	require.Less(t, i.Neighbour.Place, s.Neighbours.Of)
	require.Equal(t, (i.Number-1)/s.Neighbours.Of, (i.Neighbour.First-1)/s.Neighbours.Of)
	require.Equal(t, s.Neighbours.Keys, i.Neighbour.Keys)
	require.Equal(t, s.Neighbours.Across, i.Neighbour.Across)
}

// requireMove checks that a move does what its step says: so many requests, so many of them altered,
// each with its key and its retries.
func requireMove(t *rapid.T, step scenarios.Step, m scenarios.Move) {
	sends, altered := map[bool]int{}, 0
	switch {
	case step.Wait != nil:
		require.Equal(t, step.Wait, m.Wait)
	case step.Look != nil:
		require.True(t, m.Look)
	case step.Respell != nil:
		sends[false]++
		require.Contains(t, []string{history.Reordered, history.Renumbered}, m.Batch[0].Body)
		require.Equal(t, step.Respell.Spelling == scenarios.SpellingNumbers, m.Batch[0].Body == history.Renumbered)
	case step.Send != nil:
		sends[false]++
	case step.Alter != nil:
		sends[true]++
	case step.Burst != nil:
		sends[true], sends[false] = step.Burst.Altered, step.Burst.Copies-step.Burst.Altered
	case step.Sweep != nil:
		sends[false] = 2
	case step.Crash != nil:
		sends[false] = 1
	default:
		for _, tab := range step.Tabs {
			sends[tab.Altered] += max(tab.Count, 1)
		}
	}
	keys := map[string]bool{}
	for _, a := range m.Batch {
		if a.Body == history.Altered {
			altered++
		}
		require.False(t, keys[a.Key] && strings.HasPrefix(a.Key, "fresh"), "a fresh key twice")
		keys[a.Key] = true
		require.True(t, len(a.Pauses) == 0 || len(a.RetryOn) > 0, "retries that nothing asks for")
	}
	require.Equal(t, sends[true], altered)
	require.Len(t, m.Batch, sends[true]+sends[false])
}

func TestAPartOfAPlanIsTheSameAsInTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, seed := drawnScenario(t), rapid.Uint64().Draw(t, "seed")
		whole := scenarios.NewPlan(s, seed)
		numbers := rapid.SliceOf(rapid.IntRange(0, len(whole.Intents)+1)).Draw(t, "numbers")
		part := whole.Only(numbers)
		at := map[int]scenarios.PlannedIntent{}
		last := 0
		for _, i := range part.Intents {
			require.Equal(t, whole.Intents[i.Number-1], i)
			require.Greater(t, i.Number, last, "in the plan's order")
			last, at[i.Number] = i.Number, i
		}
		beside := slices.ContainsFunc(whole.Intents, func(i scenarios.PlannedIntent) bool { return i.Background && slices.Contains(numbers, i.Number) })
		for _, i := range whole.Intents {
			_, kept := at[i.Number]
			wanted := slices.ContainsFunc(numbers, func(n int) bool { return related(s, n, i.Number) })
			require.Equal(t, wanted || i.Background || beside, kept)
		}
		part.Intents = whole.Intents
		require.Equal(t, whole, part)

		if s.Background != nil {
			s.Background.Intents += 5
			require.Equal(t, whole.Intents, scenarios.NewPlan(s, seed).Intents[:len(whole.Intents)], "more background changes nothing for the others")
		}
		if divides(s) {
			return // the way is divided by the number of intents, and so are the moments of a link
		}
		own := whole.Intents[:s.Intents]
		s.Intents += 5
		require.Equal(t, own, scenarios.NewPlan(s, seed).Intents[:len(own)], "more intents change nothing for the first")
	})
}

func divides(s scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Steps, func(step scenarios.Step) bool {
		return step.Sweep != nil || step.Crash != nil || step.Send != nil && step.Send.Cut != nil
	})
}

// related reports whether two intents are one, twins or neighbours.
func related(s scenarios.Scenario, a, b int) bool {
	of := max(s.Twins, 1)
	if s.Neighbours != nil {
		of = s.Neighbours.Of
	}
	if a < 1 || a > s.Intents || b > s.Intents {
		return a == b
	}
	return (a-1)/of == (b-1)/of
}

func TestRequestsBoundsThePlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawnScenario(t)
		most := 0
		for _, step := range s.Steps {
			for _, one := range sent(step) {
				most += s.Intents
				if one.Retry != nil {
					most += s.Intents * one.Retry.Max
				}
			}
		}
		if b := s.Background; b != nil {
			most += b.Intents
			if b.Retry != nil {
				most += b.Intents * b.Retry.Max
			}
		}
		require.Equal(t, most, scenarios.NewPlan(s, 1).Requests())
	})
}

// sent lists the requests of a step.
func sent(s scenarios.Step) []scenarios.Send {
	var all []scenarios.Send
	switch {
	case s.Send != nil:
		all = append(all, *s.Send)
	case s.Alter != nil:
		all = append(all, *s.Alter)
	case s.Respell != nil:
		all = append(all, s.Respell.Send)
	case s.Burst != nil:
		all = slices.Repeat([]scenarios.Send{s.Burst.Send}, s.Burst.Copies)
	case s.Sweep != nil:
		all = slices.Repeat([]scenarios.Send{s.Sweep.Send}, 2)
	case s.Crash != nil:
		all = append(all, s.Crash.Send)
	}
	for _, tab := range s.Tabs {
		all = append(all, slices.Repeat([]scenarios.Send{tab.Send}, max(tab.Count, 1))...)
	}
	return all
}

// lively has something random in every place where there can be.
func lively() scenarios.Scenario {
	send := scenarios.Send{Lane: scenarios.Clean, Timeout: scenarios.Span{Fixed: time.Second}}
	retried := send
	retried.Retry = &scenarios.Retry{Max: 3, Backoff: scenarios.Span{Fixed: 100 * time.Millisecond}, Jitter: 0.5, Key: scenarios.FreshKey, Lane: "slow"}
	tab := scenarios.Tab{At: scenarios.Span{Share: 0.25}, Within: scenarios.Span{Fixed: 10 * time.Millisecond}, Count: 2, Send: send}
	tab.Key = scenarios.FreshKey
	return scenarios.Scenario{
		Name: "lively", Intents: 4, Concurrency: 2, Twins: 2,
		Steps: []scenarios.Step{
			{Send: &retried}, {Burst: &scenarios.Burst{Copies: 6, Altered: 2, Send: send}}, {Tabs: []scenarios.Tab{tab}},
			{Wait: &scenarios.Wait{For: scenarios.WaitCommitted, Within: scenarios.Span{Fixed: 5 * time.Second}}}, {Alter: &send},
			{Respell: &scenarios.Respell{Spelling: scenarios.SpellingNumbers, Send: send}}, {Look: &scenarios.Look{}},
			{Wait: &scenarios.Wait{For: scenarios.WaitExpired}},
		},
		Neighbours: &scenarios.Neighbours{Of: 2, Keys: scenarios.KeysCase},
	}
}

// busy has a write gate, a sweep and others who keep the target busy.
func busy() scenarios.Scenario {
	send := scenarios.Send{Lane: scenarios.Clean, Timeout: scenarios.Span{Fixed: time.Second}}
	retried := send
	retried.Retry = &scenarios.Retry{Max: 1, Backoff: scenarios.Span{Fixed: 100 * time.Millisecond}, Jitter: 0.5}
	return scenarios.Scenario{
		Name: "busy", Intents: 4, Concurrency: 1,
		Background: &scenarios.Background{Rate: 12.5, Intents: 2, Send: retried},
		Steps: []scenarios.Step{
			{Burst: &scenarios.Burst{Copies: 3, WriteGate: true, Send: send}},
			{Sweep: &scenarios.Sweep{From: scenarios.Span{Fixed: time.Millisecond}, To: scenarios.Span{Share: 1.2}, Send: retried}},
		},
	}
}

func TestDifferentSeedsDifferOnlyInWhatIsRandom(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(100) {
		p := scenarios.NewPlan(lively(), seed)
		text := written(t, p)
		require.False(t, seen[text])
		seen[text] = true
		calm := scenarios.NewPlan(scenarios.Scenario{Name: "calm", Intents: 3, Steps: lively().Steps[3:]}, seed)
		calm.Seed = 0
		seen["calm "+written(t, calm)] = true
		requireSpread(t, p)
	}
	require.Len(t, seen, 101, "without anything random, all seeds give one plan")
}

// requireSpread checks that what is drawn stays inside what the scenario allows.
func requireSpread(t *testing.T, p scenarios.Plan) {
	t.Helper()
	for _, i := range p.Intents {
		for n, pause := range i.Moves[0].Batch[0].Pauses {
			most := 100 * time.Millisecond << n
			require.LessOrEqual(t, pause.Fixed, most)
			require.GreaterOrEqual(t, pause.Fixed, most/2)
		}
		for _, a := range i.Moves[2].Batch {
			require.Less(t, a.Plus.Fixed, 10*time.Millisecond)
		}
	}
}

func TestIntentsOfOnePlanDifferInWhatIsRandom(t *testing.T) {
	t.Parallel()
	s := lively()
	s.Intents = 50
	seen := map[string]bool{}
	for _, i := range scenarios.NewPlan(s, 7).Intents {
		plus := i.Moves[2].Batch[0].Plus.String()
		require.False(t, seen[plus], plus)
		seen[plus] = true
	}
}

func TestThePlanOfAScenarioIsAsItWas(t *testing.T) {
	t.Parallel()
	for _, s := range []scenarios.Scenario{lively(), busy()} {
		golden := "testdata/" + s.Name + ".plan.jsonl"
		got := written(t, scenarios.NewPlan(s, 7))
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got)
		for line := range strings.Lines(got) {
			require.True(t, json.Valid([]byte(line)), line)
		}
	}
}

func TestAPlanIsWrittenUpToTheFirstFailure(t *testing.T) {
	t.Parallel()
	p := scenarios.NewPlan(lively(), 7)
	for most := range 3 {
		out := &narrow{room: most}
		n, err := p.WriteTo(out)
		require.ErrorIs(t, err, errNarrow)
		require.Equal(t, int64(out.text.Len()), n)
	}
}

// narrow takes so many writes.
type narrow struct {
	room int
	text bytes.Buffer
}

var errNarrow = fmt.Errorf("no room")

func (n *narrow) Write(p []byte) (int, error) {
	if n.room == 0 {
		return 0, errNarrow
	}
	n.room--
	return n.text.Write(p)
}

func TestAScenarioWithMoreIntentsHasWholeFamilies(t *testing.T) {
	t.Parallel()
	plain := scenarios.Scenario{Intents: 12}
	require.Equal(t, 12, plain.WithIntents(5).Intents, "never fewer than the file says")
	require.Equal(t, 61, plain.WithIntents(61).Intents)
	require.Equal(t, 63, scenarios.Scenario{Intents: 12, Twins: 3}.WithIntents(61).Intents)
	require.Equal(t, 64, scenarios.Scenario{Intents: 12, Neighbours: &scenarios.Neighbours{Of: 4}}.WithIntents(61).Intents)
}

func TestEachIntentTakesTheNextPause(t *testing.T) {
	t.Parallel()
	second := scenarios.Span{Fixed: time.Second}
	s := scenarios.Scenario{Name: "late", Intents: 3, Steps: []scenarios.Step{
		{Send: &scenarios.Send{}},
		{Wait: &scenarios.Wait{For: scenarios.WaitRemembered, Pauses: []scenarios.Span{second, second.Scale(3)}}},
	}}
	var pauses []scenarios.Span
	for _, i := range scenarios.NewPlan(s, 1).Intents {
		pauses = append(pauses, i.Moves[1].Wait.Pause)
	}
	require.Equal(t, []scenarios.Span{second, second.Scale(3), second}, pauses)
}

func TestEachIntentTakesTheNextWork(t *testing.T) {
	t.Parallel()
	s := scenarios.Scenario{Name: "long", Intents: 3, Steps: []scenarios.Step{{Tabs: []scenarios.Tab{{}, {}}}}}
	require.True(t, s.Races())
	s.Work = []faults.Duration{faults.Duration(time.Second), faults.Duration(2 * time.Second)}
	require.False(t, s.Races(), "long work needs no luck")
	var work []time.Duration
	for _, i := range scenarios.NewPlan(s, 1).Intents {
		work = append(work, i.Work)
	}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, time.Second}, work)
}

func TestOnlyWhatGoesAtTheSameTimeRaces(t *testing.T) {
	t.Parallel()
	for _, step := range []scenarios.Step{{Burst: &scenarios.Burst{}}, {Sweep: &scenarios.Sweep{}}, {Crash: &scenarios.Crash{}}, {Tabs: []scenarios.Tab{{}}}} {
		require.True(t, scenarios.Scenario{Steps: []scenarios.Step{{Send: &scenarios.Send{}}, step}}.Races())
	}
	require.False(t, scenarios.Scenario{Steps: []scenarios.Step{{Send: &scenarios.Send{}}, {Look: &scenarios.Look{}}}}.Races())
}

func TestEveryOtherCutHasANamedMoment(t *testing.T) {
	t.Parallel()
	const committed, written, commit, counted = faults.AtCommitted, faults.AtWritten, faults.AtCommit, faults.Moment("")
	for link, want := range map[string][]faults.Moment{
		scenarios.TheStore:   {written, counted, written, counted, written, counted},
		scenarios.Dependency: {counted, counted, counted, counted, counted, counted},
		"database":           {committed, counted, written, counted, commit, counted},
	} {
		s := scenarios.Scenario{Name: "cut", Intents: len(want), Steps: []scenarios.Step{{Send: &scenarios.Send{Cut: &scenarios.LinkCut{Link: link, For: new(faults.Duration)}}}}}
		var got []faults.Moment
		for _, i := range scenarios.NewPlan(s, 1).Intents {
			got = append(got, i.Moves[0].Batch[0].Cut.Moment)
		}
		require.Equal(t, want, got, link)
	}
}

func TestTheMomentOfACutByWhatACreateDoes(t *testing.T) {
	t.Parallel()
	commits, bare, dark := scenarios.Passing{Moments: 8, Commits: 1, Writes: 2}, scenarios.Passing{Moments: 4, Writes: 2}, scenarios.Passing{Moments: 4}
	for _, row := range []struct {
		cut     scenarios.Cutting
		passing scenarios.Passing
		want    faults.Moment
	}{
		{scenarios.Cutting{Moment: faults.AtCommitted}, commits, "committed"},
		{scenarios.Cutting{Moment: faults.AtCommitted}, bare, "written-1"},
		{scenarios.Cutting{Moment: faults.AtCommit, Part: 0.6}, bare, "write-2"},
		{scenarios.Cutting{Moment: faults.AtCommitted, Part: 0.6}, dark, "4"},
		{scenarios.Cutting{Moment: faults.AtCommitted}, scenarios.Passing{}, "committed"},
		{scenarios.Cutting{Moment: faults.AtWritten}, scenarios.Passing{}, "written-1"},
		{scenarios.Cutting{Moment: faults.AtWritten.Nth(2)}, commits, "written-2"},
		{scenarios.Cutting{Moment: "7", Part: 0.6}, bare, "7"},
		{scenarios.Cutting{Part: 0.5}, bare, "4"},
	} {
		require.Equal(t, row.want, row.cut.At(row.passing), "%+v", row)
	}
}

// TestShardsShareAPlan deals plans with twins, neighbours and background traffic to shards.
func TestShardsShareAPlan(t *testing.T) {
	t.Parallel()
	plain := scenarios.Scenario{Name: "plain", Intents: 10, Steps: []scenarios.Step{{Send: &scenarios.Send{}}}}
	twins, neighbours, busy := plain, plain, plain
	twins.Twins = 2
	neighbours.Neighbours = &scenarios.Neighbours{Of: 5}
	busy.Background = &scenarios.Background{Rate: 10, Intents: 3}
	for _, s := range []scenarios.Scenario{plain, twins, neighbours, busy} {
		whole := scenarios.NewPlan(s, 7)
		for of := 1; of <= 12; of++ {
			seen := map[string]int{}
			for number := 1; number <= of; number++ {
				part := whole.Of(scenarios.Shard{Number: number, Of: of})
				background := 0
				for _, i := range part.Intents {
					if i.Background {
						background++
						continue
					}
					seen[i.ID]++
					if s.GroupSize() > 1 {
						require.Zero(t, (len(part.Intents)-background)%s.GroupSize(), "whole groups")
					}
				}
				require.Equal(t, len(part.Intents) > 0 && s.Background != nil, background == 3)
			}
			require.Len(t, seen, 10, "%d shards of %d", of, s.GroupSize())
			for id, n := range seen {
				require.Equal(t, 1, n, id)
			}
		}
	}
}

func TestASlowTargetHasLessBackground(t *testing.T) {
	t.Parallel()
	s := scenarios.Scenario{Name: "loaded", Intents: 2, Steps: []scenarios.Step{{Send: &scenarios.Send{}}}, Background: &scenarios.Background{Rate: 50, Intents: 100}}
	whole := scenarios.NewPlan(s, 7)
	part := whole.WithBackground(4, 8*time.Second)
	require.Equal(t, whole.Intents[:6], part.Intents)
	require.InDelta(t, 0.5, part.Background, 1e-9)
	require.Equal(t, whole, whole.WithBackground(100, time.Second))
	require.Len(t, whole.Intents, 102, "which stays as it is")
}

func TestAPlanForASlowTargetIsSpreadOverTheWhole(t *testing.T) {
	t.Parallel()
	s := scenarios.Scenario{Name: "long", Neighbours: &scenarios.Neighbours{Of: 1}, Steps: []scenarios.Step{{Crash: &scenarios.Crash{To: scenarios.Span{Share: 1}}}}, Background: &scenarios.Background{Intents: 3}}
	for intents, x := range map[int]struct{ of, first, last int }{30: {4, 1, 22}, 60: {6, 1, 56}, 24: {6, 1, 21}, 32: {6, 1, 26}} {
		s.Intents = intents
		whole := scenarios.NewPlan(s, 7)
		part := whole.Spread(x.of)
		require.Equal(t, intents, part.Whole)
		require.Len(t, part.Intents, x.of+3, "the background goes on")
		require.Equal(t, x.first, part.Intents[0].Number)
		require.Equal(t, x.last, part.Intents[x.of-1].Number)
		turns := map[int]bool{}
		for _, i := range part.Intents[:x.of] {
			require.Equal(t, whole.Intents[i.Number-1], i)
			turns[i.Number%min(x.of, 6)] = true
		}
		require.Len(t, turns, min(x.of, 6), "what takes turns still does")
		require.Equal(t, part, part.Spread(x.of))
		require.Equal(t, intents, part.Spread(2).Whole)
	}
	whole := scenarios.NewPlan(s, 7)
	require.Equal(t, whole, whole.Spread(len(whole.Intents)))
	s.Neighbours, s.Twins, s.Intents = nil, 3, 12
	require.Len(t, scenarios.NewPlan(s, 7).Spread(7).Intents, 2*3+3, "in whole groups")
}
