package checker_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

func TestAFindingIsReportedOnce(t *testing.T) {
	t.Parallel()
	r := check(wrong(), terms())
	require.Len(t, r.Findings, 1, "it shows at T1 and at T2")
	require.Equal(t, "T1", r.Findings[0].Moment)
}

func TestRowsOfBothBodiesAreEvidence(t *testing.T) {
	t.Parallel()
	r := check(scene(story(acknowledged(201, "o1"), altered(acknowledged(201, "o2"))).rows(1).and("o2")), terms())
	require.Equal(t, checker.Duplicate, r.Findings[0].Kind)
	rows := r.Findings[0].Rows
	require.Len(t, rows, 2)
	require.Equal(t, history.Altered, rows[1].Body)
	require.Equal(t, "o2", rows[1].Rows[0]["id"])
}

func TestFindingsThatStandWithoutTheTarget(t *testing.T) {
	t.Parallel()
	mine := story(acknowledged(201, "o1")).named("p1").of("p").rows(1)
	leak := scene(mine, story(answer(201, `{"id":"o2","note":"dtp1"}`)).named("q1").of("q").holding("o2"))
	happened(history.TargetGone, leak)
	require.Equal(t, []string{"leak"}, found(check(leak, terms())))

	accepted := scene(story(keyed(noKey, acknowledged(201, "o1"))).rows(1))
	happened(history.TargetGone, accepted)
	require.Equal(t, []string{"missing-key-accepted"}, found(check(accepted, terms(keyRequired))))
}

func TestNeighboursOfOnePrincipalNeedNoNames(t *testing.T) {
	t.Parallel()
	beside := func(id, who string) *draft {
		return story(acknowledged(201, id)).named(id).beside("p1").of(who).rows(2)
	}
	require.Nil(t, check(scene(beside("p1", "alice"), beside("q1", "alice")), terms()).Findings[0].Who)
	require.NotNil(t, check(scene(beside("p1", "alice"), beside("q1", "bob")), terms()).Findings[0].Who)
}

// TestAFindingShowsFlushesBetweenItsAttempts holds that a flush is evidence of the findings that it may explain, and of
// no other: it hits all intents, whichever asked for it.
func TestAFindingShowsFlushesBetweenItsAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begun float64
		want  int
	}{
		"before the first attempt": {5, 0},
		"between two attempts":     {15, 1},
		"after the last attempt":   {5000, 0},
	} {
		h := scene(story(during(10, 12, acknowledged(201, "o1")), during(20, 22, acknowledged(201, "o2"))).rows(2))
		h.Flushes = []history.Flush{{Intent: "i0", Begun: ms(c.begun), Done: ms(c.begun + 1), Deleted: 1}}
		f := check(h, terms()).Findings[0]
		require.Equal(t, checker.Duplicate, f.Kind, name)
		require.Len(t, f.Flushes, c.want, name)
	}
}

// The easiest finding of a kind is read first, and the fewest attempts do not make it so.
func TestFindingsWithoutADisturbanceComeFirst(t *testing.T) {
	t.Parallel()
	crash := checker.Finding{Kind: checker.Duplicate, Meanwhile: checker.Meanwhile{Crashes: []history.Crash{{}}}, Attempts: make([]history.Attempt, 1)}
	burst := checker.Finding{Kind: checker.Duplicate, Attempts: []history.Attempt{{Together: true}, {Together: true}}}
	plain := checker.Finding{Kind: checker.Duplicate, Attempts: make([]history.Attempt, 3)}
	answered := checker.Finding{Kind: checker.Duplicate, Attempts: []history.Attempt{{Complete: true}, {Complete: true}, {Complete: true}, {Complete: true}}}
	all := []checker.Finding{crash, burst, plain, answered}
	slices.SortFunc(all, checker.Compare)
	require.Equal(t, []checker.Finding{answered, plain, burst, crash}, all)
}

// Each create of a target that repeats what was done fails, also those that only keep it busy while others come together.
func TestOfEqualFindingsThoseOfThePlainestScenarioComeFirst(t *testing.T) {
	t.Parallel()
	busy := checker.Result{Scenario: "burst beside plain creates", Bursts: &checker.Bursts{}, Intents: 8, Failed: 8, Attempts: 16}
	rare := checker.Result{Scenario: "one in four", Intents: 8, Failed: 2, Attempts: 8}
	three := checker.Result{Scenario: "three requests each", Intents: 4, Failed: 4, Attempts: 12}
	two := checker.Result{Scenario: "two requests each", Intents: 20, Failed: 20, Attempts: 40}
	none := checker.Result{Scenario: "nothing was sent"}
	all := []checker.Result{busy, none, rare, three, two}
	slices.SortFunc(all, checker.CompareResults)
	require.Equal(t, []checker.Result{two, three, rare, none, busy}, all)
}

func TestAServerErrorIsResolvedOnlyIfARetryWas(t *testing.T) {
	t.Parallel()
	a, e := acknowledged(201, "o1"), serverError()
	for text, s := range map[string]*draft{
		"1 intent answered with a server error; a retry resolved it":      story(e).rows(1).probe(a),
		"1 intent answered with a server error, and no retry resolved it": story(e).probe(e, e),
	} {
		r := s.check(terms())
		require.Len(t, r.Warnings, 1)
		require.Equal(t, text, r.Warnings[0].Text)
	}
}
