package targets

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
	"text/template"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// text writes the members of a text payload where its template has them. A key that is not there yet, or left out, is empty.
func (o Operation) text(members map[string]any) ([]byte, error) {
	t, err := template.New("written").Option("missingkey=error").Funcs(template.FuncMap{"json": asJSON}).Parse(o.Request.Written)
	if err != nil {
		return nil, fmt.Errorf("written is no template: %s", strings.TrimPrefix(err.Error(), "template: written:"))
	}
	values, err := printable(members, isMarkup(o.Request.Written))
	if err != nil {
		return nil, err
	}
	if o.Key.In == contract.KeyInBody && o.Key.Name != "" {
		parent, name := jsonpointer.Cut(jsonpointer.Member(o.Key.Name))
		at, _ := jsonpointer.Resolve(values, parent)
		if object, ok := at.(map[string]any); ok && object[name] == nil {
			object[name] = ""
		}
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("written asks for what is not there: %s", strings.TrimPrefix(err.Error(), "template: written:"))
	}
	return out.Bytes(), nil
}

// isMarkup reports that a text is XML or HTML, in which values are escaped.
func isMarkup(written string) bool { return strings.HasPrefix(strings.TrimSpace(written), "<") }

// mediaOf is the media type of a text for which the file names none.
func mediaOf(written string) string {
	if isMarkup(written) {
		return "application/xml"
	}
	return "text/plain; charset=utf-8"
}

// printable returns a value with a text in place of each scalar; in markup, it is escaped.
func printable(value any, markup bool) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		all := make(map[string]any, len(value))
		for name, member := range value {
			text, err := printable(member, markup)
			if err != nil {
				return nil, err
			}
			all[name] = text
		}
		return all, nil
	case []any:
		all := make([]any, 0, len(value))
		for _, member := range value {
			text, err := printable(member, markup)
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
		return all, nil
	case nil:
		return bare(""), nil
	}
	text, err := textOf(value)
	if _, isText := value.(string); !isText && err == nil {
		return bare(text), nil
	}
	if err != nil || !markup {
		return text, err
	}
	var escaped bytes.Buffer
	err = xml.EscapeText(&escaped, []byte(text))
	return escaped.String(), err
}

// bare is the text of a value that JSON does not quote, a number, a truth value or null, which is empty elsewhere.
type bare string

// MarshalJSON writes the value and no text.
func (b bare) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(string(b), "null")), nil }

// asJSON writes a member as JSON, such as a list that is the whole body.
func asJSON(value any) (string, error) {
	text, err := encode(value)
	return string(text), err
}
