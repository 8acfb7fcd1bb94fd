package targets

import (
	"reflect"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// fingerprint looks for fields that nothing compares, and for a comparison of no fields.
func (v *validator) fingerprint(f contract.Fingerprint) {
	switch {
	case f.Mode == contract.FingerprintFields && len(f.Fields) == 0:
		v.addMistake("/contract/fingerprint", "mode fields needs fields: JSON pointers into the body")
	case f.Mode != contract.FingerprintFields && len(f.Fields) > 0:
		v.addMistake("/contract/fingerprint/fields", "only mode fields compares fields")
	}
}

// overlooks reports that an altered body has the same fields, and so is the same body to the target.
func overlooks(f contract.Fingerprint, o Operation, v Values) bool {
	if f.Mode != contract.FingerprintFields || len(f.Fields) == 0 {
		return false
	}
	plain := o.fields(f.Fields, v, AsItIs)
	v.Intent.Marker += "b" // an altered body has a marker of its own
	return reflect.DeepEqual(plain, o.fields(f.Fields, v, Altered))
}

// fields returns what a body has at these JSON pointers.
func (o Operation) fields(pointers []string, v Values, which Variant) []any {
	rendered, err := o.Render(v, which)
	if err != nil {
		return nil
	}
	members, err := rendered.saying()
	if err != nil {
		return nil
	}
	values := make([]any, len(pointers))
	for i, pointer := range pointers {
		values[i], _ = jsonpointer.Resolve(members, pointer)
	}
	return values
}
