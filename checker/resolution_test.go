package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
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
