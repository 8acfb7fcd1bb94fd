package checker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// recorded holds real runs, with the verdicts that they got on the day of the recording. They are not
// written again: a judgement that changes is a change of what the tool promises.
const recorded = "testdata/recorded"

// recordedRun is the part of a run's run.json that a judgement takes.
type recordedRun struct {
	Terms     checker.Terms `json:"terms"`
	Scenarios []struct {
		Scenario string             `json:"scenario"`
		Known    []checker.KnownBug `json:"known"`
		Verdict  checker.Verdict    `json:"verdict"`
		Why      string             `json:"why"` // it was not played; empty: ask the history
	} `json:"scenarios"`
}

// recordedResults are the results of a run as JSON, without texts for people.
type recordedResults struct {
	Results []map[string]any `json:"results"`
}

func TestRecordedRunsKeepTheirVerdicts(t *testing.T) {
	t.Parallel()
	names := recordedNames(t)
	require.GreaterOrEqual(t, len(names), 10)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var run recordedRun
			var want recordedResults
			readJSON(t, &run, recorded, name, "run.json")
			readJSON(t, &want, recorded, name, "verdict.json")
			require.Len(t, run.Scenarios, len(want.Results))
			for i, s := range run.Scenarios {
				h := readRecorded(t, name, s.Scenario)
				if h == nil { // the verdict of a scenario that was not played is in run.json
					require.Equal(t, want.Results[i]["verdict"], verdictName(t, s.Verdict), s.Scenario)
					continue
				}
				got := withoutTexts(t, check(h, run.Terms, s.Known...))
				require.Equal(t, asLines(t, inOlderWords(t, withoutIDs(want.Results[i]))), asLines(t, inOlderWords(t, got)), s.Scenario)
			}
		})
	}
}

// The recorded runs are worth what they hold: every kind of finding, and the verdicts of a healthy run.
func TestRecordedRunsHoldEveryKindOfFinding(t *testing.T) {
	t.Parallel()
	kinds, verdicts := map[string]bool{}, map[string]bool{}
	for _, name := range recordedNames(t) {
		var want recordedResults
		readJSON(t, &want, recorded, name, "verdict.json")
		for _, r := range want.Results {
			verdicts[fmt.Sprint(r["verdict"])] = true
			findings, _ := r["findings"].([]any)
			for _, f := range findings {
				kinds[fmt.Sprint(f.(map[string]any)["kind"])] = true
			}
		}
	}
	for _, k := range checker.Kinds() {
		held := slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(name string) bool { return checker.Kind(name).Covers(k) })
		require.True(t, held, k)
	}
	require.Equal(t, []string{"fail", "inconclusive", "known", "not-applicable", "pass"}, slices.Sorted(maps.Keys(verdicts)))
}

func recordedNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(recorded)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func readJSON(t *testing.T, into any, path ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), path)
}

// readRecorded reads a scenario's history; nil: it was not played.
func readRecorded(t *testing.T, run, scenario string) *history.History {
	t.Helper()
	file, err := os.Open(filepath.Join(recorded, run, scenario, "history.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	defer file.Close()
	h, err := history.Read(file)
	require.NoError(t, err)
	return h
}

// withoutTexts is a result as JSON, without what a later version may say in other words: texts go, of
// reasons their number stays, and of attempts their names, as the history has the rest.
func withoutTexts(t *testing.T, r checker.Result) map[string]any {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var result map[string]any
	require.NoError(t, json.Unmarshal(text, &result))
	return withoutIDs(project(result).(map[string]any))
}

func project(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, v := range value {
			list, isList := v.([]any)
			switch {
			case slices.Contains([]string{"summary", "promise", "contract", "expected", "observed", "text"}, key):
			case slices.Contains([]string{"requests", "circumstances", "own"}, key): // said since then, of what the history has
			case key == "reasons" && isList:
				kept[key] = float64(len(list))
			case key == "attempts" && isList:
				kept[key] = idsOf(list)
			default:
				kept[key] = project(v)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, v := range value {
			kept[i] = project(v)
		}
		return kept
	}
	return value
}

func idsOf(attempts []any) []any {
	ids := make([]any, len(attempts))
	for i, a := range attempts {
		ids[i] = a.(map[string]any)["id"]
	}
	return ids
}

// withoutIDs leaves out the findings' names: they are given to all scenarios of a run together.
func withoutIDs(result map[string]any) map[string]any {
	findings, _ := result["findings"].([]any)
	for _, f := range findings {
		delete(f.(map[string]any), "id")
	}
	return result
}

// inOlderWords gives findings the kinds of the day of the recording, which had one for what is told apart now, and an order
// that does not depend on them.
func inOlderWords(t *testing.T, result map[string]any) any {
	t.Helper()
	withoutEmpty(result)
	delete(result, "exercised") // which older reports do not say
	findings, _ := result["findings"].([]any)
	for _, f := range findings {
		one := f.(map[string]any)
		if one["typical"] != nil { // findings about all intents showed none
			for _, key := range []string{"typical", "attempts", "outcomes", "rows", "printed"} {
				delete(one, key)
			}
		}
		if checker.Unavailable.Covers(checker.Kind(fmt.Sprint(one["kind"]))) {
			one["kind"] = string(checker.Unavailable)
		}
	}
	slices.SortStableFunc(findings, func(a, b any) int { return strings.Compare(asLines(t, a), asLines(t, b)) })
	return result
}

// withoutEmpty leaves out empty lists, in place: a report has [] where a result has null.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, v any) bool {
			list, isList := withoutEmpty(v).([]any)
			return v == nil || isList && len(list) == 0
		})
	case []any:
		for _, v := range value {
			withoutEmpty(v)
		}
	}
	return value
}

func verdictName(t *testing.T, v checker.Verdict) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var name string
	require.NoError(t, json.Unmarshal(text, &name))
	return name
}

// asLines writes a value line by line, so that a failure shows the lines that differ.
func asLines(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", " ")
	require.NoError(t, err)
	return string(text)
}
