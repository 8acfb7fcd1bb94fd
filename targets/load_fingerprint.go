package targets

import (
	"reflect"
	"strconv"
	"strings"
)

// fingerprint looks for fields that nothing compares, and for a comparison of no fields.
func (r *reviewer) fingerprint(f Fingerprint) {
	switch {
	case f.Mode == FingerprintFields && len(f.Fields) == 0:
		r.complain("/contract/fingerprint", "mode fields needs fields: JSON pointers into the body")
	case f.Mode != FingerprintFields && len(f.Fields) > 0:
		r.complain("/contract/fingerprint/fields", "only mode fields compares fields")
	}
}

// overlooks reports that an altered body has the same fields, and so is the same body to the target.
func (f Fingerprint) overlooks(o Operation, v Values) bool {
	if f.Mode != FingerprintFields || len(f.Fields) == 0 {
		return false
	}
	plain := o.fields(f.Fields, v, false)
	v.Intent.Marker += "b" // an altered body has a marker of its own
	return reflect.DeepEqual(plain, o.fields(f.Fields, v, true))
}

// fields returns what a body has at these JSON pointers.
func (o Operation) fields(pointers []string, v Values, altered bool) []any {
	rendered, err := o.Render(v, altered)
	if err != nil {
		return nil
	}
	members, err := rendered.saying()
	if err != nil {
		return nil
	}
	values := make([]any, len(pointers))
	for i, pointer := range pointers {
		values[i] = resolve(members, pointer)
	}
	return values
}

// resolve returns what stands at a JSON pointer (RFC 6901), or nil.
func resolve(value any, pointer string) any {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch inner := value.(type) {
		case map[string]any:
			value = inner[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	return value
}
