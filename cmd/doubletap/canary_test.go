package main

import (
	"crypto/x509"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// TestNoSecretIsInAFileHoweverARunEnds ends runs against a service that prints every secret that it gives and gets. The canaries
// are a token, a password of a login, one of a header, cookies, what steps extract, a code in a body, what signs requests, a part of base_url and
// the client's private key. They are in no file, in nothing that is printed, and in no argument of a process.
func TestNoSecretIsInAFileHoweverARunEnds(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue(t, "client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	a.serves(t, "gossip.internal")
	key, err := os.ReadFile(filepath.Join(a.folder, "client.key"))
	require.NoError(t, err)
	canaries := []string{"s3cr3t", strings.Split(string(key), "\n")[1]}
	file := strings.NewReplacer("s3cr3t-token-of-alice}}", `s3cr3t-token-of-alice, Password: "${GOSSIP_PASSWORD}"}}
login: [{request: {path: "/secret?login", body: {user: alice, password: "{{.Principal.Password}}"}}, take: {Session: {cookie: secret}}}]`, "http://127.0.0.1:0", "https://127.0.0.1:0/${GOSSIP_PATH}", `body: {note: "{{.Intent.Marker}}"}
    key`, `body: {note: "{{.Intent.Marker}}", code: "{{.Prepared.Secret}}"}
      sign: {header: X-Api-Signature, hmac: sha256, secret: "${GOSSIP_HMAC}"}
    key`, `"127.0.0.1:{{.Port}}"]}`, `"127.0.0.1:{{.Port}}", "`+a.folder+`"]}
tls: {ca: ca.pem, certificate: client.pem, key: client.key, server_name: gossip.internal}`).Replace(gossipFile)
	forever := writeFile(t, "long.yaml", long)
	faithful := strings.Replace(file, `"`+a.folder+`"]`, `"`+a.folder+`", faithful]`, 1)
	listing := strings.Replace(faithful, "    identity: /id\n", "    identity: /id\n    rows: {http: {path: \"/things?note={{.Intent.Marker}}\", headers: {Authorization: \"Bearer {{.Principal.Token}}\"}}, items: /items, identity: id}\n", 1)
	for name, c := range map[string]struct {
		file     string
		scenario string
		signal   os.Signal // it is busy with long when this comes; nil: it ends by itself
		code     int       // -1: by the signal, which a shell shows as 137
	}{
		"a pass":                      {listing, "plain-create", nil, exitPass},
		"a finding":                   {file, "sequential-replay", nil, exitFinding},
		"inconclusive":                {faithful, "plain-create", nil, exitInconclusive},
		"a mistake":                   {file + "basis: ${GOSSIP_HMAC}\n", "plain-create", nil, exitConfig},
		"a service that is not ready": {strings.Replace(file, "process: {", "process: {ready: {path: /never, within: 2s}, ", 1), "plain-create", nil, exitEnvironment},
		"the terminal is closed":      {file, forever, syscall.SIGHUP, exitHungUp},
		"an interrupt":                {file, forever, syscall.SIGINT, exitInterrupted},
		"terminated":                  {file, forever, syscall.SIGTERM, exitTerminated},
		"killed":                      {file, forever, syscall.SIGKILL, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, folder := t.TempDir(), copied(t, a.folder)
			target := filepath.Join(folder, "gossip.yaml")
			require.NoError(t, os.WriteFile(target, []byte(c.file), 0o600))
			env := []string{"GOSSIP_PATH=s3cr3t-of-the-path", "GOSSIP_HMAC=s3cr3t-that-signs", "GOSSIP_PASSWORD=s3cr3t-password-of-alice"}
			p := start(t, env, "run", "--target", target, "--reports", reports, "--pilot-timeout", "30s", "--seed", "1", c.scenario)
			started := p.endedBy(t, c.signal, c.code, reports)
			if c.code != exitConfig {
				require.Contains(t, started, "gossip", "arguments of what it starts are seen")
				require.Contains(t, started, "doubletap-keeper")
			}
			for _, canary := range canaries {
				requireNowhere(t, reports, canary)
				requireNowhere(t, p.tmp, canary)
				require.NotContains(t, p.out.String(), canary)
				require.NotContains(t, started, canary)
			}
			if c.code == exitConfig || c.code == exitEnvironment {
				return
			}
			run := onlyRun(t, reports)
			if c.code == exitFinding {
				nothingIsTold(t, env, target, run, canaries)
			}
			for path, mode := range map[string]os.FileMode{
				"": os.ModeDir | 0o700, rundir.ManifestName: 0o600, sut.ProcessLogName: 0o600,
			} {
				info, err := os.Stat(filepath.Join(run, path))
				require.NoError(t, err)
				require.Equal(t, mode, info.Mode(), path)
			}
		})
	}
}

// TestPasswordsOfServersAreNowhereHoweverARunEnds has a design in a process of its own, with a database and a store that ask for passwords.
func TestPasswordsOfServersAreNowhereHoweverARunEnds(t *testing.T) {
	t.Parallel()
	env, canaries := []string{}, []string{}
	for variable, from := range map[string]string{sut.DatabaseVariable: postgresVariable, sut.StoreVariable: sut.StoreVariable} {
		u, err := url.Parse(os.Getenv(from))
		require.NoError(t, err)
		password, _ := u.User.Password()
		require.NotEmpty(t, password)
		env, canaries = append(env, variable+"="+u.String()), append(canaries, password)
	}
	for name, c := range map[string]struct {
		design string
		args   []string
		signal os.Signal
		code   int
	}{
		"a pass":                 {"redis-claim-and-record", []string{"plain-create"}, nil, exitPass},
		"a finding":              {"replay-fresh-answer", []string{"sequential-replay"}, nil, exitFinding},
		"not exercised":          {"unique-key", []string{"--max-requests", "5", "plain-create"}, nil, exitConfig},
		"the terminal is closed": {"unique-key", []string{writeFile(t, "long.yaml", long)}, syscall.SIGHUP, exitHungUp},
		"an interrupt":           {"redis-claim-and-record", []string{writeFile(t, "long.yaml", long)}, syscall.SIGINT, exitInterrupted},
		"killed":                 {"redis-claim-and-record", []string{writeFile(t, "long.yaml", long)}, syscall.SIGKILL, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports := t.TempDir()
			p := start(t, env, append([]string{"run", "--target", sut.ServedPrefix + c.design, "--reports", reports, "--seed", "1", "--pilot-timeout", "30s"}, c.args...)...)
			started := p.endedBy(t, c.signal, c.code, reports)
			for _, canary := range canaries {
				requireNowhere(t, reports, canary)
				requireNowhere(t, p.tmp, canary)
				require.NotContains(t, p.out.String(), canary)
				require.NotContains(t, started, canary)
			}
		})
	}
}

// nothingIsTold goes on with a run that has found something, by every command that reads it.
func nothingIsTold(t *testing.T, env []string, target, run string, canaries []string) {
	t.Helper()
	finding, made := filepath.Join(run, rundir.FindingsName, "F1"), t.TempDir()
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"check", run}, exitFinding},
		{[]string{"diff", run, run}, exitPass},
		{[]string{"export", finding, "--as", "curl", "-o", filepath.Join(made, "again.sh")}, exitPass},
		{[]string{"export", finding, "--as", "go", "-o", filepath.Join(made, "again_test.go")}, exitPass},
		{[]string{"export", finding, "--as", "scenario", "-o", filepath.Join(made, "again.yaml")}, exitPass},
		{[]string{"explain", "--target", target}, exitPass},
		{[]string{"run", "--target", target, "--dry-run", "--reports", made, "sequential-replay"}, exitPass},
		{[]string{"doctor", "--target", target, "--reports", made}, exitFinding},
		{[]string{"replay", finding, "--target", target, "--reports", made, "--times", "1"}, exitFinding},
		{[]string{"shrink", finding, "--target", target, "--reports", made, "-o", filepath.Join(made, "small")}, exitPass},
		{[]string{"hunt", "--target", target, "--reports", made, "--for", "1m", "burst-same-key"}, exitFinding},
	} {
		p := start(t, env, c.args...)
		lines := p.commandLines(t)
		require.Equal(t, c.code, p.wait(t), "%s: %s", c.args, p.out)
		started := lines()
		for _, canary := range canaries {
			require.NotContains(t, p.out.String(), canary, c.args)
			require.NotContains(t, started, canary, c.args)
			requireNowhere(t, made, canary)
			requireNowhere(t, p.tmp, canary)
		}
	}
	for _, canary := range canaries {
		requireNowhere(t, run, canary)
	}
}

// endedBy waits until a run ends with the exit code, by the signal once it is busy where there is one, and returns the command lines of all
// that it started.
func (p *process) endedBy(t *testing.T, signal os.Signal, code int, reports string) string {
	t.Helper()
	lines := p.commandLines(t)
	if signal != nil {
		eventually(t, "it is busy", busyWith(reports, "long", 20))
		require.NoError(t, p.cmd.Process.Signal(signal))
	}
	require.Equal(t, code, p.wait(t), "%s", p.out)
	return lines()
}

// commandLines watches the arguments of a process and of all that it starts, until it is asked for what it has seen.
func (p *process) commandLines(t *testing.T) func() string {
	t.Helper()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to read arguments from")
	}
	seen, over, done := map[string]bool{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			look(strconv.Itoa(p.cmd.Process.Pid), seen)
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() string {
		close(over)
		<-done
		return strings.Join(slices.Sorted(maps.Keys(seen)), "\n")
	}
}

// watchers are doubletap's own processes that wait for its end, and need nothing of its environment.
var watchers = regexp.MustCompile(`doubletap-(keeper|sweeper)`)

// look adds the arguments of a process and of its children, and the environment of those that need none of ours.
func look(pid string, seen map[string]bool) {
	line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil {
		return
	}
	seen[strings.ReplaceAll(string(line), "\x00", " ")] = true
	if watchers.Match(line) {
		environment, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		seen[strings.ReplaceAll(string(environment), "\x00", " ")] = true
	}
	lists, _ := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			look(child, seen)
		}
	}
}

// TestNoSecretIsToldByARunThatCannotBegin is about ends 3 and 4. The canaries are passwords of all servers, the path of base_url,
// what signs requests, and a client's key.
func TestNoSecretIsToldByARunThatCannotBegin(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t-canary"
	shop, keys := newShop(t, nil), newAuthority(t)
	keys.issue(t, "client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	for name, kind := range map[string]string{"locked.key": "ENCRYPTED PRIVATE KEY", "none.key": "PRIVATE KEY"} {
		text := "-----BEGIN " + kind + "-----\nProc-Type: 4,ENCRYPTED\n\n" + canary + "\n-----END " + kind + "-----\n"
		require.NoError(t, os.WriteFile(filepath.Join(keys.folder, name), []byte(text), 0o600))
	}
	plain := strings.Replace(shopFile, "${SHOP_URL}", "${SHOP_URL}/${SHOP_PATH}", 1)
	signed := strings.Replace(plain, "      body:", "      sign: {header: X-Signature, hmac: sha256, secret: \"${SHOP_HMAC}\"}\n      body:", 1)
	with := func(more string) string { return strings.Replace(signed, "operations:", more+"\noperations:", 1) }
	for name, c := range map[string]struct {
		file string
		args []string
		code int
	}{
		"a mistake in the file":        {with("basis: ${SHOP_HMAC}"), nil, exitConfig},
		"a database on another host":   {strings.Replace(signed, "${SHOP_DATABASE}", "postgres://u:${SHOP_HMAC}@192.0.2.1/x", 1), nil, exitConfig},
		"a database that is not there": {strings.Replace(signed, "${SHOP_DATABASE}", "postgres://u:${SHOP_HMAC}@127.0.0.1:1/x", 1), nil, exitEnvironment},
		"its password as a parameter":  {strings.Replace(signed, "${SHOP_DATABASE}", "postgres://127.0.0.1:1/x?user=u&password=${SHOP_HMAC}", 1), nil, exitEnvironment},
		"a URL that is none":           {strings.Replace(signed, "${SHOP_DATABASE}", "postgres://u:${SHOP_HMAC}@[::1/x", 1), nil, exitConfig},
		"Redis that is not there":      {with(`sinks: {events: {redis: {url: "redis://u:${SHOP_HMAC}@127.0.0.1:1/0", stream: a}}}`), nil, exitEnvironment},
		"Redis on another host":        {with(`sinks: {events: {redis: {url: "redis://u:${SHOP_HMAC}@192.0.2.1:1/0", stream: a}}}`), nil, exitConfig},
		"RabbitMQ that is not there":   {with(`sinks: {events: {rabbitmq: {url: "amqp://u:${SHOP_HMAC}@127.0.0.1:1/", exchange: a}}}`), nil, exitEnvironment},
		"RabbitMQ on another host":     {with(`sinks: {events: {rabbitmq: {url: "amqp://u:${SHOP_HMAC}@192.0.2.1:1/", exchange: a}}}`), nil, exitConfig},
		"another path than base_url's": {with(`instances: {eu: "${SHOP_URL}/other", us: "${SHOP_URL}"}`), nil, exitConfig},
		"a replica that is not there": {with(`instances: {eu: {base_url: "${SHOP_URL}/${SHOP_PATH}", database: "postgres://u:${SHOP_HMAC}@127.0.0.1:1/x"}, us: "${SHOP_URL}/${SHOP_PATH}"}
contract: {converged: 30s}`), nil, exitEnvironment},
		"a replica on another host": {with(`instances: {eu: {base_url: "${SHOP_URL}/${SHOP_PATH}", database: "postgres://u:${SHOP_HMAC}@192.0.2.1/x"}, us: "${SHOP_URL}/${SHOP_PATH}"}
contract: {converged: 30s}`), nil, exitConfig},
		"NATS that is not there":               {signed, []string{"--workers", "nats://u:" + canary + "@127.0.0.1:1/x"}, exitEnvironment},
		"NATS with a token, that is not there": {signed, []string{"--workers", "nats://" + canary + "@127.0.0.1:1/x"}, exitEnvironment},
		"a place that is none":                 {signed, []string{"--workers", "nats://u:" + canary + "@127.0.0.1:1/x y"}, exitConfig},
		"a client's key that is locked":        {with("tls: {certificate: client.pem, key: locked.key}"), nil, exitConfig},
		"a client's key that is none":          {with("tls: {certificate: client.pem, key: none.key}"), nil, exitConfig},
		"a toxiproxy that is not there":        {signed, []string{"--toxiproxy", "http://u:" + canary + "@127.0.0.1:1"}, exitEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := shop.trial(t, append(c.args, "plain-create")...)
			x.folder = copied(t, keys.folder)
			x.file, x.env["SHOP_PATH"], x.env["SHOP_HMAC"] = c.file, canary+"-path", canary
			got := x.run(t)
			require.Equal(t, c.code, got.code, "%s", got)
			require.NotContains(t, got.String(), canary)
			requireNowhere(t, x.reports, canary)
		})
	}
}
