package scenarios

import "gopkg.in/yaml.v3"

// short reads a scalar into the one member that matters most, and a mapping into all of them.
func short(node *yaml.Node, member, all any) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(member)
	}
	return node.Decode(all)
}

// UnmarshalYAML reads the link's name alone, or a mapping.
func (c *LinkCut) UnmarshalYAML(node *yaml.Node) error {
	type plain LinkCut
	return short(node, &c.Link, (*plain)(c))
}

// MarshalYAML writes the shortest form.
func (c LinkCut) MarshalYAML() (any, error) {
	type plain LinkCut
	if c.Moment == "" && (c.For == nil || *c.For == usualCut) {
		return c.Link, nil
	}
	return plain(c), nil
}
