package drafting

import (
	"reflect"
	"regexp"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// stateName matches names of members that say how far a thing has come.
var stateName = regexp.MustCompile(`(?i)(status|state|phase|stage|progress)$`)

// unfinished matches what such a member says of a thing that goes on.
var unfinished = regexp.MustCompile(`(?i)pend|progress|process|queue|new|creat|submit|accept|open|init|schedul|running|wait|start|receiv|unpaid|author|placed|review|draft`)

// Underway reports that an answer says of the thing that it is not where it will be: a repetition may tell the state of then.
func (a Answer) Underway() bool { return len(states(a, true)) > 0 }

// MovedOn reports that another answer about the same thing tells another state.
func (a Answer) MovedOn(later Answer) bool {
	return !reflect.DeepEqual(states(a, false), states(later, false))
}

// states are the members that say how far a thing has come, by their pointers; only those that say that it goes on, if asked.
func states(a Answer, goesOn bool) map[string]string {
	found := map[string]string{}
	Scalars("", a.Body, func(pointer string, value any) {
		_, name := jsonpointer.Cut(pointer)
		text, isText := value.(string)
		if isText && stateName.MatchString(name) && (!goesOn || unfinished.MatchString(text)) {
			found[pointer] = text
		}
	})
	return found
}
