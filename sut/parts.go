package sut

import (
	"context"
	"io"

	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// Parts are what only some programs need, and what links much: the command has all of
// them, the Go library none unless it is given them. So a user's test does not link three
// database drivers for a design that it never starts. The zero value has none; a target
// that takes a part which is missing is a config error.
type Parts struct {
	Designs   Designs   // the built-in targets, builtin:NAME and served:NAME
	Ephemeral Ephemeral // private databases and stores (database.ephemeral, store.ephemeral)
	Sinks     sinks.Protocols
}

// Design is what doubletap has to know of a built-in design before it starts it.
type Design struct {
	Redis      bool // takes a Redis server
	Dependency bool // asks another service in the middle of a create
	Instances  int  // that it takes to show its defect; 0: one
}

// Designs starts built-in targets. It is safe for concurrent use.
type Designs interface {
	// Named reports whether there is such a design.
	Named(name string) (Design, bool)
	// Describe returns the design's target, and the databases that it is built for; none: each.
	Describe(name string) (targets.Target, []string, error)
	// Start serves a design inside this process.
	Start(ctx context.Context, o DesignOptions) (DesignServer, error)
	// NewPlace makes a place with tables of its own on the server of a database URL, and removes it when it is closed.
	NewPlace(ctx context.Context, database string) (Place, error)
}

// DesignOptions say over what a design is served.
type DesignOptions struct {
	Name          string
	Database      string // URL; empty: a SQLite file
	Store         string // URL of a Redis server; empty: none
	DatabaseProxy string // host:port by which the database server is reached; empty: as the URL says
	StoreProxy    string // likewise of the Redis server
	Outside       string // URL of the sink in place of the service outside that the design asks; empty: it asks none
	// DependencyProxy gets the address of the service that the design asks and returns host:port by which
	// it goes there; nil: directly.
	DependencyProxy func(ctx context.Context, to string) (string, error)
}

// DesignServer is a built-in target that is being served.
type DesignServer interface {
	Target() targets.Target
	io.Closer
}

// Ephemeral starts private servers, which end when they are closed.
type Ephemeral interface {
	// Database starts a database of a kind and runs the files with SQL in it. SQL that does not run is a config error.
	Database(ctx context.Context, kind string, schema []string) (Place, error)
	// Redis starts a Redis server.
	Redis(ctx context.Context) (Place, error)
}

// Place is where something keeps its data, for the time of a run.
type Place interface {
	URL() string
	io.Closer
}
