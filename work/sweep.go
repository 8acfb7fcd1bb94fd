package work

import (
	"errors"
	"strings"
)

// Sweep removes what runs have left on a server whose coordinators were killed, and returns their names. Those of which the
// coordinator is there stay.
func Sweep(server Place) ([]string, error) {
	l, err := connect(server)
	if err != nil {
		return nil, err
	}
	defer l.close()
	names := map[string]bool{}
	for stream := range l.js.StreamNames() {
		for _, begin := range []string{"KV_" + prefix, "OBJ_" + prefix, prefix + "shards-"} {
			if name, is := strings.CutPrefix(stream, begin); is {
				names[name] = true
			}
		}
	}
	var removed []string
	var problems []error
	for name := range names {
		one := *l
		one.place.name = name
		age, _, err := one.age()
		if err == nil && age >= deadAfter {
			if err = one.remove(); err == nil {
				removed = append(removed, name)
			}
		}
		problems = append(problems, err)
	}
	return removed, errors.Join(problems...)
}
