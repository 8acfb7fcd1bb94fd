package scenarios_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/scenarios"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryMistakeIsToldAtOnceWithItsPlace(t *testing.T) {
	t.Parallel()
	requireMistakes(t, "testdata/bad/*.txtar", func(file string, data []byte) error {
		_, err := scenarios.Load(file, data)
		return err
	})
}

// requireMistakes checks what load says of the files in archives against the texts that follow them.
func requireMistakes(t *testing.T, pattern string, load func(file string, data []byte) error) {
	t.Helper()
	for path, archive := range badArchives(t, pattern) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			for i := 0; i < len(archive.Files); i += 2 {
				name := archive.Files[i].Name
				err := load(name, archive.Files[i].Data)
				require.ErrorAs(t, err, new(document.Mistakes), name)
				if *update {
					archive.Files[i+1].Data = []byte(err.Error() + "\n\n")
				}
				require.Equal(t, strings.TrimSuffix(name, ".yaml")+".txt", archive.Files[i+1].Name)
				require.Equal(t, strings.TrimSpace(string(archive.Files[i+1].Data)), err.Error(), name)
			}
			if *update {
				require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
			}
		})
	}
}

// badArchives returns the archives of files that are refused, by path. Each file name.yaml is followed by name.txt, the
// mistakes that it has.
func badArchives(tb testing.TB, pattern string) map[string]*txtar.Archive {
	tb.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(tb, err)
	require.NotEmpty(tb, paths)
	all := map[string]*txtar.Archive{}
	for _, path := range paths {
		all[path], err = txtar.ParseFile(path)
		require.NoError(tb, err)
	}
	return all
}

const shorthands = `
name: shorthands
summary: Everything that can be written short.
needs: [key]
concurrency: 1
background: {rate: 2.5, intents: 7, lane: behind}
lanes:
  behind: [latency: 1ms]
  one: [latency: 100ms, bandwidth: 20, withhold, hang-up: 50ms, cut: reset, lose: response, slow-close: 500ms, slice: 16]
  two:
    - withhold:
    - withhold: {}
    - cut: {after: 130}
    - latency: {delay: 1s, jitter: 5ms, way: request}
    - toxic: {type: limit_data, stream: downstream, attributes: {bytes: 5}}
steps:
  - send
  - send:
  - send: {lane: one, timeout: 50%, retry: {max: 2, on: [no-answer, 409, "425", 5xx], lane: two, key: fresh}}
  - wait: committed
  - wait: 200ms
  - wait: 50%
  - wait: {for: committed, within: 1s}
  - wait: {pause: 200ms}
  - burst: {copies: 3, altered: 1}
  - tabs: [{}, {at: 50%, within: 10ms, count: 2, altered: true}]
  - alter
  - burst: {copies: 2, write_gate: true}
  - sweep
  - sweep:
  - sweep: {from: 1ms, to: 20ms, lane: one, timeout: 50%}
exercised: [replayed, {proof: overlapped, at_least: 0.8}, {proof: both-bodies, at_least: 80%}]
`

func TestShorthandsAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("s.yaml", []byte(shorthands))
	require.NoError(t, err)
	tenSeconds := scenarios.Span{Fixed: 10 * time.Second}
	plain := scenarios.Send{Lane: scenarios.Clean, Timeout: tenSeconds}
	require.Equal(t, []faults.Fault{
		{Latency: &faults.Latency{Delay: faults.Duration(100 * time.Millisecond)}},
		{Bandwidth: &faults.Bandwidth{Rate: 20}},
		{Withhold: &faults.Withhold{}},
		{HangUp: &faults.HangUp{After: faults.Duration(50 * time.Millisecond)}},
		{Cut: &faults.Cut{Reset: true}},
		{Lose: faults.LoseResponse},
		{SlowClose: &faults.SlowClose{Delay: faults.Duration(500 * time.Millisecond)}},
		{Slice: &faults.Slice{Size: 16}},
	}, s.Lanes["one"])
	require.Equal(t, []faults.Fault{
		{Withhold: &faults.Withhold{}},
		{Withhold: &faults.Withhold{}},
		{Cut: &faults.Cut{After: 130}},
		{Latency: &faults.Latency{Delay: faults.Duration(time.Second), Jitter: faults.Duration(5 * time.Millisecond), Way: faults.RequestWay}},
		{Toxic: &faults.Toxic{Type: "limit_data", Stream: "downstream", Attributes: map[string]any{"bytes": 5}}},
	}, s.Lanes["two"])
	require.Equal(t, []scenarios.Step{
		{Send: &plain},
		{Send: &plain},
		{Send: &scenarios.Send{Lane: "one", Timeout: scenarios.Span{Share: 0.5}, Retry: &scenarios.Retry{
			Max: 2, On: []scenarios.RetryOn{scenarios.NoAnswer, "409", "425", "5xx"}, Lane: "two", Key: scenarios.FreshKey,
		}}},
		{Wait: &scenarios.Wait{For: scenarios.WaitCommitted, Within: scenarios.Span{Fixed: 5 * time.Second}}},
		{Wait: &scenarios.Wait{Pause: scenarios.Span{Fixed: 200 * time.Millisecond}}},
		{Wait: &scenarios.Wait{Pause: scenarios.Span{Share: 0.5}}},
		{Wait: &scenarios.Wait{For: scenarios.WaitCommitted, Within: scenarios.Span{Fixed: time.Second}}},
		{Wait: &scenarios.Wait{Pause: scenarios.Span{Fixed: 200 * time.Millisecond}}},
		{Burst: &scenarios.Burst{Copies: 3, Altered: 1, Send: plain}},
		{Tabs: []scenarios.Tab{
			{Send: plain},
			{At: scenarios.Span{Share: 0.5}, Within: scenarios.Span{Fixed: 10 * time.Millisecond}, Count: 2, Altered: true, Send: plain},
		}},
		{Alter: &plain},
		{Burst: &scenarios.Burst{Copies: 2, WriteGate: true, Send: plain}},
		{Sweep: &scenarios.Sweep{To: scenarios.Span{Share: 1.2}, Send: plain}},
		{Sweep: &scenarios.Sweep{To: scenarios.Span{Share: 1.2}, Send: plain}},
		{Sweep: &scenarios.Sweep{
			From: scenarios.Span{Fixed: time.Millisecond}, To: scenarios.Span{Fixed: 20 * time.Millisecond},
			Send: scenarios.Send{Lane: "one", Timeout: scenarios.Span{Share: 0.5}},
		}},
	}, s.Steps)
	require.Equal(t, &scenarios.Background{Rate: 2.5, Intents: 7, Send: scenarios.Send{Lane: "behind", Timeout: tenSeconds}}, s.Background)
	require.Equal(t, []scenarios.Proof{
		{Name: "replayed", AtLeast: 0.5}, {Name: "overlapped", AtLeast: 0.8}, {Name: "both-bodies", AtLeast: 0.8},
	}, s.Exercised)
	require.Equal(t, 10, s.Intents)
	require.Equal(t, 1, s.Concurrency)
	require.Equal(t, []scenarios.Need{scenarios.NeedsKey, scenarios.NeedsAlter, scenarios.NeedsMarkerRows, scenarios.NeedsWriteGate}, s.Needs,
		"altered bodies need alter, other keys rows that are found without them, and a write gate needs one, said or not")
}

func TestAScenarioThatIsWrittenAgainIsTheSame(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("s.yaml", []byte(shorthands))
	require.NoError(t, err)
	data, err := yaml.Marshal(s)
	require.NoError(t, err)
	again, err := scenarios.Load("again.yaml", data)
	require.NoError(t, err)
	require.Equal(t, s, again)
}

func TestEveryNeedIsInTheSchema(t *testing.T) {
	t.Parallel()
	for _, need := range []scenarios.Need{
		scenarios.NeedsKey, scenarios.NeedsRequiredKey, scenarios.NeedsRepeatable,
		scenarios.NeedsNoNatural, scenarios.NeedsNaturalKey, scenarios.NeedsAlter, scenarios.NeedsWriteGate,
	} {
		file := "name: n\nsummary: s\nneeds: [" + string(need) + "]\nsteps: [send]\nexercised: [acknowledged]\n"
		_, err := scenarios.Load("n.yaml", []byte(file))
		require.NoError(t, err)
	}
}

func TestWhatAFileLeavesOutOfItsBackgroundIsThatOfASending(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("b.yaml", []byte("name: b\nsummary: s\nbackground: {rate: 1, intents: 1}\nsteps: [send]\nexercised: [acknowledged]\n"))
	require.NoError(t, err)
	require.Equal(t, *s.Steps[0].Send, s.Background.Send)
	require.Equal(t, 4, s.Concurrency)
}

func TestAFolderIsReadInTheOrderOfNamesWithAllItsMistakes(t *testing.T) {
	t.Parallel()
	scenario := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("name: " + name + "\nsummary: s\nsteps: [send]\nexercised: [acknowledged]\n")}
	}
	fsys := fstest.MapFS{"in/b.yaml": scenario("two"), "in/a.yaml": scenario("one"), "in/c.txt": scenario("three")}
	files, err := scenarios.LoadFS(fsys, "in")
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Equal(t, "in/a.yaml", files[0].Path)
	require.Equal(t, "one", files[0].Scenario.Name)
	require.Equal(t, fsys["in/b.yaml"].Data, files[1].Source)

	fsys["in/c.yaml"] = scenario("one")
	fsys["in/d.yaml"] = &fstest.MapFile{Data: []byte("name: two\nsteps: []\n")}
	_, err = scenarios.LoadFS(fsys, "in")
	require.EqualError(t, err, strings.Join([]string{
		`in/c.yaml:1:7: name: the name "one" is taken by in/a.yaml`,
		`in/d.yaml:1:1: the key "exercised" is missing`,
		`in/d.yaml:1:1: the key "summary" is missing`,
		`in/d.yaml:1:7: name: the name "two" is taken by in/b.yaml`,
		`in/d.yaml:2:1: steps: needs at least one entry`,
	}, "\n"))
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(shorthands))
	for _, archive := range badArchives(f, "testdata/bad/*.txtar") {
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenarios.Load("f.yaml", data)
		if err != nil {
			require.ErrorAs(t, err, new(document.Mistakes))
			return
		}
		require.NotEmpty(t, s.Steps)
		again, err := yaml.Marshal(s)
		require.NoError(t, err)
		_, err = scenarios.Load("again.yaml", again)
		require.NoError(t, err)
	})
}

func TestTheDocumentationListsTheLibrary(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/scenarios.md")
	require.NoError(t, err)
	for _, f := range scenarios.Library() {
		require.Contains(t, string(text), "| `"+f.Scenario.Name+"` | "+f.Scenario.Summary+" |")
	}
}

// TestTheLibraryFitsItsSchema holds what no command looks at again.
func TestTheLibraryFitsItsSchema(t *testing.T) {
	t.Parallel()
	files, err := scenarios.LoadFS(scenarios.Builtin(), ".")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	require.Equal(t, files, scenarios.Library())
}

// TestWhoTakesTheLibraryMayChangeIt holds that the next one gets it as it was.
func TestWhoTakesTheLibraryMayChangeIt(t *testing.T) {
	t.Parallel()
	mine := scenarios.Library()
	mine[0].Source[0], mine[0].Scenario.Steps[0], mine[1].Scenario.Name = '!', scenarios.Step{}, "mine"
	files, err := scenarios.LoadFS(scenarios.Builtin(), ".")
	require.NoError(t, err)
	require.Equal(t, files, scenarios.Library())
}
