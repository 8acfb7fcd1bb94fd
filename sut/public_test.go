package sut_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/sut/builtin"
)

func TestAServedDesignHasNoPasswordInItsArguments(t *testing.T) {
	t.Parallel()
	s, err := sut.Load(t.Context(), sut.Options{
		Target: "served:unique-key", Database: "postgres://me:hunter22@127.0.0.1:1/test", Program: "doubletap", Parts: builtin.Parts(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NotContains(t, strings.Join(s.Target.Process.Command, " "), "Database")
	require.Equal(t, "{{.Database.URL}}", s.Target.Process.Env[sut.DatabaseVariable])
}

func TestAVariableInThePathOfTheBaseURLIsNotShown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "target.yaml")
	for base, want := range map[string]string{
		"http://127.0.0.1:1/${TENANT}/api": "http://127.0.0.1:1/***/api",
		"http://127.0.0.1:1/x-${ESCAPED}":  "http://127.0.0.1:1/x-***",
		"${WHOLE}":                         "http://127.0.0.1:1/api-of-all",
		"http://127.0.0.1:1/${SHORT}/api":  "http://127.0.0.1:1/v1/api",
		"http://127.0.0.1:1":               "http://127.0.0.1:1",
	} {
		text := "name: a\nbase_url: " + base + "\noperations:\n  create:\n    request: {path: /things, body: {note: '{{.Intent.Marker}}'}}\n    key: {in: header}\n    identity: /id\n"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		env := map[string]string{"TENANT": "t0p-s3cret-path", "ESCAPED": "a%20b%20c%20d", "WHOLE": "http://127.0.0.1:1/api-of-all", "SHORT": "v1"}
		s, err := sut.Load(t.Context(), sut.Options{Target: path, Getenv: func(name string) (string, bool) { value, set := env[name]; return value, set }})
		require.NoError(t, err, base)
		require.Equal(t, want, sut.PublicBase(s))
		require.Equal(t, want, s.Address())
	}
}
