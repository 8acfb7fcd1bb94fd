package reports_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	stdhtml "html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"

	"github.com/doubletap-harness/doubletap/checker"
)

// lens shows a report in a frame of any width, which a browser's window does not have, and writes
// down what became of it.
//
//go:embed testdata/lens.html
var lens string

// sight is what a browser made of a report.
type sight struct {
	Wide      []string // elements that reach beyond the page's frame
	Dark      bool     // the background is dark
	Turned    bool     // the background changed when the theme was turned
	Pale      []string // texts with too little contrast
	TimeLines []struct{ Width, Height, Lanes, Marks float64 }
	Shown     string // what the filter says
	Findings  int    // that are visible
	Scenarios int
	Open      []string // details that are unfolded, by id
	Said      string   // after the first copy button was pressed
	Unreached []string // controls that the keyboard does not reach
}

// findBrowser returns a Chromium. DOUBLETAP_BROWSER=required makes its absence a failure.
func findBrowser(t testing.TB) string {
	t.Helper()
	if path, found := servers.Browser(); found {
		return path
	}
	const missing = "no Chromium in PATH, so no browser shows the HTML report: apt-get install chromium"
	if os.Getenv("DOUBLETAP_BROWSER") == "required" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// view is how a report is looked at.
type view struct {
	width    int
	dark     bool
	fragment string
	unfold   bool
}

// look opens a report in a browser and fails on anything that the browser complains of.
func look(t *testing.T, text string, v view) sight {
	t.Helper()
	browser := findBrowser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/report.html" {
			fmt.Fprint(w, text)
			return
		}
		fmt.Fprint(w, lens)
	}))
	defer server.Close()
	scheme := 1
	if v.dark {
		scheme = 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(),
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--virtual-time-budget=10000", "--dump-dom",
		fmt.Sprintf("%s/?width=%d&unfold=%t#%s", server.URL, v.width, v.unfold, v.fragment))
	var complaints bytes.Buffer
	command.Stderr = &complaints
	dom, err := command.Output()
	require.NoError(t, err, complaints.String())
	for line := range strings.Lines(complaints.String()) {
		require.NotContains(t, line, "CONSOLE", "the browser complains")
	}
	_, rest, found := strings.Cut(string(dom), `<pre id="sight">`)
	require.True(t, found, string(dom))
	written, _, _ := strings.Cut(rest, "</pre>")
	var s sight
	require.NoError(t, json.Unmarshal([]byte(stdhtml.UnescapeString(written)), &s), written)
	return s
}

func TestABrowserShowsTheReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		report checker.Report
		width  int
		dark   bool
	}{
		{"several kinds on a desk", several(), 1280, false},
		{"several kinds on a desk at night", several(), 1280, true},
		{"several kinds on a phone", several(), 375, false},
		{"several kinds on a phone at night", several(), 375, true},
		{"hostile text on a phone", hostile(), 375, false},
		{"attempts that never ended", neverFinished(), 375, true},
		{"a pass", allPass(), 1280, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := look(t, html(t, c.report), view{width: c.width, dark: c.dark, unfold: true})
			require.Empty(t, s.Wide, "the page is wider than its frame")
			require.Equal(t, c.dark, s.Dark)
			require.True(t, s.Turned, "the theme can be turned")
			require.Empty(t, s.Pale, "contrast of WCAG AA")
			require.Empty(t, s.Unreached)
			drawn := s.Findings
			if c.report.Verdict == checker.Fail {
				drawn++ // the first screen has one as well
			}
			require.Equal(t, drawn, len(s.TimeLines))
			for _, line := range s.TimeLines {
				require.Greater(t, line.Width, float64(c.width)/2)
				require.Greater(t, line.Height, 80.0)
				require.NotZero(t, line.Lanes)
				require.NotZero(t, line.Marks)
			}
			require.Contains(t, s.Said, "The command")
		})
	}
}

func TestTheFilterOfTheReportWorks(t *testing.T) {
	t.Parallel()
	text := html(t, large())
	for fragment, want := range map[string]sight{
		"":                               {Findings: 500, Scenarios: 38},
		"kind=unavailable":               {Findings: 8, Scenarios: 1},
		"verdict=pass":                   {Scenarios: 36},
		"q=dtbbbbbbbbbbbbbbbb":           {Findings: 16},
		"verdict=fail&kind=duplicate":    {Findings: 421, Scenarios: 1},
		"q=nothing+that+stands+anywhere": {},
	} {
		t.Run(fragment, func(t *testing.T) {
			s := look(t, text, view{width: 1280, fragment: fragment})
			require.Equal(t, want.Findings, s.Findings)
			require.Equal(t, want.Scenarios, s.Scenarios)
			require.Equal(t, fmt.Sprintf("%d of 500 listed findings and %d of 38 scenarios shown", want.Findings, want.Scenarios), s.Shown)
		})
	}
}

func TestALinkUnfoldsItsFinding(t *testing.T) {
	t.Parallel()
	s := look(t, html(t, several()), view{width: 1280, fragment: "F3"})
	require.Equal(t, []string{"F3"}, s.Open)
	require.Equal(t, 3, s.Findings, "a link is no filter")
}
