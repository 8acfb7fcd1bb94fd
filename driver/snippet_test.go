package driver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
)

func TestASnippetEndsWithAWholeCharacter(t *testing.T) {
	t.Parallel()
	for text, quoted := range map[string]string{
		"":                                  `""`,
		"two\nlines":                        `"two\nlines"`,
		strings.Repeat("é", 100):            `"` + strings.Repeat("é", 100) + `"`,
		"x" + strings.Repeat("é", 100):      `"x` + strings.Repeat("é", 99) + `..."`,
		strings.Repeat("x", 200) + "longer": `"` + strings.Repeat("x", 200) + `..."`,
	} {
		require.Equal(t, quoted, driver.Snippet(text))
	}
}
