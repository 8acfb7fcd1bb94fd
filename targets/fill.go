package targets

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// maxRendered bounds what one template may grow to, in bytes.
const maxRendered = 1 << 20

// errNotWhole says where the function json stands.
var errNotWhole = errors.New("json has to end the only action of a text, and the text has to be a member of the body")

// fillMembers fills in every text inside the members of a payload.
func fillMembers(members map[string]any, v Values) (map[string]any, error) {
	filled := make(map[string]any, len(members))
	for name, member := range members {
		var err error
		if filled[name], err = fillAll(member, v.At(name)); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

// fillAll fills in every text inside a JSON value, and copies the rest. A text that ends in the function
// json becomes a value.
func fillAll(value any, v Values) (any, error) {
	switch value := value.(type) {
	case string:
		return fillValue(value, v)
	case []any:
		filled := make([]any, len(value))
		for i, entry := range value {
			var err error
			if filled[i], err = fillAll(entry, v.At(strconv.Itoa(i))); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case map[string]any:
		return fillMembers(value, v)
	}
	return value, nil
}

// fillValue fills in one text of a payload. What ends in the function json is read again, so that
// a number or an object of it becomes part of the body and not a text in it.
func fillValue(text string, v Values) (any, error) {
	filled, isJSON, err := execute(text, v, v)
	if err != nil || !isJSON {
		return filled, err
	}
	decoder := json.NewDecoder(strings.NewReader(filled))
	decoder.UseNumber()
	var value any
	err = decoder.Decode(&value)
	return value, err
}

// fill fills in a text that stays a text.
func fill(text string, v Values) (string, error) { return fillText(text, v, v) }

// fillText fills in a text with data, which may be more than v.
func fillText(text string, v Values, data any) (string, error) {
	filled, isJSON, err := execute(text, v, data)
	if err == nil && isJSON {
		err = errNotWhole
	}
	return filled, err
}

// fillWith fills in a text with data, without the functions of requests.
func fillWith(text string, data any) (string, error) {
	filled, _, err := run(text, nil, data)
	return filled, err
}

// execute runs a template of a request. IsJSON says that what comes out is a JSON value.
func execute(text string, v Values, data any) (filled string, isJSON bool, err error) {
	d := v.drawing
	filled, nodes, err := run(text, d.functions(), data)
	if err == nil && d.values > 0 && !endsInJSON(nodes) {
		err = errNotWhole
	}
	if err != nil {
		return "", false, err
	}
	return filled, d.values > 0, nil
}

// run runs a template with functions besides those of Go, and returns what it is made of as well: nothing
// where it is plain text.
func run(text string, functions template.FuncMap, data any) (filled string, nodes []parse.Node, err error) {
	if !strings.Contains(text, "{{") {
		return text, nil, nil
	}
	t, err := template.New("").Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return "", nil, err
	}
	var out bounded
	if err := t.Execute(&out, data); err != nil {
		return "", nil, err
	}
	return out.text.String(), t.Root.Nodes, nil
}

// endsInJSON reports whether a template is one action whose last function is json.
func endsInJSON(nodes []parse.Node) bool {
	if len(nodes) != 1 {
		return false
	}
	action, ok := nodes[0].(*parse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 {
		return false
	}
	last := action.Pipe.Cmds[len(action.Pipe.Cmds)-1]
	function, ok := last.Args[0].(*parse.IdentifierNode)
	return ok && function.Ident == toJSON
}

// bounded is a text that refuses to grow beyond maxRendered: a template with a long loop must not
// take the memory of the machine.
type bounded struct{ text strings.Builder }

// Write appends to the text; its error ends the template.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxRendered {
		return 0, errors.New("the text grows beyond 1 MiB")
	}
	return b.text.Write(p)
}
