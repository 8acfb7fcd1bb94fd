package targets

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
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
func (r *reviewer) rows(path string, o Operation) {
	rows := path + "/rows"
	query, listing := o.Rows.Query, o.Rows.HTTP
	switch {
	case query != "" && listing != nil:
		r.complain(rows, "expected query, which asks the database, or http, which asks the target itself, and not both")
	case listing != nil:
		r.listing(rows, *listing, o.Rows.Absent)
		return
	case query == "" && r.target.Database.Declared():
		r.complain(rows, "the key \"rows\" is missing: with a database, a query has to find what an intent created, such as select id from TABLE where COLUMN = :marker")
	case query == "" && r.target.AsksItself():
		r.complain(rows, "the target is asked for the rows of another operation: this one needs rows.http, too")
	case query == "" && r.doc.Has(rows):
		r.complain(rows, "expected query, which asks the database, or http, which asks the target itself")
	case query != "" && !hasMarker(query):
		r.complain(rows+"/query", noMarker)
	}
	for _, key := range []string{"items", "next", "cursor", "absent"} {
		if r.doc.Has(rows + "/" + key) {
			r.complain(rows+"/"+key, "this is about the answer to rows.http, of which there is none")
		}
	}
}

// listing looks at a question to the target itself.
func (r *reviewer) listing(rows string, l contract.Listing, absent []int) {
	at := rows + "/http"
	switch {
	case r.target.Database.Declared():
		r.complain(at, "there is a database: find the rows with a query, or leave the database out")
	case r.target.Received != nil:
		r.complain("/received", "the harness's own questions, those of rows.http, would be counted among the requests: leave one of the two out")
	}
	r.absent(rows+"/absent", absent)
	if r.doc.Has(rows+"/cursor") && !r.doc.Has(rows+"/next") {
		r.complain(rows+"/cursor", "a cursor is what next points to, and next is missing")
	}
	before := len(r.mistakes)
	r.template(at+"/path", l.Path)
	for name, value := range l.Header {
		place := at + jsonpointer.Of("headers", name)
		r.template(place, value)
		if strings.ContainsAny(value, "\r\n") {
			r.complain(place, "a header cannot hold a line break")
		}
	}
	if len(r.mistakes) > before || !r.doc.Sound(at) {
		return
	}
	path, header, err := RenderListing(l, r.samples()[0].values)
	carried := strings.Contains(path, sampleMarker)
	for _, value := range header {
		carried = carried || strings.Contains(value, sampleMarker)
	}
	switch {
	case err != nil:
		r.complain(at, "the templates do not work together")
	case strings.Contains(path, "#"):
		r.complain(at+"/path", "what follows a # never reaches a server")
	case !carried:
		r.complain(at, "no part of the question carries {{.Intent.Marker}}, by which the rows of one intent are told from all others")
	}
}

// absent refuses statuses of answers that have a list: there would never be anything.
func (r *reviewer) absent(path string, statuses []int) {
	for i, status := range statuses {
		if status >= 200 && status < 300 && status != http.StatusNoContent {
			r.complain(path+jsonpointer.Of(i), "%d is what an answer with a list has, so that nothing would ever be there; expected a status such as 404", status)
		}
	}
}
