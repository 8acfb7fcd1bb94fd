package targets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatInitWasUnsureOfIsCounted(t *testing.T) {
	t.Parallel()
	const head = "# Written by doubletap init.\n#\n" + UnsureOf + "\n"
	require.Equal(t, 2, Unsure([]byte(head+"# - One\n#   - more of it\n# - Two\n\n# - no more\nname: a\n")))
	require.Equal(t, 1, Unsure([]byte(head+"# - One\nname: a\n# - no doubt\n")))
	require.Equal(t, 2, Unsure([]byte("\ufeff"+UnsureOf+"\r\n# - One\r\n# - Two\r\n\r\nname: a\r\n")), "the lines above are gone, and an editor ends lines in its own way")
	require.Zero(t, Unsure([]byte(head+"\nname: a\n")), "all are settled")
	require.Zero(t, Unsure([]byte("name: a\n# - no doubt\n")))
}
