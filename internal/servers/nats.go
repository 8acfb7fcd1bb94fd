package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// ErrNoNATS says that the program of NATS is not on this machine.
var ErrNoNATS = errors.New("the program of NATS is not installed: apt-get install nats-server")

// NATS starts a private NATS server with JetStream, which keeps its streams in its own folder, and returns when it takes messages.
// The context bounds the start only; the server runs until Stop or until this process ends.
func NATS(ctx context.Context, options Options) (*Server, error) {
	program, err := natsProgram(options.Programs)
	if err != nil {
		return nil, err
	}
	return plan{
		name: "nats", program: program, user: "nats",
		signal:  "KILL", // what it has on disk goes with its folder
		missing: ErrNoNATS,
		prepare: prepareNATS,
		args:    func(where site) []string { return []string{"-c", natsConfig(where)} },
		greet:   greetNATS,
		url:     natsURL,
	}.start(ctx, options)
}

// natsProgram finds the server's program.
func natsProgram(folder string) (string, error) {
	program, err := findProgram(folder, "nats-server", "/usr/sbin", "/usr/bin")
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrNoNATS, err)
	}
	return program, nil
}

// natsConfig is the path of the file with the settings.
func natsConfig(where site) string { return filepath.Join(where.dir, "nats.conf") }

// prepareNATS writes the settings into a file: every user can read a command line, and with it the password.
func prepareNATS(_ context.Context, where site) error {
	settings := fmt.Sprintf("listen: %q\nauthorization { user: %q, password: %q }\nmax_connections: %d\njetstream { store_dir: %q, max_memory_store: 64MB, max_file_store: 4GB }\n",
		where.address(), account, where.password, where.connections, where.dir)
	if err := where.owner.writeFile(natsConfig(where), settings); err != nil {
		return fmt.Errorf("write the server's settings: %w", err)
	}
	return nil
}

// natsURL names no database: there is none.
func natsURL(where site) string {
	link := url.URL{Scheme: "nats", User: url.UserPassword(account, where.password), Host: where.address()}
	return link.String()
}

// greetNATS signs in and asks for an answer.
func greetNATS(ctx context.Context, where site) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", where.address())
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, bounded := ctx.Deadline(); bounded {
		_ = conn.SetDeadline(deadline)
	}
	fmt.Fprintf(conn, "CONNECT {\"user\":%q,\"pass\":%q,\"verbose\":false}\r\nPING\r\n", account, where.password)
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(line, "PONG"):
			return nil
		case strings.HasPrefix(line, "-ERR"):
			return errors.New(strings.TrimSpace(line))
		}
	}
}
