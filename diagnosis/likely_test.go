package diagnosis_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

func TestEveryScenarioOfTheLibraryIsInAGroup(t *testing.T) {
	t.Parallel()
	library, err := engine.FindScenarios(nil)
	require.NoError(t, err)
	var names []string
	for _, f := range library {
		names = append(names, f.Scenario.Name)
	}
	var grouped []string
	for _, list := range diagnosis.Members() {
		grouped = append(grouped, list...)
	}
	require.ElementsMatch(t, names, grouped)
}

func TestEveryDefectIsComplete(t *testing.T) {
	t.Parallel()
	var names, scenarios []string
	for _, list := range diagnosis.Members() {
		scenarios = append(scenarios, list...)
	}
	for _, d := range diagnosis.Defects() {
		require.NotContains(t, names, d.Name)
		names = append(names, d.Name)
		for _, text := range []string{d.Name, d.Does, d.Mend, d.Look} {
			require.NotEmpty(t, text, d.Name)
		}
		require.Subset(t, scenarios, d.Play, d.Name)
		require.NotEmpty(t, d.Play, d.Name)
		require.NotEmpty(t, d.Signs, d.Name)
		if page, has := d.Page(); has {
			require.NotEmpty(t, page.Title)
			for _, s := range page.Sections {
				require.NotEmpty(t, s.Code, "%s, %s", d.Name, s.Stack)
			}
		}
	}
	var broken, placed []string
	for _, d := range orders.Designs() {
		if !d.Correct {
			broken = append(broken, d.Name)
		}
	}
	for _, d := range diagnosis.Defects() {
		placed = append(placed, d.Designs...)
	}
	require.ElementsMatch(t, broken, placed, "each broken design has one of the defects")
}

// The likely cause is measured as it is used: each design is judged by what the others showed.
func TestTheLikelyCauseIsRightAsOftenAsThePageSays(t *testing.T) {
	t.Parallel()
	m := diagnosis.Measure(diagnosis.Observations())
	require.GreaterOrEqual(t, float64(m.First)/float64(m.Runs), 0.70, "%+v", m)
	require.GreaterOrEqual(t, float64(m.Three)/float64(m.Runs), 0.90, "%+v", m)
	for _, b := range m.Bins {
		if b.Count >= 10 {
			require.GreaterOrEqual(t, float64(b.Right)/float64(b.Count), b.Mean()-0.15, "%+v", m)
		}
	}
}

// result is a scenario that showed kinds of finding, or passed.
func result(scenario string, kinds ...checker.Kind) checker.Result {
	r := checker.Result{Scenario: scenario, Verdict: checker.Pass, Intents: 1}
	for i, k := range kinds {
		r.Verdict = checker.Fail
		r.Failed = 1
		r.Findings = append(r.Findings, checker.Finding{ID: fmt.Sprint("F", i+1), Kind: k, Intent: "i001"})
	}
	return r
}

func TestAPlainPatternHasItsLikelyCause(t *testing.T) {
	t.Parallel()
	overlapping := func(r checker.Result) checker.Result {
		for i := range r.Findings {
			r.Findings[i].Circumstances = []checker.Circumstance{checker.Overlapping}
		}
		return r
	}
	race := []checker.Result{
		result("plain-create"), result("sequential-replay"), result("altered-after"), result("hang-up"), result("key-case"),
		overlapping(result("burst-same-key", checker.Duplicate)), overlapping(result("rage-clicks", checker.Duplicate)),
	}
	d := diagnosis.Of(race, checker.Causes(race))
	require.Len(t, d, 1)
	require.Equal(t, "check-then-act", d[0].Guesses[0].Defect, "%+v", d)
	require.Equal(t, "lock-ends-early", d[0].Guesses[1].Defect, "%+v", d)
	require.True(t, slices.IsSortedFunc(d[0].Guesses, func(a, b diagnosis.Guess) int { return cmp.Compare(b.Likelihood, a.Likelihood) }))

	folded := []checker.Result{result("plain-create"), result("sequential-replay"), result("burst-same-key"), result("key-case", checker.FalseConflict)}
	folded[3].Findings[0].Circumstances = []checker.Circumstance{checker.OtherIntent}
	require.Equal(t, "key-folded", diagnosis.Of(folded, checker.Causes(folded))[0].Guesses[0].Defect)

	// Where the refusal has words that the contract does not know, the key gets no final answer.
	unknown := []checker.Result{result("plain-create"), result("sequential-replay"), result("burst-same-key"), result("key-case", checker.StuckKey), result("key-space", checker.StuckKey)}
	for n := 3; n < 5; n++ {
		unknown[n].Findings[0].Circumstances = []checker.Circumstance{checker.Overlapping, checker.OtherIntent}
	}
	require.Equal(t, "key-folded", diagnosis.Of(unknown, checker.Causes(unknown))[0].Guesses[0].Defect)
}

// A claim that nobody ends refuses: it makes no second row, whatever else is alike.
func TestADefectIsNotNamedForWhatNoneOfItsDesignsShows(t *testing.T) {
	t.Parallel()
	for kind, cause := range map[checker.Kind]string{checker.Duplicate: "record-apart", checker.StuckKey: "claim-never-ends"} {
		crashed := []checker.Result{result("crash-sweep", kind)}
		crashed[0].Findings[0].Circumstances = []checker.Circumstance{checker.LostAnswer, checker.Crashed}
		d := diagnosis.Of(crashed, checker.Causes(crashed))
		require.Equal(t, cause, d[0].Guesses[0].Defect, "%+v", d)
	}
}

// The rows are two for each natural key, one in each spelling, whatever came when: no race makes them.
func TestTheOtherSpellingOfANaturalKeyIsNoRace(t *testing.T) {
	t.Parallel()
	apart := []checker.Result{
		result("plain-create"), result("sequential-replay"), result("fresh-key-retry"), result("burst-same-key"), result("tabs-natural-key"), result("hang-up"),
		result("cut-reset"), result("late-retry"), result("retry-elsewhere"), result("natural-key-spelling", checker.Duplicate),
	}
	f := &apart[len(apart)-1].Findings[0]
	f.Circumstances = []checker.Circumstance{checker.Overlapping, checker.OtherSpelling}
	require.Equal(t, "natural-key-as-sent", diagnosis.Of(apart, checker.Causes(apart))[0].Guesses[0].Defect)

	f.Circumstances = []checker.Circumstance{checker.Overlapping}
	for i, name := range []string{"burst-same-key", "tabs-natural-key"} {
		apart[3+i] = result(name, checker.Duplicate)
		apart[3+i].Findings[0].Circumstances = f.Circumstances
	}
	require.Equal(t, "check-then-act", diagnosis.Of(apart, checker.Causes(apart))[0].Guesses[0].Defect, "one that other requests show as well")
}

func TestWhatOneKindOfScenarioAloneShowsHasItsCause(t *testing.T) {
	t.Parallel()
	passed := []checker.Result{
		result("plain-create"), result("sequential-replay"), result("altered-after"), result("hang-up"), result("key-case"),
		result("cut-reset"), result("cut-reset-early-retry"), result("double-click"), result("burst-same-key"), result("sweep"),
		result("retry-elsewhere"), result("key-header-case"),
	}
	later := append(slices.Clone(passed), result("late-retry", checker.Duplicate))
	require.Equal(t, "forgets-too-early", diagnosis.Of(later, checker.Causes(later))[0].Guesses[0].Defect)

	race := append(slices.Clone(passed), result("altered-race", checker.Duplicate))
	f := &race[len(race)-1].Findings[0]
	f.Detail, f.Circumstances = "altered-body-accepted", []checker.Circumstance{checker.Overlapping, checker.OtherBody}
	require.Equal(t, "check-then-act", diagnosis.Of(race, checker.Causes(race))[0].Guesses[0].Defect)
}

// A balance from which updates are lost is wrong after plain creates, too: nothing that comes again with a repetition makes it so.
func TestANumberThatIsWrongWithoutRepetitionsIsNoEffectOutside(t *testing.T) {
	t.Parallel()
	var all []checker.Result
	for _, name := range []string{"plain-create", "sequential-replay", "burst-same-key", "hang-up", "cut-reset", "double-click", "altered-after", "late-retry", "distinct-twins", "retry-elsewhere"} {
		all = append(all, result(name, checker.EffectMismatch))
	}
	require.Equal(t, "effect-outside", diagnosis.Of(all, checker.Causes(all))[0].Guesses[0].Defect)
	all[0].Findings[0].Unrepeated = true
	guesses := diagnosis.Of(all, checker.Causes(all))[0].Guesses
	require.Equal(t, "read-modify-write", guesses[0].Defect, "%+v", guesses)
	for _, g := range guesses {
		require.NotEqual(t, "effect-outside", g.Defect)
	}
}

// Of two bodies under one key at the same time, one made the row and the other one the record of the key: nobody looked before acting.
func TestARefusalOfWhatARaceHasMadeIsARace(t *testing.T) {
	t.Parallel()
	race := []checker.Result{
		result("plain-create"), result("sequential-replay"), result("altered-after"), result("hang-up"), result("key-case"), result("cut-reset"),
		result("burst-same-key", checker.Duplicate), result("sweep", checker.Duplicate), result("double-click", checker.Duplicate), result("altered-race", checker.RefusedThoughDone),
	}
	for _, r := range race {
		for i := range r.Findings {
			r.Findings[i].Circumstances = []checker.Circumstance{checker.Overlapping}
		}
	}
	race[len(race)-1].Findings[0].Circumstances = []checker.Circumstance{checker.OtherBody, checker.Overlapping}
	causes := checker.Causes(race)
	for i, d := range diagnosis.Of(race, causes) {
		require.Equal(t, "check-then-act", d.Guesses[0].Defect, "%s: %+v", causes[i].Kind, d)
	}
}

func TestAScenarioThatWasNotPlayedTellsTwoCausesApart(t *testing.T) {
	t.Parallel()
	refused := []checker.Result{result("plain-create"), result("sequential-replay"), result("burst-same-key"), result("one-of-the-user", checker.FalseConflict)}
	refused[3].Findings[0].Circumstances = []checker.Circumstance{checker.OtherIntent}
	d := diagnosis.Of(refused, checker.Causes(refused))[0]
	require.Greater(t, len(d.Guesses), 1, "%+v", d)
	require.NotEmpty(t, d.Apart, "%+v", d)
	require.Contains(t, []string{d.Guesses[0].Defect, d.Guesses[1].Defect}, d.Fails)

	played := append(refused, result(d.Apart))
	require.NotEqual(t, d.Apart, diagnosis.Of(played, checker.Causes(played))[0].Apart)
}

func TestAPatternThatNothingShowedHasNoKnownCause(t *testing.T) {
	t.Parallel()
	odd := []checker.Result{result("plain-create"), result("sequential-replay"), result("key-case", checker.Leak), result("store-slow")}
	odd[2].Findings[0].Circumstances = []checker.Circumstance{checker.Expired, checker.StoreFlushed, checker.OtherKey, checker.Removed}
	d := diagnosis.Of(odd, checker.Causes(odd))
	require.Empty(t, d[0].Guesses, "%+v", d)
}

func TestWhatTheContractExcusesIsNoPattern(t *testing.T) {
	t.Parallel()
	r := result("crash-between", checker.Duplicate)
	r.Findings[0].Excused = "after_crash: at-least-once"
	require.Equal(t, []string{"crash-between"}, diagnosis.PatternOf(checker.Cause{Kind: checker.Leak}, []checker.Result{r}).Passed)
}

// brokenLinks returns what a run shows in which only the scenarios that break the connection to the database find something.
func brokenLinks(kind checker.Kind, change func(*checker.Finding)) []checker.Result {
	all := []checker.Result{
		result("plain-create"), result("sequential-replay"), result("burst-same-key"), result("hang-up"), result("cut-reset"), result("double-click"),
		result("altered-after"), result("altered-race"), result("distinct-twins"), result("late-retry"), result("sweep"), result("crash-between"),
		result("database-cut", kind), result("database-blink", kind),
	}
	for _, r := range all[len(all)-2:] {
		r.Findings[0].Circumstances = []checker.Circumstance{checker.LinkCut}
		change(&r.Findings[0])
	}
	return all
}

// Where a link broke between two transactions, a line or a balance is missing in the target's own database.
func TestAnEffectThatABrokenLinkLosesIsARecordApart(t *testing.T) {
	t.Parallel()
	all := brokenLinks(checker.EffectMismatch, func(f *checker.Finding) { f.Own, f.Unrepeated = true, true })
	guesses := diagnosis.Of(all, checker.Causes(all))[0].Guesses
	require.NotEmpty(t, guesses)
	require.Equal(t, "record-apart", guesses[0].Defect, "%+v", guesses)
}

func TestAnEffectInTheTargetsOwnDatabaseIsNoCallToAnotherService(t *testing.T) {
	t.Parallel()
	all := []checker.Result{result("plain-create"), result("sequential-replay"), result("burst-same-key"), result("distinct-twins", checker.EffectMismatch)}
	f := &all[3].Findings[0]
	f.Circumstances = []checker.Circumstance{checker.OtherIntent}
	named := func(g diagnosis.Guess) bool { return g.Defect == "downstream-key" }
	require.True(t, slices.ContainsFunc(diagnosis.Of(all, checker.Causes(all))[0].Guesses, named))
	f.Own = true
	require.False(t, slices.ContainsFunc(diagnosis.Of(all, checker.Causes(all))[0].Guesses, named))
}

// A target that refuses each retry at once has not stopped answering.
func TestARefusalIsAnAnswer(t *testing.T) {
	t.Parallel()
	stopped := func(last int) bool {
		all := brokenLinks(checker.RefusedThoughDone, func(f *checker.Finding) { f.Attempts = []history.Attempt{{}, {Status: last}} })
		return slices.ContainsFunc(diagnosis.Of(all, checker.Causes(all))[0].Guesses, func(g diagnosis.Guess) bool { return g.Defect == "stops-answering" })
	}
	require.True(t, stopped(503))
	require.False(t, stopped(409))
}

// A claim that another request takes over after a time shows where work takes long, and not in bursts, which are over sooner.
func TestAClaimThatIsTakenOverIsALockThatEndsEarly(t *testing.T) {
	t.Parallel()
	all := []checker.Result{
		result("plain-create"), result("sequential-replay"), result("burst-same-key"), result("sweep"), result("rage-clicks"), result("hang-up"), result("cut-reset"),
		result("cut-reset-early-retry"), result("double-click"), result("altered-after"), result("altered-race"), result("distinct-twins"), result("late-retry"),
		result("long-work", checker.Duplicate), result("database-cut", checker.Duplicate), result("database-blink", checker.Duplicate), result("crash-sweep", checker.Duplicate),
	}
	for i := range all {
		for n := range all[i].Findings {
			all[i].Findings[n].Circumstances = []checker.Circumstance{checker.Overlapping}
		}
	}
	guesses := diagnosis.Of(all, checker.Causes(all))[0].Guesses
	require.NotEmpty(t, guesses)
	require.Equal(t, "lock-ends-early", guesses[0].Defect, "%+v", guesses)
}

// Where a crash shows the same as a broken link, nothing behind the API has repeated the insert: its process was gone.
func TestWhatACrashShowsAsWellIsNoHiddenRetry(t *testing.T) {
	t.Parallel()
	first := func(results []checker.Result) string {
		return diagnosis.Of(results, checker.Causes(results))[0].Guesses[0].Defect
	}
	all := brokenLinks(checker.Duplicate, func(*checker.Finding) {})
	require.Equal(t, "hidden-retry", first(all))
	crash := result("crash-sweep", checker.Duplicate)
	crash.Findings[0].Circumstances = []checker.Circumstance{checker.Crashed}
	require.Equal(t, "record-apart", first(append(all, crash)))
}
