package checker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestARejectedTwinIsInformed(t *testing.T) {
	t.Parallel()
	r := rejected(400)
	h := scene(story(acknowledged(201, "o1")).named("a").twinOf("dttwin").rows(1), story(unknown(history.Timeout)).named("b").twinOf("dttwin").probe(r, r))
	judge(t, h, terms(), nil, "")
}

func TestATargetThatIsStillBusyIsNotUnavailable(t *testing.T) {
	t.Parallel()
	h := scene(story(unknown(history.Timeout)).rows(1).probe(inProgress(), inProgress()))
	happened(history.StillBusy, h)
	r := check(h, terms())
	require.Empty(t, r.Findings)
	require.Equal(t, checker.Inconclusive, r.Verdict)
}

// A lock with a time to live outlasts the process that held it. Where the contract does not say for how long, a finding takes a minute.
func TestAKeyThatADeadExecutionBlocksIsWaitedFor(t *testing.T) {
	t.Parallel()
	blocked := func(died bool, after time.Duration, more ...func(*checker.Terms)) checker.Result {
		last := during(2000+float64(after.Milliseconds()), 2010+float64(after.Milliseconds()), inProgress())
		h := scene(story(unknown(history.Reset)).probe(inProgress(), last))
		if died {
			struck(5, 50, h)
		}
		return check(h, terms(more...))
	}
	r := blocked(true, 3*time.Second)
	require.Empty(t, r.Findings)
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, r.Reasons[0], "contract.lease")
	for _, r := range []checker.Result{
		blocked(true, time.Minute),
		blocked(false, 3*time.Second),
		blocked(true, 3*time.Second, func(t *checker.Terms) { t.Contract.Lease = contract.Duration(time.Second) }),
	} {
		require.Len(t, r.Findings, 1)
		require.Equal(t, checker.StuckKey, r.Findings[0].Kind)
	}
}
