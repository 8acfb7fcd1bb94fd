package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// schemas are those of the files that users write, by what schema calls them.
func schemas() map[string][]byte {
	return map[string][]byte{"scenario": scenarios.Schema(), "target": targets.Schema(), "known": scenarios.KnownSchema()}
}

func TestTheTablesOfKeysAreThoseOfTheSchemas(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/keys.md")
	require.NoError(t, err)
	for name, schema := range schemas() {
		var table bytes.Buffer
		require.NoError(t, document.Reference(&table, schema))
		require.Contains(t, string(page), table.String(), "%s: make docs", name)
		got := callWith(t.Context(), nil, "schema", name, "--markdown")
		require.Equal(t, exitPass, got.code)
		require.Equal(t, table.String(), got.out)
	}
}

// A scenario's key without an example is a mapping with keys of its own, or one of a few words.
func TestEveryKeyOfAScenarioHasAnExample(t *testing.T) {
	t.Parallel()
	var table bytes.Buffer
	require.NoError(t, document.Reference(&table, scenarios.Schema()))
	rows := 0
	for line := range strings.Lines(table.String()) {
		cells := strings.Split(line, " | ")
		if len(cells) < 5 || !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		takes, example := cells[1], strings.TrimSpace(cells[3])
		if example == "" && takes != "mapping" && !strings.HasPrefix(takes, "[") && !strings.HasPrefix(takes, "`") {
			t.Errorf("no example: %s", line)
		}
	}
	require.Greater(t, rows, 80)
}

func TestTheExamplesOfTheSchemasAreValid(t *testing.T) {
	t.Parallel()
	for name, schema := range schemas() {
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		require.NoError(t, c.AddResource("schema.json", parsed))
		count := 0
		var visit func(at string, value any)
		visit = func(at string, value any) {
			switch value := value.(type) {
			case []any:
				for i, entry := range value {
					visit(at+jsonpointer.Of(i), entry)
				}
			case map[string]any:
				if examples, has := value["examples"].([]any); has {
					rule, err := c.Compile("schema.json#" + strings.NewReplacer("%", "%25", "^", "%5E", "[", "%5B", "]", "%5D", "{", "%7B", "}", "%7D", "#", "%23", "|", "%7C", "`", "%60").Replace(at))
					require.NoError(t, err, at)
					for _, example := range examples {
						count++
						require.NoError(t, rule.Validate(example), "%s: %s", name, at)
					}
				}
				for key, member := range value {
					if key != "examples" {
						visit(at+jsonpointer.Of(key), member)
					}
				}
			}
		}
		visit("", parsed)
		if name == "scenario" {
			require.Greater(t, count, 50)
		}
	}
}
