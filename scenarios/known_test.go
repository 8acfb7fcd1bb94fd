package scenarios_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestEveryMistakeOfARegisterIsToldAtOnceWithItsPlace(t *testing.T) {
	t.Parallel()
	requireMistakes(t, "testdata/bad-registers.txtar", func(file string, data []byte) error {
		_, err := scenarios.LoadRegister(file, data)
		return err
	})
}

const known = `known:
  - {scenario: sweep, expect: duplicate, link: "https://tracker.example.com/7"}
  - scenario: tabs-one-key
    expect: replay-mismatch
    detail: status
    link: http://tracker.example.com/8?a=b#c
  - {scenario: sweep, expect: replay-mismatch, link: "https://tracker.example.com/9"}
`

func TestARegisterHoldsItsBugsByScenario(t *testing.T) {
	t.Parallel()
	register, err := scenarios.LoadRegister("known.yaml", []byte(known))
	require.NoError(t, err)
	require.Equal(t, scenarios.Register{
		"sweep": {
			{Expect: "duplicate", Link: "https://tracker.example.com/7"}, {Expect: "replay-mismatch", Link: "https://tracker.example.com/9"},
		},
		"tabs-one-key": {{Expect: "replay-mismatch", Detail: "status", Link: "http://tracker.example.com/8?a=b#c"}},
	}, register)

	empty, err := scenarios.LoadRegister("known.yaml", []byte("known: []\n"))
	require.NoError(t, err, "all of them may be mended")
	require.Empty(t, empty)
}

func TestAScenarioKeepsItsKnownBugsWhenItIsWritten(t *testing.T) {
	t.Parallel()
	file := "name: n\nsummary: s\nsteps: [send]\nexercised: [acknowledged]\nknown: [{expect: unavailable, detail: d, link: 'https://tracker.example.com/7'}]\n"
	s, err := scenarios.Load("n.yaml", []byte(file))
	require.NoError(t, err)
	require.Equal(t, []scenarios.KnownBug{{Expect: "unavailable", Detail: "d", Link: "https://tracker.example.com/7"}}, s.Known)
	source, err := scenarios.Source(s)
	require.NoError(t, err)
	again, err := scenarios.Load("again.yaml", source)
	require.NoError(t, err)
	require.Equal(t, s, again)
}

func TestBothSchemasKnowEveryKindOfFinding(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"scenario": scenarios.Schema(), "known": scenarios.KnownSchema()} {
		var schema struct {
			Defs struct {
				Expect struct {
					Enum []checker.Kind `json:"enum"`
				} `json:"expect"`
			} `json:"$defs"`
		}
		require.NoError(t, json.Unmarshal(text, &schema))
		require.Equal(t, checker.Kinds(), schema.Defs.Expect.Enum, name)
	}
}

func FuzzLoadRegister(f *testing.F) {
	f.Add([]byte(known))
	for _, archive := range badArchives(f, "testdata/bad-registers.txtar") {
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		register, err := scenarios.LoadRegister("f.yaml", data)
		if err != nil {
			require.True(t, errors.As(err, new(document.Mistakes)))
			return
		}
		for _, bugs := range register {
			require.False(t, slices.Contains(bugs, scenarios.KnownBug{}))
		}
	})
}

func TestTheDocumentationShowsLinesThatCanBeRead(t *testing.T) {
	t.Parallel()
	shown := yamlBelow(t, "../docs/scenarios.md", "## Known bugs")
	s, err := scenarios.Load("docs.yaml", []byte("name: n\nsummary: s\nsteps: [send]\nexercised: [acknowledged]\n"+shown))
	require.NoError(t, err)
	require.Len(t, s.Known, 1)

	example, err := os.ReadFile("../docs/examples/known.yaml")
	require.NoError(t, err)
	require.Equal(t, string(example), yamlBelow(t, "../docs/ci.md", "## A known bug that waits"))
}

// yamlBelow returns the first YAML below a heading of a page.
func yamlBelow(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), heading)
	_, block, _ := strings.Cut(section, "```yaml\n")
	block, _, found := strings.Cut(block, "```")
	require.True(t, found, heading)
	return block
}

func TestARegisterThatIsWrittenIsReadAsItWas(t *testing.T) {
	t.Parallel()
	lines := []scenarios.Registered{
		{Scenario: "sweep", KnownBug: scenarios.KnownBug{Expect: "duplicate", Link: "https://tracker.example.com/7"}},
		{Scenario: "sweep", KnownBug: scenarios.KnownBug{Expect: "replay-mismatch", Detail: "a: b # c", Link: "https://tracker.example.com/8"}},
	}
	text, err := scenarios.RegisterSource("about\nall", []scenarios.RegisterPart{{Comment: "one", Lines: lines}, {Comment: "two", Lines: lines[:1]}})
	require.NoError(t, err)
	require.Equal(t, `# about
# all
known:
  # one
  - scenario: sweep
    expect: duplicate
    link: https://tracker.example.com/7
  - scenario: sweep
    expect: replay-mismatch
    detail: 'a: b # c'
    link: https://tracker.example.com/8
`, string(text))
	read, err := scenarios.LoadRegister("known.yaml", text)
	require.NoError(t, err)
	require.Equal(t, scenarios.Register{"sweep": {lines[0].KnownBug, lines[1].KnownBug}}, read)

	none, err := scenarios.RegisterSource("", nil)
	require.NoError(t, err)
	require.Equal(t, "known: []\n", string(none))
}
