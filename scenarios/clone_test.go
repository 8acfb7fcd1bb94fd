package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
)

func TestAClonesChangesLeaveTheOriginalAlone(t *testing.T) {
	t.Parallel()
	original := func() Scenario {
		return Scenario{
			Name: "a", Needs: []Need{NeedsKey}, Neighbours: &Neighbours{Of: 2}, Background: &Background{Send: Send{Retry: &Retry{On: []RetryOn{NoAnswer}}}},
			Lanes: map[string][]faults.Fault{"one": {{Toxic: &faults.Toxic{Attributes: map[string]any{"bytes": 5, "list": []any{1}}}}}},
			Steps: []Step{{Send: &Send{Lane: "one"}}, {Tabs: []Tab{{Count: 2}}}},
		}
	}
	s := original()
	c := s.clone()
	require.Equal(t, s, c)
	require.Nil(t, c.Links, "a nil stays nil")
	c.Needs[0], c.Neighbours.Of, c.Background.Retry.On[0] = NeedsAlter, 3, "409"
	c.Lanes["one"][0].Toxic.Attributes["bytes"] = 6
	c.Lanes["one"][0].Toxic.Attributes["list"].([]any)[0] = 2
	c.Lanes["two"] = nil
	c.Steps[0].Send.Lane, c.Steps[1].Tabs[0].Count = "two", 9
	require.Equal(t, original(), s)
}
