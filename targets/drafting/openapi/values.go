package openapi

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// usualNumber is what stands where any number may.
const usualNumber = 100

// number is a number within the bounds of a schema: int64 where it is whole.
func number(schema *openapi3.Schema) any {
	low, high := bounds(schema)
	step := 1.0
	if kind(schema) == "number" {
		step = 0
	}
	if schema.MultipleOf != nil && *schema.MultipleOf > 0 {
		step = *schema.MultipleOf
	}
	value := min(max(usualNumber, low), high)
	if step > 0 {
		value = math.Ceil(value/step) * step
		if value > high {
			value = math.Floor(high/step) * step
		}
	}
	return plain(value)
}

// bounds are the least and the greatest number that a schema allows. Beyond an exclusive bound it is a whole
// step, or half way to the other bound where that is too far.
func bounds(schema *openapi3.Schema) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	var above, below *float64
	if schema.Min != nil {
		low = *schema.Min
	}
	if schema.Max != nil {
		high = *schema.Max
	}
	if above = schema.ExclusiveMin.Value; schema.ExclusiveMin.IsTrue() {
		above = schema.Min
	}
	if below = schema.ExclusiveMax.Value; schema.ExclusiveMax.IsTrue() {
		below = schema.Max
	}
	if above != nil {
		low = max(low, *above+1)
	}
	if below != nil {
		high = min(high, *below-1)
	}
	if low > high && above != nil && below != nil {
		low = (*above + *below) / 2
		high = low
	}
	return low, high
}

// another is a value of the schema besides this one.
func another(schema *openapi3.Schema, value any) (any, bool) {
	if schema.Const != nil {
		return nil, false
	}
	for _, choice := range schema.Enum {
		if choice != nil && plain(choice) != value {
			return plain(choice), true
		}
	}
	if len(schema.Enum) > 0 {
		return nil, false
	}
	switch value := value.(type) {
	case int64:
		step := int64(1)
		if schema.MultipleOf != nil {
			step = max(1, int64(*schema.MultipleOf))
		}
		return within(schema, value+step, value-step)
	case float64:
		step := cmp.Or(schema.MultipleOf, new(1.0))
		return within(schema, value+*step, value-*step)
	case string:
		if schema.Format == "" && schema.Pattern == "" {
			return within(schema, "another "+value)
		}
	case bool:
		return !value, true
	}
	return nil, false
}

// within is the first of these values that the schema accepts.
func within(schema *openapi3.Schema, values ...any) (any, bool) {
	for _, value := range values {
		if schema.VisitJSON(jsonValue(value), openapi3.VisitAsRequest(), openapi3.EnableFormatValidation()) == nil {
			return plain(value), true
		}
	}
	return nil, false
}

// formats are texts of the known formats.
func formats() map[string]string {
	return map[string]string{
		"email": "sample@example.com", "idn-email": "sample@example.com",
		"uuid": "6f1c2a7e-93b4-4d0a-8a5e-2f7d1c9b0e43", "guid": "6f1c2a7e-93b4-4d0a-8a5e-2f7d1c9b0e43",
		"date": "2030-01-15", "date-time": "2030-01-15T10:00:00Z", "time": "10:00:00Z", "duration": "PT1H",
		"uri": "https://example.com/sample", "url": "https://example.com/sample", "uri-reference": "/sample", "iri": "https://example.com/sample",
		"hostname": "example.com", "ipv4": "192.0.2.1", "ip": "192.0.2.1", "ipv6": "2001:db8::1",
		"byte": "c2FtcGxl", "binary": "sample", "password": "Sample-password-1", "json-pointer": "/sample", "regex": "sample",
		"phone": "+12025550123", "decimal": "1.00", "int64": "1", "int32": "1", "currency": "EUR",
	}
}

// sampleText is a text of the schema, which says what it must look like.
func sampleText(schema *openapi3.Schema, name string) string {
	if schema.Pattern != "" {
		if text, ok := matching(schema.Pattern, int(min(schema.MinLength, 1000))); ok {
			return text
		}
	}
	text := cmp.Or(formats()[strings.ToLower(schema.Format)], named(name))
	const longest = 4096
	if short := int(min(schema.MinLength, longest)) - len(text); short > 0 {
		text += strings.Repeat("x", short)
	}
	if schema.MaxLength != nil && uint64(len(text)) > *schema.MaxLength {
		text = text[:*schema.MaxLength]
	}
	return text
}

// named is a text for a field of which only the name is known.
func named(name string) string {
	name = strings.ToLower(name)
	for _, known := range []struct{ part, text string }{
		{"email", "sample@example.com"}, {"currency", "EUR"}, {"country", "DE"}, {"phone", "+12025550123"}, {"url", "https://example.com/sample"},
	} {
		if strings.Contains(name, known.part) {
			return known.text
		}
	}
	return "sample"
}

// schemaName is the last part of a reference.
func schemaName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func firstOf(texts ...string) string { return cmp.Or(texts...) }
