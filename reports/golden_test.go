package reports_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

var update = flag.Bool("update", false, "write the golden files anew")

type renderer func(io.Writer, checker.Report) error

func text(s reports.Style) renderer {
	return func(w io.Writer, r checker.Report) error { return reports.Text(w, r, s) }
}

func renderers() map[string]renderer {
	return map[string]renderer{"txt": text(reports.Style{}), "json": reports.JSON, "xml": reports.JUnit, "md": reports.Markdown}
}

func render(t *testing.T, f renderer, r checker.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, f(&b, r))
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		for ext, f := range renderers() {
			if name == "many" && ext == "json" {
				continue // half a megabyte
			}
			t.Run(name+"."+ext, func(t *testing.T) {
				t.Parallel()
				compare(t, name+"."+ext, render(t, f, r))
			})
		}
	}
}

func TestGoldenStyles(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]reports.Style{
		"duplicate-60.txt": {Width: 60}, "duplicate-160.txt": {Width: 160}, "duplicate-color.txt": {Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare(t, name, render(t, text(s), oneDuplicate()))
		})
	}
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the tests with -update")
	require.Equal(t, string(want), string(got))
}
