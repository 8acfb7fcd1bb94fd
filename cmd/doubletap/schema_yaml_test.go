package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// piece is a YAML text somewhere in the repository.
type piece struct {
	at   string // file, and where in it
	text string
	doc  bool // of a page, which may show a part of a file
}

// pieces are all YAML texts of the repository: files, files in archives of test scripts, and blocks of pages.
func pieces(t *testing.T) []piece {
	t.Helper()
	var all []piece
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && slices.Contains([]string{".git", "bin", "runs"}, entry.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml":
			all = append(all, piece{at: path, text: readFile(t, path)})
		case ".txtar":
			all = append(all, inArchive(path, readFile(t, path))...)
		case ".md":
			all = append(all, onPage(path, readFile(t, path))...)
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

func inArchive(path, text string) []piece {
	var all []piece
	for _, file := range txtar.Parse([]byte(text)).Files {
		if strings.HasSuffix(file.Name, ".yaml") || strings.HasSuffix(file.Name, ".yml") {
			all = append(all, piece{at: path + "/" + file.Name, text: string(file.Data)})
		}
	}
	return all
}

func onPage(path, text string) []piece {
	var all []piece
	for _, block := range regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```").FindAllStringSubmatchIndex(text, -1) {
		line := strings.Count(text[:block[2]], "\n") + 1
		all = append(all, piece{at: fmt.Sprintf("%s:%d", path, line), text: text[block[2]:block[3]], doc: true})
	}
	return all
}

// trials are folders whose files have tests of their own: most are wrong on purpose, and some only in what no
// schema sees.
func trials() []string {
	return []string{"../../targets/testdata/bad/", "../../scenarios/testdata/bad", "../../targets/drafting/openapi/testdata/"}
}

// wrongOnPurpose are files of test scripts that their schema refuses.
func wrongOnPurpose() []string {
	return []string{
		"known.txtar/bad.yaml", "library.txtar/typo.yaml", "library.txtar/type.yaml", "matrix.txtar/wrong.yaml",
		"mistakes.txtar/scenario.yaml", "mistakes.txtar/folder/bad.yaml", "mistakes.txtar/target.yaml", "mistakes.txtar/type.yaml",
	}
}

// ofOthers reports that a text is for another program: OpenAPI, GitHub, GitLab.
func ofOthers(value any) bool {
	text, _ := json.Marshal(value)
	return regexp.MustCompile(`"(openapi|swagger|jobs|runs|uses|script|package|apiVersion)":`).Match(text)
}

// compiledSchemas are those of whole files, by what a file is, and those of all parts of them that a page may show.
func compiledSchemas(t *testing.T) (whole, parts map[string]*jsonschema.Schema) {
	t.Helper()
	whole, parts = map[string]*jsonschema.Schema{"matrix": compiled(t, matrixSchema, "")}, map[string]*jsonschema.Schema{}
	for name, text := range schemas() {
		whole[name] = compiled(t, text, "")
		var schema any
		require.NoError(t, json.Unmarshal(text, &schema))
		places := partsOf("", schema)
		text, err := json.Marshal(schema)
		require.NoError(t, err)
		for _, at := range places {
			parts[name+at] = compiled(t, text, at)
		}
	}
	return whole, parts
}

func compiled(t *testing.T, text []byte, at string) *jsonschema.Schema {
	t.Helper()
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("schema.json", raw))
	schema, err := compiler.Compile("schema.json#" + at)
	require.NoError(t, err)
	return schema
}

// partsOf points to every object of a schema whose members have names. It changes them: a part may lack what the
// whole requires.
func partsOf(at string, schema any) []string {
	var all []string
	switch schema := schema.(type) {
	case map[string]any:
		if _, has := schema["properties"].(map[string]any); has {
			delete(schema, "required")
			all = append(all, at)
		}
		for name, member := range schema {
			if name != "examples" && name != "default" {
				all = append(all, partsOf(at+jsonpointer.Of(name), member)...)
			}
		}
	case []any:
		for i, element := range schema {
			all = append(all, partsOf(at+jsonpointer.Of(i), element)...)
		}
	}
	return all
}

// kindOf is what a file is by its outermost keys; empty: nothing of ours.
func kindOf(value any) string {
	object, _ := value.(map[string]any)
	for _, kind := range []struct {
		name string
		keys []string
	}{{"scenario", []string{"steps", "exercised"}}, {"target", []string{"base_url", "operations"}}, {"known", []string{"known"}}, {"matrix", []string{"targets"}}} {
		if slices.ContainsFunc(kind.keys, func(key string) bool { _, has := object[key]; return has }) {
			return kind.name
		}
	}
	return ""
}

// plainJSON is a value of YAML as JSON has it: the names of members are texts.
func plainJSON(value any) any {
	switch value := value.(type) {
	case map[any]any:
		made := map[string]any{}
		for name, member := range value {
			made[fmt.Sprint(name)] = plainJSON(member)
		}
		return made
	case map[string]any:
		made := map[string]any{}
		for name, member := range value {
			made[name] = plainJSON(member)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i := range value {
			made[i] = plainJSON(value[i])
		}
		return made
	}
	return value
}

// TestEveryYAMLObeysItsSchema is what an editor shows for one of our files, or for a copy from our pages.
func TestEveryYAMLObeysItsSchema(t *testing.T) {
	t.Parallel()
	whole, parts := compiledSchemas(t)
	count := map[string]int{}
	for _, p := range pieces(t) {
		if slices.ContainsFunc(trials(), func(folder string) bool { return strings.HasPrefix(p.at, folder) }) {
			continue
		}
		var value any
		if err := yaml.Unmarshal([]byte(p.text), &value); err != nil {
			t.Errorf("%s: %v", p.at, err)
			continue
		}
		value = plainJSON(value)
		kind := kindOf(value)
		switch {
		case ofOthers(value):
			continue
		case slices.Contains(wrongOnPurpose(), strings.TrimPrefix(p.at, "../../cmd/doubletap/testdata/script/")):
			assert.Error(t, whole[kind].Validate(value), p.at)
		case kind != "" && !p.doc:
			assert.NoError(t, whole[kind].Validate(value), p.at)
		case kind != "" && whole[kind].Validate(value) == nil:
		default:
			kind = fits(parts, value)
			assert.NotEmpty(t, kind, "%s is no target file, no scenario, no register of known bugs, no truth of a matrix, and no part of one:\n%s", p.at, p.text)
		}
		count[kind]++
	}
	require.GreaterOrEqual(t, count["scenario"], 50, "%v", count)
	require.GreaterOrEqual(t, count["target"], 10, "%v", count)
	require.GreaterOrEqual(t, count["known"], 3, "%v", count)
}

// fits is the first of the schemas that accepts a value; empty: none does.
func fits(schemas map[string]*jsonschema.Schema, value any) string {
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if schemas[name].Validate(value) == nil {
			return name
		}
	}
	return ""
}

// TestSchemasRefuseWhatIsWrong holds that editors notice what goes wrong most often.
func TestSchemasRefuseWhatIsWrong(t *testing.T) {
	t.Parallel()
	whole, _ := compiledSchemas(t)
	const target = "name: a\nbase_url: http://localhost\noperations: {create: {request: {path: /a}"
	for name, c := range map[string]struct{ kind, text, end string }{
		"a target without operations":       {"target", "name: a\nbase_url: http://localhost\n", ""},
		"a misspelled key":                  {"target", target, ", row: {query: x}}}\n"},
		"a key in no place":                 {"target", target, ", key: {in: trailer}}}\n"},
		"a path without a slash":            {"target", "name: a\nbase_url: http://localhost\noperations: {create: {request: {path: a}}}\n", ""},
		"a number for a text":               {"target", "name: 5\nbase_url: http://localhost\noperations: {create: {request: {path: /a}}}\n", ""},
		"a preset that nobody knows":        {"target", target, "}}\ncontract: {preset: strip}\n"},
		"a misspelled key of rows":          {"target", target, ", rows: {qurey: x}}}\n"},
		"a scenario without steps":          {"scenario", "name: a\nsummary: b\n", ""},
		"a step that nobody knows":          {"scenario", "name: a\nsummary: b\nintents: 1\nsteps: [{sned: {}}]\nexercised: [acknowledged]\n", ""},
		"a proof that nobody knows":         {"scenario", "name: a\nsummary: b\nintents: 1\nsteps: [{send: {}}]\nexercised: [seen]\n", ""},
		"no intents":                        {"scenario", "name: a\nsummary: b\nintents: 0\nsteps: [{send: {}}]\nexercised: [acknowledged]\n", ""},
		"a known bug without what it shows": {"known", "known: [{scenario: a}]\n", ""},
	} {
		var value any
		require.NoError(t, yaml.Unmarshal([]byte(c.text+c.end), &value), name)
		require.Error(t, whole[c.kind].Validate(plainJSON(value)), name)
	}
	var sound any
	require.NoError(t, yaml.Unmarshal([]byte(target+"}}\n"), &sound))
	require.NoError(t, whole["target"].Validate(plainJSON(sound)), "what is added to it above is what is wrong")
}

// TestEveryKeyIsDescribed holds that an editor has something to say about every key.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"target": targets.Schema(), "scenario": scenarios.Schema(), "known": scenarios.KnownSchema(), "matrix": matrixSchema} {
		var schema map[string]any
		require.NoError(t, json.Unmarshal(text, &schema))
		require.GreaterOrEqual(t, described(t, name, schema, schema), 4, name)
	}
}

// described walks a schema, holds that every property has a description of its own or where it refers to, and
// counts them.
func described(t *testing.T, at string, root map[string]any, value any) int {
	t.Helper()
	n := 0
	switch value := value.(type) {
	case map[string]any:
		properties, _ := value["properties"].(map[string]any)
		for name, property := range properties {
			n++
			said, _ := property.(map[string]any)["description"].(string)
			if ref, refers := property.(map[string]any)["$ref"].(string); refers && said == "" {
				definition := root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
				said, _ = definition["description"].(string)
			}
			require.NotEmpty(t, said, "%s.%s has no description", at, name)
		}
		for name, member := range value {
			n += described(t, at+"/"+name, root, member)
		}
	case []any:
		for i, element := range value {
			n += described(t, fmt.Sprintf("%s/%d", at, i), root, element)
		}
	}
	return n
}

// TestTheEditorsSchemaIsBesideTheFile holds that init's first line leads to the schema of this version.
func TestTheEditorsSchemaIsBesideTheFile(t *testing.T) {
	t.Parallel()
	file, _ := initiated(t, nil, exitPass, "--openapi", documents+"orders.yaml", "--url", "http://localhost:1")
	first, _, _ := strings.Cut(readFile(t, file), "\n")
	found := regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+)$`).FindStringSubmatch(first)
	require.NotNil(t, found, first)
	schema := filepath.Join(filepath.Dir(file), found[1])
	require.Equal(t, string(targets.Schema()), readFile(t, schema))
	require.NoError(t, os.WriteFile(schema, []byte("mine"), 0o600))
	got := callWith(t.Context(), nil, "init", "-o", filepath.Join(filepath.Dir(file), "second.yaml"), "--openapi", documents+"orders.yaml", "--url", "http://localhost:1")
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Equal(t, "mine", readFile(t, schema), "what is there is not overwritten")
}
