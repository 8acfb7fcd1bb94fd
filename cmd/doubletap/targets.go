package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// newTargets returns the commands about the built-in designs.
func newTargets(s streams) *cobra.Command {
	return newGroup("targets", "The built-in target APIs, correct and broken, to try things on", newTargetsList(s), newTargetsServe(s))
}

// newTargetsList returns the command that lists the designs.
func newTargetsList(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the built-in targets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, d := range orders.Designs() {
				kind := "broken"
				if d.Correct {
					kind = "correct"
				}
				fmt.Fprintf(s.out, "%-8s %s%-36s %s\n", kind, sut.BuiltinPrefix, d.Name, d.Summary)
			}
			return nil
		},
	}
}

// newTargetsServe returns the command that serves one design as a process of its own. Runs against
// served:NAME start it, too, so that a scenario can kill it.
func newTargetsServe(s streams) *cobra.Command {
	o, dependencyProxy := orders.Options{}, ""
	cmd := &cobra.Command{
		Use:   "serve NAME",
		Short: "Serve a built-in target until interrupted",
		Long: `Serve runs a built-in target as a process of its own, with tables of its own, until it is
interrupted, and then removes the tables. When it is ready it prints two lines that a shell can read,
for a target file such as docs/examples/orders.yaml:

  ORDERS_URL=http://127.0.0.1:8080
  DATABASE_URL=sqlite:///tmp/doubletap-orders-1/orders.db

DATABASE_URL holds the password that --database gives, if any. With --keep the tables lie in the database
itself and outlive the process, which may so be killed and started again: docs/examples/process.yaml.`,
		Example: `  doubletap targets serve check-then-insert > orders.env &
  for i in $(seq 100); do [ -s orders.env ] || sleep 0.1; done
  set -a; . ./orders.env; set +a
  doubletap run --target docs/examples/orders.yaml

  doubletap targets serve unique-key --database postgres://me@localhost/test --listen 127.0.0.1:0`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Design = args[0]
			named := targetFlags{store: o.Store, database: o.Database}.options(s)
			var unfit, far error
			o.Store, unfit = named.StoreOption()
			o.Database, far = named.DatabaseOption()
			if err := cmp.Or(unfit, far, localProxies(o, dependencyProxy)); err != nil {
				return err
			}
			if dependencyProxy != "" {
				o.DependencyProxy = func(context.Context, string) (string, error) { return dependencyProxy, nil }
			}
			return serve(cmd.Context(), o, s)
		},
	}
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:8080", "address to listen on; port 0 is a free one")
	cmd.Flags().StringVar(&o.Database, "database", "", "postgres or mariadb URL (default $"+sut.DatabaseVariable+", else a SQLite file)")
	cmd.Flags().StringVar(&o.Store, "store", "", storeUsage)
	cmd.Flags().StringVar(&o.StorePrefix, "store-prefix", "", "what the names of its keys in the store begin with (default: something of its own)")
	cmd.Flags().StringVar(&o.StoreProxy, "store-proxy", "", "host:port by which it reaches the Redis server, such as the listen of a link (default: as in --store)")
	cmd.Flags().StringVar(&o.Dependency, "dependency", "", "address on which the service listens that it asks, if it asks one (default: a free port)")
	cmd.Flags().StringVar(&dependencyProxy, "dependency-proxy", "", "host:port by which it reaches that service, such as the listen of a link (default: directly)")
	cmd.Flags().StringVar(&o.Outside, "outside", "", "URL of the service outside that it asks, such as that of a sink: http://host:port, or smtp://host:port for mails")
	cmd.Flags().StringVar(&o.DatabaseProxy, "database-proxy", "", "host:port by which it reaches the database server once it runs, such as the listen of a link (default: as in --database)")
	cmd.Flags().BoolVar(&o.Keep, "keep", false, "use --database as it is: make the tables where they are missing, and leave them there")
	for name, value := range map[string]*string{"road": &o.DatabaseProxy, "store-road": &o.StoreProxy, "dependency-road": &dependencyProxy} {
		cmd.Flags().StringVar(value, name, "", "as it was called")
		_ = cmd.Flags().MarkHidden(name) // it is there
	}
	cmd.Flags().DurationVar(&o.Work, "work", 0, "what a create takes besides the database (default 20ms)")
	return cmd
}

// localProxies refuses what leads to another machine.
func localProxies(o orders.Options, dependencyProxy string) error {
	for _, proxy := range []struct{ flag, address string }{
		{"--database-proxy", o.DatabaseProxy}, {"--store-proxy", o.StoreProxy}, {"--dependency-proxy", dependencyProxy},
	} {
		host, _, err := net.SplitHostPort(proxy.address)
		if proxy.address != "" && err != nil {
			return runerror.Configf("%s: expected host:port, such as 127.0.0.1:15432", proxy.flag)
		}
		if err := sut.Local(proxy.flag, host); err != nil {
			return err
		}
	}
	outside, err := url.Parse(o.Outside)
	if err != nil {
		return runerror.Configf("--outside cannot be parsed; expected something like http://127.0.0.1:9090")
	}
	return sut.Local("--outside", outside.Hostname())
}

// goPanics is the exit status of a Go program that panics.
const goPanics = 2

// serve tells programs on the one stream what they need, and people on the other what goes on.
func serve(ctx context.Context, o orders.Options, s streams) error {
	o.Die = func(text string) {
		fmt.Fprintln(s.err, text)
		os.Exit(goPanics)
	}
	server, err := orders.Start(ctx, o)
	if err != nil {
		return whyNotServed(o.Design, err)
	}
	fmt.Fprintf(s.bytes, "ORDERS_URL=%s\nDATABASE_URL=%s\n", shell.Quote(server.URL()), shell.Quote(server.DatabaseURL()))
	fmt.Fprintf(s.err, "serving %s until interrupted\n", o.Design)
	<-ctx.Done()
	if err := server.Close(); err != nil {
		return runerror.Environment(fmt.Errorf("tidy up after %s: %w", o.Design, err))
	}
	return nil
}

// whyNotServed says whose mistake it is that a built-in target does not start: there may be no such design, or no
// server that it takes.
func whyNotServed(design string, err error) error {
	_, known := orders.Named(design)
	switch {
	case errors.Is(err, orders.ErrNoStore):
		return sut.NoStore(design)
	case known:
		return runerror.Environment(err)
	default:
		return runerror.Config(err)
	}
}
