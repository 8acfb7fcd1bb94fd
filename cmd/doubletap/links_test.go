package main

import (
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// Short forms of the scenarios of the library.
const (
	lagScenario = `name: lag
summary: A few copies while the database is slow.
intents: 3
links: {database: [latency: 10ms]}
steps: [burst: {copies: 3}]
exercised: [{proof: link-delayed, at_least: 100%}]
`
	breakScenario = `name: break
summary: The connection to the database breaks at the answer to a commit.
intents: 4
concurrency: 1
steps: [send: {cut: {link: database, moment: committed, for: 20ms}}, wait: 50ms, send: {retry: {max: 3, backoff: 50ms}}]
exercised: [link-cut]
`
)

func TestTheLinkToTheDatabaseIsSlowAndBreaks(t *testing.T) {
	t.Parallel()
	for _, on := range stores()[1:] {
		for design, found := range map[string]checker.Kind{"unique-key": "", "internal-retry-after-unknown-commit": checker.Duplicate} {
			t.Run(design+" on "+on.name, func(t *testing.T) {
				t.Parallel()
				x := trial{reports: t.TempDir()}
				got := callWith(t.Context(), nil, "run", "--target", sut.BuiltinPrefix+design, "--database", on.url, "--seed", "3", "--reports", x.reports,
					writeFile(t, "lag.yaml", lagScenario), writeFile(t, "break.yaml", breakScenario))
				x.checked(t, got)
				report := onlyReport(t, x.reports)
				lag, broke := report.Results[0], report.Results[1]
				require.Equal(t, checker.Pass, lag.Verdict, "%s", got)
				require.Equal(t, []int{3, 3}, []int{lag.Exercise[0].Held, lag.Exercise[0].Of}, "%s", got)
				require.GreaterOrEqual(t, broke.Exercise[0].Held, 2, "%s", got)
				requireLinksOnRecord(t, histories(t, onlyRun(t, x.reports)))
				if found == "" {
					require.Equal(t, exitPass, got.code, "%s", got)
					return
				}
				require.Equal(t, exitFinding, got.code, "%s", got)
				require.GreaterOrEqual(t, broke.Failed, 2, "%s", got)
				require.Equal(t, found, broke.Findings[0].Kind)
				require.Contains(t, strings.Join(strings.Fields(got.out), " "), "and the answer to a commit was lost")
				again := callWith(t.Context(), nil, "replay", filepath.Join(onlyRun(t, x.reports), "findings", broke.Findings[0].ID), "--database", on.url, "--reports", t.TempDir())
				require.Equal(t, exitFinding, again.code, "%s", again)
			})
		}
	}
}

// requireLinksOnRecord holds that a history says how the link was and what passed it.
func requireLinksOnRecord(t *testing.T, all []*history.History) {
	t.Helper()
	for _, h := range all {
		if rundir.IsPilotAfter(h.Run.Scenario) {
			continue
		}
		require.Len(t, h.Run.Links, 1, h.Run.Scenario)
		link := h.Run.Links[0]
		require.Equal(t, "database", link.Name)
		require.Len(t, h.Traffic, 1)
		require.NotEmpty(t, h.Traffic[0].Exchanges)
		switch h.Run.Scenario {
		case "lag":
			require.Equal(t, []string{"latency 10ms, both ways"}, link.Faults)
			require.Equal(t, history.Offset(20e6), link.Delay)
			require.Positive(t, link.Moments)
			for _, e := range h.Traffic[0].Exchanges {
				require.Less(t, e.Asked, h.T1.At)
			}
		case "break":
			require.Empty(t, link.Faults)
			for _, a := range h.Attempts {
				require.Equal(t, a.Step == 0 && a.Retry == 0 && !a.Probe, a.Cut != nil, a.ID)
			}
		}
	}
}

func TestADatabaseInAFileHasNoLink(t *testing.T) {
	t.Parallel()
	got := callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--seed", "1", "--reports", t.TempDir(), "plain-create", writeFile(t, "lag.yaml", lagScenario))
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "no link leads to the database: it is a file, or reached by a socket")
}

// linked is a target that another process serves, which goes to its database by a link, and its target file.
func linked(t *testing.T, design, links string) (file string, env map[string]string) {
	t.Helper()
	server, err := url.Parse(os.Getenv(postgresVariable))
	require.NoError(t, err)
	listen := strings.TrimPrefix(freeAddress(t), "http://")
	_, env = servingBy(t, design, os.Getenv(postgresVariable), listen)
	env["LISTEN"], env["SERVER"] = listen, server.Host
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	return writeFile(t, "orders.yaml", string(source)+links+"\n"), env
}

func TestALinkOfATargetFile(t *testing.T) {
	t.Parallel()
	file, env := linked(t, "response-recorded-before-commit", `links: {database: {listen: "${LISTEN}", to: "${SERVER}"}}`)
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	server := httptest.NewServer(api.Routes())
	defer server.Close()
	for _, toxiproxy := range []string{"", server.URL} {
		x := trial{reports: t.TempDir()}
		got := callWith(t.Context(), env, "run", "--target", file, "--toxiproxy", toxiproxy, "--reports", x.reports, "slow-database", "database-cut")
		require.Equal(t, exitFinding, got.code, "%s", got)
		x.checked(t, got)
		report := onlyReport(t, x.reports)
		slow, broke := report.Results[0], report.Results[1]
		require.Equal(t, checker.Pass, slow.Verdict, "%s", got)
		require.NotEmpty(t, broke.Findings, "%s", got)
		require.Equal(t, checker.LostWrite, broke.Findings[0].Kind, "%s", got)
		require.Empty(t, api.Collection.Proxies(), "nothing is left on the server")
		time.Sleep(1100 * time.Millisecond) // pgx looks whether a connection lives after it was idle for a second
	}
	got := callWith(t.Context(), env, "doctor", "--target", file)
	require.Contains(t, got.out, "✓ link           database, at "+env["LISTEN"])
}

func TestTheLinkOfAProcessToItsDatabase(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	for engine, reason := range map[string]string{"postgres": "", "mariadb": "", "sqlite": "no link leads to the database: it is a file, or reached by a socket"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			file := writeFile(t, "orders.yaml", strings.Replace(string(source), `{url: "${DATABASE_URL}"}`, "{ephemeral: "+engine+"}", 1)+`
process:
  command: [doubletap, targets, serve, unique-key, --listen, "127.0.0.1:{{.Port}}", --database, "{{.Database.URL}}", --keep]
`)
			x := trial{reports: t.TempDir()}
			got := callWith(t.Context(), map[string]string{"ORDERS_URL": "http://127.0.0.1:0"}, "run", "--target", file, "--reports", x.reports,
				"plain-create", writeFile(t, "lag.yaml", lagScenario), writeFile(t, "break.yaml", breakScenario))
			if reason != "" {
				require.Equal(t, exitPass, got.code, "%s", got)
				require.Contains(t, got.out, reason)
				return
			}
			x.checked(t, got)
			report := onlyReport(t, x.reports)
			require.Equal(t, checker.Pass, report.Results[1].Verdict, "%s", got)
			require.Positive(t, report.Results[2].Exercise[0].Held, "%s", got)
			require.Empty(t, report.Results[2].Findings, "%s", got)
		})
	}
}

func TestLinksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, env := serving(t, "unique-key")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	run := func(links string, args ...string) outcome {
		file := writeFile(t, "orders.yaml", string(source)+links+"\n")
		return callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), writeFile(t, "lag.yaml", lagScenario)}, args...)...)
	}
	listen := strings.TrimPrefix(freeAddress(t), "http://")

	got := run(fmt.Sprintf("links: {database: {listen: %q, to: '127.0.0.1:1'}}", listener.Addr()), "plain-create")
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "address already in use")
	require.Equal(t, 1, lines(got.err), "one message: %s", got.err)

	got = run(fmt.Sprintf("links: {database: {listen: %q, to: 'db.example.com:5432'}}", listen), "plain-create")
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "links.database.to points to db.example.com, which is not this machine")

	got = run(fmt.Sprintf("links: {store: {listen: %q, to: '127.0.0.1:1'}}", listen), "plain-create")
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, `the target has no link "database", only store`)

	got = run("", "plain-create")
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "the target file names no link inside the target (links)")

	got = run(fmt.Sprintf("links: {database: {listen: %q, to: '127.0.0.1:1'}}", listen))
	require.Equal(t, exitInconclusive, got.code, "the target does not use it\n%s", got)
}
