package cmd

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// allow holds that nothing but loopback is touched unless the target file lists it: a harness that
// floods must not meet production by accident.
func (s *subject) allow(toxiproxy string) error {
	base, err := url.Parse(s.target.BaseURL)
	if err != nil {
		return mistakef("%s: base_url cannot be parsed", s.name)
	}
	databases, err := databases.HostsOf(s.target.Database.URL)
	if err != nil {
		return mistakef("%s: %w", s.name, err)
	}
	proxy, err := hostOf(toxiproxy)
	if err != nil {
		return mistake(err)
	}
	allowed := allowlist(s.target.AllowHosts)
	foreign := allowed.foreign("database.url", databases...)
	if s.target.Socket == "" { // which is on this machine
		foreign = append(allowed.foreign("base_url", base.Hostname()), foreign...)
	}
	foreign = append(foreign, allowed.foreign("--toxiproxy", proxy)...)
	if s.target.Store.URL != "" {
		store, err := caches.AddressOf(s.target.Store.URL)
		if err != nil {
			return mistakef("%s: store.url: %w", s.name, err)
		}
		host, _, _ := net.SplitHostPort(store)
		foreign = append(foreign, allowed.foreign("store.url", host)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.target.Links)) {
		host, _, _ := net.SplitHostPort(s.target.Links[name].To) // the loader has seen that it can be split
		foreign = append(foreign, allowed.foreign("links."+name+".to", host)...)
	}
	if len(foreign) == 0 || s.builtIn() {
		return localServers(foreign)
	}
	var hosts []string
	for _, f := range foreign {
		if !slices.Contains(hosts, f.host) {
			hosts = append(hosts, f.host)
		}
	}
	return mistakef("%w\nif it may be flooded with duplicates, let %s say so:\n  allow_hosts: [%s]",
		elsewhere(foreign), s.name, strings.Join(hosts, ", "))
}

// localServers refuses hosts that a built-in target would have to do with.
func localServers(foreign []reference) error {
	if len(foreign) == 0 {
		return nil
	}
	return mistakef("%w\na built-in target takes only servers on this machine", elsewhere(foreign))
}

// elsewhere says of each host that it is not this machine.
func elsewhere(foreign []reference) error {
	var errs []error
	for _, f := range foreign {
		errs = append(errs, fmt.Errorf("%s points to %s, which is not this machine", f.what, f.host))
	}
	return errors.Join(errs...)
}

// reference is a host and what names it.
type reference struct{ what, host string }

// allowlist is the hosts beyond this machine that may be touched.
type allowlist []string

// permits reports whether a host is this machine or allowed.
func (a allowlist) permits(host string) bool {
	return loopback(host) || slices.ContainsFunc(a, func(allowed string) bool { return strings.EqualFold(allowed, host) })
}

// foreign returns the hosts that are neither this machine nor allowed.
func (a allowlist) foreign(what string, hosts ...string) []reference {
	var found []reference
	for _, host := range hosts {
		if host != "" && !a.permits(host) {
			found = append(found, reference{what, host})
		}
	}
	return found
}

// hostOf returns the host of a toxiproxy server. The URL itself may hold a password.
func hostOf(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	u, err := proxyURL(address)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("--toxiproxy names no server; expected something like http://127.0.0.1:8474")
	}
	return u.Hostname(), nil
}

// proxyURL is the URL of a toxiproxy server, which may be given without its scheme.
func proxyURL(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	return url.Parse(address)
}

// loopback reports whether a host is this machine: by name or address, or by a socket's path.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || strings.HasPrefix(host, "/") || ip != nil && ip.IsLoopback()
}
