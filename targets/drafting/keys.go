package drafting

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// keyHeader matches names of headers that may hold the key of a request.
var keyHeader = regexp.MustCompile(`(?i)deliver|request|event[-_]?id|message|dedup|nonce|transaction|operation|webhook[-_]?id`)

// keyName matches names of parameters and members that may hold the key of a request, without separators and in lower case.
var keyName = regexp.MustCompile(`dedup|nonce|(request|client|submission|operation|transaction|retry|once|mutation)(id|key|token|uuid|ref|reference)$|^(form)?token$`)

// NamesKey reports that an idempotency key is called so.
func NamesKey(name string) bool { return strings.Contains(squeezed(name), "idempoten") }

// KeyPlaces are the places in the request that may hold its key, though they are not called so: such as a header with the id of a
// delivery, or one whose name ends in key and that is no credential; a parameter or a member that is called a request's; a cookie; and
// the end of the path, if that looks drawn.
func (d Draft) KeyPlaces() []targets.Key {
	if d.Keyed() {
		return nil
	}
	var all []targets.Key
	add := func(in contract.KeyPlace, name string) {
		all = append(all, targets.Key{Key: contract.Key{In: in, Name: name}})
	}
	for _, name := range d.headerKeys() {
		add(contract.KeyInHeader, name)
	}
	for _, part := range parameters(d.Path) {
		if name, value, _ := strings.Cut(part, "="); keyName.MatchString(squeezed(name)) || uuidLike.MatchString(value) {
			add(contract.KeyInQuery, name)
		}
	}
	Scalars("", d.Body, func(pointer string, value any) {
		_, isText := value.(string)
		if _, name := jsonpointer.Cut(pointer); isText && !d.document(pointer) && keyName.MatchString(squeezed(name)) {
			add(contract.KeyInBody, memberName(pointer))
		}
	})
	all = append(all, cookieKeys(d)...)
	if drawn(lastOf(d.Path)) || OnlyCreates(d) && spelledOut(lastOf(d.Path)) {
		all = append(all, keyInPath(lastOf(d.Path)))
	}
	return all
}

// headerKeys are the headers of the source that may hold the key.
func (d Draft) headerKeys() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.Header)) {
		value := d.Header[name]
		secret := strings.Contains(value, "${")
		called := strings.HasSuffix(strings.ToLower(name), "key") && !HoldsSecret(name)
		if called || !secret && (uuidLike.MatchString(value) || keyHeader.MatchString(name) && strings.ContainsAny(value, "0123456789")) {
			names = append(names, name)
		}
	}
	return names
}

// credentialName matches names of headers that say who asks, and of which another value would only be refused.
var credentialName = regexp.MustCompile(`(?i)auth|cookie|access|api|csrf|xsrf|session|secret|signature|bearer|jwt|host|tenant|account|organi[sz]|workspace|prefer|^if-|encoding`)

// OtherPlaces are the headers and parameters that are not called like a key, and may hold one all the same, such as X-Client-Ref: of
// those no name says what they are for. So is the end of the path of a PUT that is a word. What looks drawn within the path is the last, as it may
// be another thing's id, and that of whoever asks comes behind all others.
func (d Draft) OtherPlaces() []targets.Key {
	if d.Keyed() {
		return nil
	}
	named := d.KeyPlaces()
	var all []targets.Key
	add := func(in contract.KeyPlace, name string) {
		is := func(other targets.Key) bool { return other.In == in && other.Name == name }
		if name != "" && !credentialName.MatchString(name) && !slices.ContainsFunc(named, is) {
			all = append(all, targets.Key{Key: contract.Key{In: in, Name: name}})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Header)) {
		if !strings.EqualFold(name, "Content-Type") {
			add(contract.KeyInHeader, name)
		}
	}
	for _, part := range parameters(d.Path) {
		name, value, _ := strings.Cut(part, "=")
		if !strings.Contains(value, "{{") {
			add(contract.KeyInQuery, name)
		}
	}
	if !drawn(lastOf(d.Path)) && !OnlyCreates(d) && d.Method == http.MethodPut && spelledOut(lastOf(d.Path)) {
		all = append(all, keyInPath(lastOf(d.Path)))
	}
	path, _, _ := strings.Cut(d.Path, "?")
	segments := strings.Split(path, "/")
	var asking []targets.Key
	for n := len(segments) - 2; n > 0; n-- {
		key := keyInPath(segments[n])
		key.Name = segments[n]
		switch {
		case !drawn(segments[n]):
		case credentialName.MatchString(segments[n-1]):
			asking = append(asking, key)
		default:
			all = append(all, key)
		}
	}
	return append(all, asking...)
}

// InHeader is a key in a header.
func InHeader(name string) targets.Key {
	return targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: name}}
}

// UsualKeys are headers in which a key may stand that the source does not name, the likeliest first: those of the source that may hold
// one, and those by which APIs usually take it.
func (d Draft) UsualKeys() []string {
	names := d.headerKeys()
	for _, name := range []string{
		"Idempotency-Key", "X-Idempotency-Key", "Idempotence-Key", "Idempotency-Token", "X-Idempotency-Token", "X-Request-Id", "Request-Id",
		"X-Client-Request-Id", "Client-Token", "X-Request-Token", "X-Transaction-Id", "X-Dedup-Key",
	} {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// namedHeader matches the name of a header of somebody's own in a text.
var namedHeader = regexp.MustCompile(`\bx(-[a-z0-9]+)+\b`)

// KeyNamedIn is the one of UsualKeys that a text of the target names, in any spelling: "idempotency key is missing"; or else a header that it
// names and that may hold a key: "X-Client-Ref is required"; empty: none, or the source names a key.
func (d Draft) KeyNamedIn(text string) string {
	if d.Keyed() {
		return ""
	}
	plain := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(text))
	longest := ""
	for _, name := range d.UsualKeys() {
		if strings.Contains(plain, strings.ToLower(name)) && len(name) > len(longest) {
			longest = name
		}
	}
	for _, name := range namedHeader.FindAllString(strings.ToLower(text), -1) {
		if longest == "" && refers.MatchString(name) && !credentialName.MatchString(name) {
			longest = http.CanonicalHeaderKey(name)
		}
	}
	return longest
}

// refers matches names of headers that tell one request from another.
var refers = regexp.MustCompile(`ref|idem|dedup|nonce|once|request|client|transaction|correlation|message|event|command|submission`)

// WithAll is the draft with a text in each of some headers that is another one for each intent.
func (d Draft) WithAll(headers []string) Draft {
	d.Header = maps.Clone(d.Header)
	if d.Header == nil {
		d.Header = map[string]string{}
	}
	for _, name := range headers {
		d.Header[name] = referenceTemplate
	}
	return d
}

// Called is what the place of a key is called.
func Called(key targets.Key) string {
	switch key.In {
	case contract.KeyInQuery:
		return "the parameter " + key.Name
	case contract.KeyInBody:
		return key.Name + " of the body"
	case contract.KeyInCookie:
		return "the cookie " + key.Name
	case contract.KeyInPath:
		return cmp.Or(key.Name, "the end") + " of the path"
	default:
		return key.Name
	}
}

// WithKeyIn is the draft with one of these places for its key. What stood there needs no variable any more.
func (d Draft) WithKeyIn(key targets.Key) Draft {
	held, given := "", ""
	switch key.In {
	case contract.KeyInHeader:
		held = d.Header[key.Name]
		given = held
		d.Header = maps.Clone(d.Header)
		delete(d.Header, key.Name)
	case contract.KeyInQuery:
		path, _, _ := strings.Cut(d.Path, "?")
		parts := slices.DeleteFunc(parameters(d.Path), func(part string) bool {
			name, value, _ := strings.Cut(part, "=")
			if name == key.Name {
				held = value
				given, _ = url.QueryUnescape(value)
			}
			return name == key.Name
		})
		if d.Path = path; len(parts) > 0 {
			d.Path += "?" + strings.Join(parts, "&")
		}
	case contract.KeyInBody:
		pointer := jsonpointer.Member(key.Name)
		held = d.Templates[pointer]
		given = textAt(d.Body, pointer)
		d = d.without(pointer)
	case contract.KeyInCookie:
		d, held = withoutCookie(d, key.Name)
		given = held
	case contract.KeyInPath:
		path, query, asks := strings.Cut(d.Path, "?")
		segment := "/" + cmp.Or(key.Name, lastOf(d.Path))
		at := strings.LastIndex(path, segment)
		named, format := inFormat(segment)
		given, _ = url.PathUnescape(named[1:])
		if drawn(named[1:]) { // a word may stand in the body by chance
			d, _ = repeatingKey(d, named[1:])
		}
		if d.Path = path[:at] + "/{{.Key}}" + format + path[at+len(segment):]; asks {
			d.Path += "?" + query
		}
		key.Name = "" // a key in the path has none
	}
	if name, hidden := strings.CutPrefix(strings.TrimSuffix(held, "}"), "${"); hidden {
		given = d.Given[name]
	}
	d.Key, d.KeyGiven = key, given
	d.Needed = slices.DeleteFunc(slices.Clone(d.Needed), func(name string) bool { return held == "${"+name+"}" })
	return d
}

// repeatingKey is the draft whose body has the key wherever it repeats what the path of the source names a thing by, and whether it does.
func repeatingKey(d Draft, id string) (Draft, bool) {
	repeats := false
	Scalars("", d.Body, func(pointer string, value any) {
		if value == any(id) {
			repeats = true
			d = d.without(pointer)
			d.Body, _ = Put(d.Body, pointer, id).(map[string]any)
			d.Templates[pointer] = "{{.Key}}"
		}
	})
	return d, repeats
}

// KeyedBy are the ways in which a place may be a draft's key: as it stands, and where the body repeats a word that the path ends with, as in
// PUT /pages/guide with {"slug": "guide"}, with the key in both.
func KeyedBy(d Draft, key targets.Key) []Draft {
	with := d.WithKeyIn(key)
	if key.In == contract.KeyInPath && key.Name == "" {
		name, _ := inFormat(lastOf(d.Path))
		if both, repeats := repeatingKey(with, name); repeats && !drawn(name) { // WithKeyIn has it in both then
			return []Draft{with, both}
		}
	}
	return []Draft{with}
}

// without is the draft without a member of its body.
func (d Draft) without(pointer string) Draft {
	d.Body, _ = drop(d.Body, pointer).(map[string]any)
	d.Templates = maps.Clone(d.Templates)
	delete(d.Templates, pointer)
	d.Texts = slices.DeleteFunc(slices.Clone(d.Texts), func(at string) bool { return at == pointer })
	d.Others = slices.DeleteFunc(slices.Clone(d.Others), func(o Other) bool { return o.Pointer == pointer })
	return d
}

// drop returns the value without the member of an object that a JSON pointer leads to.
func drop(value any, pointer string) any {
	parent, name := jsonpointer.Cut(pointer)
	at, _ := jsonpointer.Resolve(value, parent)
	object, _ := at.(map[string]any)
	left := maps.Clone(object)
	delete(left, name)
	return Put(value, parent, left)
}

// memberName is how a key in the body is named: a member of the body itself by its name, one that is deeper by a JSON pointer.
func memberName(pointer string) string {
	if parent, name := jsonpointer.Cut(pointer); parent == "" && !strings.HasPrefix(name, "/") {
		return name
	}
	return pointer
}

// parameters are those of the query of a path, each name=value as it stands there.
func parameters(path string) []string {
	_, query, asks := strings.Cut(path, "?")
	if !asks {
		return nil
	}
	return strings.Split(query, "&")
}

// keyInPath is a key that is a segment of a path, the last one if it has no name.
func keyInPath(segment string) targets.Key {
	key := targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true}}
	if name, _ := inFormat(segment); uuidLike.MatchString(name) {
		key.Format = contract.OnlyUUID
	}
	return key
}

// LikeItsSource has the key drawn like the one that the source has, and reports whether that is another form than the key has already.
func LikeItsSource(d *Draft) bool {
	like := contract.Key{Like: d.KeyGiven}
	drawnAnyway := uuidLike.MatchString(d.KeyGiven) && d.KeyGiven[len("00000000-0000-")] == '4' && d.KeyGiven == strings.ToLower(d.KeyGiven)
	if !d.Keyed() || len(d.KeySteps) > 0 || d.Key.Like != "" || drawnAnyway || strings.ContainsAny(d.KeyGiven, "${}") || !like.Drawable() {
		return false
	}
	d.Key.Like, d.Key.Format = d.KeyGiven, contract.AnyText
	return true
}

// lastOf is the last segment of a path.
func lastOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path[strings.LastIndex(path, "/")+1:]
}

// drawnLike matches ids that are drawn and not counted, such as 01HZX3V9K8Q2 or ord_9f8a7b6c5d.
var drawnLike = regexp.MustCompile(`^[A-Za-z]{0,12}[-_]?[0-9A-Za-z_-]*[0-9][0-9A-Za-z_-]{8,}$`)

// drawn reports that a segment of a path looks like an id that its client has drawn.
func drawn(segment string) bool {
	name, _ := inFormat(segment)
	return uuidLike.MatchString(name) || drawnLike.MatchString(name)
}

// inFormat splits a segment of a path into what it names and the format in which that is sent, as of Berlin_guide.json or of 1.ics: of another thing,
// too, the target expects it in that format.
func inFormat(segment string) (name, format string) {
	if parts := formatted.FindStringSubmatch(segment); parts != nil {
		return parts[1], parts[2]
	}
	return segment, ""
}

// formatted matches a name and what the name of a file ends with.
var formatted = regexp.MustCompile(`^([^.@]+(?:\.[^.@]+)*)(\.[a-z][a-z0-9]{1,3})$`)

// OnlyCreates reports that a request is for what is not there yet (If-None-Match: *; RFC 9110, section 13.1.2): 412 says that it is there.
func OnlyCreates(d Draft) bool {
	for name, value := range d.Header {
		if strings.EqualFold(name, "If-None-Match") && strings.TrimSpace(value) == "*" {
			return d.Method == http.MethodPut
		}
	}
	return false
}

// spelledOut reports that a segment of a path is a word of the source, and neither a number nor a template.
func spelledOut(segment string) bool {
	name, _ := inFormat(segment)
	return name != "" && !plainNumber.MatchString(name) && !strings.ContainsAny(segment, "{}$")
}

// EndOfPath is the key of a PUT whose path ends with the word by which the database knows the row that it made; false: it does not.
func EndOfPath(f File) (targets.Key, bool) {
	d, p := f.Draft, f.Proof
	last, err := url.PathUnescape(lastOf(d.Path))
	name, _ := inFormat(last)
	if d.Method != http.MethodPut || d.Keyed() || err != nil || !spelledOut(last) {
		return targets.Key{}, false
	}
	for _, unique := range p.Table.Keys() {
		if len(unique) == 1 && (p.Row[unique[0]] == last || p.Row[unique[0]] == name) {
			return keyInPath(lastOf(d.Path)), true
		}
	}
	return targets.Key{}, false
}

// keyed takes the key out of a request that says where it is: by a name, or by a PUT of a thing whose id its client has drawn (RFC 9110,
// section 9.3.4).
func (d *Draft) keyed() {
	if d.Keyed() {
		return
	}
	for _, part := range parameters(d.Path) {
		if name, _, _ := strings.Cut(part, "="); NamesKey(name) {
			*d = d.WithKeyIn(targets.Key{Key: contract.Key{In: contract.KeyInQuery, Name: name}})
			return
		}
	}
	found := ""
	Scalars("", d.Body, func(pointer string, value any) {
		_, isText := value.(string)
		if _, name := jsonpointer.Cut(pointer); isText && found == "" && NamesKey(name) && !d.document(pointer) {
			found = memberName(pointer)
		}
	})
	switch {
	case found != "":
		*d = d.WithKeyIn(targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: found}})
	case d.Method == http.MethodPut && drawn(lastOf(d.Path)):
		*d = d.WithKeyIn(keyInPath(lastOf(d.Path)))
	default:
		for _, key := range cookieKeys(*d) {
			if NamesKey(key.Name) {
				*d = d.WithKeyIn(key)
				return
			}
		}
	}
}
