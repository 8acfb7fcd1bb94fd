package english_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/english"
)

func TestPlural(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0 rows", english.Plural(0, "row"))
	require.Equal(t, "1 row", english.Plural(1, "row"))
	require.Equal(t, "1 try", english.Plural(1, "try", "tries"))
	require.Equal(t, "2 tries", english.Plural(2, "try", "tries"))
}

func TestList(t *testing.T) {
	t.Parallel()
	require.Empty(t, english.List(nil, "and"))
	require.Equal(t, "a", english.List([]string{"a"}, "or"))
	require.Equal(t, "a and b", english.List([]string{"a", "b"}, "and"))
	require.Equal(t, "a, b or c", english.List([]string{"a", "b", "c"}, "or"))
}

func TestWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"/id": "/id", "": `""`, "two words": `"two words"`, "a\nb": `"a\nb"`, "\u202e": `"\u202e"`} {
		require.Equal(t, want, english.Word(text))
	}
}
