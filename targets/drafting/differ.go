package drafting

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// fixedName matches names of members that take one of a few words, a time or an address.
var fixedName = regexp.MustCompile(`(?i)(type|kind|status|state|currency|country|locale|lang|language|format|method|mode|unit|category|channel|version|zone|scheme|date|time|[-_]at|url|uri|event|csrf|xsrf)$`)

// dateLike matches a date or a time, as its value is written.
var dateLike = regexp.MustCompile(`^\d{4}-\d\d(-|$)|^\d\d?[:./]\d\d?[:./]`)

// amountLike matches a number with a fraction, as an amount is written in a text.
var amountLike = regexp.MustCompile(`^[+-]?\d+[.,]\d{1,4}$`)

// uuidLike matches a UUID of any version.
var uuidLike = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// typedLike matches an id behind the type of what it names, as in document:budget-2026 or urn:isbn:0451450523.
var typedLike = regexp.MustCompile(`^((?:[A-Za-z][\w.+-]*:)+)[^\s:/]+$`)

// uuidBehind matches a UUID behind a word or a scheme, as in urn:uuid: or msg_.
var uuidBehind = regexp.MustCompile(`^(.*[:_/.=-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// codes are the members that may name one thing and no other, such as an e-mail address, the number of an invoice or the id
// of an event: of two creates with the same value, the second may be a repetition of the first, or refused.
func (d Draft) codes() []string {
	var found []string
	Scalars("", d.Body, func(pointer string, value any) {
		text, isText := value.(string)
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		if !isText || d.document(pointer) || d.Templates[pointer] != "" || fixedName.MatchString(name) || dateLike.MatchString(text) || amountLike.MatchString(text) || strings.Contains(text, "://") {
			return
		}
		if isAddress(text) || idLike.MatchString(name) || strings.ContainsAny(text, "0123456789") || isHost(d, pointer, text) {
			found = append(found, pointer)
		}
	})
	return found
}

// GuessTexts lets the marker go into members that may hold a name or number, where none takes any text for certain: into those that
// are not called like an id, if there are any. Where none takes a text, it goes into the likeliest number.
func (d *Draft) GuessTexts() {
	if len(d.Texts) > 0 {
		return
	}
	codes := d.codes()
	called := func(pointer string) bool { return idLike.MatchString(pointer[strings.LastIndex(pointer, "/")+1:]) }
	if d.Texts = slices.DeleteFunc(slices.Clone(codes), called); len(d.Texts) == 0 {
		d.Texts = codes[:min(len(codes), 1)]
	}
	if numbers := d.Numbers(); len(d.Texts) == 0 && len(numbers) > 0 {
		d.Number = numbers[0]
	}
	if len(d.Texts) == 0 && d.Number == "" {
		d.Texts = links(*d)
	}
	if len(d.Texts) == 0 && d.Number == "" {
		d.Texts = plainWords(*d)
	}
	if len(d.Texts) == 0 && d.Number == "" {
		d.Texts = inFiles(*d)
	}
}

// plainWords are the members that hold a word, as far as can be seen one of a list.
func plainWords(d Draft) []string {
	var found []string
	Scalars("", d.Body, func(pointer string, value any) {
		if text, isText := value.(string); isText && plainWord.MatchString(text) && !d.document(pointer) && d.Templates[pointer] == "" {
			found = append(found, pointer)
		}
	})
	return found
}

// mostCarriers is how many members are tried as the only one that carries the marker.
const mostCarriers = 8

// Carrying are the members that may carry the marker alone where a target refuses a body with markers in all of Texts, the likeliest
// first.
func (d Draft) Carrying() []string {
	if d.Number != "" {
		return nil
	}
	var all []string
	if len(d.Texts) > 1 {
		all = append(all, d.Texts...)
	}
	Scalars("", d.Body, func(pointer string, value any) {
		text, isText := value.(string)
		if isText && !slices.Contains(d.Texts, pointer) && !d.document(pointer) && d.Templates[pointer] == "" && !plainNumber.MatchString(text) && !amountLike.MatchString(text) &&
			!uuidLike.MatchString(text) && !oneOfFew(pointer, text) {
			all = append(all, pointer)
		}
	})
	for _, pointer := range slices.Concat(links(d), inFiles(d)) {
		if !slices.Contains(all, pointer) && !slices.Contains(d.Texts, pointer) {
			all = append(all, pointer)
		}
	}
	return all[:min(len(all), mostCarriers)]
}

// shortCode matches a word that stands for something in a list, such as EUR or de.
var shortCode = regexp.MustCompile(`^[A-Z]{1,3}$|^[a-z]{2}(-[A-Z]{2})?$`)

// oneOfFew reports that a member takes one of a few words, a time or an address, by its name and value.
func oneOfFew(pointer, text string) bool {
	return fixedName.MatchString(pointer[strings.LastIndex(pointer, "/")+1:]) || shortCode.MatchString(text) || dateLike.MatchString(text) || strings.Contains(text, "://")
}

// counted matches names of members whose number the target works with, and that cannot be any.
var counted = regexp.MustCompile(`(?i)(quantit|qty|count|seats?|guests?|units?|pages?|limit|year|month|day|hours?|minutes?|age|percent|rate|version|currency)`)

// ofOutside matches names of members whose number is somebody else's.
var ofOutside = regexp.MustCompile(`(?i)extern|foreign|invoice|refer|serial|order_?(no|number)|receipt|ticket`)

// Numbers are the members whose number may be any, and so a marker, the likeliest first: those of an outside thing, amounts and others,
// and what is counted. The id of a thing that the target has is none.
func (d Draft) Numbers() []string {
	var ranks [3][]string
	Scalars("", d.Body, func(pointer string, value any) {
		text, isText := value.(string)
		_, isWhole := value.(int64)
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		switch {
		case !isWhole && !(d.textual() && isText && plainNumber.MatchString(text)) || d.Templates[pointer] != "":
		case ofOutside.MatchString(name):
			ranks[0] = append(ranks[0], pointer)
		case namesAnother.MatchString(pointer):
		case counted.MatchString(name):
			ranks[2] = append(ranks[2], pointer)
		default:
			ranks[1] = append(ranks[1], pointer)
		}
	})
	return slices.Concat(ranks[:]...)
}

// Short are the texts that may have room for a number of nine digits where they have none for a longer marker.
func Short(d Draft) []string {
	d.Number = ""
	all := slices.Clone(d.Texts)
	for _, pointer := range d.Carrying() {
		if !slices.Contains(all, pointer) {
			all = append(all, pointer)
		}
	}
	return slices.DeleteFunc(all, func(pointer string) bool {
		return slices.Contains(d.addresses(), pointer) || d.Templates[pointer] != ""
	})
}

// Carriers are the members that carry the marker.
func (d Draft) Carriers() []string {
	if d.Number != "" {
		return []string{d.Number}
	}
	return d.Texts
}

// addresses are the members that hold an e-mail address.
func (d Draft) addresses() []string {
	return slices.DeleteFunc(d.codes(), func(pointer string) bool {
		text, _ := jsonpointer.Resolve(d.Body, pointer)
		address, _ := text.(string)
		return !isAddress(address)
	})
}

// isAddress reports that a text looks like an e-mail address.
func isAddress(text string) bool { return strings.Contains(text, "@") }

// hostName matches names of members that hold the name of a host or a domain, as hostLike does.
var hostName = regexp.MustCompile(`(?i)domain|host|fqdn|zone|dns`)

// hostLike matches the name of a host or a domain, which a zone's ends with a dot.
var hostLike = regexp.MustCompile(`(?i)^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9-]+)*\.[a-z]{2,}\.?$`)

// reserved matches the name of a host that nobody has (RFC 2606).
var reserved = regexp.MustCompile(`(?i)(^|\.)(example(\.(com|net|org))?|test|invalid|localhost)\.?$`)

// leastLabels is how many parts a name has that is a host's or a domain's, whatever it is called: one of two may be a file's or a person's.
const leastLabels = 3

// isHost reports that a member holds the name of a host or a domain, by its own name or the path's, or because no other text is written so.
func isHost(d Draft, pointer, text string) bool {
	_, name := jsonpointer.Cut(pointer)
	return hostLike.MatchString(text) && (hostName.MatchString(name) || hostName.MatchString(d.Path) || reserved.MatchString(text) ||
		strings.HasSuffix(text, ".") || strings.Count(text, ".") >= leastLabels-1)
}

// isLink reports that a text is a link, in whose path there is room.
func isLink(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// extended is a link with one more part at the end of its path.
func extended(link, part string) string {
	end := len(link)
	if at := strings.IndexAny(link, "?#"); at >= 0 {
		end = at
	}
	return Escape(strings.TrimRight(link[:end], "/")+"/") + part + Escape(link[end:])
}

// links are the members that hold a link.
func links(d Draft) []string {
	var found []string
	Scalars("", d.Body, func(pointer string, value any) {
		if text, isText := value.(string); isText && isLink(text) && !d.document(pointer) && d.Templates[pointer] == "" {
			found = append(found, pointer)
		}
	})
	return found
}

// differing is a template for another value of the same form for each create.
func differing(value string) string {
	switch {
	case isAddress(value):
		return referenceTemplate + addressEnd(value)
	case isLink(value) && strings.Count(value, "/") < 3: // the name of its host stays as it is: the target may ask that
		return extended(value, referenceTemplate)
	case uuidLike.MatchString(value):
		return `{{unique "uuid"}}`
	case uuidBehind.MatchString(value):
		return Escape(uuidBehind.FindStringSubmatch(value)[1]) + `{{unique "uuid"}}`
	case regexp.MustCompile(`^\+?[0-9 ]+$`).MatchString(value):
		return value[:len(value)-len(strings.TrimPrefix(value, "+"))] + `{{unique "number"}}`
	case hostLike.MatchString(value): // within what its owner has
		return referenceTemplate + "." + Escape(value)
	default:
		return Escape(value[:strings.LastIndexAny(value, "_-:/.")+1]) + referenceTemplate
	}
}

// How many digits of a value are drawn at least, so that no two are alike, and at most.
const (
	leastDrawn = 9
	mostDrawn  = 15
)

// asLong is a template for another value that is as long as the given one, with digits at its end, of which the alphabets of ids have most; empty:
// there is no room, or the value has a form of its own.
func asLong(value string) string {
	kept := min(len(value)-len(strings.TrimLeft(value, letters)), len(value)-leastDrawn)
	kept = max(kept, len(value)-mostDrawn, 0)
	n := len(value) - kept
	switch {
	case n < leastDrawn || isAddress(value) || uuidLike.MatchString(value) || !generated.MatchString(value[kept:]):
		return ""
	case n == leastDrawn:
		return Escape(value[:kept]) + `{{unique "int"}}`
	case n == mostDrawn:
		return Escape(value[:kept]) + `{{unique "number"}}`
	default:
		return fmt.Sprintf(`%s{{slice (unique "number") 0 %d}}`, Escape(value[:kept]), n)
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// clockLike matches a date, or a date and a time, as JSON has it: the date, what stands before the time, the seconds, a fraction and a zone.
var clockLike = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:([T ])\d\d:\d\d(:\d\d)?((?:\.0+)?Z?)([+-]\d\d:?\d\d)?)?$`)

// another is a template for another time or whole number, written as the given one is, for each create; empty: the value is neither, or another
// one would be no such thing.
func another(value any) string {
	switch value := value.(type) {
	case int64:
		return anotherNumber(value)
	case string:
		if layout, zone := layoutOf(value); layout != "" {
			return fmt.Sprintf("{{unique \"time\" %q}}", layout) + zone
		}
	}
	return ""
}

// anotherNumber is a template for another whole number. One that needs more than 32 bits has as many digits, and one above 2^53 stays there, where
// numbers of JavaScript no longer tell neighbours apart.
func anotherNumber(value int64) string {
	text := strconv.FormatInt(value, 10)
	switch {
	case value <= math.MaxInt32:
		return `{{unique "int" | json}}`
	case len(text) < mostDrawn:
		return fmt.Sprintf(`{{slice (unique "number") 0 %d | json}}`, len(text))
	case len(text) == mostDrawn:
		return `{{unique "number" | json}}`
	default:
		kept := text[:len(text)-mostDrawn]
		if len(kept) == len(longest) {
			kept = min(kept, longest)
		}
		return fmt.Sprintf(`{{printf "%s%%s" (unique "number") | json}}`, kept)
	}
}

// longest is how the largest numbers of 64 bits begin, so that any digits may follow.
const longest = "9222"

// layoutOf is how a time is written, as Go's layouts have it, and the zone behind it; empty: it is none.
func layoutOf(value string) (layout, zone string) {
	parts := clockLike.FindStringSubmatch(value)
	if parts == nil {
		return "", ""
	}
	layout = "2006-01-02"
	if parts[1] != "" {
		layout += parts[1] + "15:04"
	}
	if parts[2] != "" {
		layout += ":05"
	}
	return layout + parts[3], parts[4]
}

// Measured are the members that hold a time or a whole number, times first: a room is booked at one time, and a seat by its number. The id of
// a thing that the target has is none. What the create has shown to be such an id is none, too.
func Measured(f *File) []string {
	var times, numbers, own []string
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		number, isNumber := value.(int64)
		switch {
		case another(value) == "" || f.Draft.Templates[pointer] != "" || f.Draft.document(pointer) || slices.Contains(f.Differing, pointer):
		case f.Proof != nil && pointer == f.Proof.Text || ofOther(f, pointer) || pointer == f.Draft.Number:
		case !isNumber:
			times = append(times, pointer)
		case !namesAnother.MatchString(pointer):
			numbers = append(numbers, pointer)
		case ownNumber(f, pointer, number):
			own = append(own, pointer)
		}
	})
	return slices.Concat(times, numbers, own)
}

// ownNumber reports that a number is the id that the client gives the thing itself: it is called like the primary key, and came to it, if only as
// near as a number of JavaScript is.
func ownNumber(f *File, pointer string, number int64) bool {
	if f.Proof == nil {
		return pointer == "/id"
	}
	_, name := jsonpointer.Cut(pointer)
	primary := f.Proof.Table.Primary
	if len(primary) != 1 || squeezed(name) != squeezed(primary[0]) {
		return false
	}
	row, err := strconv.ParseInt(f.Proof.Row[primary[0]], 10, 64)
	return err == nil && float64(row) == float64(number)
}

// exactNumbers are the ids that the client gives the things, by their columns, where they are above 2^53: a row has to have all of their digits.
func exactNumbers(f *File) map[string]string {
	columns := map[string]string{}
	for pointer, number := range wholeNumbers(f) {
		if template := f.Draft.Templates[pointer]; number > exactBelow && template == anotherNumber(number) && f.Proof != nil && ownNumber(f, pointer, number) {
			columns[f.Proof.Table.Primary[0]] = pointer
		}
	}
	return columns
}

// exactBelow is 2^53, up to which floating-point numbers tell whole numbers apart.
const exactBelow = 1 << 53

// addressEnd is a domain that nobody has (RFC 2606), as no mail of a test may reach anyone: the source's if it is one, since a target may have
// accounts in that one only.
func addressEnd(address string) string {
	if end := address[strings.LastIndex(address, "@")+1:]; hostLike.MatchString(end) && reserved.MatchString(end) {
		return "@" + end
	}
	return "@example.com"
}

// numberTemplate is a marker that is a number in JSON.
const numberTemplate = "{{.Intent.Marker | json}}"

// marking is the template of a member that carries the marker.
func (d Draft) marking(pointer string) string {
	value, _ := jsonpointer.Resolve(d.Body, pointer)
	if _, isNumber := value.(int64); isNumber {
		return numberTemplate
	}
	text, _ := value.(string)
	switch {
	case d.Multipart && slices.Contains(inFiles(d), pointer):
		return inFile(pointer, text)
	case isAddress(text):
		return markerTemplate + addressEnd(text)
	case isLink(text):
		return extended(text, markerTemplate)
	case isHost(d, pointer, text): // within what its owner has
		return markerTemplate + "." + Escape(text)
	case typedLike.MatchString(text):
		return Escape(typedLike.FindStringSubmatch(text)[1]) + markerTemplate
	}
	return markerTemplate
}

// MayName are the members that may name one thing and no other, and that are the same in every create: a target may refuse or ignore
// what it has seen. What is known to name a row of another table is none.
func (f *File) MayName() []string {
	var found []string
	for _, pointer := range append(f.Draft.codes(), f.Draft.Texts...) {
		if !slices.Contains(f.Differing, pointer) && !slices.Contains(f.same, pointer) && (f.Proof == nil || pointer != f.Proof.Text) && pointer != f.Draft.Number && !ofOther(f, pointer) {
			found = append(found, pointer)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

// Stored are the members of which the one create has left the marker at the end of a value, in whatever table.
func Stored(d Draft, c Created) (all []string) {
	for n, pointer := range d.Texts[:min(len(d.Texts), len(marks))] {
		mark := c.Marker + markOf(n)
		if slices.ContainsFunc(c.Landings, func(l databases.Landing) bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(l.Row)), func(value string) bool { return strings.HasSuffix(strings.ToLower(value), mark) })
		}) {
			all = append(all, pointer)
		}
	}
	return all
}

// Left are those of the stored members that have the source's value in all creates since: it may be taken from the second on.
func Left(f File, stored []string) []string {
	settled := settledOf(f)
	return slices.DeleteFunc(slices.Clone(stored), func(pointer string) bool {
		return settled == nil || settled[pointer] != "" || f.Draft.document(pointer) || slices.Contains(f.same, pointer)
	})
}

// Unlikely are the other texts of the body: none is called or written like a name of one thing, but a handle, a slug or at last a link may be one.
func Unlikely(f *File) []string {
	likely := f.MayName()
	var found []string
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		text, isText := value.(string)
		if !isText || f.Draft.Templates[pointer] != "" || f.Draft.document(pointer) || oneOfFew(pointer, text) || amountLike.MatchString(text) ||
			slices.Contains(likely, pointer) || slices.Contains(f.Differing, pointer) || slices.Contains(f.same, pointer) || f.Proof != nil && pointer == f.Proof.Text || ofOther(f, pointer) {
			return
		}
		found = append(found, pointer)
	})
	for _, pointer := range links(f.Draft) {
		if !slices.Contains(f.Differing, pointer) && !slices.Contains(f.same, pointer) && (f.Proof == nil || pointer != f.Proof.Text) && !slices.Contains(likely, pointer) {
			found = append(found, pointer)
		}
	}
	return found[:min(len(found), mostCarriers)]
}

// aVariable matches a template that is the value of one variable and nothing else.
var aVariable = regexp.MustCompile(`^\$\{(\w+)\}$`)

// Withheld are the members that are variables because they may be secret: a token may be that of a device, and name it.
func Withheld(f File) []string {
	var found []string
	for pointer, template := range f.Draft.Templates {
		_, there := jsonpointer.Resolve(f.Draft.Body, pointer)
		if there && aVariable.MatchString(template) && !slices.Contains(f.Differing, pointer) {
			found = append(found, pointer)
		}
	}
	slices.Sort(found)
	return found
}

// Variables are those that the file takes from the environment, but for the database's: a member that differs from create to create is none.
func Variables(f File) []string {
	var all []string
	for _, name := range f.Draft.Needed {
		if !slices.ContainsFunc(f.Differing, func(pointer string) bool { return f.Draft.Templates[pointer] == "${"+name+"}" }) {
			all = append(all, name)
		}
	}
	return all
}

// InBase64 reports that a variable stands for the user and the password of Basic credentials (RFC 7617), which a header has in base64: who sets
// it by hand takes what curl takes.
func InBase64(f File, name string) bool {
	for _, value := range f.Draft.Header {
		if scheme, given, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "basic") && given == "${"+name+"}" {
			return true
		}
	}
	return false
}

// differs puts the templates of the members that differ into the body.
func (f *File) differs() {
	f.Draft.Templates = cloneTexts(f.Draft.Templates)
	spanned := span(f)
	for _, pointer := range append(f.Draft.addresses(), f.Differing...) {
		if template, is := spanned[pointer]; is {
			if template != "" {
				measure(f, pointer, template)
			}
			continue
		}
		value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
		template := f.Draft.Templates[pointer]
		variable := aVariable.FindStringSubmatch(template)
		text, isText := value.(string)
		switch measured := another(value); {
		case slices.Contains(f.same, pointer) || template != "" && variable == nil:
		case variable != nil:
			f.Draft.Templates[pointer] = referenceTemplate // nothing of a value that may be secret
		case measured != "":
			measure(f, pointer, measured)
		case isText:
			f.Draft.Templates[pointer] = differingIn(f.Draft, pointer, text)
		}
	}
	f.apart()
}

// apart lets members of the body differ from each other in each create where they do in the source. The one by which rows are found keeps its
// template.
func (f *File) apart() {
	first := ""
	if f.Proof != nil {
		first = f.Proof.Text
	}
	apart(f.Draft.Body, f.Draft.Templates, first)
}

// apart numbers the references of members that have one template and other values in the source: a transfer from an address to itself is another
// one than that of the source.
func apart(body any, templates map[string]string, first string) {
	taken, owners, numbered := map[string]bool{}, map[string]string{}, map[[2]string]string{}
	for _, template := range templates {
		taken[template] = true
	}
	for _, pointer := range append([]string{first}, slices.Sorted(maps.Keys(templates))...) {
		held, there := jsonpointer.Resolve(body, pointer)
		template, value := templates[pointer], fmt.Sprint(held)
		if !there || !strings.Contains(template, referenceTemplate) {
			continue
		}
		owner, owned := owners[template]
		other := numbered[[2]string{template, value}]
		switch {
		case !owned:
			owners[template] = value
		case owner == value:
		case other != "":
			templates[pointer] = other
		default:
			other = template
			for n := 2; taken[other]; n++ {
				other = strings.Replace(template, referenceTemplate, referenceTemplate+strconv.Itoa(n), 1)
			}
			taken[other], owners[other], numbered[[2]string{template, value}] = true, value, other
			templates[pointer] = other
		}
	}
}

// small matches types of columns that have no room for nine digits.
var small = regexp.MustCompile(`(?i)^(tiny|small|medium)(int|serial)|^int2|^year`)

// room reports that a column may hold what a template gives.
func (p *Proof) room(column, template string) bool {
	return !strings.Contains(template, `"int"`) || !slices.ContainsFunc(p.Table.Columns, func(c databases.Column) bool { return c.Name == column && small.MatchString(c.Type) })
}

// measure lets a time or a number differ from create to create.
func measure(f *File, pointer, template string) {
	f.Draft.Templates[pointer] = template
	taken := "number of nine digits"
	switch {
	case strings.Contains(template, "time"):
		taken = "time after today"
	case !strings.Contains(template, `"int"`):
		taken = "number of as many digits"
	}
	f.Doubt("Whether %s may be any %s: each create needs another one, as a second create with the same was refused, or the database allows each once.", pointer, taken)
}

// beside are the other members of a constraint that allows each time or number once only together with them.
func beside(f *File, natural, with []string) (all []string) {
	if len(natural) != 1 {
		return nil
	}
	column := func(pointer string) string {
		value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
		return f.Proof.stored(pointer, value)
	}
	value, _ := jsonpointer.Resolve(f.Draft.Body, natural[0])
	if another(value) == "" || natural[0] == f.Proof.Text {
		return nil
	}
	for _, unique := range f.Proof.Table.Unique {
		if !slices.Contains(unique, column(natural[0])) {
			continue
		}
		Scalars("", f.Draft.Body, func(pointer string, _ any) {
			if pointer != natural[0] && slices.Contains(unique, column(pointer)) && !slices.Contains(slices.Concat(with, all), pointer) {
				all = append(all, pointer)
			}
		})
	}
	return all
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
		if (own[pointer] == "" || slices.Contains(f.Differing, pointer)) && pointer != f.Proof.Text && !ofAnother(&f, pointer) && !endsSpan(f.Draft.Templates[pointer]) {
			all = append(all, pointer)
		}
	}
	slices.Sort(all)
	return all
}

// WithSame is the text of the file in which a member has the value of the source in every create.
func (f File) WithSame(pointer string) (string, error) {
	f.same = append(slices.Clone(f.same), pointer)
	if varies(f.Draft.Templates[pointer]) { // as AsLong has written it
		f.Draft.Templates = cloneTexts(f.Draft.Templates)
		delete(f.Draft.Templates, pointer)
	}
	return f.Text()
}

// Keep lets members have the value of the source in every create, and no others.
func Keep(f *File, pointers []string) { f.same = pointers }

// Keepable are the members that get another value in each create although nothing has shown that they must, and that do not carry the
// marker: addresses.
func Keepable(d Draft) []string {
	return slices.DeleteFunc(d.addresses(), func(pointer string) bool { return slices.Contains(d.Carriers(), pointer) })
}
