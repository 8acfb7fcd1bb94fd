package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoRabbitMQ says that RabbitMQ's programs are not on this machine.
var ErrNoRabbitMQ = errors.New("the programs of RabbitMQ are not installed: apt-get install rabbitmq-server")

// RabbitMQ starts a private RabbitMQ server and returns when it takes clients, which takes some seconds. Its node has a name, a cookie,
// ports and a folder of its own, and no plugin. The context bounds the start only; the server runs until Stop or until this process
// ends.
func RabbitMQ(ctx context.Context, options Options) (*Server, error) {
	programs, err := rabbitPrograms(options.Programs)
	if err != nil {
		return nil, err
	}
	return plan{
		name: "rabbitmq", program: "/bin/sh", user: "rabbitmq",
		signal:  "TERM", // the script below ends all of it
		more:    2,
		missing: ErrNoRabbitMQ,
		prepare: func(_ context.Context, where site) error { return prepareRabbit(programs, where) },
		args:    func(where site) []string { return []string{filepath.Join(where.dir, "start.sh")} },
		greet:   greetRabbit,
		url:     func(where site) string { return rabbitURL(where) },
	}.start(ctx, options)
}

// rabbitFiles are the two programs that a node takes.
type rabbitFiles struct{ server, mapper string }

// rabbitPrograms finds the programs of a node.
func rabbitPrograms(folder string) (files rabbitFiles, err error) {
	// The one in /usr/sbin is for the system's own server.
	if files.server, err = findProgram(folder, "rabbitmq-server", "/usr/lib/rabbitmq/bin"); err == nil {
		files.mapper, err = findProgram("", "epmd", "/usr/bin")
	}
	if err != nil {
		return files, fmt.Errorf("%w (%w)", ErrNoRabbitMQ, err)
	}
	return files, nil
}

// RabbitControl runs rabbitmqctl on a server that [RabbitMQ] started, such as with trace_on.
func RabbitControl(ctx context.Context, s *Server, args ...string) error {
	where := s.process.where
	control := exec.CommandContext(ctx, "/bin/sh", append([]string{filepath.Join(where.dir, "control.sh")}, args...)...)
	where.owner.adopt(control, where.dir)
	if out, err := control.CombinedOutput(); err != nil {
		return fmt.Errorf("rabbitmqctl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// rabbitSettings are those of a node, for its server and for what controls it.
const rabbitSettings = `cd %[1]s
export RABBITMQ_NODENAME=doubletap@localhost RABBITMQ_MNESIA_BASE=%[1]s/data RABBITMQ_LOG_BASE=%[1]s/log RABBITMQ_LOGS=-
export RABBITMQ_CONF_ENV_FILE=%[1]s/none RABBITMQ_CONFIG_FILE=%[1]s/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=%[1]s/plugins
export RABBITMQ_PID_FILE=%[1]s/pid RABBITMQ_DIST_PORT=%[2]d ERL_EPMD_PORT=%[3]d ERL_EPMD_ADDRESS=127.0.0.1
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='+S 1:1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}'
export RABBITMQ_CTL_ERL_ARGS='+S 1:1 +sbwt none' HOME=%[1]s
`

// rabbitScript starts a node beside a port mapper of its own, which would else be started as a service for all of the machine. It
// ends both, at once.
const rabbitScript = `. %[1]s/settings.sh
%[3]s -port %[2]d -address 127.0.0.1 &
mapper=$!
%[4]s &
server=$!
trap 'kill -9 $mapper $server $(cat pid) 2>/dev/null' TERM
wait $server
kill -9 $mapper 2>/dev/null
`

// prepareRabbit writes the settings into files: every user can read a command line, and with it the password.
func prepareRabbit(programs rabbitFiles, where site) error {
	nodes, mapper := where.more[0], where.more[1]
	settings := fmt.Sprintf(rabbitSettings, where.dir, nodes, mapper)
	for name, text := range map[string]string{
		"settings.sh":   settings,
		"start.sh":      fmt.Sprintf(rabbitScript, where.dir, mapper, programs.mapper, programs.server),
		"control.sh":    settings + "exec " + filepath.Join(filepath.Dir(programs.server), "rabbitmqctl") + ` --node doubletap@localhost "$@"` + "\n",
		"plugins":       "[].\n",
		"rabbitmq.conf": fmt.Sprintf("listeners.tcp.1 = %s\ndefault_user = %s\ndefault_pass = %s\nlog.console.level = warning\n", where.address(), account, where.password),
	} {
		if err := where.owner.writeFile(filepath.Join(where.dir, name), text); err != nil {
			return fmt.Errorf("write the server's settings: %w", err)
		}
	}
	return nil
}

// rabbitURL names the usual virtual host.
func rabbitURL(where site) string {
	link := url.URL{Scheme: "amqp", User: url.UserPassword(account, where.password), Host: where.address(), Path: "/"}
	return link.String()
}
