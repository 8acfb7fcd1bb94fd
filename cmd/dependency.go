package cmd

import (
	"context"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// dependencyLink leads from a built-in target to the service that it asks, if it asks one.
const dependencyLink = scenarios.Dependency

// Why there is no link to another service.
const (
	noDependency     = "the target asks no other service"
	hiddenDependency = "the service that the target asks is in its own process, where no link leads; " + builtinPrefix + " in place of " + servedPrefix + " has one"
)

// dependencyRoad puts a link on the way of a built-in target to the service that it asks, and into the map, once it
// is known where that is; nil: no link was planned.
func (s *subject) dependencyRoad(links map[string]targets.Link) func(context.Context, string) (string, error) {
	if !s.ownLinks[dependencyLink] {
		return nil
	}
	return func(ctx context.Context, to string) (string, error) {
		link, err := s.openOwnLink(ctx, dependencyLink, to)
		links[dependencyLink] = link
		return link.Listen, err
	}
}

// lacksDependency says why no link leads to a service that a built-in target asks.
func (s *subject) lacksDependency() string {
	name, _ := builtInDesign(s.name)
	if d, _ := orders.Named(name); d.Dependency {
		return hiddenDependency
	}
	return noDependency
}
