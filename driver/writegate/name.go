package writegate

import (
	"fmt"
	"regexp"
	"strings"
)

// parts splits a table's name as it stands in a query: the schema, if there is one, and the table, with a
// dot in between, each plain or in quotation marks. The parts have none.
func parts(name string) ([]string, error) {
	var found []string
	for rest := name; len(found) < 2; {
		match := part().FindStringSubmatch(rest)
		if match == nil {
			break
		}
		found = append(found, strings.ReplaceAll(match[1], `""`, `"`)+strings.ReplaceAll(match[2], "``", "`")+match[3])
		if match[4] == "" {
			return found, nil
		}
		rest = rest[len(match[0]):]
	}
	return nil, fmt.Errorf("%q is not the name of a table; expected something like orders or shop.orders", name)
}

// part finds the first part of a name in one of three spellings, and the dot behind it.
func part() *regexp.Regexp {
	return regexp.MustCompile("^(?:\"((?:[^\"]|\"\")+)\"|`((?:[^`]|``)+)`|([^.\"`]+))(\\.|$)")
}
