// Command with runs a program while private servers are there:
//
//	with PROGRAM ARG...
//
// In the arguments, and in the program's environment, POSTGRES_URL, MARIADB_URL and REDIS_URL are their URLs.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/doubletap-harness/doubletap/internal/servers"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: with PROGRAM ARG...")
		os.Exit(2)
	}
	signal.Ignore(os.Interrupt) // the program gets it as well, and its end is ours
	os.Exit(servers.Serving(func(postgres, mariadb string) int {
		os.Setenv("POSTGRES_URL", postgres)
		os.Setenv("MARIADB_URL", mariadb)
		return servers.ServingRedis(func(redis string) int {
			os.Setenv("REDIS_URL", redis)
			return run(os.Args[1:])
		})
	}))
}

// run runs a program and returns its exit code.
func run(args []string) int {
	for i := range args {
		args[i] = os.ExpandEnv(args[i])
	}
	program := exec.Command(args[0], args[1:]...)
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := program.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return ended.ExitCode()
	default:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
}
