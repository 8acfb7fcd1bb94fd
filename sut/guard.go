package sut

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Guard rejects all hosts but loopback, unless the target file lists them (allow_hosts): a
// harness that floods must not meet production by accident. It looks at every address that
// the target file can name, resolves none, and contacts none. A new place for an address
// in the file needs its line here.
func (s *System) Guard() error {
	if err := s.Trusted(); err != nil {
		return err
	}
	all, err := references(s)
	if err != nil {
		return err
	}
	allowed := Allowlist(s.Target.AllowHosts)
	foreign := slices.DeleteFunc(all, func(r Reference) bool { return r.Host == "" || allowed.Permits(r.Host) })
	if len(foreign) == 0 || s.BuiltIn() {
		return localServers(foreign)
	}
	var hosts []string
	for _, f := range foreign {
		if !slices.Contains(hosts, f.Host) {
			hosts = append(hosts, f.Host)
		}
	}
	return runerror.Configf("%w\nif it may be flooded with duplicates, let %s say so:\n  allow_hosts: [%s]",
		elsewhere(foreign), s.Name, strings.Join(hosts, ", "))
}

// references lists every host that the target file or an option names, allowed or not, each
// with the line that names it. A host is empty where a line names none.
func references(s *System) ([]Reference, error) {
	var all []Reference
	add := func(what string, hosts ...string) {
		for _, host := range hosts {
			all = append(all, Reference{what, host})
		}
	}
	base, err := url.Parse(s.Target.BaseURL)
	if err != nil {
		return nil, runerror.Configf("%s: base_url cannot be parsed", s.Name)
	}
	if s.Target.Socket == "" { // which is on this machine
		add("base_url", base.Hostname())
	}
	hosts, err := databases.HostsOf(s.Target.Database.URL)
	if err != nil {
		return nil, runerror.Configf("%s: %w", s.Name, err)
	}
	add("database.url", hosts...)
	instances, err := instanceReferences(s)
	if err != nil {
		return nil, err
	}
	all = append(all, instances...)
	proxy, err := HostOf(s.options.Toxiproxy)
	if err != nil {
		return nil, runerror.Config(err)
	}
	add("--toxiproxy", proxy)
	if s.Target.Store.URL != "" {
		store, err := caches.AddressOf(s.Target.Store.URL)
		if err != nil {
			return nil, runerror.Configf("%s: store.url: %w", s.Name, err)
		}
		add("store.url", hostOf(store))
	}
	for _, name := range s.Target.SinkNames() {
		add("sinks."+name, hostOf(s.Target.Sinks[name].Address()))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Target.Links)) {
		add("links."+name+".to", hostOf(s.Target.Links[name].To))
	}
	return all, nil
}

// instanceReferences lists the hosts of the instances that a target file names, and of the
// databases that they have for themselves.
func instanceReferences(s *System) ([]Reference, error) {
	var all []Reference
	for _, name := range s.Target.InstanceNames() {
		instance, at := s.Target.Instances[name], "instances."+name
		if u, err := url.Parse(instance.BaseURL); err == nil {
			all = append(all, Reference{at, u.Hostname()})
		}
		hosts, err := hostsOf(instance.Database)
		if err != nil {
			return nil, runerror.Configf("%s: %s.database: %w", s.Name, at, err)
		}
		for _, host := range hosts {
			all = append(all, Reference{at + ".database", host})
		}
	}
	return all, nil
}

// hostOf is the host of HOST:PORT; empty: there is none. The loader of target files has seen
// that each address can be split.
func hostOf(address string) string {
	host, _, _ := net.SplitHostPort(address)
	return host
}

// Trusted refuses what a file that came with a finding may not do, whose author is another: start a program, send what the environment
// holds to other hosts, speak to a socket of this machine that obeys any program, and empty a store.
func (s *System) Trusted() error {
	var does []string
	for what, is := range map[string]bool{
		"starts a program": s.Target.Process != nil, "sends to other hosts": len(Allowlist(nil).Foreign("", s.Target.AllowHosts...)) > 0,
		"sends to a socket": s.Target.Socket != "", "flushes a store": s.Target.Store.URL != "",
	} {
		if is {
			does = append(does, what)
		}
	}
	if !s.options.HandedOver || len(does) == 0 || s.BuiltIn() {
		return nil
	}
	slices.Sort(does)
	return runerror.Configf("%s came with the finding, and %s: read it, and then name it: --target %s", s.Name, strings.Join(does, ", "), shell.Quote(s.Name))
}

// hostsOf returns the hosts of a database's URL; none: there is none.
func hostsOf(place string) ([]string, error) {
	if place == "" {
		return nil, nil
	}
	return databases.HostsOf(place)
}

// Local refuses hosts that are not this machine, where no target file can allow them. What is the flag that names them.
func Local(what string, hosts ...string) error {
	return localServers(Allowlist(nil).Foreign(what, hosts...))
}

// localServers refuses hosts that a built-in target would have to do with.
func localServers(foreign []Reference) error {
	if len(foreign) == 0 {
		return nil
	}
	return runerror.Configf("%w\na built-in target takes only servers on this machine", elsewhere(foreign))
}

// elsewhere says of each host that it is not this machine.
func elsewhere(foreign []Reference) error {
	var errs []error
	for _, f := range foreign {
		errs = append(errs, fmt.Errorf("%s points to %s, which is not this machine", f.What, f.Host))
	}
	return errors.Join(errs...)
}

// Reference is a host and what names it.
type Reference struct{ What, Host string }

// Allowlist is the hosts beyond this machine that may be touched.
type Allowlist []string

// Permits reports whether a host is this machine or allowed.
func (a Allowlist) Permits(host string) bool {
	return Loopback(host) || slices.ContainsFunc(a, func(allowed string) bool { return strings.EqualFold(allowed, host) })
}

// Foreign returns the hosts that are neither this machine nor allowed.
func (a Allowlist) Foreign(what string, hosts ...string) []Reference {
	var found []Reference
	for _, host := range hosts {
		if host != "" && !a.Permits(host) {
			found = append(found, Reference{what, host})
		}
	}
	return found
}

// HostOf returns the host of a toxiproxy server. The URL itself may hold a password.
func HostOf(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	u, err := ProxyURL(address)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("--toxiproxy names no server; expected something like http://127.0.0.1:8474")
	}
	return u.Hostname(), nil
}

// ProxyURL is the URL of a toxiproxy server, which may be given without its scheme.
func ProxyURL(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	return url.Parse(address)
}

// Loopback reports whether a host is this machine: "localhost", an address of 127.0.0.0/8
// or ::1, or a socket's path. No name is resolved: what it resolves to may change later.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || strings.HasPrefix(host, "/") || ip != nil && ip.IsLoopback()
}

// WithoutPassword is the address of a toxiproxy server as files may hold it.
func WithoutPassword(address string) string {
	u, err := ProxyURL(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}
