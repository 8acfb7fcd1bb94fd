package checker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

func TestAFindingHasWhatTheTargetPrintedMeanwhile(t *testing.T) {
	t.Parallel()
	h := wrong()
	first := h.Attempts[0]
	last := h.Attempts[len(h.Attempts)-1]
	for _, a := range h.Attempts {
		if a.End > last.End {
			last = a
		}
	}
	h.Printed = []history.Printed{{At: first.Start - 1, Text: "before"}, {At: first.Start, Text: "first"}, {At: last.End, Instance: 2, Text: "last"}, {At: last.End + 1<<40, Text: "after"}}
	f := check(h, terms()).Findings[0]
	require.Equal(t, h.Printed[1:3], f.Printed.Lines)
	require.Zero(t, f.Printed.Unlisted)
}

func TestOfManyLinesThoseThatNameTheRequestAreKept(t *testing.T) {
	t.Parallel()
	h := wrong()
	marker := h.Intents[0].Bodies[history.Original].Marker
	for n := range 100 {
		text := fmt.Sprint("line ", n)
		if n == 50 || n == 99 {
			text += " of " + marker
		}
		h.Printed = append(h.Printed, history.Printed{At: h.Attempts[0].Start + 1, Text: text})
	}
	f := check(h, terms()).Findings[0]
	var texts []string
	for _, line := range f.Printed.Lines {
		texts = append(texts, line.Text)
	}
	require.Equal(t, []string{"line 48", "line 49", "line 50 of " + marker, "line 51", "line 52", "line 97", "line 98", "line 99 of " + marker}, texts)
	require.Equal(t, 92, f.Printed.Unlisted)

	for i := range h.Printed {
		h.Printed[i].Text = "a line of somebody"
	}
	f = check(h, terms()).Findings[0]
	require.Len(t, f.Printed.Lines, 20, "the first, where none names it")
	require.Equal(t, 80, f.Printed.Unlisted)
}
