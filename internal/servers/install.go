package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// policyFile is what Debian's packages ask before they start a service.
const policyFile = "/usr/sbin/policy-rc.d"

// Install installs the Debian packages of the servers whose programs are missing, without starting
// system services, and prints what it does to out. Where it cannot, because we are not root or there
// is no apt-get, the error says what to install. With everything in place it does nothing.
func Install(ctx context.Context, out io.Writer) error { return install(ctx, out, missingPackages) }

// InstallTools does the same for the programs that the tests use: the browser in which they look at the
// HTML report, what exported shell scripts take, Python for the example service, RabbitMQ for one test, and
// the C compiler that the race detector takes.
func InstallTools(ctx context.Context, out io.Writer) error { return install(ctx, out, missingTools) }

// missingTools are the packages of programs that tests use and that are not here.
func missingTools() []string {
	var missing []string
	if _, found := Browser(); !found {
		missing = append(missing, "chromium")
	}
	for _, program := range []string{"curl", "jq", "sqlite3"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program) // Debian's packages are called like them
		}
	}
	if _, found := Python(); !found {
		missing = append(missing, "python3-psycopg2")
	}
	if _, err := rabbitPrograms(""); err != nil {
		missing = append(missing, "rabbitmq-server")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		missing = append(missing, "gcc", "libc6-dev")
	}
	return missing
}

// Python returns the path of a Python 3 that can speak to PostgreSQL by psycopg2, if there is one.
func Python() (path string, found bool) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import psycopg2").Run() == nil {
			return path, true
		}
	}
	return "", false
}

// Browser returns the path of a Chromium, if there is one.
func Browser() (path string, found bool) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// install installs what is missing. What is missing is asked for once more afterwards, as apt-get
// also fails for what does not matter here.
func install(ctx context.Context, out io.Writer, missingPackages func() []string) error {
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("something is missing that the tests need, and only root can install it: apt-get install %s", strings.Join(missing, " "))
	}
	allow, err := forbidServices()
	if err != nil {
		return err
	}
	defer allow()
	if err := runApt(ctx, out, apt, []string{"update"}); err != nil {
		return err
	}
	err = runApt(ctx, out, apt, append([]string{"install", "-y", "--no-install-recommends"}, missing...))
	if err != nil && len(missingPackages()) > 0 {
		return err
	}
	return nil // a package that cannot set up its system service has brought its programs all the same
}

// missingPackages are the packages of the servers that are not here.
func missingPackages() []string {
	var missing []string
	if _, err := postgresPrograms(""); err != nil {
		missing = append(missing, "postgresql")
	}
	if _, err := mariadbPrograms(""); err != nil {
		missing = append(missing, "mariadb-server")
	}
	if _, err := redisProgram(""); err != nil {
		missing = append(missing, "redis-server")
	}
	if _, err := natsProgram(""); err != nil {
		missing = append(missing, "nats-server")
	}
	return missing
}

// runApt runs apt-get, which asks nothing and speaks English.
func runApt(ctx context.Context, out io.Writer, apt string, args []string) error {
	command := exec.CommandContext(ctx, apt, args...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	command.Stdout, command.Stderr = out, out
	if err := command.Run(); err != nil {
		return fmt.Errorf("apt-get %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// forbidServices keeps packages from starting services until the returned function is called. A
// policy that is there already is the administrator's and stays in charge.
func forbidServices() (allow func(), err error) {
	file, err := os.OpenFile(policyFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, os.ErrExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("forbid services while installing: %w", err)
	}
	remove := func() { _ = os.Remove(policyFile) }
	_, writeErr := file.WriteString("#!/bin/sh\nexit 101\n")
	if err := errors.Join(writeErr, file.Close()); err != nil {
		remove()
		return nil, fmt.Errorf("forbid services while installing: %w", err)
	}
	return remove, nil
}
