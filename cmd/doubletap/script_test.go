package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// TestScripts types command lines as users do, in processes of their own. Besides testscript's own
// commands the scripts have:
//
//	exits CODE ARG...     runs doubletap and wants this exit code
//	target VAR            starts an API that answers everything with 500 and counts; VAR is its URL
//	asked N               the APIs of this script were asked so often
//	latest VAR DIR        VAR is the newest run in the reports directory
//	parses FILE           the file is the JSON, JSONL or XML that its name says
//	obeys SCHEMA FILE     the YAML file fits the JSON Schema; ! obeys: it does not
//	empty DIR             the directory holds nothing or is not there
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	usual(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", root)
			env.Setenv("PATH", built.dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("REDIS", os.Getenv(sut.StoreVariable))
			env.Values[askedKey{}] = new(atomic.Int64)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "target": startTarget, "asked": asked, "latest": latest,
			"parses": parses, "obeys": obeys, "empty": empty,
		},
	})
}

type askedKey struct{}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var failed *exec.ExitError
	err = ts.Exec("doubletap", args[1:]...)
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, expected %d", code, want)
	}
}

func startTarget(ts *testscript.TestScript, _ bool, args []string) {
	count := ts.Value(askedKey{}).(*atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

func asked(ts *testscript.TestScript, _ bool, args []string) {
	if n := ts.Value(askedKey{}).(*atomic.Int64).Load(); strconv.FormatInt(n, 10) != args[0] {
		ts.Fatalf("asked %d times, expected %s", n, args[0])
	}
}

func latest(ts *testscript.TestScript, _ bool, args []string) {
	runs, err := filepath.Glob(filepath.Join(ts.MkAbs(args[1]), "*", rundir.ManifestName))
	ts.Check(err)
	newest, at := "", int64(0)
	for _, run := range runs {
		info, err := os.Stat(run)
		ts.Check(err)
		if filepath.Base(filepath.Dir(run)) != rundir.LatestName && info.ModTime().UnixNano() > at {
			newest, at = filepath.Dir(run), info.ModTime().UnixNano()
		}
	}
	if newest == "" {
		ts.Fatalf("there is no run in %s", args[1])
	}
	ts.Setenv(args[0], newest)
}

func parses(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	switch {
	case filepath.Base(path) == "report.json":
		_, err := reports.ReadJSON(strings.NewReader(text))
		ts.Check(err)
	case strings.HasSuffix(path, ".json"), strings.HasSuffix(path, ".jsonl"):
		for decoder := json.NewDecoder(strings.NewReader(text)); ; {
			var value any
			err := decoder.Decode(&value)
			if errors.Is(err, io.EOF) {
				return
			}
			ts.Check(err)
		}
	case strings.HasSuffix(path, ".xml"):
		ts.Check(xml.Unmarshal([]byte(text), new(struct{ XMLName xml.Name })))
	default:
		ts.Fatalf("nobody knows how to parse %s", path)
	}
}

func obeys(ts *testscript.TestScript, neg bool, args []string) {
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	compiler := jsonschema.NewCompiler()
	ts.Check(compiler.AddResource("schema.json", schema))
	compiled, err := compiler.Compile("schema.json")
	ts.Check(err)
	var value any
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[1])), &value))
	err = compiled.Validate(value)
	if neg && err == nil {
		ts.Fatalf("%s obeys %s", args[1], args[0])
	}
	if !neg {
		ts.Check(err)
	}
}

func empty(ts *testscript.TestScript, _ bool, args []string) {
	found, err := os.ReadDir(ts.MkAbs(args[0]))
	if err == nil && len(found) > 0 {
		ts.Fatalf("%s holds %s", args[0], found[0].Name())
	}
}
