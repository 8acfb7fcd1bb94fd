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
	"github.com/doubletap-harness/doubletap/history"
)

// lens shows a report in a frame of any width, which a browser's window does not have, and writes
// down what became of it.
//
//go:embed testdata/lens.html
var lens string

// sight is what a browser made of a report.
type sight struct {
	Wide      []string // elements that reach beyond the page's frame
	Cramped   []string // what stands above tables of rows that are too narrow for it
	Dark      bool     // the background is dark
	Turned    bool     // the background changed when the theme was turned
	Pale      []string // texts with too little contrast
	TimeLines []struct{ Width, Height, Lanes, Marks float64 }
	Shown     string // what the filter says
	Findings  int    // that are visible
	Scenarios int
	Open      []string // details that are unfolded, by id
	Said      string   // after the first copy button was pressed
	Crossed   []string // texts of time lines that a line of the chart may cross
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
	Path     string // of the report
	Width    int
	Fragment string
	Unfold   bool
}

// look opens reports in one browser, one after the other, and fails on anything that the browser complains of.
func look(t *testing.T, dark bool, texts map[string]string, views []view) []sight {
	t.Helper()
	browser := findBrowser(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch text, known := texts[r.URL.Path]; {
		case known:
			fmt.Fprint(w, text)
		case r.URL.Path == "/views":
			_ = json.NewEncoder(w).Encode(views)
		default:
			fmt.Fprint(w, lens)
		}
	}))
	defer server.Close()
	scheme := 1
	if dark {
		scheme = 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(),
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--virtual-time-budget=60000", "--dump-dom", server.URL)
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
	var sights []sight
	require.NoError(t, json.Unmarshal([]byte(stdhtml.UnescapeString(written)), &sights), written)
	require.Len(t, sights, len(views))
	return sights
}

func TestABrowserShowsTheReport(t *testing.T) {
	t.Parallel()
	cases := map[bool][]struct {
		name   string
		report checker.Report
		width  int
	}{
		false: {{"several kinds on a desk", several(), 1280}, {"several kinds on a phone", several(), 375}, {"hostile text on a phone", hostile(), 375}},
		true: {
			{"several kinds on a desk at night", several(), 1280}, {"several kinds on a phone at night", several(), 375},
			{"attempts that never ended", neverFinished(), 375}, {"a pass", allPass(), 1280},
		},
	}
	for dark, list := range cases {
		t.Run(fmt.Sprintf("dark %t", dark), func(t *testing.T) {
			t.Parallel()
			texts, views := map[string]string{}, []view{}
			for i, c := range list {
				path := fmt.Sprintf("/report-%d.html", i)
				texts[path] = html(t, c.report)
				views = append(views, view{Path: path, Width: c.width, Unfold: true})
			}
			for i, s := range look(t, dark, texts, views) {
				c := list[i]
				require.Empty(t, s.Wide, "%s: the page is wider than its frame", c.name)
				require.Equal(t, dark, s.Dark, c.name)
				require.True(t, s.Turned, "%s: the theme can be turned", c.name)
				require.Empty(t, s.Pale, "%s: contrast of WCAG AA", c.name)
				require.Empty(t, s.Unreached, c.name)
				require.Empty(t, s.Crossed, c.name)
				drawn := s.Findings
				if c.report.Verdict == checker.Fail {
					drawn++ // the first screen has one as well
				}
				require.Len(t, s.TimeLines, drawn, c.name)
				for _, line := range s.TimeLines {
					require.Greater(t, line.Width, float64(c.width)/2, c.name)
					require.Greater(t, line.Height, 80.0, c.name)
					require.NotZero(t, line.Lanes, c.name)
					require.NotZero(t, line.Marks, c.name)
				}
				require.Contains(t, s.Said, "The command", c.name)
			}
		})
	}
}

// Rows may have one short column; what stands above them has room for its words all the same.
func TestRowsOfOneShortColumnHaveRoomForTheirTitle(t *testing.T) {
	t.Parallel()
	r := several()
	for i := range r.Results {
		for j := range r.Results[i].Findings {
			for k := range r.Results[i].Findings[j].Rows {
				rows := &r.Results[i].Findings[j].Rows[k]
				rows.Rows = []history.Row{{"id": float64(819)}, {"id": float64(820)}}
			}
		}
	}
	texts := map[string]string{"/report.html": html(t, r)}
	for _, s := range look(t, false, texts, []view{{Path: "/report.html", Width: 1280, Unfold: true}, {Path: "/report.html", Width: 375, Unfold: true}}) {
		require.Empty(t, s.Cramped)
		require.Empty(t, s.Wide)
	}
}

func TestTheFilterOfTheReportWorks(t *testing.T) {
	t.Parallel()
	var views []view
	wanted := []struct {
		fragment            string
		findings, scenarios int
	}{
		{"", 500, 38},
		{"kind=unavailable", 8, 1},
		{"verdict=pass", 0, 36},
		{"q=dtbbbbbbbbbbbbbbbb", 16, 0},
		{"verdict=fail&kind=duplicate", 421, 1},
		{"q=nothing+that+stands+anywhere", 0, 0},
	}
	for _, want := range wanted {
		views = append(views, view{Path: "/report.html", Width: 1280, Fragment: want.fragment})
	}
	for i, s := range look(t, false, map[string]string{"/report.html": html(t, large())}, views) {
		want := wanted[i]
		require.Equal(t, want.findings, s.Findings, want.fragment)
		require.Equal(t, want.scenarios, s.Scenarios, want.fragment)
		require.Equal(t, fmt.Sprintf("%d of 500 listed findings and %d of 38 scenarios shown", want.findings, want.scenarios), s.Shown)
	}
}

func TestALinkUnfoldsItsFinding(t *testing.T) {
	t.Parallel()
	s := look(t, false, map[string]string{"/report.html": html(t, several())}, []view{{Path: "/report.html", Width: 1280, Fragment: "F3"}})[0]
	require.Equal(t, []string{"F3"}, s.Open)
	require.Equal(t, 3, s.Findings, "a link is no filter")
}
