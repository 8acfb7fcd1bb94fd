package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

const formType = "application/x-www-form-urlencoded"

// bodySchema is the schema of the operation's body as JSON, or else as a form; nil: it takes neither.
func bodySchema(op *openapi3.Operation) *openapi3.SchemaRef {
	if schema := jsonSchema(op); schema != nil || op.RequestBody == nil || op.RequestBody.Value == nil {
		return schema
	}
	media := op.RequestBody.Value.Content.Get(formType)
	if media == nil || media.Schema == nil || media.Schema.Value == nil {
		return nil
	}
	return media.Schema
}

// schema is that of the members which a create carries: of its body, or of its query where it has no body; nil: it carries none.
func (c Create) schema() *openapi3.SchemaRef {
	if schema := bodySchema(c.op); schema != nil || !c.queried() {
		return schema
	}
	all := openapi3.NewObjectSchema()
	for _, p := range c.all() {
		if !c.carries(p) {
			continue
		}
		member := *flatten(p.Schema, 0)
		if p.Example != nil {
			member.Example = p.Example
		}
		all.WithProperty(p.Name, &member)
		if p.Required {
			all.Required = append(all.Required, p.Name)
		}
	}
	if len(all.Properties) == 0 {
		return nil
	}
	return openapi3.NewSchemaRef("", all)
}

// queried reports that a create has no body, so that what it says stands in its query.
func (c Create) queried() bool { return c.Method == http.MethodPost && c.op.RequestBody == nil }

// carries reports that a parameter is one of the members of a create without a body, and neither its key nor a secret.
func (c Create) carries(p *openapi3.Parameter) bool {
	return c.queried() && p.In == "query" && p.Schema != nil && !namesKey(p.Name, p.Description) && !drafting.HoldsSecret(p.Name)
}

// flat leaves out of a form, and of what was noted about it, the members that are objects or lists: documents spell
// those in many ways.
func (s *sampler) flat(form map[string]any) {
	for _, name := range sortedKeys(form) {
		switch form[name].(type) {
		case map[string]any, []any, nil:
		default:
			continue
		}
		delete(form, name)
		inside := func(pointer string) bool { return strings.HasPrefix(pointer+"/", jsonpointer.Of(name)+"/") }
		s.texts = slices.DeleteFunc(s.texts, func(t text) bool { return inside(t.pointer) })
		s.spare = slices.DeleteFunc(s.spare, func(t text) bool { return inside(t.pointer) })
		s.others = slices.DeleteFunc(s.others, func(o drafting.Other) bool { return inside(o.Pointer) })
	}
}
