package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// ErrNoRedis says that Redis's program is not on this machine.
var ErrNoRedis = errors.New("the program of Redis is not installed: apt-get install redis-server")

// Redis starts a private Redis server, which keeps everything in memory, and returns when it takes
// commands. The context bounds the start only; the server runs until Stop or until this process ends.
func Redis(ctx context.Context, options Options) (*Server, error) {
	program, err := redisProgram(options.Programs)
	if err != nil {
		return nil, err
	}
	return plan{
		name: "redis", program: program, user: "redis",
		signal:  "KILL", // there is nothing to write to disk
		missing: ErrNoRedis,
		prepare: prepareRedis,
		args:    func(where site) []string { return []string{redisConfig(where)} },
		greet:   greetRedis,
		url:     redisURL,
	}.start(ctx, options)
}

// redisProgram finds the server's program.
func redisProgram(folder string) (string, error) {
	program, err := findProgram(folder, "redis-server", "/usr/bin", "/usr/sbin")
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrNoRedis, err)
	}
	return program, nil
}

// redisConfig is the path of the file with the settings.
func redisConfig(where site) string { return filepath.Join(where.dir, "redis.conf") }

// prepareRedis writes the settings into a file: every user can read a command line, and with it the password.
func prepareRedis(_ context.Context, where site) error {
	settings := fmt.Sprintf("bind 127.0.0.1\nport %d\nrequirepass %s\ndir %s\nmaxclients %d\nsave \"\"\nappendonly no\ndaemonize no\n",
		where.port, where.password, where.dir, where.connections)
	if err := where.owner.writeFile(redisConfig(where), settings); err != nil {
		return fmt.Errorf("write the server's settings: %w", err)
	}
	return nil
}

// redisURL names no user: the password is that of the default one.
func redisURL(where site) string {
	link := url.URL{Scheme: "redis", User: url.UserPassword("", where.password), Host: where.address(), Path: "/0"}
	return link.String()
}
