package targets

import (
	"bytes"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// sampleMarker is a marker that no file holds by chance.
const sampleMarker = "dt7kq2m9x4w8z1"

// sampleNumber is a marker that is a number likewise.
const sampleNumber = "734182956"

// sampleReference is a reference likewise.
const sampleReference = "dtref1"

// sample is made-up data of the same shape as a principal's: the principal's own may be secret.
type sample struct {
	principal string
	values    Values
}

// samples has one for each principal, and one without where there are none: a template may work
// for one principal only.
func (t Target) samples() []sample {
	intent := IntentValues{Marker: sampleMarker, Reference: sampleReference, Number: 1}
	var all []sample
	for _, name := range slices.Sorted(maps.Keys(t.Principals)) {
		made := map[string]string{}
		for key := range t.Principals[name] {
			made[key] = "sample"
		}
		all = append(all, sample{principal: name, values: Values{Intent: intent, Principal: made}})
	}
	if len(all) == 0 {
		all = append(all, sample{values: Values{Intent: intent}})
	}
	return all
}

// sampleMarkerOf is a made-up marker of a kind.
func sampleMarkerOf(kind MarkerKind) string {
	if kind == NumberMarker {
		return sampleNumber
	}
	return sampleMarker
}

// samples are made-up data for the templates at the place that is looked at.
func (v *validator) samples() []sample {
	all := v.target.samples()
	for i := range all {
		all[i].values.Extracted, all[i].values.Parent = v.extracted, v.parent
		all[i].values.Intent.Marker = sampleMarkerOf(v.kind)
	}
	return all
}

// templates tries every template of an operation and reports whether all of them work.
func (v *validator) templates(path string, o Operation) bool {
	before := len(v.mistakes)
	request := path + "/request"
	attemptHere(v, request+"/path", o.Request.Path)
	try(v, request+"/path", func(v Values) error { _, err := o.path(v); return err })
	for name, value := range o.Request.Header {
		at := request + jsonpointer.Of("headers", name)
		v.template(at, value)
		if strings.ContainsAny(value, "\r\n") {
			v.addMistake(at, "a header cannot hold a line break")
		}
	}
	kind, members := o.Request.Payload()
	templatesIn(v, request+jsonpointer.Of(string(kind)), o.keepingKey(members))
	templatesIn(v, path+"/alter", o.Alter)
	templatesIn(v, path+"/invalid", o.Invalid)
	if o.Work != nil {
		for name, value := range o.Work.Header {
			v.template(path+"/work"+jsonpointer.Of("headers", name), value)
		}
		templatesIn(v, path+"/work/body", o.Work.Body)
	}
	if s := o.Request.Sign; s != nil {
		v.template(request+"/sign/secret", s.Secret)
		try(v, request+"/sign/over", func(Values) error { _, err := s.Text(Rendered{}, "", "", ""); return err })
		try(v, request+"/sign/prefix", func(Values) error { _, err := s.Begins(Rendered{}, "", "", ""); return err })
	}
	return len(v.mistakes) == before && v.doc.Sound(path)
}

// templatesIn tries every text inside a value.
func templatesIn(v *validator, path string, value any) {
	switch value := value.(type) {
	case string:
		attemptHere(v, path, value)
		try(v, path, func(v Values) error { _, err := fillValue(value, v); return err })
	case []any:
		for i, entry := range value {
			templatesIn(v, path+jsonpointer.Of(i), entry)
		}
	case map[string]any:
		for name, member := range value {
			templatesIn(v, path+jsonpointer.Of(name), member)
		}
	}
}

// template tries a text that stays a text.
func (v *validator) template(path, text string) {
	attemptHere(v, path, text)
	try(v, path, func(v Values) error { _, err := fill(text, v); return err })
}

// try fills in a template with every sample. A template has at most one mistake.
func try(v *validator, path string, fill func(Values) error) {
	for _, s := range v.samples() {
		err := fill(s.values)
		if err == nil {
			continue
		}
		if v.doc.Expanded(path) {
			v.addMistake(path, "the template does not work once its variables are filled in")
		} else {
			v.addMistake(path, "%s", s.explain(err))
		}
		return
	}
}

// explain says what is wrong with a template, without the engine's coordinates.
func (s sample) explain(err error) string {
	failed := regexp.MustCompile(`(?s)at <(.*)>: (can't evaluate field|map has no entry)`).FindStringSubmatch(err.Error())
	if failed == nil {
		return "the template does not work: " + s.reason(err)
	}
	if strings.HasSuffix(err.Error(), "in type targets.Signed") {
		return "there is no {{" + failed[1] + "}}; there are .Method, .Path, .Body, .Time, .Key"
	}
	known := []string{".Intent.Marker", ".Intent.Reference", ".Intent.Number", ".Intent.Work", ".Attempt.ID", ".Attempt.Time", ".Attempt.Traceparent"}
	for _, name := range slices.Sorted(maps.Keys(s.values.Principal)) {
		known = append(known, ".Principal."+name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.values.Parent)) {
		known = append(known, ".Parent."+name)
	}
	known = append(known, s.values.Extracted.names()...)
	text := "there is no {{" + failed[1] + "}}"
	if s.principal != "" && strings.HasPrefix(failed[1], ".Principal") {
		text += " for the principal " + s.principal
	}
	text += "; there are " + strings.Join(known, ", ")
	if failed[1] == ".Key" {
		text += ", and {{.Key}} in a path, and in the payload behind it, with key.in: path"
	}
	if s.principal == "" && strings.HasPrefix(failed[1], ".Principal") {
		text += "; others come from principals, of which there are none"
	}
	return text
}

// reason says why a template cannot be read, or a function does not work.
func (s sample) reason(err error) string {
	text := regexp.MustCompile(`(?s)^template: :\d+:(\d+:)? ?(executing "" at <.*>: (error calling \w+: )?)?`).ReplaceAllString(err.Error(), "")
	if unknown := regexp.MustCompile(`^function "(.*)" not defined$`).FindStringSubmatch(text); unknown != nil {
		known := functionNames()
		if slices.Contains(known, unknown[1]) {
			return "the function " + unknown[1] + " is not for what is signed"
		}
		text = "there is no function " + unknown[1] + suggestion(unknown[1], known) + " there are " + list(known) + ", and those of Go's templates"
	}
	return text
}

// carriesMarker makes sure that rows can be found by what a request carries, and that its other bodies differ.
func carriesMarker(v *validator, path string, o Operation) {
	values := v.samples()[0].values
	carried, err := o.carriesMarker(values, AsItIs)
	if err != nil {
		kind, _ := o.Request.Payload()
		v.addMistake(path+jsonpointer.Of("request", string(kind)), "the body cannot be written: %s", errors.Unwrap(err))
		return
	}
	if !carried && !prepares(v, o) {
		v.addMistake(path+"/request", "no part of the request carries {{.Intent.Marker}}: rows could not be found")
		return
	}
	if o.Alter != nil && !carried {
		v.addMistake(path+"/alter", "only prepare carries {{.Intent.Marker}}, so that rows cannot show which body took effect; leave alter out")
	} else if differs(v, path, o, Altered, "altered", carried) && overlooks(v.target.Contract.Fingerprint, o, values) {
		v.addMistake(path+"/alter", "none of contract.fingerprint.fields is altered: to the target it would be the same body")
	}
	differs(v, path, o, Invalid, "invalid", carried)
}

// differs reports that there is a variant of the body and that it is another body, by which rows are found as well.
func differs(v *validator, path string, o Operation, which Variant, name string, marked bool) bool {
	if o.changes(which) == nil {
		return false
	}
	at, values := path+"/"+string(which), v.samples()[0].values
	carried, err := o.carriesMarker(values, which)
	if err != nil {
		v.addMistake(at, "the %s body cannot be written: %s", name, errors.Unwrap(err))
		return false
	}
	if marked && !carried {
		v.addMistake(at, "no part of the %s request carries {{.Intent.Marker}}: rows could not be found", name)
	}
	if o.sameAs(values, which) {
		v.addMistake(at, "the %s body is the same as the other one", name)
		return false
	}
	return true
}

// namesMarker reports that a member has the marker, in an object and not in a list, which has to be given as a whole.
func namesMarker(members map[string]any) bool {
	for _, value := range members {
		switch value := value.(type) {
		case string:
			if strings.Contains(value, ".Intent.Marker") {
				return true
			}
		case map[string]any:
			if namesMarker(value) {
				return true
			}
		}
	}
	return false
}

// carriesMarker renders a body and looks for the marker in path and body. In a header it would not
// be stored, and rows could not be found by it. Where they are by the key, that stands for it.
func (o Operation) carriesMarker(v Values, which Variant) (bool, error) {
	rendered, err := o.Render(v, which)
	if err != nil {
		return false, err
	}
	if o.Rows.ByKey() {
		return true, nil
	}
	wanted := v.Intent.Marker
	if o.Rows.ByReference() {
		wanted = sampleReference
	}
	return strings.Contains(rendered.Path, wanted) || bytes.Contains(rendered.Body, []byte(wanted)), nil
}

// Differs reports whether a variant of the body is another one, an altered one also to the target, with these values:
// what functions draw can come out the same.
func (t Target) Differs(o Operation, v Values, which Variant) bool {
	return !o.sameAs(v, which) && !(which == Altered && overlooks(t.Contract.Fingerprint, o, v))
}

// sameAs reports that a variant of the body is the body. An altered body has a marker of its own: that is enough under one key,
// where alter names it.
func (o Operation) sameAs(v Values, which Variant) bool {
	plain, err := o.Render(v, AsItIs)
	if which == Altered && o.Key.In != contract.KeyNowhere && namesMarker(o.Alter) {
		v.Intent.Marker += "b"
	}
	other, otherErr := o.Render(v, which)
	return errors.Join(err, otherErr) == nil && plain.SaysAs(other)
}
