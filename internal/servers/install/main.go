// Command install finds or installs the servers that the tests start privately, and the programs
// that they use.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/doubletap-harness/doubletap/internal/servers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := errors.Join(servers.Install(ctx, os.Stdout), servers.InstallTools(ctx, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
	if err := servers.InstallNode(ctx, os.Stdout); err != nil { // whose tests are skipped, unless they must not be
		fmt.Fprintln(os.Stderr, "install:", err)
		if servers.NodeRequired() {
			os.Exit(1)
		}
	}
}
