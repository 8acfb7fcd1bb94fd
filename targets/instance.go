package targets

import (
	"maps"
	"net/url"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Instance is one of several addresses of a target that doubletap does not start, such as a region.
type Instance struct {
	BaseURL  string `yaml:"base_url" json:"base_url"`
	Database string `yaml:"database" json:"-"` // URL of its own, which may hold a password; empty: it has none of its own
}

// UnmarshalYAML takes a URL in place of a mapping with base_url.
func (i *Instance) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&i.BaseURL)
	}
	type plain Instance
	return node.Decode((*plain)(i))
}

// InstanceNames lists the names of the addresses, sorted: the first has the number 1.
func (t Target) InstanceNames() []string { return slices.Sorted(maps.Keys(t.Instances)) }

// At is the target as the one at an address of [Target.Instances].
func (t Target) At(instance string) Target {
	t.BaseURL, t.Instances = t.Instances[instance].BaseURL, nil
	return t
}

// instances looks at the addresses of a target that runs already. They may differ in their host
// alone, as one request is built for all of them.
func instances(v *validator) {
	if len(v.target.Instances) == 0 {
		if v.target.Contract.Converged > 0 {
			v.addMistake("/contract/converged", "there is one database, with which nothing has to converge; expected instances.NAME.database")
		}
		return
	}
	switch {
	case v.target.Process != nil:
		v.addMistake("/instances", "these are the addresses of a target that runs already, and doubletap starts this one; expected process.instances, a number, or no process")
	case v.target.Protocol == HTTP2:
		v.addMistake("/instances", "several addresses are for HTTP/1.1, where each request has a connection of its own; leave protocol out")
	case v.target.Socket != "":
		v.addMistake("/instances", "several addresses are reached by TCP, and this target by a socket")
	}
	apart := false
	for name, instance := range v.target.Instances {
		apart = apart || instance.Database != ""
		if instance.Database != "" && v.target.Database.URL == "" {
			v.addMistake(jsonpointer.Of("instances", name, "database"), "the rows are read from database.url first, and what it lacks from here; add database.url, that of another instance")
		}
	}
	if apart && v.target.Contract.Converged == 0 {
		v.addMistake("/instances", "instances with databases of their own differ for a while; expected contract.converged, how long that may be, such as 30s")
	}
	if !apart && v.target.Contract.Converged > 0 {
		v.addMistake("/contract/converged", "there is one database, with which nothing has to converge; expected instances.NAME.database")
	}
	base, err := url.Parse(v.target.BaseURL)
	if err != nil { // which is a mistake of another place
		return
	}
	for name, instance := range v.target.Instances {
		path := jsonpointer.Of("instances", name)
		u, err := url.Parse(instance.BaseURL)
		switch {
		case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
			v.addMistake(path, "expected a URL with a host that begins with http:// or https://")
		case u.Scheme != base.Scheme || u.Path != base.Path || u.RawQuery != "":
			v.addMistake(path, "expected %s:// and the path of base_url: the addresses differ in their host alone", base.Scheme)
		}
	}
}
