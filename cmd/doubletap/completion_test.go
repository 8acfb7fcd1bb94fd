package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A shell is offered what there is: findings of the latest run with what they say, operations of the target, values of flags.
func TestAShellIsOfferedWhatThereIs(t *testing.T) {
	t.Parallel()
	finding := found(t, "replay-fresh-answer", "sequential-replay")
	runs := filepath.Join(filepath.Dir(finding), "..", "..")
	for _, command := range []string{"check", "export"} { // the commands that only read runs know where they are, too
		got := callWith(t.Context(), nil, command, "last", "--reports", runs)
		require.Contains(t, []int{exitPass, exitFinding}, got.code, "%s", got)
	}
	file := filepath.Join(t.TempDir(), "t.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: t\nbase_url: http://localhost\noperations:\n"+
		"  ship: {request: {path: /a, body: {n: \"{{.Intent.Marker}}\"}}, key: {in: header}}\n  pay: {request: {path: /b, body: {n: \"{{.Intent.Marker}}\"}}, key: {in: header}}\n"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", "--reports", runs, ""}, "F1\tThe same request got 201 first, and then 200"},
		{[]string{"shrink", "--reports", runs, ""}, "last\t"},
		{[]string{"replay", "--reports", t.TempDir(), ""}, "last\t"},
		{[]string{"run", "--target", file, "--operation", ""}, "pay\nship\n"},
		{[]string{"run", "--skip", ""}, "burst-same-key\t"},
		{[]string{"run", "--fixed", ""}, "fail\nwarn\n"},
		{[]string{"export", "--as", ""}, "curl\ngo\nscenario\n"},
		{[]string{"check", ""}, "last\t"},
		{[]string{"scenarios", "show", ""}, "burst-same-key\t"},
	} {
		got := callWith(t.Context(), nil, append([]string{"__complete"}, c.args...)...)
		require.Contains(t, got.out, c.want, c.args)
	}
}
