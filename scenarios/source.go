package scenarios

import (
	"bytes"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// Source returns the text of a scenario as a person would write it: without what a file may leave out. S
// must have been loaded, and loading the text gives a scenario that has the same plans.
func Source(s Scenario) ([]byte, error) {
	short := s.clone()
	if short.Concurrency == usualConcurrency || short.Intents == 1 && short.Background == nil {
		short.Concurrency = 0
	}
	implied := short.implied()
	short.Needs = slices.DeleteFunc(short.Needs, func(n Need) bool { return slices.Contains(implied, n) })
	for _, send := range short.sends() {
		if send.Cut != nil && send.Cut.For != nil && *send.Cut.For == usualCut {
			send.Cut.For = nil
		}
		if send.Lane == Clean {
			send.Lane = ""
		}
		if send.Timeout == (Span{Fixed: usualTimeout}) {
			send.Timeout = Span{}
		}
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(short); err != nil {
		return nil, fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	return out.Bytes(), nil
}
