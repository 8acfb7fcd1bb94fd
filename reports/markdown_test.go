package reports_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/reports"
)

func TestMarkdownFitsASummary(t *testing.T) {
	t.Parallel()
	r := manyFindings(1000)
	for i := range 100 {
		res := hostile().Results[0]
		res.Scenario = fmt.Sprintf("s%d %s", i, strings.Repeat("&", 5000))
		r.Results = append(r.Results, res)
	}
	got := render(t, reports.Markdown, r)
	require.Less(t, len(got), 1<<20)
	require.Equal(t, bytes.Count(got, []byte("<details")), bytes.Count(got, []byte("</details>")))
}

func TestMarkdownTakesNoMarkupFromTheTarget(t *testing.T) {
	t.Parallel()
	got := string(render(t, reports.Markdown, hostile()))
	inFence := false
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "````") {
			inFence = !inFence
			continue
		}
		if inFence {
			continue
		}
		require.NotContains(t, line, "<b>")
		require.NotContains(t, line, "`")
		require.NotContains(t, line, "](")
		require.NotContains(t, line, "://")
		require.NotContains(t, line, "@team")
	}
	require.False(t, inFence)
}

func TestMarkdownLeavesRoomForWhatASummaryHas(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	r := broken(200)
	whole := render(t, reports.Markdown, r)
	for _, row := range []struct {
		name  string
		taken int64
		full  bool
		cut   bool
	}{
		{"an empty one takes all", 0, false, false},
		{"there is just enough room", limit - 4096 - int64(len(whole)), false, false},
		{"there is a byte too little", limit - 4096 - int64(len(whole)) + 1 + 200, false, true},
		{"there is next to no room", limit - 4096, false, true},
		{"it is full", limit - 4095, true, true},
		{"it is over full", 2 * limit, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			err := reports.MarkdownAfter(&b, r, row.taken)
			if row.full {
				require.ErrorIs(t, err, reports.ErrSummaryFull)
				require.Zero(t, b.Len())
				return
			}
			require.NoError(t, err)
			require.Less(t, row.taken+int64(b.Len()), int64(limit))
			require.Equal(t, row.cut, strings.Contains(b.String(), "does not fit into a summary"))
		})
	}
}
