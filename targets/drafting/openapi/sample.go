package openapi

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// deepest is how deep a sample nests: schemas may contain themselves.
const deepest = 8

// sampler makes a value that a schema accepts, and notes which of its members can hold something else.
type sampler struct {
	texts  []text
	spare  []text // of which the document gives an example, and the name says nothing
	others []drafting.Other
	taken  int // objects and lists made so far; a bound for schemas that branch without end
}

// text is a member that takes any text.
type text struct {
	pointer string
	rank    int
}

// most objects and lists in one sample.
const mostNodes = 2000

// sample makes a value for the schema at this place. Schemas that contain themselves end where nothing
// requires them.
func (s *sampler) sample(ref *openapi3.SchemaRef, at, name string, depth int) any {
	schema := flatten(ref, 0)
	s.taken++
	if given, ok := documented(schema); ok && fits(schema, given) {
		s.note(schema, at, name, given, true)
		return given
	}
	switch kind(schema) {
	case "object":
		return s.object(schema, at, depth)
	case "array":
		return s.array(schema, at, name, depth)
	case "boolean":
		s.others = append(s.others, drafting.Other{Pointer: at, Value: false})
		return true
	case "integer", "number":
		value := number(schema)
		s.note(schema, at, name, value, false)
		return value
	case "string":
		value := sampleText(schema, name)
		s.note(schema, at, name, value, false)
		return value
	}
	return nil
}

// note keeps what else may stand in the place of a value. Texts that the document gives an example of are the last
// choice for a marker: the example may be the only text that works.
func (s *sampler) note(schema *openapi3.Schema, at, name string, value any, documented bool) {
	rank, likely := drafting.Likely(name)
	switch {
	case kind(schema) != "string" || !takesMarker(schema):
	case likely || !documented:
		s.texts = append(s.texts, text{pointer: at, rank: rank})
	default:
		s.spare = append(s.spare, text{pointer: at, rank: rank})
	}
	if other, ok := another(schema, value); ok {
		s.others = append(s.others, drafting.Other{Pointer: at, Value: other})
	}
	if object, ok := value.(map[string]any); ok { // an example
		for _, member := range sortedKeys(object) {
			if ref := schema.Properties[member]; ref != nil {
				s.note(flatten(ref, 0), at+jsonpointer.Of(member), member, object[member], true)
			}
		}
	}
	if list, ok := value.([]any); ok && documented && schema.Items != nil {
		for n, entry := range list {
			s.note(flatten(schema.Items, 0), at+jsonpointer.Of(n), name, entry, true)
		}
	}
}

// object makes an object of all members that are required, and of those others that help. A member
// that only answers have is left out. One that is required and not described gets a text.
func (s *sampler) object(schema *openapi3.Schema, at string, depth int) any {
	made := map[string]any{}
	for _, name := range sortedKeys(schema.Properties) {
		ref := schema.Properties[name]
		required := slices.Contains(schema.Required, name)
		member := flatten(ref, 0)
		if member.ReadOnly || !required && !welcome(schema, name, depth) {
			continue
		}
		if depth >= deepest || s.taken > mostNodes {
			if required {
				made[name] = shallow(member)
			}
			continue
		}
		made[name] = s.sample(ref, at+jsonpointer.Of(name), name, depth+1)
	}
	for _, name := range schema.Required {
		if schema.Properties[name] == nil {
			made[name] = "sample"
		}
	}
	return made
}

// welcome says that an optional member, not too deep in the body, helps: people write into it what they like. Where nothing is
// required, a document says less than it knows, and all members are welcome but an id.
func welcome(schema *openapi3.Schema, name string, depth int) bool {
	member := flatten(schema.Properties[name], 0)
	if depth > 2 || member.Deprecated {
		return false
	}
	_, likely := drafting.Likely(name)
	return likely && kind(member) == "string" && takesMarker(member) || len(schema.Required) == 0 && !strings.EqualFold(name, "id")
}

// shallow is the smallest value of a kind, where a schema nests too deep.
func shallow(schema *openapi3.Schema) any {
	switch {
	case permits(schema, "null"):
		return nil
	case kind(schema) == "array":
		return []any{}
	case kind(schema) == "object":
		return map[string]any{}
	}
	return (&sampler{}).sample(&openapi3.SchemaRef{Value: schema}, "", "", deepest)
}

// array makes a list as short as the schema allows, and of one element where it may be empty: a
// list without elements says nothing of what is in it. Where elements must differ, they are made
// to.
func (s *sampler) array(schema *openapi3.Schema, at, name string, depth int) any {
	const most = 20
	n := int(min(max(schema.MinItems, 1), most))
	if schema.MaxItems != nil {
		n = int(min(uint64(n), *schema.MaxItems))
	}
	if schema.MinItems == 0 && (depth >= deepest || s.taken > mostNodes) {
		n = 0
	}
	made := []any{}
	for i := range n {
		ref := schema.Items
		if i < len(schema.PrefixItems) {
			ref = schema.PrefixItems[i]
		}
		if ref == nil || ref.Value == nil || depth >= deepest+int(schema.MinItems) {
			made = append(made, "sample")
			continue
		}
		element := s.sample(ref, at+"/"+strconv.Itoa(i), name, depth+1)
		if schema.UniqueItems && i > 0 {
			element = distinct(flatten(ref, 0), element, i)
		}
		made = append(made, element)
	}
	return made
}

// distinct changes an element of a list in which none may come twice.
func distinct(schema *openapi3.Schema, element any, i int) any {
	switch value := element.(type) {
	case int64:
		return value + int64(i)
	case string:
		if i < len(schema.Enum) {
			return schema.Enum[i]
		}
		return value + strconv.Itoa(i)
	}
	return element
}

// documented is a value that the schema itself gives.
func documented(schema *openapi3.Schema) (any, bool) {
	given := []any{schema.Const, schema.Example, schema.Default}
	given = slices.Insert(given, 2, schema.Examples...)
	given = append(given, schema.Enum...)
	for _, value := range given {
		if value != nil {
			return plain(value), true
		}
	}
	return nil, false
}

// fits reports that the schema accepts a value, though an example may break it. An object that is made of
// members that can be sampled is better sampled: then it is known what may stand where.
func fits(schema *openapi3.Schema, value any) bool {
	if kind(schema) == "array" || kind(schema) == "object" && len(schema.Properties) > 0 && !holdsAll(value, schema.Required) {
		return false
	}
	return schema.VisitJSON(jsonValue(value), openapi3.VisitAsRequest(), openapi3.EnableFormatValidation()) == nil
}

// holdsAll reports that a value is an object with all of these members.
func holdsAll(value any, names []string) bool {
	object, _ := value.(map[string]any)
	return !slices.ContainsFunc(names, func(name string) bool { _, has := object[name]; return !has })
}

// plain is a value as a target file has it: whole numbers are whole.
func plain(value any) any {
	switch value := value.(type) {
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
			return int64(value)
		}
	case uint64:
		return int64(value)
	case int:
		return int64(value)
	case []any:
		made := make([]any, len(value))
		for i := range value {
			made[i] = plain(value[i])
		}
		return made
	case map[string]any:
		made := maps.Clone(value)
		for name := range made {
			made[name] = plain(made[name])
		}
		return made
	case string, bool, nil, int64:
	default: // times, which YAML knows and JSON does not
		text, err := json.Marshal(value)
		var read any
		if err == nil && json.Unmarshal(text, &read) == nil {
			return read
		}
	}
	return value
}

// jsonValue is a value as it is after a journey as JSON.
func jsonValue(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return value
	}
	var read any
	_ = json.Unmarshal(text, &read) // which has just been written
	return read
}

// kind is the type of the values that are made for a schema.
func kind(schema *openapi3.Schema) string {
	for _, name := range schema.Type.Slice() {
		if name != "null" {
			return name
		}
	}
	switch {
	case len(schema.Properties) > 0 || len(schema.Required) > 0:
		return "object"
	case schema.Items != nil || len(schema.PrefixItems) > 0:
		return "array"
	case len(schema.Type.Slice()) > 0:
		return "null"
	case schema.Min != nil || schema.Max != nil || schema.MultipleOf != nil:
		return "number"
	case schema.AdditionalProperties.Has != nil || schema.AdditionalProperties.Schema != nil:
		return "object"
	}
	return "string"
}

// permits reports that a schema takes values of a type. OpenAPI 3.0 has a word of its own for
// null.
func permits(schema *openapi3.Schema, name string) bool {
	return name == "null" && schema.Nullable || schema.Type != nil && schema.Type.Includes(name)
}

// takesMarker reports that a text of letters and digits, as long as markers are, is a value of the schema. A format or
// a list of values leaves no room for a text of our choosing.
func takesMarker(schema *openapi3.Schema) bool {
	const shortest, longest, marker = 16, 24, "dtv6zd3rge4ulkhi65"
	if len(schema.Enum) > 0 || schema.Const != nil || schema.Format != "" && schema.Format != "string" && schema.Format != "text" {
		return false
	}
	if schema.MinLength > shortest || schema.MaxLength != nil && *schema.MaxLength < longest {
		return false
	}
	if schema.Pattern == "" {
		return true
	}
	pattern, err := regexp.Compile(schema.Pattern)
	return err == nil && pattern.MatchString(marker)
}
