package drafting

import (
	"encoding/json"
	"strings"
)

// ListMember is the member of a draft that holds a body that is a list: all others are mappings.
const ListMember = "items"

// writtenList is how such a body is sent: the list and nothing around it.
const writtenList = "{{." + ListMember + " | json}}"

// readList takes a list of objects as the one member of the body; false: the text is none.
func (c *Request) readList(text string) bool {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var list []any
	if err := decoder.Decode(&list); err != nil || len(list) == 0 || decoder.More() {
		return false
	}
	for _, entry := range list {
		if _, isObject := entry.(map[string]any); !isObject {
			return false
		}
	}
	c.Body, c.Written = map[string]any{ListMember: numbers(list)}, writtenList
	return true
}

// AsList lets the body of a draft be the list that it holds.
func AsList(d *Draft) {
	d.Written = writtenList
	if d.Header["Content-Type"] == "" {
		d.Header["Content-Type"] = "application/json"
	}
}

// listed reports that the body is a list.
func (p Payload) listed() bool { return p.Written == writtenList }
