package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

var codeWord = regexp.MustCompile("`([^`]+)`")

// tableBelow returns the cells of the first table below a line of a page that begins like this, without its head.
func tableBelow(t *testing.T, path, begins string) [][]string {
	t.Helper()
	_, below, found := strings.Cut("\n"+readFile(t, path), "\n"+begins)
	require.True(t, found, "%s has no line that begins with %q", path, begins)
	var rows [][]string
	for line := range strings.Lines(below) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(line, "|"), " | "))
		} else if len(rows) > 0 {
			break
		}
	}
	require.Greater(t, len(rows), 2, "%s has no table below %q", path, begins)
	return rows[2:]
}

// wordsOf returns what stands as code in a text.
func wordsOf(text string) []string {
	var words []string
	for _, found := range codeWord.FindAllStringSubmatch(text, -1) {
		words = append(words, found[1])
	}
	return words
}

// enumAt returns the words that a schema allows at a pointer.
func enumAt(t *testing.T, schema []byte, at ...string) []string {
	t.Helper()
	for _, name := range at {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(schema, &members), name)
		schema = members[name]
	}
	var words []string
	require.NoError(t, json.Unmarshal(schema, &words))
	return words
}

func TestThePagesExplainEveryWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page, below string
		words       []string
	}{
		"presets":           {"targets.md", "### Presets", targets.Presets()},
		"needs":             {"scenarios.md", "## Needs", enumAt(t, scenarios.Schema(), "properties", "needs", "items", "enum")},
		"kinds of findings": {"findings.md", "# What to do with a finding", enumAt(t, scenarios.KnownSchema(), "$defs", "expect", "enum")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			for _, row := range tableBelow(t, "../../docs/"+c.page, c.below) {
				told = append(told, wordsOf(row[0])...)
			}
			require.ElementsMatch(t, c.words, told)
		})
	}
}

// plainFile is a target file with no more than a key, another body and a row query.
const plainFile = `name: plain
base_url: http://127.0.0.1:1
database: {url: "sqlite:///nowhere.db"}
contract: {preset: ietf}
operations:
  create:
    request: {body: {note: "{{.Intent.Marker}}", reference: "{{.Intent.Reference}}", amount: 1200}, path: "/orders"}
    key: {in: header}
    alter: {amount: 9900}
    identity: /id
    rows: {query: select id from orders where note = :marker}
`

// left are the scenarios that do not apply to a target file.
func left(t *testing.T, file string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plain.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o644))
	got := callWith(t.Context(), nil, "run", "--dry-run", "--target", path)
	require.Equal(t, exitPass, got.code, "%s", got)
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^  (\S+) +not applicable`).FindAllStringSubmatch(got.out, -1) {
		names = append(names, found[1])
	}
	return names
}

// TestThePageSaysWhatOpensMoreScenarios holds the table against dry runs, row by row.
func TestThePageSaysWhatOpensMoreScenarios(t *testing.T) {
	t.Parallel()
	const address = "{listen: 127.0.0.1:15432, to: 127.0.0.1:5432}"
	additions := []struct{ row, where, add string }{
		{"`key: {required", "{in: header", ", required: true"},
		{"`invalid:", "identity: /id", "\n    invalid: {amount: -1}"},
		{"`key: {quoted", "{in: header", ", quoted: true"},
		{"`contract.fingerprint", "{preset: ietf", ", fingerprint: {mode: json}"},
		{"`contract.expiry", "{preset: ietf", ", expiry: {after: 20s}"},
		{"`contract.natural_key", "{preset: ietf", ", natural_key: [/note]"},
		{"`contract.natural_key_ignores", "{preset: ietf", ", natural_key: [/reference], natural_key_ignores: [case]"},
		{"two `principals`", "name: plain", "\nprincipals: {alice: {Token: a}, bob: {Token: b}}"},
		{"`request.credential`", "path: \"/orders\"", ", headers: {Authorization: x}, credential: [Authorization]"},
		{"a second operation", "= :marker}\n", "  refund: {request: {path: /refunds, body: {note: \"{{.Intent.Marker}}\"}}, key: {in: header}, rows: {query: select id from refunds where note = :marker}}\n"},
		{"an operation with", "= :marker}\n", "  older: {same_as: create, request: {path: /v1/orders, body: {note: \"{{.Intent.Marker}}\"}}, key: {in: header}}\n"},
		{"`answers:", "identity: /id", "\n    answers: {large: {query: {expand: lines}}, huge: {query: {expand: all}}, empty: {headers: {Prefer: return=minimal}}}"},
		{"something of `prepare`", "path: \"/orders", "/{{.Prepared.Shop}}/lamps\"}\n    prepare:\n      - request: {path: /shops}\n        extract:\n          Shop: {json: \"/id"},
		{"`remove`", "identity: /id", "\n    remove: [{request: {method: DELETE, path: \"/orders/{{.Made.Identity}}\"}}]"},
		{"`work`", "identity: /id", "\n    work: {headers: {X-Work: \"{{.Intent.Work}}\"}}"},
		{"`database.write_gate`", "nowhere.db\"", ", write_gate: {tables: [orders]}"},
		{"[`process`]", "name: plain", "\nprocess: {command: [serve, \"{{.Port}}\"]}"},
		{"`process` with", "name: plain", "\nprocess: {command: [serve, \"{{.Port}}\"], instances: 2}"},
		{"the [link]", "name: plain", "\nlinks: {database: " + address + "}"},
		{"the link `dependency`", "name: plain", "\nlinks: {dependency: " + address + "}"},
		{"[`effects` with", "= :marker}", "\n    effects: [{name: charge, seen: payments}]\nsinks: {payments: {listen: 127.0.0.1:19090, http: {}}}"},
		{"`process`, and such", "= :marker}", "\n    effects: [{name: charge, seen: payments}]\nsinks: {payments: {listen: 127.0.0.1:19090, http: {}}}\nprocess: {command: [serve, \"{{.Port}}\"]}"},
		{"the link `store`", "name: plain", "\nlinks: {store: " + address + "}"},
		{"[`store.flush`]", "name: plain", "\nstore: {url: \"redis://127.0.0.1:6379/5\", flush: \"shop:*\"}"},
	}
	rows, plain, told := tableBelow(t, "../../docs/your-api.md", "## What opens"), left(t, plainFile), []string{}
	require.Len(t, rows, len(additions))
	for i, add := range additions {
		require.True(t, strings.HasPrefix(strings.TrimSpace(rows[i][0]), add.row), rows[i][0])
		opens, closes, _ := strings.Cut(rows[i][1], "in place of")
		told = append(told, wordsOf(opens)...)
		now := left(t, strings.Replace(plainFile, add.where, add.where+add.add, 1))
		require.Empty(t, intersection(wordsOf(opens), now), add.row)
		require.ElementsMatch(t, wordsOf(closes), without(now, plain), add.row)
	}
	require.ElementsMatch(t, plain, told, "every scenario that does not apply to a plain file is opened by something")
}

func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

func intersection(names, others []string) []string { return without(names, without(names, others)) }
