package reports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
)

// htmlFiles are the templates, the styles and the script of the HTML report.
//
//go:embed html
var htmlFiles embed.FS

// Limits of the HTML report. Together with the parts that do not grow they keep it under 2 MB.
const (
	mostFull      = 40 // findings in full
	fullBytes     = 900 << 10
	mostBriefs    = 2000 // findings in a line each
	briefBytes    = 450 << 10
	scenarioBytes = 400 << 10
)

// HTML writes a report for a browser: one file that needs no network and no other file. What does
// not fit is counted, and is whole in the JSON report.
func HTML(w io.Writer, r checker.Report) error {
	text, err := renderHTML(r)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// renderHTML renders into memory first, so that a failing template leaves no half a file.
func renderHTML(r checker.Report) ([]byte, error) {
	t, err := template.ParseFS(htmlFiles, "html/*.html")
	if err != nil {
		return nil, err
	}
	d, err := newDocument(t, r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, "report", d)
	return b.Bytes(), err
}

// document is everything that the template of the report shows.
type document struct {
	Policy    string
	CSS, Dark template.CSS
	JS        template.JS
	Title     string
	overview
	Bug           *htmlBug // nil: no finding is new
	Filters       filters
	Causes        []htmlCause
	CausesTitle   string
	MoreCauses    int
	Found         int
	Full          []htmlFinding
	Briefs        []htmlFinding
	Unlisted      int // findings that are only in the JSON report
	Scenarios     []htmlScenario
	MoreScenarios int
	Confidence    []htmlConfidence
}

// newDocument collects what the page shows.
func newDocument(t *template.Template, raw checker.Report) (document, error) {
	v := newView(raw)
	d := document{overview: newOverview(v), Confidence: htmlConfidences(v), Filters: newFilters(v), Bug: newHTMLBug(v, anchorsOf(v.Findings)), CausesTitle: causesTitle(v)}
	d.Title = fmt.Sprintf("%s: %s, doubletap", v.Verdict.Word, name(v.Target))
	err := d.embed()
	if err == nil {
		err = d.addFindings(t, v)
	}
	if err == nil {
		err = d.addScenarios(t, v)
	}
	return d, err
}

// embed takes the styles and the script in. The policy names them by their hashes, so that a browser
// runs nothing else that the report might contain.
func (d *document) embed() error {
	var texts [3]string
	for i, name := range []string{"report.css", "dark.css", "report.js"} {
		text, err := htmlFiles.ReadFile("html/" + name)
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	d.CSS, d.Dark, d.JS = template.CSS(texts[0]), template.CSS(texts[1]), template.JS(texts[2])
	d.Policy = fmt.Sprintf("default-src 'none'; style-src %s %s; script-src %s; base-uri 'none'; form-action 'none'",
		sourceHash(texts[0]), sourceHash(texts[1]), sourceHash(texts[2]))
	return nil
}

// sourceHash is a text as a Content-Security-Policy names it (CSP Level 3, section 2.3.1).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// addFindings shows some findings in full, others in a line each, and counts the rest.
func (d *document) addFindings(t *template.Template, v view) error {
	all, err := htmlFindings(t, v)
	if err != nil {
		return err
	}
	lines := room{template: t, left: briefBytes}
	for _, f := range all {
		if f.Full {
			d.Full = append(d.Full, f)
			continue
		}
		fits := d.Unlisted == 0 && len(d.Briefs) < mostBriefs
		if fits {
			if fits, err = lines.takes("brief", f); err != nil {
				return err
			}
		}
		if !fits {
			d.Unlisted++
			continue
		}
		d.Briefs = append(d.Briefs, f)
	}
	d.Found = len(all)
	d.Causes = htmlCauses(v, d.anchors())
	d.MoreCauses = len(v.Causes) - len(d.Causes)
	return nil
}

// htmlFindings returns all findings in their order, those in full for which there is room.
func htmlFindings(t *template.Template, v view) ([]htmlFinding, error) {
	anchors := anchorsOf(v.Findings)
	list := make([]htmlFinding, len(v.Findings))
	full := room{template: t, left: fullBytes}
	for n, i := range spread(v) {
		list[i] = newBrief(v.Findings[i], anchors[i])
		if n >= mostFull {
			continue
		}
		f := list[i].withEvidence(v, v.Findings[i])
		fits, err := full.takes("finding", f)
		if err != nil {
			return nil, err
		}
		if fits {
			list[i] = f
		}
	}
	return list, nil
}

// spread returns the order in which findings are chosen to be shown in full: of every cause the first in each scenario, then
// of every one the second, so that a common cause does not push out a rare one.
func spread(v view) []int {
	type group struct{ cause, place int }
	count := map[group]int{}
	rank, order := make([]int, len(v.Findings)), make([]int, len(v.Findings))
	at := 0
	for n, c := range v.Causes {
		for range c.cause.Members {
			g := group{n, v.Findings[at].at.Result}
			rank[at], order[at] = count[g], at
			count[g]++
			at++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	return order
}

// anchorsOf gives every finding a name for links: its id, where that is a plain and unique one.
func anchorsOf(all []findingView) []string {
	taken := map[string]bool{}
	anchors := make([]string, len(all))
	for i, f := range all {
		anchor := f.ID
		digits := strings.TrimPrefix(anchor, "F")
		if digits == "" || digits == anchor || strings.Trim(digits, "0123456789") != "" || taken[anchor] {
			anchor = fmt.Sprintf("finding-%d", i+1)
		}
		taken[anchor] = true
		anchors[i] = anchor
	}
	return anchors
}

// anchors are the places of the findings that the page lists, by id.
func (d *document) anchors() map[string]string {
	anchors := map[string]string{}
	for _, f := range slices.Concat(d.Full, d.Briefs) {
		anchors[f.ID] = f.Anchor
	}
	return anchors
}

// addScenarios lists the scenarios, those that ask for attention first.
func (d *document) addScenarios(t *template.Template, v view) error {
	shown := room{template: t, left: scenarioBytes}
	anchors := d.anchors()
	scenarios := slices.Clone(v.Scenarios)
	slices.SortStableFunc(scenarios, func(a, b scenarioView) int {
		return cmp.Compare(attention(a.Result.Verdict), attention(b.Result.Verdict))
	})
	for i, scenario := range scenarios {
		s := newHTMLScenario(scenario, anchors)
		fits, err := shown.takes("scenario", s)
		if err != nil {
			return err
		}
		if !fits {
			d.MoreScenarios = len(scenarios) - i
			return nil
		}
		d.Scenarios = append(d.Scenarios, s)
	}
	return nil
}

// room is the bytes that are left for a part of the document.
type room struct {
	template *template.Template
	left     int
}

// takes reports whether a block still fits, and takes its bytes. It renders the block to know.
func (r *room) takes(name string, data any) (bool, error) {
	var b bytes.Buffer
	if err := r.template.ExecuteTemplate(&b, name, data); err != nil {
		return false, err
	}
	if b.Len() > r.left {
		return false, nil
	}
	r.left -= b.Len()
	return true, nil
}
