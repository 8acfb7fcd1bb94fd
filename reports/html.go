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
	mostTold      = 40 // findings in full
	toldBytes     = 900 << 10
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
	Filters       filters
	Tallies       []kindTally
	Found         int
	Told          []findingView
	Briefs        []findingView
	Untold        int // findings that are only in the JSON report
	Scenarios     []scenarioView
	MoreScenarios int
	Worth         []worthView
}

func newDocument(t *template.Template, raw checker.Report) (document, error) {
	r := legible(raw)
	d := document{overview: newOverview(r), Worth: worthViews(r), Filters: newFilters(r)}
	d.Title = fmt.Sprintf("%s: %s, doubletap", words(r.Verdict), name(r.Target))
	err := d.embed()
	if err == nil {
		err = d.addFindings(t, r, raw)
	}
	if err == nil {
		err = d.addScenarios(t, r)
	}
	return d, err
}

// embed takes the styles and the script in. The policy names them by their hashes, so that a browser
// obeys nothing else that might stand in the report.
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

func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// addFindings tells some findings in full, others in a line each, and counts the rest.
func (d *document) addFindings(t *template.Template, r, raw checker.Report) error {
	views, err := findingViews(t, r, raw)
	if err != nil {
		return err
	}
	lines := room{template: t, left: briefBytes}
	for _, v := range views {
		if v.Told {
			v.Open = len(d.Told) == 0
			d.Told = append(d.Told, v)
			continue
		}
		fits := d.Untold == 0 && len(d.Briefs) < mostBriefs
		if fits {
			if fits, err = lines.takes("brief", v); err != nil {
				return err
			}
		}
		if !fits {
			d.Untold++
			continue
		}
		d.Briefs = append(d.Briefs, v)
	}
	d.Found, d.Tallies = len(views), kindTallies(findings(r))
	return nil
}

// findingViews returns all findings in their order, those told in full for which there is room.
func findingViews(t *template.Template, r, raw checker.Report) ([]findingView, error) {
	all, recorded := findings(r), findings(raw)
	anchors := anchorsOf(all)
	views := make([]findingView, len(all))
	full := room{template: t, left: toldBytes}
	for n, i := range spread(all) {
		views[i] = briefView(all[i], anchors[i])
		if n >= mostTold {
			continue
		}
		v := tell(r, all[i], recorded[i].finding, views[i])
		fits, err := full.takes("finding", v)
		if err != nil {
			return nil, err
		}
		if fits {
			views[i] = v
		}
	}
	return views, nil
}

// spread returns the order in which findings are chosen to be told: of every kind in every scenario
// the first, then of every one the second, so that a common kind does not push out a rare one.
func spread(all []seen) []int {
	type group struct {
		kind  checker.Kind
		place int
	}
	count := map[group]int{}
	rank, order := make([]int, len(all)), make([]int, len(all))
	for i, s := range all {
		g := group{s.finding.Kind, s.place}
		rank[i], order[i] = count[g], i
		count[g]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	return order
}

// anchorsOf gives every finding a name for links: its id, where that is a plain and unique one.
func anchorsOf(all []seen) []string {
	taken := map[string]bool{}
	anchors := make([]string, len(all))
	for i, s := range all {
		anchor := s.finding.ID
		digits := strings.TrimPrefix(anchor, "F")
		if digits == "" || digits == anchor || strings.Trim(digits, "0123456789") != "" || taken[anchor] {
			anchor = fmt.Sprintf("finding-%d", i+1)
		}
		taken[anchor] = true
		anchors[i] = anchor
	}
	return anchors
}

// addScenarios lists the scenarios, those that ask for attention first.
func (d *document) addScenarios(t *template.Template, r checker.Report) error {
	shown := room{template: t, left: scenarioBytes}
	anchors := map[string]string{}
	for _, v := range slices.Concat(d.Told, d.Briefs) {
		anchors[v.ID] = v.Anchor
	}
	results := slices.Clone(r.Results)
	slices.SortStableFunc(results, func(a, b checker.Result) int {
		return cmp.Compare(attention(a.Verdict), attention(b.Verdict))
	})
	for i, res := range results {
		v := newScenarioView(res, anchors)
		fits, err := shown.takes("scenario", v)
		if err != nil {
			return err
		}
		if !fits {
			d.MoreScenarios = len(results) - i
			return nil
		}
		d.Scenarios = append(d.Scenarios, v)
	}
	return nil
}

// byAttention lists the verdicts, those that most ask for a look first.
func byAttention() []checker.Verdict {
	return []checker.Verdict{
		checker.Fail, checker.Broken, checker.Inconclusive, checker.Mended, checker.Known, checker.Pass, checker.NotApplicable,
	}
}

func attention(v checker.Verdict) int { return slices.Index(byAttention(), v) }

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
