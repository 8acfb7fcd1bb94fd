package targets

import (
	"maps"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/contract"
)

// Step is a request that is sent once and not judged: it logs in, prepares, asks for a key or cleans up. Templates can
// use what it extracts from its answer.
type Step struct {
	Request  Request            `yaml:"request"`
	Statuses []int              `yaml:"statuses"` // empty: any 2xx or 3xx
	Extract  map[string]Extract `yaml:"extract"`  // by the name that templates use; the file may also say take
}

// UnmarshalYAML reads a step. The key extract was once called take, and files that say so are still read.
func (s *Step) UnmarshalYAML(node *yaml.Node) error {
	type plain Step
	both := struct {
		plain `yaml:",inline"`
		Take  map[string]Extract `yaml:"take"`
	}{}
	err := node.Decode(&both)
	*s = Step(both.plain)
	if s.Extract == nil {
		s.Extract = both.Take
	}
	return err
}

// Expects reports whether an answer with this status lets the next step begin.
func (s Step) Expects(status int) bool {
	if len(s.Statuses) == 0 {
		return status >= 200 && status < 400
	}
	return slices.Contains(s.Statuses, status)
}

// Names returns the names of what is extracted from the answer, sorted.
func (s Step) Names() []string { return slices.Sorted(maps.Keys(s.Extract)) }

// IssuedKey is the name under which one of the steps of key.issued extracts the key.
const IssuedKey = "Key"

// RateLimit is what a target lets through: Requests at once and then as many in each Per.
type RateLimit struct {
	Requests int               `yaml:"requests" json:"requests"`
	Per      contract.Duration `yaml:"per" json:"per"`
}

// Every is the time after which one more request is let through.
func (l RateLimit) Every() time.Duration { return time.Duration(l.Per) / time.Duration(l.Requests) }

// CarriesMarker reports whether the requests of an operation carry the marker themselves. Otherwise they change
// something that was prepared with it: then all requests of an intent, whatever their keys and bodies, are
// about one and the same thing.
func (t Target) CarriesMarker(o Operation) bool {
	v := validator{target: t}
	v.knows(o)
	carried, err := o.carriesMarker(v.samples()[0].values, AsItIs)
	return carried && err == nil
}
