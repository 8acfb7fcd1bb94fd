package reports_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

// mostHTML is what the HTML report stays under, whatever the run.
const mostHTML = 2 << 20

// element is one element of a page.
type element struct {
	name  string
	attrs map[string]string
}

// page is a parsed HTML report.
type page struct {
	size     int
	elements []element
	assets   map[string][]string // the texts of style and script
}

var asset = regexp.MustCompile(`(?s)<(style|script)([^>]*)>(.*?)</(?:style|script)>`)

// parsePage reads a report as strictly as XML is read: an HTML parser would mend whatever it is given.
func parsePage(t require.TestingT, text []byte) page {
	p := page{size: len(text), assets: map[string][]string{}}
	for _, found := range asset.FindAllSubmatch(text, -1) {
		p.assets[string(found[1])] = append(p.assets[string(found[1])], string(found[3]))
	}
	decoder := xml.NewDecoder(bytes.NewReader(asset.ReplaceAll(text, []byte("<$1$2></$1>"))))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		require.NoError(t, err, "the page is not well-formed")
		if start, ok := token.(xml.StartElement); ok {
			e := element{name: start.Name.Local, attrs: map[string]string{}}
			for _, a := range start.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			p.elements = append(p.elements, e)
		}
	}
}

// faults says what a report must not have: what loads or runs something, references that lead
// nowhere, and what a keyboard or a screen reader trips over.
func (p page) faults() []string {
	var list []string
	ids, count, level := map[string]bool{}, map[string]int{}, 0
	for _, e := range p.elements {
		if id, ok := e.attrs["id"]; ok {
			if ids[id] {
				list = append(list, "two elements have the id "+id)
			}
			ids[id] = true
		}
	}
	for _, e := range p.elements {
		count[e.name]++
		list = append(list, e.faults(ids)...)
		if len(e.name) == 2 && e.name[0] == 'h' && e.name[1] >= '1' && e.name[1] <= '6' {
			next := int(e.name[1] - '0')
			if next > level+1 {
				list = append(list, fmt.Sprintf("h%d follows h%d", next, level))
			}
			level = next
		}
	}
	for name, n := range map[string]int{"script": 1, "style": 2, "main": 1, "h1": 1} {
		if count[name] != n {
			list = append(list, fmt.Sprintf("%d elements %s", count[name], name))
		}
	}
	return list
}

// known are the elements of the templates.
const known = "html head meta title style body a svg defs pattern line g path rect circle use text tspan desc header p strong nav button " +
	"main section span h1 h2 h3 h4 dl dt dd div pre code form label input select option output table caption thead tbody tr th td " +
	"details summary figure figcaption ul li b mark footer script"

func (e element) faults(ids map[string]bool) []string {
	var list []string
	if !slices.Contains(strings.Fields(known), e.name) {
		list = append(list, "an element "+e.name)
	}
	for name, value := range e.attrs {
		switch {
		case name == "src" || name == "srcset" || name == "action" || name == "style" || strings.HasPrefix(name, "on"):
			list = append(list, "an attribute "+name)
		case name == "href" && !ids[strings.TrimPrefix(value, "#")], name == "href" && !strings.HasPrefix(value, "#"):
			list = append(list, "a link to "+value)
		case name == "aria-labelledby":
			for _, id := range strings.Fields(value) {
				if !ids[id] {
					list = append(list, "a label "+id+" that is not there")
				}
			}
		}
	}
	for _, need := range [][2]string{{"th", "scope"}, {"button", "type"}} {
		if e.name == need[0] && e.attrs[need[1]] == "" {
			list = append(list, need[0]+" without "+need[1])
		}
	}
	if e.name == "svg" && e.attrs["aria-hidden"] == "" && (e.attrs["role"] != "img" || e.attrs["aria-label"]+e.attrs["aria-labelledby"] == "") {
		list = append(list, "a picture without a name")
	}
	return list
}

// several is a run with several kinds of finding, and with everything that scenarios are measured by.
func several() checker.Report {
	burst, tabs, sweep := passed("burst", 40), passed("two-tabs", 12), passed("sweep", 60)
	first, again, mismatch := lostThenRetried(), lostThenRetried(), altered()
	again.ID, again.Kind, again.Intent, again.Moment = "F2", checker.LostWrite, "i031", history.T2Name
	again.Attempts[1].Passage.Held, again.Attempts[1].Passage.Released = ms(456), ms(464)
	again.Who = map[string]string{"i007": "alice"}
	mismatch.ID = "F3"
	burst.Verdict, burst.Failed, burst.Findings = checker.Fail, 2, []checker.Finding{first, again}
	tabs.Verdict, tabs.Failed, tabs.Findings = checker.Fail, 1, []checker.Finding{mismatch}
	burst.Summary = "Ten copies of one request are let go together."
	burst.Outcomes = map[checker.Outcome]int{checker.Acknowledged: 80, checker.InProgress: 30, checker.Unknown: 9, checker.NotSent: 1}
	burst.Bursts = &checker.Bursts{
		Count: 12, Members: 10, Gate: checker.GateDoorstep, Median: ms(0.0614), P90: ms(0.1), Most: ms(0.25),
		Hits: &checker.Hits{Bursts: 40, Half: ms(0.05), Most: ms(0.22)},
	}
	burst.Writers = &checker.Writers{Held: 11, Of: 12, Tables: []string{"orders"}, Waiting: []int{2, 7, 9, 9, 10, 10, 10}}
	burst.Warnings = []checker.Warning{{Kind: "ungraceful-loser", Text: "the loser of a race got a 500", Intents: []string{"i003"}}}
	sweep.Phases = []checker.Phase{
		{Answer: "in-progress", From: ms(0.04), To: ms(21.449), Count: 31},
		{Answer: "acknowledged with another thing", From: ms(22), To: ms(22), Count: 1},
		{Answer: "acknowledged with the same thing", From: ms(22.05), To: ms(60), Count: 28},
	}
	return report(checker.Fail, burst, tabs, sweep, inconclusive().Results[0], notApplicable().Results[1])
}

// large is a run of ten thousand intents with five hundred findings.
func large() checker.Report {
	r := manyFindings(500)
	for i := range 36 {
		r.Results = append(r.Results, passed(fmt.Sprintf("scenario-%d", i), 250))
	}
	r.Results[2].Phases = several().Results[2].Phases
	return r
}

func html(t testing.TB, r checker.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, reports.HTML(&b, r))
	return b.String()
}

// withoutAssets leaves out what is the same in every report, and the hashes of it.
func withoutAssets(text string) string {
	text = asset.ReplaceAllString(text, "<$1$2>…</$1>")
	return regexp.MustCompile(`&#39;sha256-.*?&#39;`).ReplaceAllString(text, "…")
}

func TestGoldenHTML(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]checker.Report{
		"pass": allPass(), "duplicate": oneDuplicate(), "several": several(), "inconclusive": inconclusive(),
		"never-finished": neverFinished(), "hostile": hostile(), "empty": report(checker.Inconclusive),
		"registered": registered(), "known": allKnown(), "excused": excused(), "mended": mended(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare(t, name+".html", []byte(withoutAssets(html(t, r))))
		})
	}
}

func TestHTMLHoldsTogether(t *testing.T) {
	t.Parallel()
	all := fixtures()
	all["several"], all["large"] = several(), large()
	all["zero values"] = checker.Report{Results: []checker.Result{{Findings: []checker.Finding{
		{}, {Attempts: []history.Attempt{{}}, Rows: []checker.RowEvidence{{Rows: []history.Row{{}, nil}}}},
	}}}}
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := html(t, r)
			require.Empty(t, parsePage(t, []byte(text)).faults())
			require.Equal(t, text, html(t, r), "the same report is written in the same way")
		})
	}
}

func TestHTMLObeysOnlyItself(t *testing.T) {
	t.Parallel()
	p := parsePage(t, []byte(html(t, hostile())))
	policy := ""
	for _, e := range p.elements {
		if e.attrs["http-equiv"] == "Content-Security-Policy" {
			policy = e.attrs["content"]
		}
	}
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	for _, text := range slices.Concat(p.assets["style"], p.assets["script"]) {
		sum := sha256.Sum256([]byte(text))
		require.Contains(t, policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		require.NotRegexp(t, `https?:|//[a-z]+\.|@import|url\([^#]`, text)
		require.NotContains(t, text, "evil.example")
	}
}

func TestHTMLStaysSmall(t *testing.T) {
	t.Parallel()
	crowd := manyFindings(3000)
	for i := range 200 {
		res := hostile().Results[0]
		res.Scenario = fmt.Sprintf("s%d %s", i, strings.Repeat("&", 5000))
		res.Findings[0].Attempts[0].Content = strings.Repeat(`'<"&`, 5000)
		crowd.Results = append(crowd.Results, res)
	}
	usual, crowded := html(t, large()), html(t, crowd)
	for name, text := range map[string]string{"10,000 intents and 500 findings": usual, "more than fits": crowded} {
		require.Less(t, len(text), mostHTML, name)
		require.Empty(t, parsePage(t, []byte(text)).faults(), name)
	}
	require.Equal(t, 40, strings.Count(usual, `class="item finding detailed"`))
	require.Equal(t, 460, strings.Count(usual, `class="item finding"`))
	require.Contains(t, usual, "Their evidence is in <code>report.json</code>")
	require.Contains(t, crowded, "more findings are only in <code>report.json</code>")
	require.Contains(t, crowded, "more scenarios are only in <code>report.json</code>")
}

func TestHTMLTellsARareKindInFull(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `class="item finding detailed"[^>]* data-kind="unavailable"`, html(t, large()))
}

func TestHTMLMarksWhatDiffers(t *testing.T) {
	t.Parallel()
	text := html(t, several())
	require.Contains(t, text, "<mark>≠   &#34;amount&#34;: 1200</mark>")
	require.Contains(t, text, "<mark>≠   &#34;amount&#34;: 1201</mark>")
	require.Contains(t, text, "<mark>≠ 201 acknowledged</mark>")
	require.NotContains(t, text, "<mark>≠   &#34;id&#34;: 17,</mark>")
}

func TestHTMLReadsAnyAnswer(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"{\n \"amount\": 1200,\n \"tags\": [1, {}]\n}": "&#34;amount&#34;: 1200,</mark>",
		`{"amount": {"cents": 1200}}`:                  "<mark>≠     &#34;cents&#34;: 1200</mark>",
		`{"amount": 12`:                                `{&#34;amount&#34;: 12`,
		`{"a": 1} and more`:                            "and more",
		"plain\x1b[31m <b>text</b>":                    `plain\x1b[31m &lt;b&gt;text`,
		"[" + strings.Repeat("1,", 500) + "1]":         "…",
	} {
		f := altered()
		for i := range f.Attempts {
			f.Attempts[i].Content = content
		}
		res := passed("answers", 1)
		res.Verdict, res.Findings = checker.Fail, []checker.Finding{f}
		text := html(t, report(checker.Fail, res))
		require.Contains(t, text, want)
		require.Empty(t, parsePage(t, []byte(text)).faults())
	}
}

func TestHTMLDrawsEveryMoment(t *testing.T) {
	t.Parallel()
	text := html(t, several())
	for _, mark := range []string{"begun", "retry", "probe", "written", "arrived", "answered", "heard", "timeout"} {
		require.Contains(t, text, `<use href="#g-`+mark+`" x="`, mark)
	}
	for _, piece := range []string{
		`class="held"`, `class="inside"`, `class="cut"`, `class="look shown"`, "rows read before the final retry", "rows read after the final retry", ">seen here<", "alice, same key",
	} {
		require.Contains(t, text, piece)
	}
	unfinished := html(t, neverFinished())
	for _, piece := range []string{`class="flight endless"`, `class="gone"`, `href="#g-broken" x="`, "no end recorded"} {
		require.Contains(t, unfinished, piece)
	}
}

func TestHTMLReturnsAFailedWrite(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, reports.HTML(brokenPipe{}, allPass()), "broken pipe")
}

func BenchmarkHTML(b *testing.B) {
	r := large()
	for b.Loop() {
		require.NoError(b, reports.HTML(io.Discard, r))
	}
}

func TestTheHTMLReportCanBeFilteredByEveryVerdict(t *testing.T) {
	t.Parallel()
	got := html(t, registered())
	for _, verdict := range []string{"fail", "mended", "known"} {
		require.Contains(t, got, `<option value="`+verdict+`">`)
		require.Contains(t, got, `class="item scenario v-`+verdict+`"`)
		require.Contains(t, got, ".v-"+verdict+" { --accent: var(--"+verdict+"); }")
		require.Equal(t, 2, strings.Count(got, " --"+verdict+": #"), "a colour in the light, and one in the dark")
	}
	require.Equal(t, 2, strings.Count(got, `class="item finding detailed expected"`), "what is known is not in red")
	require.Contains(t, html(t, allKnown()), "Only known bugs were seen, in 1 intent.")
	require.Contains(t, html(t, mended()), "A known bug was not seen.")
}

func TestTheFirstScreenCountsTheAttemptsThatItDoesNotDraw(t *testing.T) {
	t.Parallel()
	r := several()
	f := &r.Results[0].Findings[0]
	for n := range 8 {
		a := f.Attempts[0]
		a.ID = fmt.Sprintf("i007.%d", n+10)
		f.Attempts, f.Outcomes = append(f.Attempts, a), append(f.Outcomes, checker.Unknown)
	}
	var b strings.Builder
	require.NoError(t, reports.HTML(&b, r))
	require.Regexp(t, fmt.Sprintf(`and %d more attempts: all of them are in <a href="#[^"]+">F1</a>`, len(f.Attempts)-4), b.String())
}
