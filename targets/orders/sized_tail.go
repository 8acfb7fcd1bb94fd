package orders

import (
	"encoding/json"
	"maps"
)

// replayOfLarge makes the replay of an answer of which a change takes the members. Other answers, which have no terms, stay
// as they are.
func replayOfLarge(change func(members map[string]any)) func(answer) answer {
	return func(recorded answer) answer {
		var members map[string]any
		if json.Unmarshal(recorded.Body, &members) != nil || members["terms"] == nil {
			return recorded
		}
		changed := maps.Clone(members)
		change(changed)
		recorded.Body = mustJSON(changed)
		return recorded
	}
}
