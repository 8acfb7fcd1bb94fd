package openapi

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// flatten is a schema without allOf, oneOf and anyOf: all of the first, and of the others the first that is
// no null.
func flatten(ref *openapi3.SchemaRef, depth int) *openapi3.Schema {
	if ref == nil || ref.Value == nil || depth > deepest {
		return &openapi3.Schema{}
	}
	schema := *ref.Value
	parts := slices.Clone(schema.AllOf)
	for _, choice := range []openapi3.SchemaRefs{schema.OneOf, schema.AnyOf} {
		if i := slices.IndexFunc(choice, func(r *openapi3.SchemaRef) bool { return r != nil && r.Value != nil && !r.Value.Type.Is("null") }); i >= 0 {
			parts = append(parts, choice[i])
		}
	}
	if len(parts) == 0 {
		return &schema
	}
	named := schema.Discriminator
	schema.AllOf, schema.OneOf, schema.AnyOf = nil, nil, nil
	schema.Properties, schema.Required = maps.Clone(schema.Properties), slices.Clone(schema.Required)
	for _, part := range parts {
		merge(&schema, flatten(part, depth+1))
	}
	if named != nil {
		discriminate(&schema, named, ref.Value)
	}
	return &schema
}

// merge adds what another schema demands of the same value.
func merge(into, from *openapi3.Schema) {
	if into.Properties == nil && len(from.Properties) > 0 {
		into.Properties = openapi3.Schemas{}
	}
	for name, property := range from.Properties {
		if mine := into.Properties[name]; mine != nil {
			property = &openapi3.SchemaRef{Value: &openapi3.Schema{AllOf: openapi3.SchemaRefs{mine, property}}}
		}
		into.Properties[name] = property
	}
	into.Required = append(into.Required, from.Required...)
	if into.Type == nil {
		into.Type = from.Type
	}
	into.Format, into.Pattern = cmp.Or(into.Format, from.Format), cmp.Or(into.Pattern, from.Pattern)
	into.Min, into.Max, into.MultipleOf = cmp.Or(into.Min, from.Min), cmp.Or(into.Max, from.Max), cmp.Or(into.MultipleOf, from.MultipleOf)
	into.MaxLength, into.MaxItems = cmp.Or(into.MaxLength, from.MaxLength), cmp.Or(into.MaxItems, from.MaxItems)
	into.MinLength, into.MinItems = max(into.MinLength, from.MinLength), max(into.MinItems, from.MinItems)
	into.Items = cmp.Or(into.Items, from.Items)
	into.ReadOnly = into.ReadOnly || from.ReadOnly
	mergeValues(into, from)
}

// mergeValues adds the values that another schema gives.
func mergeValues(into, from *openapi3.Schema) {
	if len(into.Enum) == 0 {
		into.Enum = from.Enum
	}
	if into.Const == nil {
		into.Const = from.Const
	}
	if into.Example == nil {
		into.Example = from.Example
	}
	if len(into.Examples) == 0 {
		into.Examples = from.Examples
	}
	if into.Default == nil {
		into.Default = from.Default
	}
	if !into.ExclusiveMin.IsSet() {
		into.ExclusiveMin = from.ExclusiveMin
	}
	if !into.ExclusiveMax.IsSet() {
		into.ExclusiveMax = from.ExclusiveMax
	}
}

// discriminate sets the discriminator, the member that names the chosen alternative.
func discriminate(schema *openapi3.Schema, by *openapi3.Discriminator, of *openapi3.Schema) {
	choice := append(slices.Clone(of.OneOf), of.AnyOf...)
	if by.PropertyName == "" || len(choice) == 0 || choice[0] == nil {
		return
	}
	value := schemaName(choice[0].Ref)
	for _, name := range sortedKeys(by.Mapping) {
		if schemaName(by.Mapping[name].Ref) == value && value != "" {
			value = name
			break
		}
	}
	if value == "" || schema.Properties[by.PropertyName] != nil && !plainText(flatten(schema.Properties[by.PropertyName], 0)) {
		return
	}
	if schema.Properties == nil {
		schema.Properties = openapi3.Schemas{}
	}
	schema.Properties[by.PropertyName] = &openapi3.SchemaRef{Value: &openapi3.Schema{Type: &openapi3.Types{"string"}, Enum: []any{value}}}
	schema.Required = append(schema.Required, by.PropertyName)
}

// plainText reports that nothing says which text it is.
func plainText(schema *openapi3.Schema) bool {
	return len(schema.Enum) == 0 && schema.Const == nil
}
