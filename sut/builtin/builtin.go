// Package builtin gives a run the built-in designs and private servers. Only the command links it, and programs that ask for it.
package builtin

import (
	"context"
	"errors"

	"github.com/doubletap-harness/doubletap/internal/ephemeral"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/sinks/mail"
	"github.com/doubletap-harness/doubletap/sinks/rabbitmq"
	"github.com/doubletap-harness/doubletap/sinks/spans"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// Parts returns all parts that there are.
func Parts() sut.Parts {
	return sut.Parts{Designs: designs{}, Ephemeral: servers{}, Sinks: sinks.Protocols{SMTP: mail.Serve, OTLP: spans.Serve, RabbitMQ: rabbitmq.Follow}}
}

// designs are those of the orders API.
type designs struct{}

// Named returns what a design needs, and whether there is one of this name.
func (designs) Named(name string) (sut.Design, bool) {
	d, found := orders.Named(name)
	return sut.Design{Redis: d.Redis, Dependency: d.Dependency, Instances: d.Instances}, found
}

// Describe returns the target of a design, and the databases that it is built for; none: each.
func (designs) Describe(name string) (targets.Target, []string, error) { return orders.Describe(name) }

// Start serves a design inside this process.
func (designs) Start(ctx context.Context, o sut.DesignOptions) (sut.DesignServer, error) {
	server, err := orders.Start(ctx, orders.Options{
		Design: o.Name, Database: o.Database, Store: o.Store,
		DatabaseProxy: o.DatabaseProxy, StoreProxy: o.StoreProxy, Outside: o.Outside, DependencyProxy: o.DependencyProxy,
	})
	if err != nil { // a nil server must not look like one
		return nil, err
	}
	return server, nil
}

// NewPlace makes an empty place for one design on a database server.
func (designs) NewPlace(ctx context.Context, database string) (sut.Place, error) {
	place, err := orders.NewPlace(ctx, database)
	if err != nil {
		return nil, err
	}
	return place, nil
}

// servers are private ones.
type servers struct{}

// Database starts a private server. A schema that cannot be loaded is the user's mistake.
func (servers) Database(ctx context.Context, kind string, schema []string) (sut.Place, error) {
	d, err := ephemeral.Start(ctx, kind, schema)
	switch {
	case errors.Is(err, ephemeral.ErrSchema):
		return nil, runerror.Config(err)
	case err != nil:
		return nil, err
	default:
		return d, nil
	}
}

// Redis starts a private server.
func (servers) Redis(ctx context.Context) (sut.Place, error) {
	d, err := ephemeral.Redis(ctx)
	if err != nil {
		return nil, err
	}
	return d, nil
}
