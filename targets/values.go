package targets

import (
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/scenarios/document"
	"gopkg.in/yaml.v3"
)

// String returns the duration as it is written in files.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as in files.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration such as "300ms".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := document.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// UnmarshalYAML reads a duration such as 300ms.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	if err := d.UnmarshalText([]byte(node.Value)); err != nil {
		return document.Wrong(node, "%s", err)
	}
	return nil
}

// UnmarshalYAML reads an operation. Keys of bodies that are numbers become texts, as JSON has them.
func (o *Operation) UnmarshalYAML(node *yaml.Node) error {
	type plain Operation
	if err := node.Decode((*plain)(o)); err != nil {
		return err
	}
	for _, members := range []map[string]any{o.Request.Body, o.Alter} {
		for name, value := range members {
			members[name] = likeJSON(value)
		}
	}
	return nil
}

// likeJSON returns a decoded YAML value with texts for keys throughout.
func likeJSON(v any) any {
	switch v := v.(type) {
	case []any:
		for i, entry := range v {
			v[i] = likeJSON(entry)
		}
	case map[string]any:
		for name, member := range v {
			v[name] = likeJSON(member)
		}
	case map[any]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			members[fmt.Sprint(name)] = likeJSON(member)
		}
		return members
	}
	return v
}
