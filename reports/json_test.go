package reports_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestJSONReadsBackWithPassages(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		if name == "hostile" {
			continue // bytes that are not UTF-8 do not survive JSON
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reports.ReadJSON(bytes.NewReader(render(t, reports.JSON, r)))
			require.NoError(t, err)
			require.Equal(t, normal(t, r), normal(t, got))
		})
	}
}

// normal writes a report again, so that nil and empty lists compare equal, passages included.
func normal(t *testing.T, r checker.Report) string {
	return string(render(t, reports.JSON, r))
}

func TestJSONFitsTheCheckersOwnStruct(t *testing.T) {
	t.Parallel()
	want := oneDuplicate()
	var got checker.Report
	require.NoError(t, json.Unmarshal(render(t, reports.JSON, want), &got))
	for i := range want.Results[1].Findings[0].Attempts {
		want.Results[1].Findings[0].Attempts[i].Passage = nil
	}
	require.Equal(t, want, got)
}

func TestReadJSONRefusesAnotherVersion(t *testing.T) {
	t.Parallel()
	_, err := reports.ReadJSON(strings.NewReader(`{"version": 2, "results": []}`))
	require.ErrorContains(t, err, "version 2")
}

func TestFormatListsEveryCircumstance(t *testing.T) {
	t.Parallel()
	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	for _, c := range checker.Circumstances() {
		require.Contains(t, string(format), "`"+string(c)+"`")
	}
}

func TestFormatListsEveryMember(t *testing.T) {
	t.Parallel()
	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	for _, v := range []any{
		checker.Report{}, checker.Result{}, checker.Finding{}, checker.Difference{}, checker.RowEvidence{},
		checker.Warning{}, checker.Exercise{}, checker.Request{}, checker.Cause{}, checker.CauseIn{}, history.Attempt{}, history.Passage{}, history.Message{},
	} {
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			if name != "-" && name != "" {
				require.Contains(t, string(format), "`"+name+"`", "%T", v)
			}
		}
	}
}
