package reports_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAFailedWriteIsReturned(t *testing.T) {
	t.Parallel()
	for name, f := range renderers() {
		require.ErrorContains(t, f(brokenPipe{}, allPass()), "broken pipe", name)
	}
	require.ErrorContains(t, reports.Details(brokenPipe{}, allPass(), reports.Style{}), "broken pipe")
}

func TestStyleFor(t *testing.T) {
	t.Parallel()
	pipe, err := os.CreateTemp(t.TempDir(), "out")
	require.NoError(t, err)
	defer pipe.Close()
	for _, c := range []struct {
		name string
		env  map[string]string
		want reports.Style
	}{
		{"a file is plain", nil, reports.Style{Width: reports.DefaultWidth}},
		{"columns are taken", map[string]string{"COLUMNS": "72"}, reports.Style{Width: 72}},
		{"nonsense columns are not", map[string]string{"COLUMNS": "-3"}, reports.Style{Width: reports.DefaultWidth}},
		{"colour can be forced", map[string]string{"FORCE_COLOR": "1"}, reports.Style{Color: true, Width: 100}},
		{"NO_COLOR wins", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, reports.Style{Width: 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, reports.StyleFor(pipe, func(name string) string { return c.env[name] }))
		})
	}
}

func TestFromZeroValues(t *testing.T) {
	t.Parallel()
	empty := checker.Report{Results: []checker.Result{{Findings: []checker.Finding{
		{}, {Attempts: []history.Attempt{{}}, Rows: []checker.RowEvidence{{Rows: []history.Row{{}, nil}}}},
	}}}}
	for name, f := range renderers() {
		require.NoError(t, f(io.Discard, checker.Report{}), name)
		require.NoError(t, f(io.Discard, empty), name)
	}
}
