// Package openapi reads OpenAPI documents, 3.0 and later: it turns one into drafts of the operations that
// create something, with sample bodies that their schemas accept.
//
// The parts: document.go reads a document and lists what creates something, draft.go makes a draft of it, and
// parents.go and login.go put before it what has to exist and who has to be signed in. flatten.go reduces a schema
// to one of its forms, and sample.go, values.go and pattern.go make a body that it accepts; forms.go is for bodies
// that are no JSON. endless.go is for schemas that contain themselves.
//
// What a document says is a guess about the service: the drafts have doubts where it leaves something open.
package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// Document is a document that was read.
type Document struct {
	doc *openapi3.T
}

// Create is an operation that creates something, as far as its document says.
type Create struct {
	Name    string // fit for a target file, and unique in the document
	Method  string
	Path    string
	Summary string
	id      string // operationId
	op      *openapi3.Operation
	shared  openapi3.Parameters // of all operations of the path
	changes bool                // what a POST of the document creates
}

// Read reads a document, in YAML or JSON. Where says where it lies: other files beside it may be referred to,
// and nothing is fetched from elsewhere. Empty: it refers to nothing outside of itself.
func Read(where string, data []byte) (*Document, error) {
	if err := version(data); err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = fromFiles(where)
	doc, err := loader.LoadFromDataWithPath(data, &url.URL{Path: filepath.ToSlash(where)})
	if err != nil {
		return nil, fmt.Errorf("it cannot be read as OpenAPI: %s", oneLine(err.Error()))
	}
	endable(doc)
	return &Document{doc: doc}, nil
}

// version refuses what is no OpenAPI 3.
func version(data []byte) error {
	var head struct {
		OpenAPI any `yaml:"openapi"`
		Swagger any `yaml:"swagger"`
	}
	if err := yaml.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("it is neither YAML nor JSON: %s", oneLine(err.Error()))
	}
	said := fmt.Sprint(head.OpenAPI)
	switch {
	case head.Swagger != nil:
		return fmt.Errorf("it is Swagger %v; convert it to OpenAPI 3", head.Swagger)
	case head.OpenAPI == nil:
		return errors.New("it is no OpenAPI document: it has no member openapi, such as openapi: 3.1.0")
	case !strings.HasPrefix(said, "3."):
		return fmt.Errorf("it says openapi: %s, and 3.0 and later 3.x can be read", said)
	}
	return nil
}

// fromFiles reads the files that a document refers to, which lie beside it or below.
func fromFiles(where string) openapi3.ReadFromURIFunc {
	return func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		beside, err := filepath.Rel(filepath.Dir(where), filepath.FromSlash(location.Path))
		if location.Host != "" || location.Scheme != "" || where == "" || err != nil || !filepath.IsLocal(beside) {
			return nil, fmt.Errorf("it refers to %s, and only files beside the document are read", location)
		}
		return files.Read(filepath.FromSlash(location.Path), files.MostText)
	}
}

// oneLine is the beginning of a text, on one line.
func oneLine(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// Title is what the document calls the API.
func (d *Document) Title() string {
	if d.doc.Info == nil {
		return ""
	}
	return d.doc.Info.Title
}

// Server is the URL of the document's first server, which may be only a path; empty: none, or not known.
func (d *Document) Server() string {
	if len(d.doc.Servers) == 0 || d.doc.Servers[0] == nil {
		return ""
	}
	address := d.doc.Servers[0].URL
	for name, variable := range d.doc.Servers[0].Variables {
		if variable != nil {
			address = strings.ReplaceAll(address, "{"+name+"}", variable.Default)
		}
	}
	if strings.ContainsAny(address, "{}") {
		return ""
	}
	return address
}

// Creates lists the operations that look as if they create something: a POST with a JSON object, a form or, where no other does, only a query, or a
// PUT to a path whose last segment the client chooses, and which documents a 201. A PATCH or a PUT of what such a POST creates comes last.
func (d *Document) Creates() []Create {
	all := slices.DeleteFunc(d.posts(), func(c Create) bool { return !c.looksCreating() })
	if bodies := slices.DeleteFunc(slices.Clone(all), func(c Create) bool { return c.queried() && !c.saysCreating() }); len(bodies) > 0 {
		return bodies // most requests without a body change what is there
	}
	return all
}

// Find returns the operation of this name or operationId, whether it looks as if it created something or not.
func (d *Document) Find(name string) (Create, bool) {
	posts := d.posts()
	i := slices.IndexFunc(posts, func(c Create) bool { return c.Name == name || c.id == name || c.Method+" "+c.Path == name })
	if i < 0 {
		return Create{}, false
	}
	return posts[i], true
}

// posts lists all POST operations with a JSON body, a form or a query, the PUT operations that create, and behind them the PATCH and PUT operations
// that change what a POST of the document creates.
func (d *Document) posts() []Create {
	var all, changes []Create
	taken := map[string]bool{}
	paths := d.doc.Paths.Map()
	for _, path := range sortedKeys(paths) {
		item := paths[path]
		if item == nil {
			continue
		}
		for _, of := range []struct {
			method string
			op     *openapi3.Operation
		}{{http.MethodPost, item.Post}, {http.MethodPut, item.Put}, {http.MethodPatch, item.Patch}} {
			if of.op == nil {
				continue
			}
			c := Create{Method: of.method, Path: path, id: of.op.OperationID, op: of.op, shared: item.Parameters}
			if c.schema() == nil {
				continue
			}
			collection := paths[path[:max(strings.LastIndex(path, "/"), 0)]]
			made := c.last() != "" && collection != nil && collection.Post != nil
			switch creates := slices.Contains(c.statuses(), http.StatusCreated); {
			case c.Method == http.MethodPut && creates && c.last() != "":
			case c.Method != http.MethodPost && !made:
				continue
			default:
				c.changes = c.Method != http.MethodPost
			}
			c.Summary = oneLine(firstOf(of.op.Summary, of.op.Description))
			c.Name = operationName(firstOf(c.id, strings.ToLower(c.Method)+" "+path), taken)
			if c.changes {
				changes = append(changes, c)
			} else {
				all = append(all, c)
			}
		}
	}
	return append(all, changes...)
}

// deletes reports that there is a DELETE of what a POST creates.
func (d *Document) deletes(c Create) bool {
	if c.Method != http.MethodPost {
		return false
	}
	for path, item := range d.doc.Paths.Map() {
		below := Create{Path: path}
		if item != nil && item.Delete != nil && below.last() != "" && path[:strings.LastIndex(path, "/")] == strings.TrimRight(c.Path, "/") {
			return true
		}
	}
	return false
}

// chosen is the parameter that is the last segment of the path where the client chooses it: that of a PUT, or one that is called an
// idempotency key; empty: none.
func (c Create) chosen() string {
	last := c.last()
	named := slices.ContainsFunc(c.all(), func(p *openapi3.Parameter) bool {
		return p.In == "path" && p.Name == last && namesKey(p.Name, p.Description)
	})
	if c.changes || c.Method != http.MethodPut && !named {
		return ""
	}
	return last
}

// last is the parameter that is the last segment of the path; empty: that is none.
func (c Create) last() string {
	segment := c.Path[strings.LastIndex(c.Path, "/")+1:]
	name, opens := strings.CutPrefix(segment, "{")
	name, closes := strings.CutSuffix(name, "}")
	if !opens || !closes || strings.ContainsAny(name, "{}") {
		return ""
	}
	return name
}

// saysCreating goes by the documented statuses.
func (c Create) saysCreating() bool {
	statuses := c.statuses()
	return slices.Contains(statuses, http.StatusCreated) || slices.Contains(statuses, http.StatusAccepted)
}

// looksCreating goes by the documented statuses, and where they leave it open by the last word of the path.
func (c Create) looksCreating() bool {
	if c.saysCreating() {
		return true
	}
	return !drafting.CreatesNothing(c.Path)
}

// Keyed reports whether the document names an idempotency key of the operation.
func (c Create) Keyed() bool {
	return c.key(flatten(c.schema(), 0)).In != contract.KeyNowhere
}

// jsonSchema is the schema of the operation's JSON body; nil: it has none.
func jsonSchema(op *openapi3.Operation) *openapi3.SchemaRef {
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return nil
	}
	return jsonContent(op.RequestBody.Value.Content)
}

// jsonContent is the schema of the first media type that is JSON (RFC 6839 has the suffix); nil:
// none is. A document that says any media type means JSON in nearly all cases.
func jsonContent(content openapi3.Content) *openapi3.SchemaRef {
	for _, kind := range sortedKeys(content) {
		media := content[kind]
		essence, _, _ := strings.Cut(strings.ToLower(kind), ";")
		essence = strings.TrimSpace(essence)
		if media != nil && media.Schema != nil && media.Schema.Value != nil && (essence == "application/json" || strings.HasSuffix(essence, "+json") || essence == "*/*") {
			return media.Schema
		}
	}
	return nil
}

// operationName makes a name that is unique in a target file.
func operationName(from string, taken map[string]bool) string {
	const longest = 58
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(from, "_"), "_-")
	name = name[:min(len(name), longest)]
	if name == "" {
		name = "create"
	}
	unique := name
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	taken[unique] = true
	return unique
}
