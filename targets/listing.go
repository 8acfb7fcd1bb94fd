package targets

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/sqltext"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// AsksItself reports that the rows are the target's own word: it is asked for them.
func (t Target) AsksItself() bool {
	for _, o := range t.Operations {
		if o.Rows.HTTP != nil {
			return true
		}
	}
	return false
}

// KnowsRows reports that the rows of an operation can be found.
func (t Target) KnowsRows(o Operation) bool {
	return o.Rows.HTTP != nil || t.Database.Declared() && o.Rows.Query != ""
}

// VisibleWithin is the longest time that a row of any operation may be missing after its acknowledgement.
func (t Target) VisibleWithin() contract.Duration {
	longest := contract.Duration(0)
	for _, o := range t.Operations {
		longest = max(longest, o.Rows.VisibleWithin)
	}
	return longest
}

// RenderListing fills in the templates of the question for rows.
func RenderListing(l contract.Listing, v Values) (path string, header map[string]string, err error) {
	if path, err = fill(l.Path, v); err != nil {
		return "", nil, fmt.Errorf("render the path: %w", err)
	}
	header = map[string]string{}
	for name, value := range l.Header {
		if header[name], err = fill(value, v); err != nil {
			return "", nil, fmt.Errorf("render the header %s: %w", name, err)
		}
	}
	return path, header, nil
}

// rows looks at how an operation's rows are found.
func (v *validator) rows(path string, o Operation) {
	rows := path + "/rows"
	query, listing := o.Rows.Query, o.Rows.HTTP
	switch {
	case query != "" && listing != nil:
		v.addMistake(rows, "expected query, which asks the database, or http, which asks the target itself, and not both")
	case listing != nil:
		v.listing(rows, *listing, o.Rows.Absent)
		return
	case query == "" && v.target.Database.Declared():
		v.addMistake(rows, "the key \"rows\" is missing: with a database, a query has to find what an intent created, such as select id from TABLE where COLUMN = :marker")
	case query == "" && v.target.AsksItself():
		v.addMistake(rows, "the target is asked for the rows of another operation: this one needs rows.http, too")
	case query == "" && v.doc.Has(rows):
		v.addMistake(rows, "expected query, which asks the database, or http, which asks the target itself")
	case query != "" && sqltext.Query(query, dialectOf(v.target)) != nil:
		v.addMistake(rows+"/query", "%v", sqltext.Query(query, dialectOf(v.target)))
	case contract.AsksWith("marker", query) && o.Rows.ByReference():
		v.addMistake(rows+"/query", "expected one parameter, :marker or :reference, and not both")
	case o.Rows.ByKey() && (o.Key.In == contract.KeyNowhere || len(o.Key.Issued) > 0):
		v.addMistake(rows+"/query", "rows are asked for with :key, so that requests need a key which the client chooses; expected key, and no key.issued, or :marker in the query")
	case query != "":
		parameter(v, rows+"/query", query)
	}
	for i, e := range o.Effects {
		if err := sqltext.Query(e.Query, dialectOf(v.target)); err != nil && e.Query != "" {
			v.addMistake(path+jsonpointer.Of("effects", i)+"/query", "%v", err)
		}
		asked := contract.Rows{Query: e.Query}
		if e.Delta == nil && hasMarker(e.Query) && (asked.ByReference() != o.Rows.ByReference() || asked.ByKey() != o.Rows.ByKey()) {
			v.addMistake(path+jsonpointer.Of("effects", i)+"/query", "expected the parameter of rows.query: both are asked with the same text")
		}
	}
	for _, key := range []string{"items", "next", "cursor", "absent"} {
		if v.doc.Has(rows + "/" + key) {
			v.addMistake(rows+"/"+key, "this is about the answer to rows.http, of which there is none")
		}
	}
}

// dialectOf is the dialect in which queries of the target are read, by the kind or the URL of its
// database. A URL that names none is taken for PostgreSQL; that it is wrong is a mistake of its
// own.
func dialectOf(t Target) sqltext.Dialect {
	kind := string(t.Database.Ephemeral)
	if kind == "" {
		kind, _, _ = strings.Cut(t.Database.URL, ":")
	}
	switch kind {
	case "sqlite":
		return sqltext.SQLite
	case "mysql", "mariadb":
		return sqltext.MariaDB
	default:
		return sqltext.PostgreSQL
	}
}

// listing looks at a question to the target itself.
func (v *validator) listing(rows string, l contract.Listing, absent []int) {
	at := rows + "/http"
	switch {
	case v.target.Database.Declared():
		v.addMistake(at, "there is a database: find the rows with a query, or leave the database out")
	case v.target.Received != nil:
		v.addMistake("/received", "the harness's own questions, those of rows.http, would be counted among the requests: leave one of the two out")
	}
	v.absent(rows+"/absent", absent)
	if v.doc.Has(rows+"/cursor") && !v.doc.Has(rows+"/next") {
		v.addMistake(rows+"/cursor", "a cursor is what next points to, and next is missing")
	}
	before := len(v.mistakes)
	v.template(at+"/path", l.Path)
	for name, value := range l.Header {
		place := at + jsonpointer.Of("headers", name)
		v.template(place, value)
		if strings.ContainsAny(value, "\r\n") {
			v.addMistake(place, "a header cannot hold a line break")
		}
	}
	if len(v.mistakes) > before || !v.doc.Sound(at) {
		return
	}
	values := v.samples()[0].values
	path, header, err := RenderListing(l, values)
	wanted := values.Intent.Marker
	if (contract.Rows{HTTP: &l}).ByReference() {
		wanted = sampleReference
	}
	carried := strings.Contains(path, wanted)
	for _, value := range header {
		carried = carried || strings.Contains(value, wanted)
	}
	switch {
	case err != nil:
		v.addMistake(at, "the templates do not work together")
	case strings.Contains(path, "#"):
		v.addMistake(at+"/path", "what follows a # never reaches a server")
	case !carried:
		v.addMistake(at, "no part of the question carries {{.Intent.Marker}}, or else {{.Intent.Reference}}, by which the rows of one intent are told from all others")
	}
}

// absent refuses statuses of answers that have a list: there would never be anything.
func (v *validator) absent(path string, statuses []int) {
	for i, status := range statuses {
		if status >= 200 && status < 300 && status != http.StatusNoContent {
			v.addMistake(path+jsonpointer.Of(i), "%d is what an answer with a list has, so that nothing would ever be there; expected a status such as 404", status)
		}
	}
}
