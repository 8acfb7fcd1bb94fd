package doubletap_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dialers are the files of the command and the libraries that connect to something, each with where it connects to and why that
// is this machine or a host of allow_hosts. sut.System.Guard looks at every address of a target file and of the flags before a
// run connects to anything (docs/safety.md).
func dialers() map[string]string {
	return map[string]string{
		"learn/learn.go":               "--url and --openapi, of which init asks sut.Allowlist; it follows no redirect and knows no proxy",
		"driver/ask.go":                "base_url and instances, which Guard has seen; a link in an answer is followed on the same host only",
		"driver/batch.go":              "nothing: vegeta gets a transport of our own, which sends on lanes",
		"internal/servers/greet.go":    "servers that it has started on this machine",
		"internal/servers/nats.go":     "a server that it has started on this machine",
		"internal/servers/folder.go":   "nothing: a shell that removes a folder",
		"internal/servers/install.go":  "apt's servers, for make servers; the command does not call it",
		"internal/servers/node.go":     "npm's servers, for the museum; the command does not call it",
		"internal/servers/owner.go":    "nothing: programs that make a server's files on this machine",
		"internal/servers/rabbitmq.go": "nothing: rabbitmqctl, for a server that it has started on this machine",
		"internal/servers/process.go":  "what the servers contact that it starts, which have no peers",
		"sut/services/life.go":         "what process.command of the target file contacts",
		"proxy/api.go":                 "--toxiproxy, which Guard has seen; it follows no redirect and knows no proxy",
		"proxy/balancer.go":            "instances, which are ports of this machine or hosts that Guard has seen",
		"proxy/lane.go":                "toxiproxy, in this process or at --toxiproxy, which Guard has seen",
		"proxy/link_proxy.go":          "toxiproxy, in this process or at --toxiproxy, which Guard has seen, with links.NAME.to behind it, which Guard has seen, too",
		"proxy/upstream_tap.go":        "base_url and instances, which Guard has seen",
		"sinks/rabbitmq/rabbitmq.go":   "sinks.NAME.rabbitmq.url, which Guard has seen",
		"sut/services/port.go":         "the port of a process on this machine, or what Guard has seen",
		"sut/start.go":                 "base_url, which Guard has seen",
		"targets/caches/conn.go":       "store.url and sinks.NAME.redis.url, which Guard has seen",
		"targets/databases/databases.go": "database.url and instances.NAME.database, which Guard has seen, with what the environment adds to it; and --db, of which " +
			"init asks sut.Allowlist",
		"targets/orders/dependency.go": "a built-in design's own service on this machine, or the link to it, which is on this machine, too (sut.Local)",
		"targets/orders/mails.go":      "a sink on this machine, or --outside of targets serve, which sut.Local looks at",
		"targets/orders/payments.go":   "a sink on this machine, or --outside of targets serve, which sut.Local looks at",
		"targets/orders/place.go":      "a built-in design's database, which sut.Local lets be on this machine only",
		"targets/orders/redis.go":      "a built-in design's store, which sut.Local lets be on this machine only",
		"work/place.go":                "the NATS server that --workers, --join or clean --nats names, and no other that it tells of",
	}
}

// dials are functions and types that connect, or ask a name server, by import path.
func dials() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"net":                                    regexp.MustCompile(`^(Dial|Lookup|Resolve(TCP|UDP|IP)Addr$|Resolver$|DefaultResolver$)`),
		"net/http":                               regexp.MustCompile(`^(Client|Transport|DefaultClient|DefaultTransport|Get|Post|PostForm|Head|ProxyFromEnvironment|ProxyURL)$`),
		"net/http/httputil":                      regexp.MustCompile(`ReverseProxy`),
		"net/rpc":                                regexp.MustCompile(`^Dial`),
		"net/smtp":                               regexp.MustCompile(`^(Dial|SendMail)`),
		"os/exec":                                regexp.MustCompile(`^Command`), // what is started may connect, too
		"log/syslog":                             regexp.MustCompile(`.`),
		"crypto/tls":                             regexp.MustCompile(`^Dial`),
		"database/sql":                           regexp.MustCompile(`^Open`),
		"syscall":                                regexp.MustCompile(`^(Connect|Sendto|Sendmsg)`),
		"golang.org/x/sys/unix":                  regexp.MustCompile(`^(Connect|Sendto|Sendmsg)`),
		"github.com/tsenart/vegeta/v12/lib":      regexp.MustCompile(`^NewAttacker$`),
		"github.com/rabbitmq/amqp091-go":         regexp.MustCompile(`^Dial`),
		"github.com/nats-io/nats.go":             regexp.MustCompile(`^(Connect$|Options$|GetDefaultOptions$)`),
		"github.com/gomodule/redigo/redis":       regexp.MustCompile(`^Dial(URL|Context|URLContext|Timeout)?$`),
		"github.com/jackc/pgx/v5":                regexp.MustCompile(`^Connect`),
		"github.com/jackc/pgx/v5/pgconn":         regexp.MustCompile(`^Connect`),
		"github.com/jackc/pgx/v5/pgxpool":        regexp.MustCompile(`^New`),
		"github.com/emersion/go-smtp":            regexp.MustCompile(`^(Dial|SendMail|NewClient)`),
		"github.com/Shopify/toxiproxy/v2/client": regexp.MustCompile(`.`),
	}
}

// TestOnlyKnownFilesDial holds that whoever adds a connection says here what keeps it on this machine.
func TestOnlyKnownFilesDial(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{range $f := .GoFiles}}{{$.ImportPath}}/{{$f}}\n{{end}}{{end}}",
		"./cmd/doubletap", ".", "./doubletaptest")
	out, err := command.Output()
	require.NoError(t, err, "go list")
	known, found := dialers(), map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		file, ours := strings.CutPrefix(file, module+"/")
		if !ours {
			continue
		}
		what := dialsIn(t, file)
		if what == "" {
			continue
		}
		found[file] = true
		assert.Contains(t, known, file, "it has %s; say in dialers() where that may lead and why", what)
	}
	for file := range known {
		assert.Contains(t, found, file, "it connects to nothing any more")
	}
}

// dialsIn names what connects in a file; empty: nothing does.
func dialsIn(t *testing.T, file string) (what string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	imports := map[string]*regexp.Regexp{}
	for _, i := range tree.Imports {
		from, err := strconv.Unquote(i.Path.Value)
		require.NoError(t, err)
		pattern := dials()[from]
		if pattern == nil {
			continue
		}
		name := regexp.MustCompile(`/v\d+$|/lib$|\.go$|^go-|091-go$`).ReplaceAllString(from, "")
		name = strings.TrimPrefix(path.Base(name), "go-")
		switch from {
		case "github.com/tsenart/vegeta/v12/lib":
			name = "vegeta"
		case "github.com/Shopify/toxiproxy/v2/client":
			name = "toxiproxy"
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = pattern
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			if from, is := s.X.(*ast.Ident); is && imports[from.Name] != nil && imports[from.Name].MatchString(s.Sel.Name) {
				what = from.Name + "." + s.Sel.Name
			}
		}
		return what == ""
	})
	return what
}
