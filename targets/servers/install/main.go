// Command install finds or installs the database servers that the tests start privately, and the browser in
// which they look at the HTML report.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/doubletap-harness/doubletap/targets/servers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := errors.Join(servers.Install(ctx, os.Stdout), servers.InstallBrowser(ctx, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}
