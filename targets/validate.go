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
	"github.com/doubletap-harness/doubletap/internal/sqltext"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// validator finds the mistakes that a schema cannot see.
type validator struct {
	doc       *document.Document
	target    Target
	mistakes  document.Mistakes
	extracted Extracted         // made-up data in place of what the steps before this place extract
	parent    map[string]string // one of each of the things that are there, for its templates
	kind      MarkerKind        // of the markers of the operation that is looked at
}

// validate returns the mistakes in what the file says as a whole. Where the schema has found a part
// wrong already, it does not draw conclusions from it.
func validate(doc *document.Document, t Target) document.Mistakes {
	v := validator{doc: doc, target: t}
	v.baseURL()
	v.process()
	instances(&v)
	v.socket()
	v.tls()
	v.database()
	v.store()
	v.links()
	v.sinks()
	v.contract()
	v.effects()
	v.rateLimit()
	v.login()
	for _, name := range t.OperationNames() {
		v.operation(jsonpointer.Of("operations", name), t.Operations[name])
	}
	return v.mistakes
}

// addMistake adds a mistake, unless the place has one already. Its arguments must not hold the value of a variable.
func (v *validator) addMistake(path, format string, args ...any) {
	if v.doc.Sound(path) {
		v.mistakes = append(v.mistakes, v.doc.Mistake(path, format, args...))
	}
}

// baseURL looks at the address to which requests go. User and password in it would be on every
// record.
func (v *validator) baseURL() {
	const path = "/base_url"
	u, err := url.Parse(v.target.BaseURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		got := "got " + v.doc.Shown(path) + withScheme(v, path)
		if v.doc.Expanded(path) {
			got = "got something else from " + v.doc.Shown(path)
		}
		v.addMistake(path, "expected a URL that begins with http:// or https://, %s", got)
	case u.Hostname() == "":
		v.addMistake(path, "the URL %s names no host", v.doc.Shown(path))
	case u.User != nil:
		v.addMistake(path, "a URL with a user would reach reports; send a header instead")
	case u.RawQuery != "" || u.Fragment != "":
		v.addMistake(path, "expected a URL without ? and #; a query belongs into the path of a request")
	}
}

// withScheme guesses what a base URL without a scheme should be; empty: it is none, or a variable gave it.
func withScheme(v *validator, path string) string {
	u, err := url.Parse("http://" + v.target.BaseURL)
	if v.doc.Expanded(path) || strings.Contains(v.target.BaseURL, "://") || err != nil || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", "http://"+v.target.BaseURL)
}

// databaseSchemes lists the schemes of the databases that can be asked.
func databaseSchemes() []string {
	return []string{"sqlite", "postgres", "postgresql", "mysql", "mariadb"}
}

// longestHold is how long the writers of a table may be held back.
const longestHold = contract.Duration(10 * time.Second)

// database looks at where the rows are. What a variable gave is not repeated in a mistake: it may
// hold a password.
func (v *validator) database() {
	const path = "/database/url"
	if g := v.target.Database.WriteGate; g != nil && g.Longest > longestHold {
		v.addMistake("/database/write_gate/longest", "%s is longer than %s: targets do not wait so long for their database", g.Longest, longestHold)
	}
	if len(v.target.Database.Schema) > 0 && v.target.Database.Ephemeral == NoEngine {
		v.addMistake("/database/schema", "only a database that the harness starts is given a schema; use it with ephemeral")
	}
	if !v.doc.Has(path) {
		if v.doc.Has("/database") && v.target.Database.Ephemeral == NoEngine {
			v.addMistake("/database", "the key \"url\" is missing, or \"ephemeral\" for a database that the harness starts")
		}
		return
	}
	if v.target.Database.Ephemeral != NoEngine {
		v.addMistake("/database/ephemeral", "the database is named by url already; leave one of them out")
	}
	scheme, _, found := strings.Cut(v.target.Database.URL, ":")
	known := databaseSchemes()
	switch {
	case found && slices.Contains(known, strings.ToLower(scheme)):
	case !v.doc.Expanded(path) && strings.HasPrefix(v.target.Database.URL, "jdbc:"):
		v.addMistake(path, "expected a URL such as postgres://USER@HOST:PORT/NAME, without jdbc:")
	case !v.doc.Expanded(path) && found && !strings.Contains(v.target.Database.URL, "://"):
		v.addMistake(path, "expected a URL with a scheme, such as postgres://USER@HOST:PORT/NAME; the schemes are %s", list(known))
	case !found || v.doc.Expanded(path):
		v.addMistake(path, "expected a URL whose scheme is %s", list(known))
	default:
		v.addMistake(path, "unknown scheme %q%s the schemes are %s", scheme, suggestion(scheme, known), list(known))
	}
}

// suggestion goes on after an unknown word: with a known word that looks like it, if one does.
func suggestion(word string, known []string) string {
	if nearest, ok := document.Nearest(word, known); ok {
		return fmt.Sprintf(", did you mean %q?", nearest)
	}
	return ";"
}

// list writes one or more words as a choice.
func list(words []string) string {
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// present returns the first of these places that the file has, or the contract.
func (v *validator) present(paths ...string) string {
	for _, path := range paths {
		if v.doc.Has(path) {
			return path
		}
	}
	return "/contract"
}

// operation looks at one operation: first at its parts, then at whether its templates work
// together, and last at whether rows can be found by what they send.
func (v *validator) operation(path string, o Operation) {
	v.kind, v.parent = o.Marker, o.Parent(0)
	defer func() { v.kind, v.parent = TextMarker, nil }()
	sameAs(v, path, o)
	parents(v, path, o)
	around(v, path, o)
	v.key(path, o)
	v.rows(path, o)
	v.pointers(path, o)
	v.identity(path+"/identity", o.Identity)
	v.payload(path, o)
	volatile(v, path, o)
	for size, asking := range o.Answers {
		at := path + jsonpointer.Of("answers", string(size))
		if kind, _ := o.Request.Payload(); kind == NoPayload && asking.Body != nil {
			v.addMistake(at+"/body", "the request has no body to add to")
		}
		for name, value := range asking.Header {
			v.template(at+jsonpointer.Of("headers", name), value)
			if o.Key.In == contract.KeyInHeader && strings.EqualFold(name, o.Key.Name) {
				v.addMistake(at+jsonpointer.Of("headers", name), "this header is the key's; leave it to the key")
			}
		}
		templatesIn(v, at+"/body", asking.Body)
	}
	v.sign(path, o)
	credential(v, path, o)
	kind, members := o.Request.Payload()
	for _, which := range []Variant{Altered, Invalid} {
		if o.changes(which) != nil && kind == NoPayload {
			v.addMistake(path+"/"+string(which), "there is no body to change")
			return
		}
		v.replaces(path, which, "", members, o.changes(which))
	}
	longWork(v, path+"/work", o)
	if v.templates(path, o) {
		carriesMarker(v, path, o)
	}
}

// longWork sees that the time gets into the request.
func longWork(v *validator, path string, o Operation) {
	if o.Work == nil {
		return
	}
	if kind, _ := o.Request.Payload(); kind == NoPayload && len(o.Work.Body) > 0 {
		v.addMistake(path+"/body", "the request has no body")
	}
	if !strings.Contains(fmt.Sprint(o.Work.Header, o.Work.Body), ".Intent.Work") {
		v.addMistake(path, "nothing says how long: expected {{.Intent.Work}}, in milliseconds, in a header or a member of the body")
	}
}

// replaces looks for members that a variant of the body would add rather than replace: they are mistyped.
func (v *validator) replaces(path string, which Variant, inside string, members, change map[string]any) {
	for name, value := range change {
		at := path + "/" + string(which) + inside + jsonpointer.Of(name)
		member, there := members[name]
		inner, isMap := value.(map[string]any)
		outer, wasMap := member.(map[string]any)
		switch {
		case !there:
			v.addMistake(at, "there is no %s in the body of the request: %s replaces what is there", name, which)
		case isMap && wasMap:
			v.replaces(path, which, inside+jsonpointer.Of(name), outer, inner)
		}
	}
}

// tokenLike matches a name of a header or a cookie (RFC 9110, section 5.6.2).
var tokenLike = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// key looks at where the key travels, and that nothing else of the request stands there.
func (v *validator) key(path string, o Operation) {
	name := path + "/key/name"
	switch o.Key.In {
	case contract.KeyInHeader:
		if !tokenLike.MatchString(o.Key.Name) {
			v.addMistake(name, "expected a header's name, got %s", v.doc.Shown(name))
		}
		for header := range o.Request.Header {
			if strings.EqualFold(header, o.Key.Name) {
				v.addMistake(path+jsonpointer.Of("request", "headers", header), "this header is the key's; leave it to the key")
			}
		}
	case contract.KeyInBody:
		keyInBody(v, path, o)
	case contract.KeyInQuery:
		if o.Key.Name == "" {
			v.addMistake(path+"/key", "a key in the query needs the name of its parameter")
		} else if _, taken := o.Request.Query[o.Key.Name]; taken {
			v.addMistake(path+jsonpointer.Of("request", "query", o.Key.Name), "this parameter is the key's; leave it to the key")
		} else if o.queries(o.Key.Name) {
			v.addMistake(path+"/request/path", "the parameter %s is the key's; leave it to the key", v.doc.Shown(name))
		}
	case contract.KeyInCookie:
		keyInCookie(v, path, o)
	}
	v.keyInPath(path, o)
	if o.Key.Like != "" {
		keyLike(v, path+"/key", o.Key)
	}
	if o.Key.Quoted && o.Key.In != contract.KeyInHeader {
		v.addMistake(path+"/key/quoted", "only a key in a header can be quoted")
	}
}

// keyLike looks at a key of whose form others are to be.
func keyLike(v *validator, path string, k Key) {
	switch {
	case k.Format != contract.AnyText:
		v.addMistake(path+"/like", "key.format says already what keys look like; leave one of them out")
	case len(k.Issued) > 0:
		v.addMistake(path+"/like", "the target issues its keys (key.issued), so that none is drawn")
	case !k.Drawable():
		v.addMistake(path+"/like", "too little of %s can differ from key to key: that takes nine digits, or as much in letters", v.doc.Shown(path+"/like"))
	}
}

// keyInCookie looks at the name of a key that is to travel in a cookie.
func keyInCookie(v *validator, path string, o Operation) {
	if !tokenLike.MatchString(o.Key.Name) {
		v.addMistake(path+"/key", "a key in a cookie needs the name of its cookie, such as name: order_token")
		return
	}
	for header, value := range o.Request.Header {
		for pair := range strings.SplitSeq(value, ";") {
			if name, _, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(header, "Cookie") && name == o.Key.Name {
				v.addMistake(path+jsonpointer.Of("request", "headers", header), "the cookie %s is the key's; leave it to the key", v.doc.Shown(path+"/key/name"))
			}
		}
	}
}

// keyInBody looks for the place of a key that is to travel in the body.
func keyInBody(v *validator, path string, o Operation) {
	if o.Key.Name == "" {
		v.addMistake(path+"/key", "a key in the body needs the name of its member")
		return
	}
	kind, members := o.Request.Payload()
	if kind == QueryPayload {
		v.addMistake(path+"/key/in", "the request has no body; expected query")
		return
	}
	pointer := jsonpointer.Member(o.Key.Name)
	parent, _ := jsonpointer.Cut(pointer)
	at, _ := jsonpointer.Resolve(members, parent)
	if _, isObject := at.(map[string]any); !isObject && parent != "" {
		v.addMistake(path+"/key/name", "there is no object at %s of the body, in which the key could be", parent)
	} else if _, taken := jsonpointer.Resolve(members, pointer); taken {
		v.addMistake(path+jsonpointer.Of("request", string(kind))+pointer, "this member is the key's; leave it to the key")
	}
}

// keyInPath looks for the place of a key that is to travel in the path.
func (v *validator) keyInPath(path string, o Operation) {
	segments, query, _ := strings.Cut(o.Request.Path, "?")
	switch named := path + "/key/name"; {
	case o.Key.In != contract.KeyInPath:
	case strings.Contains(query, ".Key"):
		v.addMistake(path+"/request/path", "the key stands in the query: that is key.in: query, without {{.Key}}")
	case !keyTemplate.MatchString(segments):
		v.addMistake(path+"/request/path", "there is no {{.Key}} in the path, for a key that travels there (key.in: path)")
	case v.doc.Has(named):
		v.addMistake(named, "a key in the path has no name: it stands where the path says {{.Key}}")
	case v.doc.Has(path+"/key/required") && v.doc.Shown(path+"/key/required") == `"false"`:
		v.addMistake(path+"/key/required", "a key in the path cannot be left out")
	}
}

// queries reports whether the path has a parameter of this name.
func (o Operation) queries(name string) bool {
	_, query, _ := strings.Cut(o.Request.Path, "?")
	parameters, _ := url.ParseQuery(query) // its error leaves what could be read
	return parameters.Has(name)
}

// noMarker is the mistake of a query that would find the rows of all intents.
const noMarker = "the parameter :marker is missing: it selects the rows of one intent"

// quotedMarker is the mistake of a query whose parameter the database does not take for one.
const quotedMarker = "the parameter stands in quotes or in a comment, where it is none; write = :marker, or like '%' || :marker || '%' (MariaDB: like concat('%', :marker, '%'))"

// parameter looks for that of a query that selects the rows of one intent.
func parameter(v *validator, path, query string) {
	switch {
	case !hasMarker(query):
		v.addMistake(path, noMarker)
	case !hasMarker(sqltext.Outside(query, dialectOf(v.target))):
		v.addMistake(path, "%s", quotedMarker)
	}
}

// hasMarker reports that a query selects the rows of one intent, by its marker, its reference or its key.
func hasMarker(query string) bool {
	return contract.AsksWith("marker", query) || contract.AsksWith("reference", query) || contract.AsksWith("key", query)
}

// pointers looks for the members of the body that other parts of the file name.
func (v *validator) pointers(path string, o Operation) {
	kind, _ := o.Request.Payload()
	body := path + jsonpointer.Of("request", string(kind))
	for list, pointers := range map[string][]string{
		"/contract/natural_key": v.target.Contract.NaturalKey, "/contract/fingerprint/fields": v.target.Contract.Fingerprint.Fields,
	} {
		for i, pointer := range pointers {
			if place := list + jsonpointer.Of(i); pointer != contract.WholePath && !v.doc.Has(body+pointer) {
				v.addMistake(place, "%s has no %s in its body", strings.TrimPrefix(path, "/operations/"), v.doc.Shown(place))
			}
		}
	}
	oneIntent(v, path, o)
	if fold, always := folds(o, dialectOf(v.target)); always {
		v.addMistake(path+"/rows/query", "%q makes one row of all, so that no duplicate could show; %s", fold, eachRow)
	}
	for column, pointer := range o.Rows.Content {
		place := path + jsonpointer.Of("rows", "content", column)
		if !v.doc.Has(body + pointer) {
			v.addMistake(place, "there is no %s in the body of the request", v.doc.Shown(place))
		}
	}
	adds(v, path, o)
}

// alike matches the templates that give the same in all requests of a principal.
var alike = regexp.MustCompile(`\{\{[^}]*\.(Principal|Login)\.[^}]*\}\}`)

// oneIntent looks for a natural key that is the same in all requests. By such a contract a whole run is one intent: an API that keeps it
// refuses what the run sends, and one that does not would pass. What is prepared may log in somebody else for each intent.
func oneIntent(v *validator, path string, o Operation) {
	natural := v.target.Contract.NaturalKey
	if len(natural) == 0 || strings.Contains(fmt.Sprint(o.Request.Header), "{{.Prepared.") {
		return
	}
	_, members := o.Request.Payload()
	for _, pointer := range natural {
		var said any = o.Request.Path
		if pointer != contract.WholePath {
			said, _ = jsonpointer.Resolve(members, pointer)
		}
		if said == nil || strings.Contains(alike.ReplaceAllString(fmt.Sprint(said), ""), "{{") {
			return
		}
	}
	v.addMistake("/contract/natural_key", "its value is the same in all requests of %s, so that all of them would be one intent; write {{.Intent.Reference}} into one of its members, or name what differs from one intent to the next",
		strings.TrimPrefix(path, "/operations/"))
}

// adds looks at the column to which each execution adds.
func adds(v *validator, path string, o Operation) {
	place := path + "/rows/adds"
	pointer, compared := o.Rows.Content[o.Rows.Adds]
	_, members := o.Request.Payload()
	value, _ := jsonpointer.Resolve(members, pointer)
	switch {
	case o.Rows.Adds == "":
	case !compared:
		v.addMistake(place, "rows.content does not say what each request adds to this column; expected one of its columns")
	case o.Rows.ByReference() || o.Rows.ByKey():
		v.addMistake(place, "the query has :reference or :key, so that both bodies of an intent add to one row; expected :marker")
	case value == nil || strings.Trim(fmt.Sprint(value), "0.") == "":
		v.addMistake(place, "the request adds nothing there: expected a number other than 0 at %s of its body", pointer)
	}
}
