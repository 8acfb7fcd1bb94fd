package drafting

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// fixedName matches names of members that take one of a few words, a time or an address.
var fixedName = regexp.MustCompile(`(?i)(type|kind|status|state|currency|country|locale|lang|language|format|method|mode|unit|category|channel|version|zone|scheme|date|time|[-_]at|url|uri|event|csrf|xsrf)$`)

// dateLike matches a date or a time, as its value is written.
var dateLike = regexp.MustCompile(`^\d{4}-\d\d(-|$)|^\d\d?[:./]\d\d?[:./]`)

var uuidLike = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// codes are the members that may name one thing and no other, such as an e-mail address, the number of an invoice or the id
// of an event: of two creates with the same value, the second may be a repetition of the first, or refused.
func (d Draft) codes() []string {
	var found []string
	Scalars("", d.Body, func(pointer string, value any) {
		text, isText := value.(string)
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		if !isText || d.document(pointer) || d.Templates[pointer] != "" || fixedName.MatchString(name) || dateLike.MatchString(text) || strings.Contains(text, "://") {
			return
		}
		if isAddress(text) || idLike.MatchString(name) || strings.ContainsAny(text, "0123456789") {
			found = append(found, pointer)
		}
	})
	return found
}

// GuessTexts lets the marker go into members that may hold a name or number, where none takes any text for certain: into those that
// are not called like an id, if there are any.
func (d *Draft) GuessTexts() {
	if len(d.Texts) > 0 {
		return
	}
	codes := d.codes()
	called := func(pointer string) bool { return idLike.MatchString(pointer[strings.LastIndex(pointer, "/")+1:]) }
	if d.Texts = slices.DeleteFunc(slices.Clone(codes), called); len(d.Texts) == 0 {
		d.Texts = codes[:min(len(codes), 1)]
	}
}

// addresses are the members that hold an e-mail address.
func (d Draft) addresses() []string {
	return slices.DeleteFunc(d.codes(), func(pointer string) bool {
		text, _ := lookUp(d.Body, pointer)
		address, _ := text.(string)
		return !isAddress(address)
	})
}

func isAddress(text string) bool { return strings.Contains(text, "@") }

// differing is a template for another value of the same form for each create.
func differing(value string) string {
	switch {
	case isAddress(value):
		return referenceTemplate + addressEnd
	case uuidLike.MatchString(value):
		return `{{unique "uuid"}}`
	case regexp.MustCompile(`^\+?[0-9 ]+$`).MatchString(value):
		return value[:len(value)-len(strings.TrimPrefix(value, "+"))] + `{{unique "number"}}`
	default:
		return Escape(value[:strings.LastIndexAny(value, "_-:/.")+1]) + referenceTemplate
	}
}

const addressEnd = "@example.com"

// marking is the template of a member that carries the marker.
func (d Draft) marking(pointer string) string {
	value, _ := lookUp(d.Body, pointer)
	if text, isText := value.(string); isText && isAddress(text) {
		return markerTemplate + addressEnd
	}
	return markerTemplate
}

// MayName are the members that may name one thing and no other, and that are the same in every create: a target may refuse or ignore
// what it has seen.
func (f *File) MayName() []string {
	var found []string
	for _, pointer := range append(f.Draft.codes(), f.Draft.Texts...) {
		if !slices.Contains(f.Differing, pointer) && (f.Proof == nil || pointer != f.Proof.Text) {
			found = append(found, pointer)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

// differs puts the templates of the members that differ into the body.
func (f *File) differs() {
	f.Draft.Templates = cloneTexts(f.Draft.Templates)
	for _, pointer := range append(f.Draft.addresses(), f.Differing...) {
		value, _ := lookUp(f.Draft.Body, pointer)
		if text, isText := value.(string); isText && f.Draft.Templates[pointer] == "" && pointer != f.same {
			f.Draft.Templates[pointer] = differing(text)
		}
	}
}

// keyHeader matches names of headers that may hold the key of a request.
var keyHeader = regexp.MustCompile(`(?i)deliver|request|event[-_]?id|message|dedup|nonce|transaction|operation|webhook[-_]?id`)

// HeaderKeys are headers that may hold the key of a request, though they are not called so: such as that with the id of a delivery,
// or one whose name ends in key and that is no credential.
func (d Draft) HeaderKeys() []string {
	if d.Keyed() {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.Header)) {
		value := d.Header[name]
		secret := strings.Contains(value, "${")
		called := strings.HasSuffix(strings.ToLower(name), "key") && !secretName.MatchString(name)
		if called || !secret && (uuidLike.MatchString(value) || keyHeader.MatchString(name) && strings.ContainsAny(value, "0123456789")) {
			names = append(names, name)
		}
	}
	return names
}

// WithKeyIn is the draft with a header for its key. Its value needs no variable any more.
func (d Draft) WithKeyIn(header string) Draft {
	d.Key = targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: header}}
	d.Needed = slices.DeleteFunc(slices.Clone(d.Needed), func(name string) bool { return d.Header[header] == "${"+name+"}" })
	d.Header = maps.Clone(d.Header)
	delete(d.Header, header)
	return d
}

// Suspects are the members of which each may make two creates one, whatever else they hold: those whose value differs from create
// to create, but for the one that carries the marker.
func (f File) Suspects() []string {
	own := f.Draft.Templates
	if f.settle() != nil {
		return nil
	}
	var all []string
	for pointer := range f.Draft.Templates {
		if own[pointer] == "" && pointer != f.Proof.Text {
			all = append(all, pointer)
		}
	}
	slices.Sort(all)
	return all
}

// WithSame is the text of the file in which a member has the value of the source in every create.
func (f File) WithSame(pointer string) (string, error) {
	f.same = pointer
	return f.Text()
}
