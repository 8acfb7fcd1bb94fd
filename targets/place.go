package targets

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// keyHere stands in a path for the key that is not known yet.
const keyHere = "{{.Key}}"

// keyTemplate finds it as a file may write it.
var keyTemplate = regexp.MustCompile(`\{\{\s*\.Key\s*\}\}`)

// PlaceKey puts an idempotency key into a rendered request, which it changes in place.
func (o Operation) PlaceKey(r *Rendered, key string) error {
	switch o.Key.In {
	case contract.KeyInHeader:
		return o.placeInHeader(r, key)
	case contract.KeyInBody:
		return o.placeInBody(r, key)
	case contract.KeyInQuery:
		o.placeInQuery(r, key)
		return nil
	case contract.KeyInPath:
		return o.placeInPath(r, key)
	case contract.KeyInCookie:
		if r.Header == nil {
			r.Header = map[string]string{}
		}
		contract.SetCookie(r.Header, o.Key.Name, key)
		return nil
	}
	return errors.New("place the key: the operation takes none")
}

// placeInHeader sets the header of the key. A quoted key is a string of structured fields (RFC
// 9651, section 3.3.3), as the draft of the Idempotency-Key header asks for.
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

// placeInBody sets the member of the key and writes the payload once more, in whatever form it
// has.
func (o Operation) placeInBody(r *Rendered, key string) error {
	members, err := r.saying()
	if err != nil {
		return fmt.Errorf("place the key in the body: %w", err)
	}
	parent, name := jsonpointer.Cut(jsonpointer.Member(o.Key.Name))
	at, _ := jsonpointer.Resolve(members, parent)
	object, ok := at.(map[string]any)
	if !ok {
		return fmt.Errorf("place the key in the body: there is no object at %q", parent)
	}
	object[name] = key
	if err := r.write(o, members); err != nil {
		return fmt.Errorf("place the key in the body: %w", err)
	}
	return nil
}

// placeInPath writes the key as one segment of the path, or as a part of one (RFC 3986, section 3.3), and wherever the payload repeats it.
func (o Operation) placeInPath(r *Rendered, key string) error {
	if !strings.Contains(r.Path, keyHere) {
		return errors.New("place the key: the path does not hold " + keyHere)
	}
	if key == "" {
		return errors.New("place the key: a blank one cannot stand in a path")
	}
	r.Path = strings.ReplaceAll(r.Path, keyHere, url.PathEscape(key))
	if !bytes.Contains(r.Body, []byte(keyHere)) && !bytes.Contains(r.Says, []byte(keyHere)) {
		return nil
	}
	members, err := r.saying()
	if err == nil {
		repeated := inTexts(members, func(text string) string { return strings.ReplaceAll(text, keyHere, key) })
		err = r.write(o, repeated.(map[string]any))
	}
	if err != nil {
		return fmt.Errorf("place the key in the body: %w", err)
	}
	return nil
}

// placeInQuery adds the parameter of the key.
func (o Operation) placeInQuery(r *Rendered, key string) {
	r.Path = withQuery(r.Path, spaced(url.QueryEscape(o.Key.Name)+"="+url.QueryEscape(key)))
}
