package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// holdings are where an inquiry looks for what creates have left: a database, or what the target itself lists.
type holdings interface {
	Catalogue(ctx context.Context) ([]databases.Table, error)
	Search(ctx context.Context, tables []databases.Table, text string) (found []databases.Landing, unsearched []string)
	With(ctx context.Context, t databases.Table, column, value string) ([]map[string]string, error)
	Referring(ctx context.Context, from databases.Table, by databases.Reference, value string) (int, error)
	Close() error
}

// listing is what the target itself lists, as one table. How it is asked for one thing is found with the first create.
type listing struct {
	i      *inquiry
	sender *driver.Sender    // asks as the principal of the creates; nil: nothing was asked
	values targets.Values    // of that principal
	header map[string]string // of the create, with what variables stand for
	known  *drafting.Asked   // nil: not found
	text   string            // that the first create was found by
	why    string            // it was not found
}

// listed takes the target's own listing for the database.
func (i *inquiry) listed() {
	i.db, i.tables = &listing{i: i}, []databases.Table{{Name: pathOf(i.Listing)}}
}

// pathOf is a path without its query.
func pathOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}

func (l *listing) Catalogue(context.Context) ([]databases.Table, error) { return l.i.tables, nil }

func (l *listing) With(context.Context, databases.Table, string, string) ([]map[string]string, error) {
	return nil, nil
}

func (l *listing) Referring(context.Context, databases.Table, databases.Reference, string) (int, error) {
	return 0, nil
}

func (l *listing) Close() error { return nil }

// Search lists what the target has of a marker.
func (l *listing) Search(ctx context.Context, tables []databases.Table, marker string) (found []databases.Landing, unsearched []string) {
	if err := l.signIn(ctx); err != nil {
		l.why = err.Error()
		return nil, nil
	}
	if l.known == nil {
		l.find(ctx, marker)
	}
	if l.known == nil {
		return nil, nil
	}
	value := marker
	if strings.HasPrefix(l.text, marker) {
		value = l.text
	}
	rows, err := l.rows(ctx, *l.known, value)
	if err != nil {
		l.why = err.Error()
		return nil, []string{tables[0].FullName()}
	}
	for _, row := range rows {
		found = append(found, landingOf(tables[0], row, marker))
	}
	return found, nil
}

// signIn logs in as the creates do, once.
func (l *listing) signIn(ctx context.Context) error {
	if l.sender != nil {
		return nil
	}
	text, err := l.i.file.Trial()
	if err != nil {
		return err
	}
	config, err := l.i.oneCreate(text)
	if err != nil {
		return err
	}
	l.i.login.lend(&config)
	sender := driver.New(config)
	if _, err := sender.SetUp(ctx); err != nil {
		return err
	}
	for _, views := range sender.Views() {
		l.values = views[0]
	}
	l.sender, l.header = sender, config.Operations[0].Request.Header
	return nil
}

// ways are how APIs let a listing be narrowed to one value of a member. NAME and VALUE stand for both.
var ways = []string{
	"NAME=VALUE", "filter[NAME]=VALUE", "filter[NAME][_eq]=VALUE", "filters[NAME][$eq]=VALUE", "where[NAME][equals]=VALUE", "NAME=eq.VALUE", "filter=(NAME='VALUE')",
	"$filter=NAME%20eq%20'VALUE'", "where=%7B%22NAME%22:%22VALUE%22%7D", "filter=%7B%22where%22:%7B%22NAME%22:%22VALUE%22%7D%7D",
	"q=VALUE", "search=VALUE", "query=VALUE", "filter=VALUE", "s=VALUE", "term=VALUE", "keyword=VALUE",
}

// markerTemplate stands for the marker in what a user gives, as in the file.
const markerTemplate = "{{.Intent.Marker}}"

// mostCarriers is how many members are tried.
const mostCarriers = 3

// find looks for the question that is answered with the first create and with nothing else.
func (l *listing) find(ctx context.Context, marker string) {
	d := l.i.file.Draft
	carriers := d.Carriers()
	given, sign := l.i.Listing, "?"
	if strings.Contains(given, "?") {
		sign = "&"
	}
	if !strings.Contains(given, markerTemplate) {
		if status, _, err := l.ask(ctx, given, ""); err != nil || status < 200 || status > 299 {
			l.why = unlisted(given, status, err)
			return
		}
	}
	for n, pointer := range carriers[:min(len(carriers), mostCarriers)] {
		value, mark := drafting.Carried(d, n)
		text := marker + mark
		asked := []string{given}
		if !strings.Contains(given, markerTemplate) {
			asked = nil
			_, name := jsonpointer.Cut(pointer)
			for _, way := range ways {
				asked = append(asked, given+sign+strings.NewReplacer("NAME", url.QueryEscape(name), "VALUE", value).Replace(way))
			}
		}
		for _, path := range asked {
			if known, is := l.tells(ctx, path, text); is {
				l.known, l.text = &known, text
				l.i.file.Listing = &known
				fmt.Fprintf(l.i.Said, "GET %s lists it\n", path)
				return
			}
		}
	}
	l.why = "GET " + given + " did not list it alone, and nothing for a marker of no create"
	if !strings.Contains(given, markerTemplate) {
		l.why = fmt.Sprintf("GET %s lists this one thing and nothing else with none of the usual parameters, such as note, filter[note] and q; give the path with the marker in it, as in --listing '%[1]s%snote=%s'",
			given, sign, markerTemplate)
	}
}

// tells reports that a question is answered with what holds a text, and with nothing for another text.
func (l *listing) tells(ctx context.Context, path, text string) (drafting.Asked, bool) {
	known := drafting.Asked{Path: path, Header: l.asking(l.i.file.Draft.Header)}
	status, answer, err := l.ask(ctx, path, text)
	if err != nil || status < 200 || status > 299 {
		return known, false
	}
	items, there := listOf(answer, text)
	if !there {
		return known, false
	}
	known.Items = items
	rows, err := l.rows(ctx, known, text)
	if err != nil || len(rows) == 0 || slices.ContainsFunc(rows, func(row map[string]string) bool { return !mentions(row, text) }) {
		return known, false
	}
	other := text + "z" // of no create
	switch status, answer, err = l.ask(ctx, path, other); {
	case err != nil:
		return known, false
	case status == http.StatusNotFound || status == http.StatusNoContent:
		known.Absent = append(known.Absent, fmt.Sprint(status))
	case isNull(answer, items):
		known.Absent = append(known.Absent, "null")
	}
	rows, err = l.rows(ctx, known, other)
	return known, err == nil && len(rows) == 0
}

// isNull reports that an answer has null where the list should be.
func isNull(answer, items string) bool {
	var root any
	err := json.Unmarshal([]byte(answer), &root)
	list, there := jsonpointer.Resolve(root, items)
	return err == nil && there && list == nil
}

// unlisted says why a path lists nothing.
func unlisted(path string, status int, err error) string {
	if err != nil {
		return fmt.Sprintf("GET %s could not be asked: %v", path, err)
	}
	return fmt.Sprintf("GET %s was answered %d", path, status)
}

// mentions reports that a row has a text in it.
func mentions(row map[string]string, text string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(row)), func(value string) bool { return strings.Contains(value, text) })
}

// asking are those headers of the create that say who asks and how, and nothing of what is created.
func (l *listing) asking(header map[string]string) map[string]string {
	kept := maps.Clone(header)
	maps.DeleteFunc(kept, func(name, value string) bool {
		own := slices.Contains([]string{"Content-Type", "Content-Length", "If-Match", "If-None-Match", "Origin", "Referer", http.CanonicalHeaderKey(l.i.file.Draft.Key.Name)}, http.CanonicalHeaderKey(name))
		return own || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(value, "{{.Principal.", ""), "{{.Login.", ""), "{{")
	})
	return kept
}

// ask sends a question about a text.
func (l *listing) ask(ctx context.Context, path, text string) (status int, answer string, err error) {
	get, err := l.get(path, text)
	if err != nil {
		return 0, "", err
	}
	return l.sender.Look(ctx, get.URL, get.Header)
}

// get fills a question in.
func (l *listing) get(path, text string) (snapshots.Get, error) {
	values := l.values
	values.Intent.Marker, values.Intent.Reference = text, text
	path, header, err := targets.RenderListing(contract.Listing{Path: path, Header: l.asking(l.header)}, values)
	return snapshots.Get{URL: l.sender.Workload().URL(path), Header: header}, err
}

// rows are what a question is answered with, as a run will read it.
func (l *listing) rows(ctx context.Context, a drafting.Asked, text string) ([]map[string]string, error) {
	get, err := l.get(a.Path, text)
	if err != nil {
		return nil, err
	}
	q := snapshots.Question{Operation: l.i.file.Draft.Name, Markers: []string{text}, Gets: map[string][]snapshots.Get{text: {get}}, Items: a.Items}
	for _, absent := range a.Absent {
		status := snapshots.NullList
		_, _ = fmt.Sscan(absent, &status)
		q.Absent = append(q.Absent, status)
	}
	s := snapshots.NewListing(l.sender.Look).Snapshot(ctx, []snapshots.Question{q})
	if s.Error != "" {
		return nil, errors.New(s.Error)
	}
	var rows []map[string]string
	for _, listed := range s.Rows[text] {
		row := map[string]string{}
		for name, value := range listed {
			if written, isText := value.(string); isText {
				row[name] = written
			} else if value != nil {
				written, _ := json.Marshal(value)
				row[name] = string(written)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// landingOf is an entry of the listing as a row of a table.
func landingOf(t databases.Table, row map[string]string, marker string) databases.Landing {
	l := databases.Landing{Row: row}
	t.Columns = nil
	for _, name := range slices.Sorted(maps.Keys(row)) {
		t.Columns = append(t.Columns, databases.Column{Name: name})
		if strings.Contains(row[name], marker) {
			l.Columns = append(l.Columns, name)
		}
	}
	l.Table = t
	return l
}

// deepest is how many objects a list may be in.
const deepest = 3

// listOf points to the list of an answer that has a text in one of its objects.
func listOf(answer, text string) (pointer string, there bool) {
	var root any
	if json.Unmarshal([]byte(answer), &root) != nil {
		return "", false
	}
	type place struct {
		pointer string
		value   any
	}
	level := []place{{"", root}}
	for range deepest {
		var next []place
		for _, p := range level {
			switch value := p.value.(type) {
			case []any:
				if written, _ := json.Marshal(value); strings.Contains(string(written), text) {
					return p.pointer, true
				}
			case map[string]any:
				for _, name := range slices.Sorted(maps.Keys(value)) {
					next = append(next, place{p.pointer + jsonpointer.Member(name), value[name]})
				}
			}
		}
		level = next
	}
	return "", false
}
