// Command doubletap finds out whether an API that creates things creates them exactly once when the
// same wish arrives more than once.
package main

import (
	"os"

	"github.com/doubletap-harness/doubletap/cmd"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // a target's database is opened by their names
)

func main() { os.Exit(cmd.Main()) }
