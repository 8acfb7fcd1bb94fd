package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A row that is missing before the final retry, and there after it, may have come by itself: a look at a copy that lags says so.
func TestARowThatComesLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later string
		says  bool
	}{"the row that was named": {"o1", true}, "another row": {"o2", false}} {
		r := story(acknowledged(201, "o1")).rows(0).later(c.later).check(terms())
		require.Contains(t, found(r), "lost-acknowledged-write", name)
		for _, f := range r.Findings {
			if f.Kind == "lost-acknowledged-write" && c.says {
				require.Contains(t, f.Observed, "rows.visible_within", name)
			} else {
				require.NotContains(t, f.Observed, "rows.visible_within", name)
			}
		}
	}
}
