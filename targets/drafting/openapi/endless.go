package openapi

import "github.com/getkin/kin-openapi/openapi3"

// endable marks the schemas of a document as not empty. The validator asks a schema whether it is empty, and a schema without a
// type asks those of its members in turn: where one of them is the schema again, as in a list of nodes, it would never know.
// The mark, allowEmptyValue, means something for parameters alone.
func endable(doc *openapi3.T) {
	var seen schemas = map[*openapi3.Schema]bool{}
	if c := doc.Components; c != nil {
		seen.markAll(c.Schemas)
		for _, p := range c.Parameters {
			seen.markParameter(p)
		}
		for _, b := range c.RequestBodies {
			seen.markBody(b)
		}
	}
	for _, path := range doc.Paths.Map() {
		if path == nil {
			continue
		}
		for _, p := range path.Parameters {
			seen.markParameter(p)
		}
		for _, op := range path.Operations() {
			for _, p := range op.Parameters {
				seen.markParameter(p)
			}
			seen.markBody(op.RequestBody)
		}
	}
}

// schemas are those that are marked.
type schemas map[*openapi3.Schema]bool

// markParameter marks the schemas of a parameter, which has one, or one for each media type.
func (seen schemas) markParameter(p *openapi3.ParameterRef) {
	if p == nil || p.Value == nil {
		return
	}
	seen.mark(p.Value.Schema)
	seen.markContent(p.Value.Content)
}

// markBody marks the schemas of a request's body.
func (seen schemas) markBody(b *openapi3.RequestBodyRef) {
	if b != nil && b.Value != nil {
		seen.markContent(b.Value.Content)
	}
}

// markContent marks the schema of each media type.
func (seen schemas) markContent(c openapi3.Content) {
	for _, media := range c {
		if media != nil {
			seen.mark(media.Schema)
		}
	}
}

// markAll marks named schemas.
func (seen schemas) markAll(all openapi3.Schemas) {
	for _, ref := range all {
		seen.mark(ref)
	}
}

// mark marks schemas and all that they are made of. A schema that was marked is not gone into
// again, so that one which contains itself comes to an end.
func (seen schemas) mark(refs ...*openapi3.SchemaRef) {
	for _, ref := range refs {
		if ref == nil || ref.Value == nil || seen[ref.Value] {
			continue
		}
		s := ref.Value
		seen[s], s.AllowEmptyValue = true, true
		for _, members := range []openapi3.Schemas{s.Properties, s.PatternProperties, s.DependentSchemas, s.Defs} {
			seen.markAll(members)
		}
		for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf, s.PrefixItems} {
			seen.mark(parts...)
		}
		seen.mark(s.Not, s.Items, s.Contains, s.PropertyNames, s.If, s.Then, s.Else, s.ContentSchema,
			s.AdditionalProperties.Schema, s.UnevaluatedItems.Schema, s.UnevaluatedProperties.Schema)
	}
}
