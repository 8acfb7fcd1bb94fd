package servers

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Serving installs what is missing, starts a private server of each kind, and calls run with their URLs;
// the servers are stopped when it returns. It returns run's exit code. It is for tests, which a server
// that cannot be had must fail: the code is 1 then, and standard error has the reason.
func Serving(run func(postgresURL, mariadbURL string) int) int {
	return serving(context.Background(), os.Stderr, run)
}

// serving is Serving with what a test of it replaces.
func serving(ctx context.Context, out io.Writer, run func(postgresURL, mariadbURL string) int) int {
	unserved := func(err error) int { return reportMissing(out, err) }
	if err := Install(ctx, out); err != nil {
		return unserved(err)
	}
	postgres, err := Postgres(ctx, Options{CheapLogin: true})
	if err != nil {
		return unserved(err)
	}
	defer postgres.Stop()
	mariadb, err := MariaDB(ctx, Options{})
	if err != nil {
		return unserved(err)
	}
	defer mariadb.Stop()
	return run(postgres.URL(), mariadb.URL())
}

// ServingRedis does the same with a private Redis server.
func ServingRedis(run func(redisURL string) int) int {
	return servingRedis(context.Background(), os.Stderr, run)
}

// servingRedis is ServingRedis with what a test of it replaces.
func servingRedis(ctx context.Context, out io.Writer, run func(redisURL string) int) int {
	if err := Install(ctx, out); err != nil {
		return reportMissing(out, err)
	}
	redis, err := Redis(ctx, Options{})
	if err != nil {
		return reportMissing(out, err)
	}
	defer redis.Stop()
	return run(redis.URL())
}

// reportMissing says why the tests cannot run, and returns their exit code.
func reportMissing(out io.Writer, err error) int {
	fmt.Fprintln(out, "the tests need real database servers:", err)
	return 1
}
