package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestTheTimeInsideIsThatOfTheLastCreates(t *testing.T) {
	t.Parallel()
	inside := &insideTime{recent: []time.Duration{millis(40)}}
	create := func(id string, status int, took float64) *outgoing {
		o := attempt(0, 10, 90, &history.Passage{Status: status, Arrived: moment(20), Answered: moment(20 + took)})
		o.record.ID = id
		return o
	}
	for _, o := range []*outgoing{create("i001.2", 201, 1), create("i001.1", 409, 1), create("i001.1.r1", 201, 1), attempt(201, 10, 50, nil)} {
		inside.learn(o)
	}
	require.Equal(t, millis(40), inside.now(), "a replay, a refusal and a retry tell nothing")
	inside.learn(create("i001.1", 201, 2))
	inside.learn(create("i002.1", 201, 4))
	require.Equal(t, millis(4), inside.now())
	require.Equal(t, millis(2), inside.least())
	for range mostRecent {
		inside.learn(create("i003.1", 201, 30))
	}
	require.Equal(t, millis(30), inside.least(), "older ones are forgotten")
}

func TestWhatHasAShareOfACreateIsReleasedAtTheTap(t *testing.T) {
	t.Parallel()
	half := scenarios.Span{Share: 0.5}
	for move, want := range map[*scenarios.PlannedAttempt]bool{
		{At: half}: true, {Plus: half}: true, {Timeout: half}: true, {Timeout: scenarios.Span{Fixed: time.Second}}: false,
	} {
		require.Equal(t, want, byTap(scenarios.Move{Batch: []scenarios.PlannedAttempt{{}, *move}}), "%+v", move)
	}
}
