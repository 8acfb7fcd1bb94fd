package openapi

import (
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
