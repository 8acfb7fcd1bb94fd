// Package drafting turns what is known of one way to create something into a target file: it takes
// a draft of the operation, from a document or a command line, and what a database held after one
// real create.
//
// The way of a draft: a source is read into a [Draft] (curl.go, har.go and recording*.go here,
// OpenAPI documents in the package below). [Draft.Prove] finds the row of one marked create among
// all that hold its marker (proof.go). [File.Learn] reads the contract off the answers to creates
// that were repeated (learn.go, success.go, limit.go). [File.Text] writes the target file
// (file.go, contract.go, rows.go, start.go, services.go).
//
// Nothing here sends a request or asks a database: the room learn does, and hands over what it
// saw. Whatever is a guess becomes a doubt, a sentence at the head of the file. Texts of the
// source and of the target are data: they are escaped wherever the file, a template or a terminal
// would obey them (text.go, yaml.go).
package drafting

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// Draft is what the source says about an operation. Methods that return a Draft change a copy;
// those with a pointer change it in place.
type Draft struct {
	Name    string
	Summary string
	Method  string
	Path    string            // as in a target file, with variables where the source has no value
	Header  map[string]string // as in a target file; secrets are variables
	Agent   string            // its client's User-Agent, which is sent where nothing is done without it; empty: it is not known
	Needed  []string          // variables without a default that path, headers and body refer to
	Given   map[string]string // values of variables that the source has; they may be secret and are written nowhere
	Body    map[string]any    // values, not templates
	Payload
	GraphQL   bool              // the body is a request of GraphQL
	Templates map[string]string // JSON pointer into the body: text of the target file that replaces the value
	Texts     []string          // JSON pointers to members of the body that take any text, the likeliest first
	Number    string            // JSON pointer to the member whose number is the marker, where none takes any text; empty: texts carry it
	Others    []Other           // members of the body that can be altered, numbers first
	Sign      *Signature        // how the request is signed; nil: it is not
	Key       targets.Key
	KeySource
	Around
	Identity string   // JSON pointer to the created thing's id in the documented answer; empty: it names none
	Statuses []int    // documented ones
	Doubts   []string // what the source leaves open, in sentences
}

// KeySource is where clients have their keys from.
type KeySource struct {
	KeySteps []Step // that ask the target for a key; empty: the client draws it
	KeyGiven string // the key that the source has; empty: it has none
}

// Around is what is sent before a create, and after it.
type Around struct {
	Login     []Step    // once for every principal, before everything else
	Principal Principal // who signs in, where there is a Login
	Prepare   []Step    // for every intent
	Remove    []Step    // as the source says how what is created is removed; empty: it does not say
}

// Payload is how a body is sent. The zero value: as JSON.
type Payload struct {
	Form      bool   // as a form
	Multipart bool   // the form is sent in parts
	Written   string // template of a text of another kind, in which the members of the body stand; empty: it is none
	Query     bool   // there is no body: the members are parameters of the query
}

// textual reports that all members of the body are texts, numbers as well.
func (p Payload) textual() bool { return p.Form || p.Query || p.Written != "" && !p.listed() }

// Keyed reports that the source names a key, which a client may send again.
func (d Draft) Keyed() bool { return d.Key.In != contract.KeyNowhere }

// Changes reports that the request changes what a step before it creates, for each intent another one.
func (d Draft) Changes() bool {
	return d.Method == http.MethodPatch && strings.Contains(d.Path, "{{.Prepared.") ||
		d.Method == http.MethodPut && strings.HasPrefix(lastOf(d.Path), "{{.Prepared.")
}

// CanLackKey reports that a request can be sent without its key, which is not so where that stands in the path.
func (d Draft) CanLackKey() bool { return d.Key.In != contract.KeyInPath }

// Other is another value for a member of a body.
type Other struct {
	Pointer string
	Value   any
}

// textHints are words in the names of fields in which people write what they like; the likeliest are first.
func textHints() []string {
	return []string{"note", "comment", "description", "memo", "remark", "message", "text", "title", "label", "subject", "name", "reference"}
}

// Likely says how likely a field of this name holds any text and keeps it: less is likelier, and ok says
// that the name speaks for it at all.
func Likely(field string) (rank int, ok bool) {
	for i, hint := range textHints() {
		if strings.Contains(strings.ToLower(field), hint) {
			return i, true
		}
	}
	return len(textHints()), false
}

// Put returns the value with what a JSON pointer leads to replaced. A pointer that leads nowhere adds nothing
// but a member to an object that is there.
func Put(value any, pointer string, with any) any {
	if pointer == "" {
		return with
	}
	token, rest, _ := strings.Cut(pointer[1:], "/")
	if rest != "" {
		rest = "/" + rest
	}
	switch value := value.(type) {
	case map[string]any:
		name := jsonpointer.Unescape(token)
		copied := maps.Clone(value)
		copied[name] = Put(value[name], rest, with)
		return copied
	case []any:
		copied := append([]any(nil), value...)
		if i, err := strconv.Atoi(token); err == nil && i < len(copied) {
			copied[i] = Put(copied[i], rest, with)
		}
		return copied
	}
	return value
}

// Scalars calls visit with every text, number and truth value, and the JSON pointer to it, in the order of
// the names.
func Scalars(at string, value any, visit func(pointer string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			Scalars(at+jsonpointer.Of(name), value[name], visit)
		}
	case []any:
		for i, element := range value {
			Scalars(at+jsonpointer.Of(i), element, visit)
		}
	case nil:
	default:
		visit(at, value)
	}
}
