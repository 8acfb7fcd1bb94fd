package engine

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Hunt is a search for a defect that few rounds show: rounds of scenarios that race, until
// the first finding. Which scenario, and with what changed, follows from what was seen so
// far: it is a bandit (UCB1) over scenarios and variations of them, which is paid in signs
// of trouble, such as overlaps and differing answers. The zero value goes on until it is
// stopped.
type Hunt struct {
	For   time.Duration // no rounds begin later; 0: there is no such time
	Until float64       // rounds end when fewer than this share of them break, 0 to 1, with 95 % confidence; 0: there is no such bound
}

// Of a hunt.
const (
	DefaultHuntRequests = 1_000_000 // that it may send
	firstBatch          = 8         // rounds of an arm that nothing is known of
	mostBatch           = 2000      // rounds at once
	shortestBatch       = 2 * time.Second
	longestBatch        = 10 * time.Second
)

// arm is one way to send rounds: a scenario of the config, or a variation of one.
type arm struct {
	of, with string
	shown    bool            // it may be chosen; a variation may when the scenario that it is of has shown most
	played   bool            // a batch of it says something
	verdict  checker.Verdict // of that
	batches  int
	last     int           // rounds that were planned for the last of them
	rounds   int           // exercised
	signs    float64       // of them, summed up
	took     time.Duration // of all batches
}

// mean is the mean sign of a round.
func (a arm) mean() float64 { return a.signs / float64(max(a.rounds, 1)) }

// perSecond is how many rounds are exercised in a second.
func (a arm) perSecond() float64 { return float64(a.rounds) / max(a.took.Seconds(), 1e-6) }

// hunt chooses arms. Arms are those of the session's scenarios, by index.
type hunt struct {
	Hunt
	arms  []arm
	begun time.Time
	sent  int // requests
}

// hunting gives a config the arms of its hunt in the place of its scenarios. Scenarios in which nothing races are a mistake, but
// where the library is meant.
func hunting(c Config) (Config, *hunt, error) {
	if c.Hunt.For < 0 || c.Hunt.Until < 0 || c.Hunt.Until >= 1 || c.Confidence > 0 || c.Intents > 0 || c.Shard.Several() || c.Replay != nil {
		return c, nil, runerror.Configf("a hunt chooses its rounds itself; expected a time of 0 or more, a bound from 0 to below 1, and neither Confidence, Intents, Shard nor Replay")
	}
	files := c.Scenarios
	if len(files) == 0 {
		library, err := FindScenarios(nil)
		if err != nil {
			return c, nil, err
		}
		files = slices.DeleteFunc(library, func(f scenarios.File) bool { return !huntable(f.Scenario) })
		slices.SortStableFunc(files, func(a, b scenarios.File) int { return ahead(a.Scenario) - ahead(b.Scenario) })
	}
	h, known := &hunt{Hunt: *c.Hunt}, maps.Clone(c.Known)
	var arms []scenarios.File
	for _, f := range files {
		if !f.Scenario.Races() {
			return c, nil, runerror.Configf("nothing races in %s, so that more rounds of it show nothing more; expected scenarios with burst, tabs, sweep or crash", f.Scenario.Name)
		}
		for i, v := range append([]scenarios.Variation{{Scenario: f.Scenario}}, scenarios.Variations(f.Scenario)...) {
			v.Scenario.Intents = 0
			v.Scenario = v.Scenario.WithIntents(firstBatch)
			arms = append(arms, scenarios.File{Path: f.Path, Scenario: v.Scenario})
			h.arms = append(h.arms, arm{of: f.Scenario.Name, with: v.With, shown: i == 0})
			if bugs := known[f.Scenario.Name]; i > 0 && len(bugs) > 0 {
				known[v.Scenario.Name] = bugs
			}
		}
	}
	c.Scenarios, c.Known, c.MaxRequests = arms, known, cmp.Or(c.MaxRequests, DefaultHuntRequests)
	return c, h, clashes(arms)
}

// huntable reports that rounds of a scenario are quick: nothing is killed.
func huntable(s scenarios.Scenario) bool {
	return s.Races() && crashesOf(s) == 0
}

// ahead orders scenarios: 0 plain bursts, which hit most, 1 what else races without a fault, 2 the others.
func ahead(s scenarios.Scenario) int {
	plain := len(s.Lanes) == 0 && len(s.Links) == 0 && s.Sinks == nil && s.Background == nil
	switch {
	case plain && slices.ContainsFunc(s.Steps, func(step scenarios.Step) bool { return step.Burst != nil && step.Burst.Altered == 0 }):
		return 0
	case plain:
		return 1
	default:
		return 2
	}
}

// play sends batches of rounds until the hunt has come to its end, and leaves the arms
// that show something in the manifest. Meanwhile an observer hears of the hunt and not of
// each batch.
func (h *hunt) play(ctx context.Context, s *Session) error {
	tell := s.config.Observe
	s.config.Observe = func(e Event) {
		switch e.(type) {
		case ScenarioStarted, ScenarioDone, Progress:
		default:
			tell(e)
		}
	}
	defer func() { s.config.Observe = tell }()
	for i := range h.arms {
		h.arms[i].shown = h.arms[i].shown && len(s.plans[i].Intents) > 0
	}
	h.begun = time.Now()
	end, failure := checker.HuntEnd(""), error(nil)
	for end == "" && failure == nil {
		i := h.choose(s)
		if i < 0 {
			end = checker.HuntStopped
			break
		}
		end, failure = h.batch(ctx, s, i)
		tell(h.progress(s))
	}
	if failure != nil {
		end = checker.HuntStopped
	}
	s.config.Observe = tell
	h.conclude(s, end)
	return failure
}

// batch plays rounds of an arm, and says how the hunt has ended; empty: it goes on.
func (h *hunt) batch(ctx context.Context, s *Session, i int) (checker.HuntEnd, error) {
	a, before := &h.arms[i], kept{s.config.Scenarios[i], s.plans[i]}
	if err := h.aim(s, i); err != nil {
		return "", err
	}
	if h.sent+s.plans[i].Requests()+len(s.plans[i].Intents) > s.config.MaxRequests {
		return checker.HuntRequests, nil
	}
	began := time.Now()
	err := h.playOnce(ctx, s, i, before)
	a.batches++
	if err != nil && ctx.Err() == nil {
		return "", fmt.Errorf("scenario %s: %w", s.config.Scenarios[i].Scenario.Name, err)
	}
	a.took += time.Since(began)
	h.sent += s.plans[i].Requests() + len(s.plans[i].Intents)
	switch why, _ := s.stopReason(ctx); {
	case a.verdict == checker.Fail:
		return checker.HuntFound, nil
	case ctx.Err() != nil:
		return checker.HuntInterrupted, nil
	case why != "":
		return checker.HuntStopped, nil
	case h.Until > 0 && h.sum().Reached():
		return checker.HuntBound, nil
	case h.For > 0 && time.Since(h.begun) >= h.For:
		return checker.HuntTime, nil
	default:
		return "", nil
	}
}

// aim plans the next batch of an arm. Its plan follows from the seed, the arm and the number of the batch; how many rounds it
// has, from what a round took so far and from what is left.
func (h *hunt) aim(s *Session, i int) error {
	a, f := h.arms[i], &s.config.Scenarios[i]
	rounds := firstBatch
	if a.rounds > 0 {
		within := min(longestBatch, max(shortestBatch, time.Since(h.begun)/20))
		if h.For > 0 {
			within = min(within, h.For-time.Since(h.begun))
		}
		rounds = min(mostBatch, 2*a.last, max(firstBatch, int(within.Seconds()*a.perSecond())))
		if h.Until > 0 {
			rounds = min(rounds, max(firstBatch, Rounds(h.Until)-h.sum().Rounds))
		}
	}
	f.Scenario.Intents = 0
	f.Scenario = f.Scenario.WithIntents(rounds)
	h.arms[i].last = rounds
	source, err := scenarios.Source(f.Scenario)
	if err != nil {
		return runerror.Environment(err)
	}
	f.Source = source
	s.plans[i] = scenarios.NewPlan(f.Scenario, batchSeed(s.config.Seed, f.Scenario.Name, a.batches))
	return nil
}

// batchSeed is the seed of the nth batch of an arm, short enough to be typed.
func batchSeed(seed uint64, arm string, n int) uint64 {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%d/%s/%d", seed, arm, n)
	return uint64(sum.Sum32())
}

// playOnce plays what is planned of an arm and adds what it showed. Of the batches of an arm the last is kept that says something.
func (h *hunt) playOnce(ctx context.Context, s *Session, i int, before kept) error {
	a, name := &h.arms[i], s.plans[i].Scenario
	room, takeBack := s.dir.Drop, func(string) error { return nil }
	if a.played {
		room, takeBack = s.dir.SetAside, s.dir.TakeBack
	}
	if err := room(name); err != nil {
		return err
	}
	s.again = fmt.Sprint("-", a.batches)
	defer func() { s.again = "" }()
	s.note(i, checker.Inconclusive, "")
	err := playQuietly(ctx, s, i)
	result := resultOf(s, i)
	switch result.Verdict {
	case checker.Pass, checker.Fail, checker.Known, checker.Mended:
	default:
		if a.played {
			s.config.Scenarios[i], s.plans[i] = before.file, before.plan
			s.note(i, checker.Inconclusive, "")
		}
		return cmp.Or(err, takeBack(name))
	}
	if err == nil && a.played {
		err = s.dir.DropAside(name)
	}
	a.played, a.verdict = true, result.Verdict
	if recorded, unread := s.History(name); unread == nil {
		rounds := checker.Rounds(result.Exercise)
		a.rounds += rounds
		a.signs += min(signs(recorded), float64(rounds))
	}
	return err
}

// kept is what the last batch of an arm was that says something.
type kept struct {
	file scenarios.File
	plan scenarios.Plan
}

// sum is what the hunt has come to so far.
func (h *hunt) sum() checker.Hunt {
	sum := checker.Hunt{Until: h.Until, Took: history.Offset(time.Since(h.begun))}
	for _, a := range h.arms {
		sum.Rounds += a.rounds
	}
	return sum
}

// progress is what is told after each batch.
func (h *hunt) progress(s *Session) Hunting {
	sum := h.sum()
	p := Hunting{Rounds: sum.Rounds, Took: sum.Took.Duration(), For: h.For, Until: h.Until, Bound: sum.Bound()}
	most := -1.0
	for i, a := range h.arms {
		if a.rounds > 0 && a.mean() > most {
			most, p.Best = a.mean(), s.config.Scenarios[i].Scenario.Name
		}
	}
	return p
}

// conclude puts what the hunt has come to into the manifest, with the arms that say something: those that broke, or else all.
func (h *hunt) conclude(s *Session, end checker.HuntEnd) {
	sum := h.sum()
	sum.Ended = end
	var tried, kept, broke []int
	for i, a := range h.arms {
		if a.batches > 0 {
			tried = append(tried, i)
			sum.Arms = append(sum.Arms, checker.Arm{
				Scenario: s.manifest.Scenarios[i].Scenario, Of: a.of, With: a.with, Batches: a.batches, Rounds: a.rounds, Signs: a.mean(), Took: history.Offset(a.took),
			})
		}
		if a.played {
			kept = append(kept, i)
		}
		if a.verdict == checker.Fail {
			broke = append(broke, i)
		}
	}
	slices.SortStableFunc(sum.Arms, func(a, b checker.Arm) int { return b.Rounds - a.Rounds })
	s.manifest.Hunt = &sum
	switch {
	case len(broke) > 0:
		kept = broke
	case len(kept) == 0 && len(tried) > 0:
		kept = tried
	case len(kept) == 0:
		return
	}
	for _, i := range kept {
		s.show(i)
	}
	entries := s.manifest.Scenarios
	s.manifest.Scenarios = nil
	for _, i := range kept {
		s.manifest.Scenarios = append(s.manifest.Scenarios, entries[i])
	}
}
