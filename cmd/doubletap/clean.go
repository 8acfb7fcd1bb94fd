package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/leftovers"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/orders"
	"github.com/doubletap-harness/doubletap/work"
)

// cleanOptions are the flags of clean.
type cleanOptions struct {
	databases, stores, proxies []string
	nats                       []string // URLs of servers
	reports                    string   // directory of runs
	keep                       int      // newest runs that stay; 0: all
}

// newClean returns the command that removes what killed runs have left behind.
func newClean(s streams) *cobra.Command {
	o := cleanOptions{}
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs have left behind",
		Long: `Clean removes what runs have left that were killed by SIGKILL or for want of memory: temporary folders of
private databases, and with the flags the schemas, Redis keys and toxiproxy proxies that doubletap made for built-in
targets on servers of yours, and runs for workers on a NATS server whose coordinator has been silent for 30 s. Each
of them bears the process that made it. What a process made that still runs, or that ran on another machine, stays.
A run does the same for the servers that it uses before it begins.
With --keep it also removes the directories of older runs and replays, with their findings.`,
		Example: `  doubletap clean
  doubletap clean --keep 20
  doubletap clean --database "$DATABASE_URL" --toxiproxy http://127.0.0.1:8474`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("keep") && o.keep < 1 {
				return runerror.Configf("--keep is %d, expected 1 or more", o.keep)
			}
			if err := o.guard(); err != nil {
				return err
			}
			return o.clean(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.keep, "keep", 0, "remove the directories of all runs but so many of the newest (default: all stay)")
	f.StringVar(&o.reports, "reports", engine.DefaultReports, "directory for the runs' files")
	f.StringArrayVar(&o.databases, "database", nil, "postgres or mariadb URL of a server, as often as wanted")
	f.StringArrayVar(&o.stores, "store", nil, "Redis URL of a server, as often as wanted; the names of all its keys are looked at")
	f.StringArrayVar(&o.proxies, "toxiproxy", nil, "URL of a toxiproxy server, as often as wanted")
	f.StringArrayVar(&o.nats, "nats", nil, "URL of a NATS server with runs for workers whose coordinators were killed, as often as wanted")
	return cmd
}

// guard refuses hosts that are not this machine: no target file allows them.
func (o cleanOptions) guard() error {
	var foreign []sut.Reference
	for _, address := range o.databases {
		scheme, _, _ := strings.Cut(address, "://")
		if !slices.Contains([]string{"postgres", "postgresql", "mariadb", "mysql"}, scheme) {
			return runerror.Configf("--database: expected a postgres or mariadb URL")
		}
		hosts, err := databases.HostsOf(address)
		if err != nil {
			return runerror.Configf("--database: %w", err)
		}
		foreign = append(foreign, sut.Allowlist(nil).Foreign("--database", hosts...)...)
	}
	for _, address := range o.stores {
		server, err := caches.AddressOf(address)
		if err != nil {
			return runerror.Configf("--store: %w", err)
		}
		host, _, _ := net.SplitHostPort(server) // AddressOf has joined them
		foreign = append(foreign, sut.Allowlist(nil).Foreign("--store", host)...)
	}
	for _, address := range o.proxies {
		host, err := sut.HostOf(address)
		if err != nil {
			return runerror.Config(err)
		}
		foreign = append(foreign, sut.Allowlist(nil).Foreign("--toxiproxy", host)...)
	}
	for _, f := range foreign {
		return runerror.Configf("%s points to %s, which is not this machine: clean touches only servers on this machine, as built-in targets do", f.What, f.Host)
	}
	return nil
}

// clean removes what it finds. It goes on after what it cannot remove, as one server that is away
// must not keep the rest; all errors come back together, as those of the environment (exit 4).
func (o cleanOptions) clean(ctx context.Context, s streams) error {
	var problems []error
	count := 0
	said := func(what string, removed []string, err error) {
		for _, name := range removed {
			fmt.Fprintf(s.out, "removed %s %s\n", what, name)
		}
		count += len(removed)
		problems = append(problems, err)
	}
	folders, err := leftovers.Sweep()
	said("folder", folders, err)
	if o.keep > 0 {
		runs, err := rundir.Prune(o.reports, o.keep, time.Now())
		said("run", runs, err)
	}
	// On servers of the user's, only what dead processes of this machine have left.
	for _, address := range o.databases {
		places, err := orders.Sweep(ctx, address)
		said("schema", places, err)
	}
	for _, address := range o.stores {
		keys, err := orders.SweepStore(ctx, address)
		if keys > 0 {
			fmt.Fprintf(s.out, "removed %s\n", english.Plural(keys, "Redis key"))
		}
		count += keys
		problems = append(problems, err)
	}
	for _, address := range o.proxies {
		names, err := proxy.Sweep(address)
		said("proxy", names, err)
	}
	for _, address := range o.nats {
		server, err := work.ParseServer(address)
		if err != nil {
			problems = append(problems, runerror.Configf("--nats: %w", err))
			continue
		}
		names, err := work.Sweep(server)
		said("shared run", names, err)
	}
	if count == 0 {
		fmt.Fprintln(s.out, "nothing was left behind")
	}
	if err := errors.Join(problems...); err != nil {
		return runerror.Environment(err)
	}
	return nil
}
