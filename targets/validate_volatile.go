package targets

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// volatile looks for members that cannot change from attempt to attempt, or that something else of the file relies on.
func volatile(v *validator, path string, o Operation) {
	kind, members := o.Request.Payload()
	promise := v.target.Contract
	for i, pointer := range o.Volatile {
		at := path + jsonpointer.Of("volatile", i)
		template, there := jsonpointer.Resolve(members, pointer)
		switch {
		case kind == QueryPayload:
			v.addMistake(at, "a request without a body is the same in each attempt but for its headers")
		case !there:
			v.addMistake(at, "there is no %s in the body of the request", v.doc.Shown(at))
		case promise.Fingerprint.Mode == contract.FingerprintBytes:
			v.addMistake(at, "fingerprint.mode is bytes: to the target a body with another byte is another body, so no member may change")
		case reaches(promise.NaturalKey, pointer):
			v.addMistake(at, "contract.natural_key has this member: with another value it is another intent")
		case reaches(promise.Fingerprint.Fields, pointer):
			v.addMistake(at, "contract.fingerprint.fields has this member: with another value it is another body")
		case reaches(slices.Collect(maps.Values(o.Rows.Content)), pointer):
			v.addMistake(at, "rows.content compares this member with the row, and nobody knows which attempt made it")
		case o.altersAt(pointer):
			v.addMistake(at, "alter changes this member: a body that differs in it is the same body")
		case marked(template):
			v.addMistake(at, "the member holds the marker, by which rows are found: it may not change")
		case !draws(template, v.samples()[0].values):
			v.addMistake(path+jsonpointer.Of("request", string(kind))+pointer, "the member is volatile, and each attempt sends the same; expected a template such as {{.Attempt.Time}} or {{.Attempt.ID}}")
		}
	}
}

// reaches reports that one of the pointers names the value at a pointer, a part of it, or what it is a part of.
func reaches(pointers []string, pointer string) bool {
	return slices.ContainsFunc(pointers, func(p string) bool {
		return p == pointer || strings.HasPrefix(p, pointer+"/") || strings.HasPrefix(pointer, p+"/")
	})
}

// altersAt reports that an altered body differs there.
func (o Operation) altersAt(pointer string) bool {
	_, there := jsonpointer.Resolve(o.Alter, pointer)
	return there
}

// marked reports that a value holds a template of the marker.
func marked(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, ".Intent.Marker")
	case []any:
		return slices.ContainsFunc(value, marked)
	case map[string]any:
		for _, member := range value {
			if marked(member) {
				return true
			}
		}
	}
	return false
}

// draws reports that a template gives two attempts different values.
func draws(template any, values Values) bool {
	day := time.Date(2024, 5, 6, 7, 8, 9, 10, time.UTC)
	one, err := fillAll(template, values.OfAttempt("one", day).drawingAnew())
	other, otherErr := fillAll(template, values.OfAttempt("other", day.Add(time.Second)).drawingAnew())
	return err != nil || otherErr != nil || !reflect.DeepEqual(one, other) // a template that does not work is a mistake of its own
}

// attemptHere adds a mistake where a template asks about the attempt, and what stands there does not belong to a single one.
func attemptHere(v *validator, path, text string) {
	if !ofAttempt.MatchString(text) {
		return
	}
	if at := regexp.MustCompile(`^/operations/([^/]+)/request/(headers|body|form|multipart|text)(/.*)$`).FindStringSubmatch(path); at != nil {
		volatile := v.target.Operations[jsonpointer.Unescape(at[1])].Volatile
		if at[2] == "headers" || slices.ContainsFunc(volatile, func(p string) bool { return p == at[3] || strings.HasPrefix(at[3], p+"/") }) {
			return
		}
	}
	v.addMistake(path, "only a header of an operation's request, and a member of its body that volatile names, may differ from attempt to attempt")
}
