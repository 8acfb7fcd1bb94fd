package sut

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// openSinks begins to host what stands in place of other services. It comes before the
// target starts, which is told their addresses. Opening them again does nothing.
func openSinks(ctx context.Context, s *System) error {
	if s.sinking || len(s.Target.Sinks) == 0 {
		return nil
	}
	opened, err := sinks.Open(ctx, s.Target.Sinks, s.options.Parts.Sinks)
	if errors.Is(err, sinks.ErrNoProtocol) {
		return runerror.Configf("%s: %s, and so do Parts of the package sut/builtin", s.Name, err)
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("%s: %w", s.Name, err))
	}
	s.Sinks, s.sinking = *opened, true
	s.onClose(s.Sinks.Close)
	return nil
}

// followSinks begins to read at brokers, the target's store among them.
func followSinks(ctx context.Context, s *System) error {
	specs := maps.Clone(s.Target.Sinks)
	for name, sink := range specs {
		specs[name] = inStore(s, sink)
	}
	err := s.Sinks.Follow(ctx, specs, s.options.Parts.Sinks)
	if errors.Is(err, sinks.ErrNoProtocol) {
		return runerror.Configf("%s: %s, and so do Parts of the package sut/builtin", s.Name, err)
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("%s: %w", s.Name, err))
	}
	for name, sink := range specs {
		if gate := s.Links.gates[linkTo(s, name)]; gate != nil && sink.Followed() {
			s.Sinks.Guard(name, gate)
		}
	}
	return nil
}

// linkTo is the name of the link by which the target publishes what a sink reads at a broker; empty: there is none, or it cannot be read there,
// as it is encrypted.
func linkTo(s *System, name string) string {
	sink := inStore(s, s.Target.Sinks[name])
	if u, err := url.Parse(sink.Server()); err != nil || !sink.Followed() || u.Scheme == "rediss" || u.Scheme == "amqps" {
		return ""
	}
	for _, link := range slices.Sorted(maps.Keys(s.Target.Links)) {
		if to := s.Target.Links[link].To; to != "" && sameAddress(to, sink.Address()) {
			return link
		}
	}
	stored := s.Target.Sinks[name].Redis != nil && s.Target.Sinks[name].Redis.URL == ""
	for link, leads := range map[string]bool{storeLink: stored, dependencyLink: onlySink(s) == name} {
		if planned, there := s.Target.Links[link]; there && leads && planned == (targets.Link{}) {
			return link
		}
	}
	return ""
}

// sameAddress reports whether two addresses, host:port, are the same place.
func sameAddress(a, b string) bool {
	local := func(address string) string {
		host, port, _ := net.SplitHostPort(address)
		if Loopback(host) {
			host = "this machine"
		}
		return net.JoinHostPort(host, port)
	}
	return local(a) == local(b)
}

// inStore is a sink with the URL of the target's store, if it reads there.
func inStore(s *System, sink targets.Sink) targets.Sink {
	if sink.Redis != nil && sink.Redis.URL == "" {
		own := *sink.Redis
		own.URL = s.Target.Store.URL
		sink.Redis = &own
	}
	return sink
}

// SinkPlaces are where the target finds the sinks: those that are hosted, and the brokers of the others.
func SinkPlaces(s *System) map[string]targets.SinkPlace {
	places := s.Sinks.Places()
	for name, sink := range s.Target.Sinks {
		if sink = inStore(s, sink); sink.Followed() {
			places[name] = sink.At(sink.Address())
		}
	}
	return places
}

// ShownSink is where a sink is, for people.
func ShownSink(s *System, name string) string {
	return inStore(s, s.Target.Sinks[name]).Shown(SinkPlaces(s)[name])
}

// sinksForProcess are the sinks as the process is told of them: the only one by the link dependency, if that was planned.
func sinksForProcess(ctx context.Context, s *System) (map[string]targets.SinkPlace, error) {
	places := SinkPlaces(s)
	name := onlySink(s)
	if name == "" || !s.Links.planned[dependencyLink] {
		return places, nil
	}
	link, err := s.openPlanned(ctx, dependencyLink, net.JoinHostPort(places[name].Host, places[name].Port))
	if err != nil {
		return nil, err
	}
	s.Target.Links[dependencyLink] = link
	places[name] = s.Target.Sinks[name].At(link.Listen)
	return places, nil
}

// onlySink is the name of the one sink whose answers matter, which those to spans do not; empty: there is none, or there are several.
// One that reads in the store has that one's link.
func onlySink(s *System) string {
	names := slices.DeleteFunc(s.Target.SinkNames(), func(name string) bool {
		sink := s.Target.Sinks[name]
		return !sink.Answers() && sink.Address() == ""
	})
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// Hidden returns texts of the target file's variables, and passwords, that may reach a
// sink or the log by way of the target's process. They are masked there.
func Hidden(s *System) []string {
	var secrets []string
	for _, place := range placesOf(s.Target) {
		secrets = append(secrets, passwordIn(place)...)
	}
	source, _ := s.options.source() // it was read a moment ago; a built-in target has none
	for _, found := range variableNames.FindAllSubmatch(source, -1) {
		if value, set := s.options.env(string(found[1])); set && len(value) >= driver.ShortestSecret {
			secrets = slices.Concat(secrets, driver.Writings(value), passwordIn(value))
		}
	}
	return secrets
}
