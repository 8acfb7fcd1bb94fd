package main

import (
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
)

// walk is a person's path through the example shop: the commands of its page, in a folder of its own.
type walk struct {
	dir     string
	env     []string
	address string
	shop    *exec.Cmd
}

func newWalk(t *testing.T, name string) *walk {
	t.Helper()
	w := &walk{dir: filepath.Join(t.TempDir(), "shop"), address: strings.TrimPrefix(freeAddress(t), "http://")}
	require.NoError(t, os.CopyFS(w.dir, os.DirFS("../../docs/examples/shop")))
	document := filepath.Join(w.dir, "openapi.yaml")
	moved := strings.ReplaceAll(readFile(t, document), "localhost:8000", w.address)
	require.NoError(t, os.WriteFile(document, []byte(moved), 0o600))
	_, port, err := net.SplitHostPort(w.address)
	require.NoError(t, err)
	w.env = append(os.Environ(), "PATH="+filepath.Dir(usual(t))+":"+os.Getenv("PATH"), "DATABASE_URL="+ownDatabase(t, name), "PORT="+port, "SHOP_USER=alice@example.com", "SHOP_PASSWORD=open sesame")
	t.Cleanup(func() { w.close() })
	return w
}

// ownDatabase makes an empty database on the private PostgreSQL server.
func ownDatabase(t *testing.T, name string) string {
	t.Helper()
	u, err := url.Parse(os.Getenv(postgresVariable))
	require.NoError(t, err)
	db, err := sql.Open("pgx", u.String())
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("create database " + name)
	require.NoError(t, err)
	t.Cleanup(func() {
		db, err := sql.Open("pgx", os.Getenv(postgresVariable))
		require.NoError(t, err)
		defer db.Close()
		_, err = db.Exec("drop database " + name + " with (force)")
		require.NoError(t, err)
	})
	u.Path = "/" + name
	return u.String()
}

// open starts the shop in place of the one that is open.
func (w *walk) open(t *testing.T, env ...string) {
	t.Helper()
	python, found := servers.Python()
	require.True(t, found, "Python 3 with psycopg2 is missing: make servers installs it")
	w.close()
	w.shop = exec.Command(python, "shop.py")
	w.shop.Dir, w.shop.Env = w.dir, append(w.env, env...)
	said := &text{}
	w.shop.Stdout, w.shop.Stderr = said, said
	require.NoError(t, w.shop.Start())
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "the shop is open") }, time.Minute, 10*time.Millisecond,
		"the shop is open; it has said: %s", said) // it is formatted in the end
}

// close ends the shop, if it is open.
func (w *walk) close() {
	if w.shop != nil {
		_ = w.shop.Process.Kill()
		_ = w.shop.Wait()
	}
	w.shop = nil
}

// types types a command and returns its exit code and what it said.
func (w *walk) types(t *testing.T, command string) (int, string) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-c", command)
	shell.Dir, shell.Env = w.dir, w.env
	out, err := shell.CombinedOutput()
	if shell.ProcessState == nil {
		require.NoError(t, err)
	}
	return shell.ProcessState.ExitCode(), string(out)
}

// waits types how the page waits for the shop.
func (w *walk) waits(t *testing.T, command string) {
	t.Helper()
	got, said := w.types(t, strings.ReplaceAll(command, "localhost:8000", w.address))
	require.Zero(t, got, "%s\n%s", command, said)
}

// TestTheFirstTenMinutes walks the path on the page of the example shop, command by command, and holds that it
// leads from nothing to a finding, and to a pass once the service is mended.
func TestTheFirstTenMinutes(t *testing.T) {
	t.Parallel()
	page := regexp.MustCompile("(?s)```console\n(.*?)```").FindStringSubmatch(readFile(t, "../../docs/examples/shop/README.md"))
	require.NotNil(t, page)
	w := newWalk(t, "first_ten_minutes")
	began, commands := time.Now(), 0
	for line := range strings.Lines(page[1]) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "$ "))
		began := time.Now()
		command, code, expects := strings.Cut(line, " # exit ")
		_, until, _ := strings.Cut(line, "python3 shop.py & ")
		switch {
		case strings.HasPrefix(line, "export "):
			require.Contains(t, line, "SHOP_USER=alice@example.com SHOP_PASSWORD='open sesame'")
			continue
		case strings.Contains(line, "FIXED=1 python3 shop.py &"):
			w.open(t, "FIXED=1")
			w.waits(t, until)
			commands++
			continue
		case strings.Contains(line, "python3 shop.py &"):
			w.open(t)
			w.waits(t, until)
			continue
		case !expects:
			code = "0"
		}
		commands++
		switch run := strings.HasPrefix(command, "doubletap run "); {
		case run && code == "1":
			command += " plain-create burst-same-key withheld-answer" // which show it: the mended service gets the whole library
		case run:
			command += " --more-rounds 1s" // once
		}
		got, said := w.types(t, command)
		for tries := 2; got == exitInconclusive && tries > 0; tries-- {
			t.Log("a busy machine left something untried, so it is tried again")
			got, said = w.types(t, command)
		}
		require.Equal(t, code, fmt.Sprint(got), "%s\n%s", command, said)
		t.Logf("%6s  exit %s  %s", time.Since(began).Round(100*time.Millisecond), code, command)
	}
	t.Logf("%6s  %d commands", time.Since(began).Round(100*time.Millisecond), commands)
	require.LessOrEqual(t, commands, 6)
	requireNowhere(t, w.dir+"/reports", "open sesame")
	require.NotContains(t, readFile(t, w.dir+"/shop.yaml"), "open sesame")
}
