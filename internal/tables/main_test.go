package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesRepeatTheTablesOfTheCode(t *testing.T) {
	t.Parallel()
	for _, file := range files() {
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		current, err := fill(string(text))
		require.NoError(t, err, file)
		require.Equal(t, current, string(text), "%s is not up to date: make docs", file)
	}
}

func TestFillReplacesWhatIsMarked(t *testing.T) {
	t.Parallel()
	got, err := fill("a\n<!-- table: needs -->\nstale\n<!-- end of table -->\nb\n")
	require.NoError(t, err)
	require.Contains(t, got, "a\n<!-- table: needs -->\n| Need | Met by a target file with |\n|---|---|\n| `repeatable` | ")
	require.Contains(t, got, "|\n<!-- end of table -->\nb\n")
	require.NotContains(t, got, "stale")

	got, err = fill(`{"x-table": "kinds", "enum": ["stale"]}`)
	require.NoError(t, err)
	require.Contains(t, got, `"leak", "duplicate",`)
	require.NotContains(t, got, "stale")

	_, err = fill("<!-- table: moods -->\n<!-- end of table -->\n")
	require.ErrorContains(t, err, "moods")
	_, err = fill("nothing is marked here")
	require.Error(t, err)
}

func TestWriteBringsFilesUpToDate(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, file := range files() {
		path := filepath.Join(root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("<!-- table: proofs -->\n<!-- end of table -->\n"), 0o644))
	}
	require.NoError(t, write(root))
	for _, file := range files() {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.Contains(t, string(text), "| `acknowledged` |")
	}
	require.Error(t, write(t.TempDir()))
}
