package jsonpointer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

func TestAPointerNamesAPlace(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/a~1b/3/c~0d", jsonpointer.Of("a/b", 3, "c~d"))
	require.Empty(t, jsonpointer.Of())
	for _, key := range []string{"", "a/b", "~1", "~01", "/~"} {
		parent, last := jsonpointer.Cut(jsonpointer.Of("list", 0, key))
		require.Equal(t, "/list/0", parent)
		require.Equal(t, key, last)
	}
}

func TestAPointerLeadsToAValue(t *testing.T) {
	t.Parallel()
	value := map[string]any{"a/b": []any{1, map[string]any{"~": nil}}, "": "empty"}
	for pointer, want := range map[string]any{"": value, "/a~1b/0": 1, "/a~1b/1/~0": nil, "/": "empty"} {
		got, found := jsonpointer.Resolve(value, pointer)
		require.True(t, found, pointer)
		require.Equal(t, want, got, pointer)
	}
	for _, pointer := range []string{"/b", "/a~1b/2", "/a~1b/-1", "/a~1b/x", "/a~1b/0/c", "//x"} {
		_, found := jsonpointer.Resolve(value, pointer)
		require.False(t, found, pointer)
	}
}
