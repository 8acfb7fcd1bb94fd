package targets

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/document"
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

// UnmarshalYAML reads what a replay promises, over what a preset has promised already. Statuses are
// keys there, and documents have texts for keys.
func (r *Replay) UnmarshalYAML(node *yaml.Node) error {
	type plain Replay
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "status" {
			numericKeys(node.Content[i+1])
		}
	}
	return node.Decode((*plain)(r))
}

func numericKeys(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		if tag := node.Content[i].ShortTag(); tag == "!!str" {
			node.Content[i].Tag = "!!int"
		}
	}
}
