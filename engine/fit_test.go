package engine

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// playedOf are the names of scenarios in the order in which they are played, and of those that are left out.
func playedOf(s *Session) (played, out []string) {
	for _, i := range inOrder(s) {
		name := s.config.Scenarios[i].Scenario.Name
		if s.manifest.Scenarios[i].Why == leftOut {
			out = append(out, name)
		} else {
			played = append(played, name)
		}
	}
	return played, out
}

func TestABudgetIsSpentOnWhatFindsMostInItsTime(t *testing.T) {
	t.Parallel()
	all := []string{"late-retry", "sweep", "burst-same-key", "burst-under-load", "sequential-replay", "plain-create", "crash-sweep"}
	fitted := func(budget time.Duration, create time.Duration) (played, out []string) {
		s := atSlow(t, speed{}, Config{}, all...)
		s.normal = create
		fit(s, budget)
		return playedOf(s)
	}
	played, out := fitted(time.Hour, 5*time.Millisecond)
	require.Equal(t, all, played, "where all of them fit, nothing changes")
	require.Empty(t, out)

	played, out = fitted(4*time.Second, 5*time.Millisecond)
	require.Equal(t, "plain-create", played[0], "the control explains what the others show")
	require.Subset(t, played, []string{"burst-same-key", "sequential-replay"})
	require.Subset(t, out, []string{"crash-sweep", "late-retry"}, "they take long, and others have found what they find")
	require.ElementsMatch(t, all, append(played, out...))

	_, out = fitted(4*time.Second, 100*time.Millisecond)
	require.Contains(t, out, "sweep", "the target is what takes the time")

	s := atSlow(t, speed{}, Config{}, all...)
	s.config.Scenarios[0].Scenario.Name = "mine"
	s.normal = 5 * time.Millisecond
	fit(s, 12*time.Second)
	played, _ = playedOf(s)
	require.Equal(t, []string{"plain-create", "mine"}, played[:2], "a scenario of the user's own is wanted")
	require.Equal(t, leftOut, s.manifest.Scenarios[6].Why)
	require.Empty(t, s.plans[6].Intents, "what is left out sends nothing")
}

// Requests without an answer wait for minutes: the end of the budget ends them.
func TestRequestsThatHangDoNotOutlastTheBudget(t *testing.T) {
	t.Parallel()
	var pilots atomic.Int64
	over := make(chan struct{})
	n := &notebook{notes: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && pilots.Add(1) > 4 {
			<-over
			return
		}
		n.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	const patient = `name: patient
summary: Clients that wait for long.
intents: 1000
concurrency: 250
needs: [repeatable]
steps: [{burst: {copies: 2, timeout: 30m}}, {send: {timeout: 30m}}]
exercised: [overlapped]
`
	one, err := scenarios.Load("patient.yaml", []byte(patient))
	require.NoError(t, err)
	began := time.Now()
	report, err := Run(t.Context(), Config{
		SUT: sut.Options{Target: "target.yaml", Source: notesFile(server.URL, "")}, Reports: t.TempDir(), Seed: 1, Seeded: true, Course: Course{Budget: 5 * time.Second},
		Scenarios: []scenarios.File{{Path: "patient.yaml", Source: []byte(patient), Scenario: one}},
	})
	require.NoError(t, err)
	require.Less(t, time.Since(began), 2*time.Minute)
	require.Equal(t, checker.Inconclusive, report.Results[0].Verdict)
	require.Contains(t, strings.Join(report.Results[0].Reasons, "\n"), errBudget.Error(), "also where it was over before the scenario had a history")
}
