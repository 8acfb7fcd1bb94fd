package targets

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// reviewer looks for what a schema cannot see.
type reviewer struct {
	doc      *document.Document
	target   Target
	mistakes document.Mistakes
	taken    Taken // made-up data in place of what steps have taken by the place that is looked at
}

// review returns the mistakes in what the file says as a whole. Where the schema has found a part
// wrong already, it does not draw conclusions from it.
func review(doc *document.Document, t Target) document.Mistakes {
	r := reviewer{doc: doc, target: t}
	r.baseURL()
	r.process()
	r.socket()
	r.tls()
	r.database()
	r.store()
	r.links()
	r.contract()
	r.effects()
	r.rateLimit()
	r.login()
	for _, name := range t.OperationNames() {
		r.operation(jsonpointer.Of("operations", name), t.Operations[name])
	}
	return r.mistakes
}

// complain adds a mistake. Its arguments must not hold what a variable stands for.
func (r *reviewer) complain(path, format string, args ...any) {
	if r.doc.Sound(path) {
		r.mistakes = append(r.mistakes, r.doc.Mistake(path, format, args...))
	}
}

func (r *reviewer) baseURL() {
	const path = "/base_url"
	u, err := url.Parse(r.target.BaseURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		r.complain(path, "expected a URL that begins with http:// or https://, got %s", r.doc.Shown(path))
	case u.Hostname() == "":
		r.complain(path, "the URL %s names no host", r.doc.Shown(path))
	case u.User != nil:
		r.complain(path, "a URL with a user would reach reports; send a header instead")
	case u.RawQuery != "" || u.Fragment != "":
		r.complain(path, "expected a URL without ? and #; a query belongs into the path of a request")
	}
}

func databaseSchemes() []string {
	return []string{"sqlite", "postgres", "postgresql", "mysql", "mariadb"}
}

// longestHold is how long the writers of a table may be held back.
const longestHold = contract.Duration(10 * time.Second)

func (r *reviewer) database() {
	const path = "/database/url"
	if g := r.target.Database.WriteGate; g != nil && g.Longest > longestHold {
		r.complain("/database/write_gate/longest", "%s is longer than %s: targets do not wait so long for their database", g.Longest, longestHold)
	}
	if len(r.target.Database.Schema) > 0 && r.target.Database.Ephemeral == NoEngine {
		r.complain("/database/schema", "only a database that the harness starts is given a schema; use it with ephemeral")
	}
	if !r.doc.Has(path) {
		if r.doc.Has("/database") && r.target.Database.Ephemeral == NoEngine {
			r.complain("/database", "the key \"url\" is missing, or \"ephemeral\" for a database that the harness starts")
		}
		return
	}
	if r.target.Database.Ephemeral != NoEngine {
		r.complain("/database/ephemeral", "the database is named by url already; leave one of them out")
	}
	scheme, _, found := strings.Cut(r.target.Database.URL, ":")
	known := databaseSchemes()
	switch {
	case found && slices.Contains(known, strings.ToLower(scheme)):
	case !found || r.doc.Expanded(path):
		r.complain(path, "expected a URL whose scheme is %s", list(known))
	default:
		r.complain(path, "unknown scheme %q%s the schemes are %s", scheme, suggestion(scheme, known), list(known))
	}
}

func suggestion(word string, known []string) string {
	if nearest, ok := document.Nearest(word, known); ok {
		return fmt.Sprintf(", did you mean %q?", nearest)
	}
	return ";"
}

func list(words []string) string {
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// present returns the first of these places that the file has, or the contract.
func (r *reviewer) present(paths ...string) string {
	for _, path := range paths {
		if r.doc.Has(path) {
			return path
		}
	}
	return "/contract"
}

func (r *reviewer) operation(path string, o Operation) {
	r.around(path, o)
	r.key(path, o)
	r.rows(path, o)
	r.pointers(path, o)
	r.identity(path+"/identity", o.Identity)
	r.payload(path, o)
	r.sign(path, o)
	kind, members := o.Request.Payload()
	if o.Alter != nil && kind == NoPayload {
		r.complain(path+"/alter", "there is no body to alter")
		return
	}
	r.alter(path, "", members, o.Alter)
	if r.templates(path, o) {
		r.carriesMarker(path, o)
	}
}

// alter looks for members that an altered body would add rather than replace: they are mistyped.
func (r *reviewer) alter(path, inside string, members, change map[string]any) {
	for name, value := range change {
		at := path + "/alter" + inside + jsonpointer.Of(name)
		member, there := members[name]
		inner, isMap := value.(map[string]any)
		outer, wasMap := member.(map[string]any)
		switch {
		case !there:
			r.complain(at, "there is no %s in the body of the request: alter replaces what is there", name)
		case isMap && wasMap:
			r.alter(path, inside+jsonpointer.Of(name), outer, inner)
		}
	}
}

func (r *reviewer) key(path string, o Operation) {
	name := path + "/key/name"
	switch o.Key.In {
	case contract.KeyInHeader:
		if !regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$").MatchString(o.Key.Name) {
			r.complain(name, "expected a header's name, got %s", r.doc.Shown(name))
		}
		for header := range o.Request.Header {
			if strings.EqualFold(header, o.Key.Name) {
				r.complain(path+jsonpointer.Of("request", "headers", header), "this header is the key's; leave it to the key")
			}
		}
	case contract.KeyInBody:
		if o.Key.Name == "" {
			r.complain(path+"/key", "a key in the body needs the name of its member")
		} else {
			kind, members := o.Request.Payload()
			if _, taken := members[o.Key.Name]; taken {
				r.complain(path+jsonpointer.Of("request", string(kind), o.Key.Name), "this member is the key's; leave it to the key")
			}
		}
	case contract.KeyInQuery:
		if o.Key.Name == "" {
			r.complain(path+"/key", "a key in the query needs the name of its parameter")
		} else if o.queries(o.Key.Name) {
			r.complain(path+"/request/path", "the parameter %s is the key's; leave it to the key", r.doc.Shown(name))
		}
	}
	r.keyInPath(path, o)
	if o.Key.Quoted && o.Key.In != contract.KeyInHeader {
		r.complain(path+"/key/quoted", "only a key in a header can be quoted")
	}
}

// keyInPath looks for the place of a key that is to travel in the path.
func (r *reviewer) keyInPath(path string, o Operation) {
	segments, query, _ := strings.Cut(o.Request.Path, "?")
	switch named := path + "/key/name"; {
	case o.Key.In != contract.KeyInPath:
	case strings.Contains(query, ".Key"):
		r.complain(path+"/request/path", "the key stands in the query: that is key.in: query, without {{.Key}}")
	case !regexp.MustCompile(`\{\{\s*\.Key\s*\}\}`).MatchString(segments):
		r.complain(path+"/request/path", "there is no {{.Key}} in the path, for a key that travels there (key.in: path)")
	case r.doc.Has(named):
		r.complain(named, "a key in the path has no name: it stands where the path says {{.Key}}")
	case r.doc.Has(path+"/key/required") && r.doc.Shown(path+"/key/required") == `"false"`:
		r.complain(path+"/key/required", "a key in the path cannot be left out")
	}
}

// queries reports whether the path has a parameter of this name.
func (o Operation) queries(name string) bool {
	_, query, _ := strings.Cut(o.Request.Path, "?")
	parameters, _ := url.ParseQuery(query) // its error leaves what could be read
	return parameters.Has(name)
}

const noMarker = "the parameter :marker is missing, by which the rows of one intent are told from all others"

func hasMarker(query string) bool {
	return regexp.MustCompile(`(^|[^:\w]):marker\b`).MatchString(query)
}

// pointers looks for the members of the body that other parts of the file name.
func (r *reviewer) pointers(path string, o Operation) {
	kind, _ := o.Request.Payload()
	body := path + jsonpointer.Of("request", string(kind))
	for list, pointers := range map[string][]string{
		"/contract/natural_key": r.target.Contract.NaturalKey, "/contract/fingerprint/fields": r.target.Contract.Fingerprint.Fields,
	} {
		for i, pointer := range pointers {
			if place := list + jsonpointer.Of(i); pointer != contract.WholePath && !r.doc.Has(body+pointer) {
				r.complain(place, "%s has no %s in its body", strings.TrimPrefix(path, "/operations/"), r.doc.Shown(place))
			}
		}
	}
	for column, pointer := range o.Rows.Content {
		place := path + jsonpointer.Of("rows", "content", column)
		if !r.doc.Has(body + pointer) {
			r.complain(place, "there is no %s in the body of the request", r.doc.Shown(place))
		}
	}
}
