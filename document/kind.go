package document

import (
	"encoding/json"

	"gopkg.in/yaml.v3"
)

// kinds are what a file is that has a certain key at its top, and where such a file belongs.
var kinds = []struct{ key, says string }{
	{"openapi", "an OpenAPI document; doubletap init --openapi FILE makes a target file of it"},
	{"swagger", "an OpenAPI document; doubletap init --openapi FILE makes a target file of it"},
	{"base_url", "a target file; it belongs behind --target"},
	{"steps", "a scenario; it is an argument of run, as in doubletap run FILE --target TARGET"},
	{"known", "a register of known bugs; it belongs behind --known"},
}

// otherKind says in one mistake that the file is of another kind than the schema; nil: it may be of this one. A file with a
// required key of the schema is of this kind, whatever else it has; and a schema without keys takes every kind.
func (d *Document) otherKind(schema []byte) *Mistake {
	var rules struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &rules) != nil || len(rules.Properties) == 0 || d.root.Kind != yaml.MappingNode {
		return nil
	}
	for _, key := range rules.Required {
		if key != "name" && d.Has("/"+key) { // files of several kinds have a name
			return nil
		}
	}
	for _, kind := range kinds {
		if _, ours := rules.Properties[kind.key]; !ours && d.Has("/"+kind.key) {
			m := d.Mistake("/"+kind.key, "this is %s", kind.says)
			return &m
		}
	}
	return nil
}
