package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// TestNoSecretIsInAFileHoweverARunEnds ends runs against a service that prints every secret that it gives and gets. The canaries
// are a token, a password of a header, cookies, what steps extract, a code in a body, what signs requests and a part of base_url.
func TestNoSecretIsInAFileHoweverARunEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]os.Signal{"by itself": nil, "an interrupt": syscall.SIGINT, "the terminal is closed": syscall.SIGHUP, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, scenario := t.TempDir(), "made-again"
			if end != nil {
				scenario = writeFile(t, "long.yaml", long)
			}
			file := strings.NewReplacer("127.0.0.1:0", "127.0.0.1:0/${GOSSIP_PATH}", `body: {note: "{{.Intent.Marker}}"}
    key`, `body: {note: "{{.Intent.Marker}}", code: "{{.Prepared.Secret}}"}
      sign: {header: X-Api-Signature, hmac: sha256, secret: "${GOSSIP_HMAC}"}
    key`).Replace(gossipFile)
			p := start(t, []string{"GOSSIP_PATH=s3cr3t-of-the-path", "GOSSIP_HMAC=s3cr3t-that-signs"}, "run", "--target", writeFile(t, "gossip.yaml", file), "--reports", reports, "--pilot-timeout", "30s", scenario)
			if end != nil {
				eventually(t, "it is busy", busyWith(reports, "long", 20))
				require.NoError(t, p.cmd.Process.Signal(end))
			}
			code := p.wait(t)
			if want, signalled := map[os.Signal]int{syscall.SIGHUP: 129, syscall.SIGINT: 130, syscall.SIGKILL: -1}[end]; signalled {
				require.Equal(t, want, code, "%s", p.out)
			}
			require.NotContains(t, []int{exitConfig, exitEnvironment}, code, "%s", p.out)
			requireNowhere(t, reports, "s3cr3t")
			requireNowhere(t, p.tmp, "s3cr3t")
			require.NotContains(t, p.out.String(), "s3cr3t")
			run := onlyRun(t, reports)
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

// TestNoSecretIsToldByARunThatCannotBegin is about ends 3 and 4. The canaries are passwords of all servers, the path of base_url, and
// what signs requests.
func TestNoSecretIsToldByARunThatCannotBegin(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t-canary"
	shop := newShop(t, nil)
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
		"a toxiproxy that is not there":        {signed, []string{"--toxiproxy", "http://u:" + canary + "@127.0.0.1:1"}, exitEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := shop.trial(t, append(c.args, "plain-create")...)
			x.file, x.env["SHOP_PATH"], x.env["SHOP_HMAC"] = c.file, canary+"-path", canary
			got := x.run(t)
			require.Equal(t, c.code, got.code, "%s", got)
			require.NotContains(t, got.String(), canary)
			requireNowhere(t, x.reports, canary)
		})
	}
}
