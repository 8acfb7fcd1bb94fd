package scenarios

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// String returns the fault in the words of a file, such as "latency: 100ms".
func (f Fault) String() string {
	var node yaml.Node
	if err := node.Encode(f); err != nil {
		return "a fault that cannot be written: " + err.Error()
	}
	inOneLine(&node)
	text, err := yaml.Marshal(&node)
	if err != nil {
		return "a fault that cannot be written: " + err.Error()
	}
	line := strings.TrimSuffix(string(text), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(line, "{"), "}")
}

func inOneLine(node *yaml.Node) {
	if node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	for _, child := range node.Content {
		inOneLine(child)
	}
}

// UnmarshalYAML reads a fault. "withhold" may stand alone.
func (f *Fault) UnmarshalYAML(node *yaml.Node) error {
	type plain Fault
	bare := node.Value
	if node.Kind != yaml.ScalarNode {
		if err := node.Decode((*plain)(f)); err != nil {
			return err
		}
		bare = emptyMember(node)
	}
	if bare == "withhold" {
		f.Withhold = &Withhold{}
	}
	return nil
}

// MarshalYAML writes the shortest form.
func (f Fault) MarshalYAML() (any, error) {
	type plain Fault
	if f.Withhold != nil {
		return "withhold", nil
	}
	return plain(f), nil
}

// short reads a scalar into the one member that matters most, and a mapping into all of them.
func short(node *yaml.Node, member, all any) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(member)
	}
	return node.Decode(all)
}

// UnmarshalYAML reads the delay alone, or a mapping.
func (l *Latency) UnmarshalYAML(node *yaml.Node) error {
	type plain Latency
	return short(node, &l.Delay, (*plain)(l))
}

// MarshalYAML writes the shortest form.
func (l Latency) MarshalYAML() (any, error) {
	type plain Latency
	if l == (Latency{Delay: l.Delay}) {
		return l.Delay, nil
	}
	return plain(l), nil
}

// UnmarshalYAML reads the rate alone, or a mapping.
func (b *Bandwidth) UnmarshalYAML(node *yaml.Node) error {
	type plain Bandwidth
	return short(node, &b.Rate, (*plain)(b))
}

// MarshalYAML writes the shortest form.
func (b Bandwidth) MarshalYAML() (any, error) {
	type plain Bandwidth
	if b == (Bandwidth{Rate: b.Rate}) {
		return b.Rate, nil
	}
	return plain(b), nil
}

// UnmarshalYAML reads the time alone, or a mapping.
func (h *HangUp) UnmarshalYAML(node *yaml.Node) error {
	type plain HangUp
	return short(node, &h.After, (*plain)(h))
}

// MarshalYAML writes the shortest form.
func (h HangUp) MarshalYAML() (any, error) { return h.After, nil }

// UnmarshalYAML reads "reset", or a mapping.
func (c *Cut) UnmarshalYAML(node *yaml.Node) error {
	type plain Cut
	if node.Kind == yaml.ScalarNode && node.Value == "reset" {
		c.Reset = true
		return nil
	}
	return node.Decode((*plain)(c))
}

// MarshalYAML writes the shortest form. A cut after no byte at all has to say so.
func (c Cut) MarshalYAML() (any, error) {
	if c.Reset {
		return "reset", nil
	}
	return map[string]int64{"after": c.After}, nil
}

// UnmarshalYAML reads the delay alone, or a mapping.
func (s *SlowClose) UnmarshalYAML(node *yaml.Node) error {
	type plain SlowClose
	return short(node, &s.Delay, (*plain)(s))
}

// MarshalYAML writes the shortest form.
func (s SlowClose) MarshalYAML() (any, error) {
	type plain SlowClose
	if s == (SlowClose{Delay: s.Delay}) {
		return s.Delay, nil
	}
	return plain(s), nil
}

// UnmarshalYAML reads the size alone, or a mapping.
func (s *Slice) UnmarshalYAML(node *yaml.Node) error {
	type plain Slice
	return short(node, &s.Size, (*plain)(s))
}

// MarshalYAML writes the shortest form.
func (s Slice) MarshalYAML() (any, error) {
	type plain Slice
	if s == (Slice{Size: s.Size}) {
		return s.Size, nil
	}
	return plain(s), nil
}

// UnmarshalYAML reads the link's name alone, or a mapping.
func (c *LinkCut) UnmarshalYAML(node *yaml.Node) error {
	type plain LinkCut
	return short(node, &c.Link, (*plain)(c))
}

// MarshalYAML writes the shortest form.
func (c LinkCut) MarshalYAML() (any, error) {
	type plain LinkCut
	if c == (LinkCut{Link: c.Link, For: usualCut}) || c == (LinkCut{Link: c.Link}) {
		return c.Link, nil
	}
	return plain(c), nil
}
