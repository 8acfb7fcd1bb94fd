package reports_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

// FuzzReadJSON reads anything as the report of an older run, and shows it.
func FuzzReadJSON(f *testing.F) {
	for _, r := range fixtures() {
		var text bytes.Buffer
		require.NoError(f, reports.JSON(&text, r))
		f.Add(text.Bytes())
		break // the others differ in values
	}
	for _, text := range []string{
		`{"version":1,"results":[{"scenario":"\u001b[2J","findings":[{"kind":"x","attempts":[{"id":"a","passage":null}]}]}]}`, `{"version":1,"results":[null],"causes":[null]}`, `{"version":1,"results":[{"findings":[{"rows":[{"rows":[{}]}]}]}]}`, `null`, `{"version":2}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := reports.ReadJSON(bytes.NewReader(text)); err == nil {
			harmless(t, reports.Markdown, r)
			harmless(t, reports.JSON, r)
		}
	})
}

// FuzzReadMatrix reads anything as a matrix that is gone on with, and writes its page.
func FuzzReadMatrix(f *testing.F) {
	f.Add(`{"tool":"x","cores":-1,"scenarios":["a|b","\u001b[2J"],"rows":[{"target":"` + nasty[:3] + `","marks":{"a":"fail"}}]}`)
	f.Add(`{"rows":[null,{"cells":[null]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := reports.ReadMatrix(strings.NewReader(text))
		if err != nil {
			return
		}
		harmless(t, func(w io.Writer, _ checker.Report) error { return reports.MatrixMarkdown(w, m) }, checker.Report{})
	})
}
