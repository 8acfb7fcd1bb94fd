package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/template"
)

// maxRendered bounds what one template may grow to, in bytes.
const maxRendered = 1 << 20

// Values is what the templates of a request can use. Principal and Login may hold secrets.
type Values struct {
	Intent    IntentValues
	Principal map[string]string
	Taken
}

// Taken is what steps have taken from answers, by name.
type Taken struct {
	Login    map[string]string // of the principal
	Prepared map[string]string // for the intent
	Issued   map[string]string // for later steps of the same run of key.issued
	Cleanup  map[string]string // for later steps of the same cleanup
}

// names returns what templates can ask for.
func (t Taken) names() []string {
	var names []string
	for of, taken := range map[string]map[string]string{"Login": t.Login, "Prepared": t.Prepared, "Issued": t.Issued, "Cleanup": t.Cleanup} {
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
}

// Rendered is a request that is ready to be sent but for its key. It may hold secrets.
type Rendered struct {
	Method string
	Path   string
	Header map[string]string
	Body   []byte // nil: none
}

// Clone returns a copy that shares nothing with r.
func (r Rendered) Clone() Rendered {
	r.Header, r.Body = maps.Clone(r.Header), bytes.Clone(r.Body)
	return r
}

// Render fills in the templates of the request; with altered, those of the altered one. The body is
// JSON with sorted keys.
func (o Operation) Render(v Values, altered bool) (Rendered, error) {
	r := Rendered{Method: o.Request.Method, Header: map[string]string{}}
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	var err error
	if r.Path, err = fill(o.Request.Path, v); err != nil {
		return Rendered{}, fmt.Errorf("render the path: %w", err)
	}
	for name, value := range o.Request.Header {
		if r.Header[name], err = fill(value, v); err != nil {
			return Rendered{}, fmt.Errorf("render the header %s: %w", name, err)
		}
	}
	if o.Request.Body == nil {
		return r, nil
	}
	if r.Body, err = o.body(v, altered); err != nil {
		return Rendered{}, fmt.Errorf("render the body: %w", err)
	}
	r.isJSON()
	return r, nil
}

// Render fills in the templates of the request.
func (s Step) Render(v Values) (Rendered, error) {
	return Operation{Request: s.Request}.Render(v, false)
}

func (o Operation) body(v Values, altered bool) ([]byte, error) {
	body := o.Request.Body
	if altered {
		body = merge(body, o.Alter)
	}
	filled, err := fillAll(body, v)
	if err != nil {
		return nil, err
	}
	return encode(filled)
}

// PlaceKey puts an idempotency key into a rendered request, which it changes in place.
func (o Operation) PlaceKey(r *Rendered, key string) error {
	switch o.Key.In {
	case KeyInHeader:
		return o.placeInHeader(r, key)
	case KeyInBody:
		return o.placeInBody(r, key)
	case KeyInQuery:
		o.placeInQuery(r, key)
		return nil
	}
	return errors.New("place the key: the operation takes none")
}

func (o Operation) placeInHeader(r *Rendered, key string) error {
	if strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return errors.New("place the key: it holds a character that a header cannot carry")
	}
	if o.Key.Quoted {
		key = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	r.setHeader(o.Key.Name, key)
	return nil
}

func (o Operation) placeInBody(r *Rendered, key string) error {
	members := map[string]any{}
	if len(r.Body) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(r.Body))
		decoder.UseNumber()
		if err := decoder.Decode(&members); err != nil {
			return fmt.Errorf("place the key in the body: %w", err)
		}
	}
	members[o.Key.Name] = key
	body, err := encode(members)
	if err != nil {
		return fmt.Errorf("place the key in the body: %w", err)
	}
	r.Body = body
	r.isJSON()
	return nil
}

func (o Operation) placeInQuery(r *Rendered, key string) {
	path, fragment, cut := strings.Cut(r.Path, "#")
	switch {
	case !strings.Contains(path, "?"):
		path += "?"
	case !strings.HasSuffix(path, "?") && !strings.HasSuffix(path, "&"):
		path += "&"
	}
	// Not every server takes a plus sign for a space.
	r.Path = path + strings.ReplaceAll(url.QueryEscape(o.Key.Name)+"="+url.QueryEscape(key), "+", "%20")
	if cut {
		r.Path += "#" + fragment
	}
}

// isJSON names the type of the body where the file does not.
func (r *Rendered) isJSON() {
	for name := range r.Header {
		if strings.EqualFold(name, "Content-Type") {
			return
		}
	}
	r.setHeader("Content-Type", "application/json")
}

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

// fillAll fills in every text inside a JSON value, and copies the rest.
func fillAll(value any, v Values) (any, error) {
	switch value := value.(type) {
	case string:
		return fill(value, v)
	case []any:
		filled := make([]any, len(value))
		for i, entry := range value {
			var err error
			if filled[i], err = fillAll(entry, v); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case map[string]any:
		filled := make(map[string]any, len(value))
		for name, member := range value {
			var err error
			if filled[name], err = fillAll(member, v); err != nil {
				return nil, err
			}
		}
		return filled, nil
	}
	return value, nil
}

func fill(text string, v Values) (string, error) { return fillWith(text, v) }

// fillWith fills in a template with the values of whoever owns it.
func fillWith(text string, v any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var out bounded
	if err := t.Execute(&out, v); err != nil {
		return "", err
	}
	return out.text.String(), nil
}

// bounded is a text that refuses to grow beyond maxRendered.
type bounded struct{ text strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxRendered {
		return 0, errors.New("the text grows beyond 1 MiB")
	}
	return b.text.Write(p)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
