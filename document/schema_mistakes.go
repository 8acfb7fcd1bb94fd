package document

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// check compares a value with the schema and adds what is wrong to the mistakes.
func (d *Document) check(value any, schema []byte) error {
	rules, err := compile(schema)
	if err != nil {
		return err
	}
	invalid, ok := rules.Validate(value).(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	// JSON is YAML, and YAML nodes keep the order of the keys.
	var root yaml.Node
	if err := yaml.Unmarshal(schema, &root); err != nil {
		return err
	}
	t := translator{doc: d, schema: annotated{root.Content[0]}}
	t.visit(invalid, hint{at: "none"})
	// Of a value that could not be read, the schema knows nothing worth telling.
	mistakes := slices.DeleteFunc(t.condensed(), func(m Mistake) bool { return !d.Sound(m.touches[0]) })
	d.mistakes = append(d.mistakes, mistakes...)
	return nil
}

// compiled has the schemas that were compiled, by their text: there are few, and compiling one takes longer
// than holding a file against it.
var compiled sync.Map

// compile compiles a schema, or returns it from before. Two goroutines may compile one at the same
// time, and either result will do.
func compile(schema []byte) (*jsonschema.Schema, error) {
	if rules, found := compiled.Load(string(schema)); found {
		return rules.(*jsonschema.Schema), nil
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource("schema:file", raw); err != nil {
		return nil, err
	}
	rules, err := compiler.Compile("schema:file")
	if err == nil {
		compiled.Store(string(schema), rules)
	}
	return rules, err
}

// hint is what an enclosing rule says about the value at a JSON pointer.
type hint struct {
	at       string
	expected string
}

// found is one mistake that the schema shows.
type found struct {
	Mistake
	kind jsonschema.ErrorKind
}

// translator turns the errors of the validator into mistakes.
type translator struct {
	doc    *Document
	schema annotated
	found  []found
}

// visit goes down to the errors that name a cause.
func (t *translator) visit(e *jsonschema.ValidationError, h hint) {
	at, rule := instance(e), t.rule(e)
	if at != h.at {
		h = hint{at: at}
	}
	if words := rule.text("x-expected"); words != "" {
		h.expected = words
	}
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			t.visit(cause, h)
		}
	case *kind.AnyOf, *kind.OneOf:
		t.choose(e, h)
	default:
		t.leaf(e, rule, h)
	}
}

// choose reports the alternative that the author of the file probably meant, or says what all of them
// expect where the value has the shape of none.
func (t *translator) choose(e *jsonschema.ValidationError, h hint) {
	var meant *jsonschema.ValidationError
	for _, cause := range e.Causes {
		if !misshapen(cause, h.at) && (meant == nil || size(cause) < size(meant)) {
			meant = cause
		}
	}
	if meant != nil {
		t.visit(meant, h)
		return
	}
	var forms, words []string
	for _, leaf := range leaves(e) {
		form, known := t.form(leaf)
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
		words = append(words, known...)
	}
	if h.expected == "" {
		h.expected = strings.Join(forms, ", or ")
	}
	t.add(e, h.at, t.mismatch(h, words))
}

// form says what one rule expects, and which words it knows.
func (t *translator) form(e *jsonschema.ValidationError) (form string, words []string) {
	rule := t.rule(e)
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		words = texts(k.Want)
		form = oneOf(words)
	case *kind.Const:
		words = texts([]any{k.Want})
		form = oneOf(words)
	case *kind.Type:
		form = types(k.Want)
	default:
		form = "another value"
	}
	if said := rule.text("x-expected"); said != "" {
		form = said
	}
	return form, words
}

// misshapen reports whether a value does not even have the form that a rule is about.
func misshapen(e *jsonschema.ValidationError, at string) bool {
	if instance(e) != at {
		return false
	}
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.Enum, *kind.Const, *kind.Pattern, *kind.Format:
		return true
	case *kind.AnyOf, *kind.OneOf:
		return !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return !misshapen(c, at) })
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return misshapen(c, at) })
}

// leaves are the errors below an error that have no cause of their own.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// size is how much is wrong: of several alternatives, the author probably meant the one of which
// the least is.
func size(e *jsonschema.ValidationError) int { return len(leaves(e)) }

// instance is the JSON pointer to the value that an error is about.
func instance(e *jsonschema.ValidationError) string {
	var b strings.Builder
	for _, token := range e.InstanceLocation {
		b.WriteString("/" + jsonpointer.Escape(token))
	}
	return b.String()
}

// rule returns the part of the schema that an error is about.
func (t *translator) rule(e *jsonschema.ValidationError) annotated {
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return annotated{}
	}
	rule := t.schema
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer != "" {
			rule = rule.child(jsonpointer.Unescape(token))
		}
	}
	return rule
}

// annotated is a part of a schema as it is written. The zero value says nothing.
type annotated struct{ node *yaml.Node }

// child is a member of a mapping, or an entry of a list by its number.
func (a annotated) child(name string) annotated {
	switch {
	case a.node == nil:
	case a.node.Kind == yaml.SequenceNode:
		for i, entry := range a.node.Content {
			if jsonpointer.Of(i) == "/"+name {
				return annotated{entry}
			}
		}
	case a.node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(a.node.Content); i += 2 {
			if a.node.Content[i].Value == name {
				return annotated{a.node.Content[i+1]}
			}
		}
	}
	return annotated{}
}

// text is a member that is a scalar; empty: there is none.
func (a annotated) text(name string) string {
	if n := a.child(name).node; n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// keys returns the names that a mapping may hold, in the order of the schema.
func (a annotated) keys() []string {
	n := a.child("properties").node
	if n == nil {
		return nil
	}
	var keys []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return keys
}
