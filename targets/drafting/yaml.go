package drafting

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/internal/inert"
)

// flow writes a value on one line, with the variables and templates that are in its texts.
func flow(value any) string { return onOneLine(nodeOf(value)) }

// literal writes a value of others on one line: a dollar sign in it is one.
func literal(value any) string {
	node := nodeOf(value)
	withoutVariables(node)
	return onOneLine(node)
}

// plainURL is a text that YAML reads as it is, and no other reader of lines takes for more than one.
var plainURL = regexp.MustCompile(`^[A-Za-z0-9$_{}:/.?&=%@,+~-]*[A-Za-z0-9}/]$`)

// bare writes the URL of a target without quotes, as people do, if it needs none.
func bare(address string) string {
	if plainURL.MatchString(address) {
		return address
	}
	return flow(address)
}

// nodeOf is a value as YAML has it. Bytes that are no UTF-8 are U+FFFD. The library's own way writes a text and reads it again, which some texts of others do
// not survive.
func nodeOf(value any) *yaml.Node {
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return textNode(v.String())
	case reflect.Slice:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v.Len() {
			list.Content = append(list.Content, nodeOf(v.Index(i).Interface()))
		}
		return list
	case reflect.Map:
		object := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			object.Content = append(object.Content, textNode(key.String()), nodeOf(v.MapIndex(key).Interface()))
		}
		return object
	case reflect.Struct:
		return structNode(v)
	}
	node := new(yaml.Node)
	if err := node.Encode(value); err != nil {
		panic(err) // numbers, truth values and null can be written
	}
	return node
}

// structNode is a struct by the tags of its fields.
func structNode(v reflect.Value) *yaml.Node {
	object := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if field := v.Field(i); name != "-" && !(field.IsZero() && strings.Contains(options, "omitempty")) {
			object.Content = append(object.Content, textNode(name), nodeOf(field.Interface()))
		}
	}
	return object
}

// textNode is a text. One in which a reader may see the end of a line, or that a terminal obeys, stands in double quotes; see visible.
func textNode(text string) *yaml.Node {
	node := new(yaml.Node)
	if node.SetString(strings.ToValidUTF8(text, "\uFFFD")); visible(node.Value) != node.Value {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// withoutVariables doubles the dollar signs that begin a variable, or would be doubled ones. The names of members have no variables.
func withoutVariables(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode {
		var b strings.Builder
		for i, c := range []byte(node.Value) {
			if b.WriteByte(c); c == '$' && i+1 < len(node.Value) && strings.IndexByte("${", node.Value[i+1]) >= 0 {
				b.WriteByte('$')
			}
		}
		node.Value = b.String()
	}
	for i, child := range node.Content {
		if node.Kind != yaml.MappingNode || i%2 == 1 {
			withoutVariables(child)
		}
	}
}

// onOneLine writes a node in a style without line breaks.
func onOneLine(node *yaml.Node) string {
	flat(node)
	text, err := yaml.Marshal(node)
	if err != nil {
		panic(err)
	}
	return strings.TrimRight(visible(string(text)), "\n")
}

// flat gives a node and all below it a style without line breaks.
func flat(node *yaml.Node) {
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag == "!!str" && strings.ContainsAny(node.Value, "${}[]:,#\n\"'"):
		node.Style = yaml.DoubleQuotedStyle
	case node.Kind != yaml.ScalarNode:
		node.Style = yaml.FlowStyle
	}
	for _, child := range node.Content {
		flat(child)
	}
}

// block writes a value with a line for every member.
func block(value any) string {
	node := nodeOf(value)
	quoteVariables(node)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		panic(err)
	}
	return visible(out.String())
}

// quoteVariables lets texts with variables stay texts, whatever stands in the variables: digits without quotes are a number.
func quoteVariables(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Style == 0 && strings.Contains(node.Value, "${") {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		quoteVariables(child)
	}
}

// visible writes what a terminal would obey, or a reader take for the end of a line, as the escapes that YAML and Go share. They stand in double quotes only,
// as textNode has seen to.
func visible(text string) string {
	var b strings.Builder
	for part := range strings.SplitAfterSeq(text, "\n") {
		cells := strings.Split(strings.TrimSuffix(part, "\n"), "\t")
		for i, cell := range cells {
			cells[i] = inert.Line(cell)
		}
		b.WriteString(strings.Join(cells, "\t"))
		if strings.HasSuffix(part, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
