package sut

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheEnvFileBesideATargetFileHasItsVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "orders.yaml")
	require.NoError(t, os.WriteFile(target, []byte("name: orders\nbase_url: http://127.0.0.1:${PORT}\ndatabase: {url: \"${DB}\"}\n"+
		"operations: {create: {request: {path: /orders, body: {note: \"{{.Intent.Marker}}\"}}, rows: {query: \"select id from orders where note = :marker\"}}}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("# mine\n\nexport PORT=1\nDB='sqlite:///x' # the database\n"), 0o600))
	s, err := Load(t.Context(), Options{Target: target, Getenv: func(name string) (string, bool) { return "2", name == "PORT" }})
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:2", s.Target.BaseURL, "the environment counts first")
	require.Equal(t, "sqlite:///x", s.Target.Database.URL)
	require.NoError(t, s.Close())
}

func TestLinesOfAnEnvFile(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"A=b": "b", "A = b ": "b", "export A=b": "b", "A=": "", "A=a b": "a b", "A=b # c": "b", "A=b#c": "b#c",
		`A="b # c"`: "b # c", `A='$B'`: "$B", `A="x=y"  # z`: "x=y", "A=${B}": "${B}", "A=b\r": "b",
	} {
		require.Equal(t, map[string]string{"A": want}, parseDotEnv("# x\n\n"+line+"\n"), line)
	}
	for _, line := range []string{"A", "1=2", "A B=c", `A="b`, `A="b" c`, "=x"} {
		require.Empty(t, parseDotEnv(line), line)
	}
}
