package targets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Values is what the templates of a request can use. Principal and Login may hold secrets.
type Values struct {
	Intent    IntentValues
	Attempt   AttemptValues
	Principal map[string]string
	Parent    map[string]string // of those that are there already
	Extracted
	drawing drawing
}

// Extracted is what steps have taken from answers, by name.
type Extracted struct {
	Login    map[string]string // of the principal
	Prepared map[string]string // for the intent
	Issued   map[string]string // for later steps of the same run of key.issued
	Made     map[string]string // MadeIdentity, and what earlier steps of the same remove took
	Cleanup  map[string]string // for later steps of the same cleanup
}

// MadeIdentity is what the steps of remove know under this name: how the last answer named what the intent has made.
const MadeIdentity = "Identity"

// RemovesByIdentity reports whether the steps of remove ask how an answer named what is to be removed.
func (o Operation) RemovesByIdentity() bool {
	return strings.Contains(fmt.Sprint(o.Remove), ".Made."+MadeIdentity)
}

// HasParent reports whether the path names something that was prepared, so that each intent has a path of its own, or one of several things that are there.
func (o Operation) HasParent() bool {
	path, _, _ := strings.Cut(o.Request.Path, "?")
	return len(o.Prepare) > 0 && strings.Contains(path, ".Prepared.") || len(o.Parents) > 0 && strings.Contains(path, ".Parent.")
}

// Parent returns the things at a place of the lists of parents, from 0. It wraps around.
func (o Operation) Parent(place int) map[string]string {
	all := make(map[string]string, len(o.Parents))
	for name, values := range o.Parents {
		if len(values) > 0 {
			all[name] = values[place%len(values)]
		}
	}
	return all
}

// names returns what templates can ask for.
func (t Extracted) names() []string {
	var names []string
	for of, taken := range map[string]map[string]string{"Login": t.Login, "Prepared": t.Prepared, "Issued": t.Issued, "Made": t.Made, "Cleanup": t.Cleanup} {
		for name := range taken {
			names = append(names, "."+of+"."+name)
		}
	}
	slices.Sort(names)
	return names
}

// IntentValues is what templates know of an intent.
type IntentValues struct {
	Marker    string // found again by the row query
	Reference string // the same for every body of the intent
	Number    int    // from 1
	Work      int64  // milliseconds that the request is to take, on top of what it takes anyway
}

// AttemptValues is what templates know of one attempt, in headers and in volatile members of the body.
type AttemptValues struct {
	ID   string // a UUID
	Time string // in RFC 3339, with fractions; no two attempts of an intent have the same

	Traceparent string // of a trace of its own (W3C Trace Context, version 00), sampled
}

// OfAttempt returns the values for one attempt: what volatile members draw is of this attempt.
func (v Values) OfAttempt(id string, at time.Time) Values {
	trace := strings.ReplaceAll(id, "-", "") // both have 16 bytes
	v.Attempt = AttemptValues{ID: id, Time: at.UTC().Format(time.RFC3339Nano), Traceparent: "00-" + trace + "-" + trace[len(trace)/2:] + "-01"}
	v.drawing.attempt, v.drawing.attemptTime = id, at
	return v
}

// DiffersPerAttempt reports whether no two attempts of an intent send the same.
func (o Operation) DiffersPerAttempt() bool {
	return len(o.Volatile) > 0 || len(o.attemptHeaders()) > 0
}

// attemptHeaders lists the headers that each attempt has for itself.
func (o Operation) attemptHeaders() []string {
	var names []string
	for name, value := range o.Request.Header {
		if ofAttempt.MatchString(value) {
			names = append(names, name)
		}
	}
	return names
}

// ofAttempt finds templates that ask about the attempt.
var ofAttempt = regexp.MustCompile(`\{\{[^}]*\.Attempt\b`)

// Rendered is a request that is ready to be sent but for its key and its signature. It may hold secrets.
type Rendered struct {
	Method string
	Path   string // with {{.Key}} where a key in the path goes
	Header map[string]string
	Body   []byte // nil: none
	Says   []byte // the members of a body that is not JSON, or of a query, as a JSON object; nil: the body is JSON, or none
	Signer string // the secret that signs the request; empty: nothing does
	Drawn  Drawn
	Own    map[string]string // what each attempt has for itself: headers by name, volatile members by JSON pointer
}

// Clone returns a copy that shares nothing with r.
func (r Rendered) Clone() Rendered {
	r.Header, r.Body, r.Says, r.Drawn.Unique = maps.Clone(r.Header), bytes.Clone(r.Body), bytes.Clone(r.Says), maps.Clone(r.Drawn.Unique)
	r.Own = maps.Clone(r.Own)
	return r
}

// SaysAs reports that two requests carry the same: their bodies are equal to the byte, or neither has one and their queries say the same.
func (r Rendered) SaysAs(other Rendered) bool {
	if len(r.Body) > 0 || len(other.Body) > 0 {
		return bytes.Equal(r.Body, other.Body)
	}
	return bytes.Equal(r.Says, other.Says)
}

// Variant says which of its bodies a request carries.
type Variant string

// The variants. The zero value is the body as it is; the others are named after the key of a target file that changes it.
const (
	AsItIs  Variant = ""
	Altered Variant = "alter"
	Invalid Variant = "invalid"
)

// changes returns the members that a variant replaces; nil: the target file says nothing of it.
func (o Operation) changes(which Variant) map[string]any {
	switch which {
	case Altered:
		return o.Alter
	case Invalid:
		return o.Invalid
	default:
		return nil
	}
}

// Render fills in the templates of the request with one of its bodies. Members are in the order of their names.
func (o Operation) Render(v Values, which Variant) (Rendered, error) {
	v.drawing.drawn = &Drawn{}
	if o.Work != nil && v.Intent.Work > 0 {
		o.Request = o.Request.taking(*o.Work)
	}
	r, err := o.head(v)
	if err != nil {
		return Rendered{}, err
	}
	if kind, members := o.Request.Payload(); kind != NoPayload {
		if members, err = o.members(v.At(string(kind)), members, which); err != nil {
			return Rendered{}, fmt.Errorf("render the %s: %w", kind, err)
		}
		for _, pointer := range o.Volatile {
			value, _ := jsonpointer.Resolve(members, pointer)
			text, _ := encode(value)
			r.own(pointer, string(text))
		}
		if err := r.write(o, members); err != nil {
			return Rendered{}, fmt.Errorf("render the %s: %w", kind, err)
		}
	}
	if s := o.Request.Sign; s != nil {
		if r.Signer, err = fill(s.Secret, v.At("sign")); err != nil {
			return Rendered{}, fmt.Errorf("render the secret of the signature: %w", err)
		}
	}
	for _, name := range o.attemptHeaders() {
		r.own(name, r.Header[name])
	}
	if id := v.drawing.attempt; id != "" && len(r.Own) > 0 {
		v.drawing.drawn.Dated = true
		if v.drawing.drawn.Unique == nil {
			v.drawing.drawn.Unique = map[string]UniqueKind{}
		}
		v.drawing.drawn.Unique[id] = UniqueUUID
	}
	r.Drawn = *v.drawing.drawn
	return r, nil
}

// taking returns the request with what makes it take long.
func (q Request) taking(w Work) Request {
	header := maps.Clone(q.Header)
	for name, value := range w.Header {
		if header == nil {
			header = map[string]string{}
		}
		header[name] = value
	}
	q.Header = header
	if len(w.Body) == 0 {
		return q
	}
	q.ChangePayload(func(members map[string]any) map[string]any { return merge(members, w.Body) })
	return q
}

// Render fills in the templates of the request.
func (s Step) Render(v Values) (Rendered, error) {
	return Operation{Request: s.Request}.Render(v, AsItIs)
}

// head renders all of a request but its payload.
func (o Operation) head(v Values) (Rendered, error) {
	r := Rendered{Method: cmp.Or(o.Request.Method, http.MethodPost), Header: map[string]string{}}
	var err error
	if r.Path, err = o.path(v.At("path")); err != nil {
		return Rendered{}, fmt.Errorf("render the path: %w", err)
	}
	for name, value := range o.Request.Header {
		if r.Header[name], err = fill(value, v.At("headers").At(name)); err != nil {
			return Rendered{}, fmt.Errorf("render the header %s: %w", name, err)
		}
	}
	return r, nil
}

// path renders the path. Where it takes a key, {{.Key}} stays as it is.
func (o Operation) path(v Values) (string, error) {
	if o.Key.In == contract.KeyInPath {
		return fillText(o.Request.Path, v, keyedValues{Values: v, Key: keyHere})
	}
	return fill(o.Request.Path, v)
}

// keyedValues are what the template of a path can use that takes a key.
type keyedValues struct {
	Values
	Key string
}

// members fills in the members of a payload. What a variant draws it draws for itself.
func (o Operation) members(v Values, members map[string]any, which Variant) (map[string]any, error) {
	filled, err := fillMembers(o.keepingKey(members), v)
	if err == nil && len(o.Volatile) > 0 {
		var anew map[string]any
		anew, err = fillMembers(members, v.drawingAnew())
		for _, pointer := range o.Volatile {
			transplant(filled, anew, pointer)
		}
	}
	if err != nil || which == AsItIs {
		return filled, err
	}
	change, err := fillMembers(o.changes(which), v.At(string(which)))
	return merge(filled, change), err
}

// keepingKey lets {{.Key}} stay as it is in all texts of a payload whose key stands in the path: some bodies repeat the id by which that names a
// thing.
func (o Operation) keepingKey(members map[string]any) map[string]any {
	if o.Key.In != contract.KeyInPath {
		return members
	}
	return inTexts(members, func(text string) string { return keyTemplate.ReplaceAllString(text, "{{`"+keyHere+"`}}") }).(map[string]any)
}

// inTexts is a copy of a value in which each text was changed.
func inTexts(value any, change func(string) string) any {
	switch value := value.(type) {
	case string:
		return change(value)
	case []any:
		copied := make([]any, len(value))
		for i, entry := range value {
			copied[i] = inTexts(entry, change)
		}
		return copied
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, member := range value {
			copied[name] = inTexts(member, change)
		}
		return copied
	default:
		return value
	}
}

// transplant puts the value that stands at a pointer in one value into another of the same shape.
func transplant(into, from any, pointer string) {
	parent, key := jsonpointer.Cut(pointer)
	value, _ := jsonpointer.Resolve(from, pointer)
	at, _ := jsonpointer.Resolve(into, parent)
	switch at := at.(type) {
	case map[string]any:
		at[key] = value
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(at) {
			at[i] = value
		}
	}
}

// own notes what no other attempt has, so that a replay can be compared without it.
func (r *Rendered) own(place, text string) {
	if r.Own == nil {
		r.Own = map[string]string{}
	}
	r.Own[place] = text
}

// SetOwnHeader sets a header that no other attempt has.
func (r *Rendered) SetOwnHeader(name, value string) {
	r.setHeader(name, value)
	r.own(name, value)
}

// setHeader sets a header by the name that the file has. A rendered request may have none yet.
func (r *Rendered) setHeader(name, value string) {
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	r.Header[name] = value
}

// merge returns the body with the members of change on top; mappings are merged member by member.
func merge(body, change map[string]any) map[string]any {
	merged := maps.Clone(body)
	for name, value := range change {
		inner, isMap := value.(map[string]any)
		outer, wasMap := merged[name].(map[string]any)
		if isMap && wasMap {
			value = merge(outer, inner)
		}
		merged[name] = value
	}
	return merged
}

// encode writes a value as JSON on one line. It leaves <, > and & as they are: a target is sent
// what the file says.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
