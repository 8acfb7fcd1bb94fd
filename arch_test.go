package doubletap_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/doubletap-harness/doubletap"

// rooms says what each room may import of ours, and why not more. A room that is not here may not be.
func rooms() map[string][]string {
	return map[string][]string{
		"internal/lightjson":       {},
		"history":                  {"internal/lightjson"},
		"proofs":                   {},
		"contract":                 {},
		"jsonpointer":              {},
		"outline":                  {"jsonpointer"},
		"faults":                   {},
		"scenarios":                {"faults", "history", "contract", "proofs", "jsonpointer", "document"},
		"document":                 {"jsonpointer", "internal/english"},
		"targets":                  {"contract", "jsonpointer", "document", "internal/files", "internal/sqltext"},
		"targets/explain":          {"contract", "targets", "internal/english"},
		"targets/databases":        {"internal/files"},
		"targets/caches":           {},
		"targets/drafting":         {"contract", "jsonpointer", "targets", "targets/databases", "internal/inert"},
		"targets/drafting/openapi": {"contract", "jsonpointer", "targets", "targets/drafting", "internal/files"},
		"internal/stopwatch":       {"contract", "targets"},
		"targets/orders":           {"contract", "targets", "internal/leftovers"},
		"internal/ports":           {},
		"internal/servers":         {"internal/leftovers", "internal/ports"},
		"internal/sqldrivers":      {},
		"internal/crashcode":       {},
		"internal/leftovers":       {},
		"internal/sqltext":         {},
		"internal/english":         {},
		"internal/files":           {},
		"internal/inert":           {},
		"internal/credentials":     {},
		"sut/services":             {},
		"internal/ephemeral":       {"targets/databases", "internal/servers", "internal/files"},
		"internal/servers/install": {"internal/servers"},
		"internal/servers/with":    {"internal/servers"},
		"proxy":                    {"faults", "history", "internal/leftovers"},
		"sinks":                    {"history", "contract", "jsonpointer", "targets", "targets/caches", "sinks/wire", "internal/credentials"},
		"sinks/wire":               {},
		"sinks/mail":               {"history", "targets", "sinks"},
		"sinks/spans":              {"history", "targets", "sinks"},
		"sinks/rabbitmq":           {"targets", "sinks"},
		"driver":                   {"faults", "contract", "scenarios", "targets", "history", "outline", "driver/h2", "internal/credentials"},
		"driver/h2":                {},
		"driver/writegate":         {"targets/databases"},
		"export/curl":              {"contract", "faults", "scenarios", "targets", "history", "driver", "internal/inert", "internal/shell"},
		"internal/bench":           {"faults", "contract", "scenarios", "targets", "history", "proxy", "driver"},
		"checker":                  {"history", "contract", "proofs", "jsonpointer", "outline", "internal/lightjson"},
		"snapshots":                {"history", "jsonpointer", "targets/databases", "internal/sqltext"},
		"internal/mutate":          {},
		"internal/hostile":         {"internal/sqldrivers"},
		"museum":                   {"internal/ports"}, // its exhibits are modules of their own
		"internal/libraryuse":      {},                 // tests only
		"internal/standin":         {},                 // tests only
		"internal/paced":           {},
		"internal/paced/measure":   {},
		"internal/steady":          {},
		"internal/observations":    {"diagnosis", "reports"},
		"internal/exports":         {"checker", "rundir", "scenarios", "targets/orders"},
		"internal/tables":          {"checker", "diagnosis", "proofs", "scenarios"},
		"diagnosis":                {"checker"},
		"reports":                  {"checker", "history", "jsonpointer", "proofs", "diagnosis", "internal/english", "internal/shell", "internal/inert"},
		"internal/runerror":        {},
		"internal/shell":           {"internal/inert"},
		"rundir":                   {"faults", "history", "scenarios", "checker", "reports", "internal/english", "internal/runerror", "internal/files", "internal/shell"},
		"sut": {
			"internal/files", "internal/ports",
			"history", "contract", "scenarios", "targets", "targets/databases", "targets/caches", "checker", "driver", "driver/writegate", "proxy", "sinks", "snapshots",
			"sut/services", "internal/runerror", "internal/shell",
		},
		"sut/builtin": {"sut", "sinks", "sinks/mail", "sinks/spans", "sinks/rabbitmq", "targets", "targets/orders", "internal/ephemeral", "internal/runerror"},
		"engine": {
			"internal/files",
			"faults", "history", "contract", "jsonpointer", "document", "scenarios", "targets", "proxy", "sinks", "driver", "snapshots", "checker", "diagnosis", "rundir", "sut",
			"internal/stopwatch", "internal/runerror", "internal/english",
		},
		"work":   {"rundir", "internal/files", "internal/runerror"},
		"shrink": {"history", "scenarios", "checker", "proofs", "rundir", "engine", "internal/runerror"},
		"export": {"history", "contract", "jsonpointer", "scenarios", "targets", "targets/databases", "checker", "driver", "export/curl", "rundir", "sut", "internal/runerror", "internal/shell", "internal/inert"},
		"learn": {
			"contract", "jsonpointer", "snapshots", "scenarios", "targets", "targets/databases", "targets/drafting", "targets/drafting/openapi", "history", "driver", "rundir", "sut", "engine",
			"internal/english", "internal/files", "internal/inert", "internal/runerror",
		},
		"":              {"scenarios", "targets", "checker", "rundir", "sut", "engine", "internal/leftovers", "internal/runerror", "internal/shell"},
		"doubletaptest": {"", "checker", "reports"},
		"cmd/doubletap": {
			"scenarios", "document", "targets", "targets/databases", "targets/caches", "targets/explain", "targets/drafting", "targets/orders",
			"history", "checker", "diagnosis", "driver", "proxy", "reports", "rundir", "sut", "sut/builtin", "engine", "shrink", "export", "learn", "work",
			"internal/sqldrivers", "internal/crashcode", "internal/leftovers", "internal/files", "internal/runerror", "internal/english", "internal/inert", "internal/shell",
		},
	}
}

// owners says which rooms may import a dependency: who else needs it asks its owner.
func owners() map[string][]string {
	return map[string][]string{
		"gopkg.in/yaml.v3":                         {"scenarios", "document", "targets", "targets/drafting", "targets/drafting/openapi", "museum"},
		"github.com/getkin/kin-openapi":            {"targets/drafting/openapi"},
		"github.com/santhosh-tekuri/jsonschema/v6": {"document"},
		"github.com/brianvoe/gofakeit/v7":          {"targets"},
		"github.com/agnivade/levenshtein":          {"document", "targets/orders"},
		"github.com/Shopify/toxiproxy/v2":          {"proxy"},
		"github.com/rs/zerolog":                    {"proxy"}, // toxiproxy's logger
		"github.com/tsenart/vegeta/v12":            {"driver", "internal/bench"},
		"github.com/go-sql-driver/mysql":           {"targets/orders", "internal/sqldrivers"},
		"github.com/jackc/pgx/v5":                  {"targets/orders", "internal/sqldrivers", "internal/paced"},
		"github.com/gomodule/redigo":               {"targets/orders"},
		"github.com/nats-io/nats.go":               {"work"},
		"github.com/emersion/go-smtp":              {"sinks/mail"},
		"github.com/emersion/go-sasl":              {"sinks/mail"}, // go-smtp's ways to sign in
		"golang.org/x/text":                        {"sinks/mail"},
		"go.opentelemetry.io/proto/otlp":           {"sinks/spans"},
		"github.com/rabbitmq/amqp091-go":           {"sinks/rabbitmq"},
		"google.golang.org/protobuf":               {"sinks/spans"},
		"modernc.org/sqlite":                       {"targets/orders", "internal/sqldrivers"},
		"github.com/fatih/color":                   {"reports"},
		"github.com/rivo/uniseg":                   {"reports"},
		"github.com/andybalholm/cascadia":          {"targets"},
		"golang.org/x/net":                         {"driver/h2", "targets", "targets/drafting"},
		"golang.org/x/time":                        {"driver"},
		"golang.org/x/sys":                         {"driver"},
		"golang.org/x/term":                        {"reports", "cmd/doubletap"},
		"github.com/mattn/go-isatty":               {"reports", "cmd/doubletap"},
		"github.com/schollz/progressbar/v3":        {"cmd/doubletap"},
		"github.com/spf13/cobra":                   {"cmd/doubletap"},
		"github.com/spf13/pflag":                   {"cmd/doubletap"},
		"github.com/stretchr/testify":              {}, // tests only
		"github.com/rogpeppe/go-internal":          {}, // tests only
		"go.uber.org/goleak":                       {}, // tests only
		"pgregory.net/rapid":                       {}, // tests only
		"github.com/glebarez/go-sqlite":            {}, // tests only
		"go.opentelemetry.io/otel":                 {}, // tests only
	}
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string // without those of tests
}

func TestDataGoesOneWay(t *testing.T) {
	t.Parallel()
	standard, ours := listPackages(t)
	for _, complaint := range trespasses(standard, ours) {
		t.Error(complaint)
	}
	require.GreaterOrEqual(t, len(ours), 10, "the list is not empty by mistake")
}

func TestTrespassesAreNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		room, imports, says string
	}{
		"a room that reaches sideways":   {"driver", module + "/checker", "driver must not import checker"},
		"a room that reaches up":         {"history", module + "/engine", "history must not import engine"},
		"a room that nobody planned":     {"helpers", "fmt", "helpers is no room"},
		"a dependency of another room":   {"checker", "gopkg.in/yaml.v3", "gopkg.in/yaml.v3 belongs to scenarios"},
		"a part of such a dependency":    {"driver", "github.com/Shopify/toxiproxy/v2/client", "belongs to proxy"},
		"a dependency that nobody owns":  {"checker", "example.com/new", "example.com/new has no owner"},
		"a test library outside of test": {"reports", "github.com/stretchr/testify/require", "belongs to nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			complaints := trespasses([]string{"fmt"}, []listed{{ImportPath: module + "/" + c.room, Imports: []string{c.imports}}})
			require.Len(t, complaints, 1)
			require.Contains(t, complaints[0], c.says)
		})
	}
}

// TestTheCheckerIsPure holds that the judgement of a run needs nothing but the standard library and leaves
// of ours, directly or by way of others: no parser and no network protocol of a third party.
func TestTheCheckerIsPure(t *testing.T) {
	t.Parallel()
	leaves := []string{"checker", "history", "contract", "proofs", "jsonpointer", "outline", "internal/lightjson"}
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./checker")
	command.Dir = "."
	out, err := command.Output()
	require.NoError(t, err, "go list")
	linked := strings.Fields(string(out))
	require.Contains(t, linked, module+"/checker", "the list is not empty by mistake")
	for _, path := range linked {
		require.Contains(t, leaves, strings.TrimPrefix(path, module+"/"), "the checker links it")
	}
}

// TestTheLibraryIsLean holds that a Go test which imports the library links no command line, no database driver and no OpenAPI
// reader. Of the modules that it does link, toxiproxy and vegeta bring 23 with them.
func TestTheLibraryIsLean(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".", "./doubletaptest")
	out, err := command.Output()
	require.NoError(t, err, "go list")
	linked := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	require.Contains(t, linked, module, "the list is not empty by mistake")
	for _, heavy := range []string{
		"github.com/spf13/cobra", "github.com/getkin/kin-openapi", "github.com/schollz/progressbar/v3", "modernc.org/sqlite",
		"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql", "github.com/gomodule/redigo", "github.com/nats-io/nats.go", "github.com/emersion/go-smtp", "go.opentelemetry.io/proto/otlp",
		"github.com/rabbitmq/amqp091-go",
	} {
		require.NotContains(t, linked, heavy)
	}
	require.LessOrEqual(t, len(linked)-1, 34, "%s", linked)
}

// mostFields and mostMethods are what a type has that can be taken in at one look.
const mostFields, mostMethods = 22, 40

// TestSequentialRoomsStartNoGoroutine holds that the rooms whose tests come without the race detector have no use for it.
func TestSequentialRoomsStartNoGoroutine(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^SEQUENTIAL := (.+)$`).FindSubmatch(makefile)
	require.NotNil(t, line)
	for room := range strings.FieldsSeq(string(line[1])) {
		folder, whole := strings.CutSuffix(room, "/...")
		files, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		if whole {
			inner, err := filepath.Glob(folder + "/*/*.go")
			require.NoError(t, err)
			files = append(files, inner...)
		}
		require.NotEmpty(t, files, room)
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(tree, func(n ast.Node) bool {
				_, starts := n.(*ast.GoStmt)
				if call, is := n.(*ast.SelectorExpr); is && call.Sel.Name == "Go" { // of sync.WaitGroup
					starts = true
				}
				assert.False(t, starts && !strings.HasSuffix(file, "_test.go"), "%s starts a goroutine: its room is not sequential (Makefile)", file)
				return true
			})
		}
	}
}

func TestNoTypeIsTooLarge(t *testing.T) {
	t.Parallel()
	fields, methods := sizes(t)
	require.Greater(t, len(fields), 100, "the list is not empty by mistake")
	records := map[string]int{
		"history.Attempt": 31, // a line of the file, as flat as its JSON
	}
	for name, n := range fields {
		if known, is := records[name]; is {
			assert.Equal(t, known, n, "fields of %s", name)
			continue
		}
		assert.LessOrEqual(t, n, mostFields, "fields of %s", name)
	}
	for name, n := range methods {
		assert.LessOrEqual(t, n, mostMethods, "methods of %s", name)
	}
}

// sizes counts the fields and the methods of every type, outside of tests.
func sizes(t *testing.T) (fields, methods map[string]int) {
	t.Helper()
	fields, methods = map[string]int{}, map[string]int{}
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && path == "bin" {
			return fs.SkipDir // what is built and played is no source
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room := filepath.Dir(path) + "."
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, is := spec.(*ast.TypeSpec); is {
						if of, is := s.Type.(*ast.StructType); is {
							fields[room+s.Name.Name] = of.Fields.NumFields()
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods[room+receiver(d.Recv.List[0].Type)]++
				}
			}
		}
		return nil
	}))
	return fields, methods
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

// TestTheArchitecturePageHasTheRooms holds the page's table against this one.
func TestTheArchitecturePageHasTheRooms(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	told := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]+\\| (.+) \\|$").FindAllStringSubmatch(string(page), -1) {
		room := strings.TrimPrefix(row[1], ".")
		told[room] = []string{}
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			told[room] = append(told[room], strings.TrimPrefix(word[1], "."))
		}
		if row[2] == "everything" {
			told[room] = rooms()[room]
		}
	}
	for room, imports := range rooms() {
		require.Contains(t, told, room)
		require.ElementsMatch(t, imports, told[room], room)
		delete(told, room)
	}
	for room := range told {
		require.Contains(t, room, "-", "docs/architecture.md has a room that is not there") // proofs have dashes in their names
	}
}

// trespasses says which imports the rooms may not have, and why.
func trespasses(standard []string, ours []listed) []string {
	var complaints []string
	for _, p := range ours {
		room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, planned := rooms()[room]
		if !planned {
			complaints = append(complaints, room+" is no room of docs/architecture.md: put it into one, or add it there and to this test")
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(standard, path) {
				continue
			}
			if inner, own := strings.CutPrefix(path+"/", module+"/"); own {
				inner = strings.TrimSuffix(inner, "/")
				if !slices.Contains(allowed, inner) {
					complaints = append(complaints, room+" must not import "+inner+": data goes one way, and "+room+" is given what it needs by the engine or the command (it may import "+orNobody(allowed)+")")
				}
				continue
			}
			if text := foreign(room, path); text != "" {
				complaints = append(complaints, text)
			}
		}
	}
	return complaints
}

// foreign says why a room may not import a third-party package; empty: it may.
func foreign(room, path string) string {
	for dependency, who := range owners() {
		if path != dependency && !strings.HasPrefix(path, dependency+"/") {
			continue
		}
		if slices.Contains(who, room) {
			return ""
		}
		return room + " must not import " + path + ": " + dependency + " belongs to " + orNobody(who) + ", so that it can be replaced in one place"
	}
	return room + " imports " + path + ": " + path + " has no owner yet; add it to this test with the one room that fences it off"
}

func orNobody(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

// listPackages returns the packages of the standard library that we need, and ours.
func listPackages(t *testing.T) (standard []string, ours []listed) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports", "./...")
	command.Dir = "."
	out, err := command.Output()
	require.NoError(t, err, "go list")
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return standard, ours
		}
		require.NoError(t, err)
		switch {
		case p.Standard:
			standard = append(standard, p.ImportPath)
		case p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/"):
			ours = append(ours, p)
		}
	}
}
