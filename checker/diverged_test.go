package checker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Two rows are those of two instances that each kept their promise, or of one that did not.
func TestDuplicatesThatReplicationMade(t *testing.T) {
	t.Parallel()
	converging := terms()
	converging.Contract.Converged = contract.Duration(30 * time.Second)
	a, b := acknowledged(201, "o1"), acknowledged(201, "o2")
	replicated, plain := []string{"diverged/replicated"}, []string{"duplicate"}
	runCells(t, []cell{
		{name: "each instance made one", terms: converging, story: story(at(1, a), at(2, b), at(1, a)).rows(2), want: replicated},
		{name: "one instance made both", terms: converging, story: story(at(1, a), at(1, b)).rows(2), want: plain},
		{name: "both told of the same", terms: converging, story: story(at(1, a), at(2, a)).rows(2), want: plain},
		{name: "one of them told of two", terms: converging, story: story(at(1, a), at(2, b), at(2, a)).rows(2), want: plain},
		{name: "they have one database", story: story(at(1, a), at(2, b)).rows(2), want: plain},
		{name: "they made one", terms: converging, story: story(at(1, a), at(2, a)).rows(1).probe(at(1, a))},
	})
}

func TestReplicasThatDiffer(t *testing.T) {
	t.Parallel()
	converging := terms()
	converging.Contract.Converged = contract.Duration(30 * time.Second)
	h := scene(story(at(1, acknowledged(201, "o1")), at(2, acknowledged(201, "o1"))).rows(1).probe(at(1, acknowledged(201, "o1"))))
	require.Equal(t, checker.Pass, check(h, converging).Verdict)
	for _, s := range []*history.Snapshot{h.T1, h.T2} {
		for _, rows := range s.Rows {
			for i := range rows {
				rows[i][history.NotAt] = "us"
			}
		}
	}
	r := check(h, converging)
	require.Equal(t, []string{"diverged/rows"}, found(r))
	require.Equal(t, "a row that is not at us", r.Findings[0].Observed)
	require.Equal(t, "converged: 30s", r.Findings[0].Contract)
	require.Equal(t, checker.Pass, check(h, terms()).Verdict, "nothing of the kind is promised")
	h.Incidents = []history.Incident{{At: 1, Kind: history.Interruption, Text: "ctrl-c"}}
	require.Empty(t, check(h, converging).Findings, "nobody waited until they were equal")
}
