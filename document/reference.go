package document

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Reference writes what a schema says of a kind of file as Markdown: a table of the keys of the file, and
// one of each part that has a name of its own, in the order in which they are met.
func Reference(out io.Writer, schema []byte) error {
	var root yaml.Node
	if err := yaml.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	b := &book{root: annotated{root.Content[0]}, parts: []string{""}}
	for i := 0; i < len(b.parts); i++ {
		b.table(b.parts[i])
	}
	_, err := io.WriteString(out, b.text.String())
	return err
}

// book is a reference in the making.
type book struct {
	root  annotated
	parts []string // names of definitions that have keys, as they are met; the first is the file itself
	text  strings.Builder
}

// table writes the table of a part.
func (b *book) table(part string) {
	rule := b.root
	if part != "" {
		rule = b.definition(part)
		fmt.Fprintf(&b.text, "\n### %s\n\n", part)
		if said := rule.text("description"); said != "" {
			fmt.Fprintf(&b.text, "%s\n\n", said)
		}
		if short := b.shortForms(rule); short != "" {
			fmt.Fprintf(&b.text, "In short: %s.\n\n", short)
		}
	}
	b.text.WriteString("| Key | Takes | Default | Example | Means |\n|---|---|---|---|---|\n")
	b.rows("", rule)
}

// definition is a part of the schema that has a name of its own.
func (b *book) definition(name string) annotated { return b.root.child("$defs").child(name) }

// rows writes the keys of a mapping below a path.
func (b *book) rows(path string, rule annotated) {
	for _, form := range b.forms(rule) {
		for _, name := range form.keys() {
			b.row(path+name, form.child("properties").child(name), slices.Contains(form.list("required"), name))
		}
		patterns := form.child("patternProperties").node
		if patterns == nil {
			continue
		}
		b.row(path+"NAME", annotated{patterns.Content[1]}, false)
	}
}

// forms are the ways to write a value: one, or the alternatives.
func (b *book) forms(rule annotated) []annotated {
	alternatives := rule.child("anyOf").node
	if alternatives == nil {
		return []annotated{rule}
	}
	var all []annotated
	for _, n := range alternatives.Content {
		all = append(all, annotated{n})
	}
	return all
}

// row writes a key, and those below it that belong to no part of its own.
func (b *book) row(path string, rule annotated, required bool) {
	takes, inner := b.takes(rule)
	leftOut := b.said(rule, "default")
	if required {
		leftOut = "required"
	}
	cells := []string{"`" + path + "`", takes, leftOut, b.said(rule, "examples"), b.said(rule, "description")}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	fmt.Fprintf(&b.text, "| %s |\n", strings.Join(cells, " | "))
	if inner.node != nil {
		b.rows(path+".", inner)
	}
}

// said returns what a rule says of itself, or else the definition that it refers to.
func (b *book) said(rule annotated, keyword string) string {
	for rule.node != nil {
		switch n := rule.child(keyword).node; {
		case n == nil:
		case keyword == "description":
			return n.Value
		case keyword == "examples":
			return "`" + inline(n.Content[0]) + "`"
		default:
			return "`" + inline(n) + "`"
		}
		rule = b.referred(rule)
	}
	return ""
}

// referred is the definition that a rule refers to; the zero value: it refers to none.
func (b *book) referred(rule annotated) annotated {
	name, found := strings.CutPrefix(rule.text("$ref"), "#/$defs/")
	if !found {
		return annotated{}
	}
	return b.definition(name)
}

// inline writes a value of a schema in one line of YAML.
func inline(n *yaml.Node) string {
	plain := *n
	plain.Style = 0
	if n.Kind != yaml.ScalarNode {
		var parts []string
		for i, entry := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				parts = append(parts, inline(entry))
			case i%2 == 0:
				parts = append(parts, entry.Value+": "+inline(n.Content[i+1]))
			}
		}
		if n.Kind == yaml.SequenceNode {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	text, err := yaml.Marshal(&plain)
	if err != nil {
		return n.Value
	}
	return strings.TrimSpace(string(text))
}

// takes says in words what a key takes, and which rule has the keys below it, if these are not a part of
// their own.
func (b *book) takes(rule annotated) (words string, inner annotated) {
	if name, found := strings.CutPrefix(rule.text("$ref"), "#/$defs/"); found {
		definition := b.definition(name)
		if !b.hasKeys(definition) {
			return b.takes(definition)
		}
		if !slices.Contains(b.parts, name) {
			b.parts = append(b.parts, name)
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name)), annotated{}
	}
	if rule.child("items").node != nil {
		of, inner := b.takes(rule.child("items"))
		return "list of " + strings.TrimPrefix(strings.TrimPrefix(of, "a "), "an "), inner
	}
	if b.hasKeys(rule) {
		words = "mapping"
		if short := b.shortForms(rule); short != "" {
			words = short + " or mapping"
		}
		return words, rule
	}
	return b.scalar(rule), annotated{}
}

// hasKeys reports whether a value can be a mapping whose keys the schema knows.
func (b *book) hasKeys(rule annotated) bool {
	return slices.ContainsFunc(b.forms(rule), func(form annotated) bool {
		return len(form.keys()) > 0 || form.child("patternProperties").node != nil
	})
}

// shortForms says what may stand instead of a mapping.
func (b *book) shortForms(rule annotated) string {
	var short []string
	for _, form := range b.forms(rule) {
		if !b.hasKeys(form) {
			words, _ := b.takes(form)
			short = append(short, words)
		}
	}
	return strings.Join(short, " or ")
}

// scalar says what a value without keys may be.
func (b *book) scalar(rule annotated) string {
	if values := rule.child("enum").node; values != nil {
		var words []string
		for _, value := range values.Content {
			words = append(words, "`"+value.Value+"`")
		}
		return strings.Join(words, ", ")
	}
	if value := rule.child("const"); value.node != nil {
		return "`" + value.node.Value + "`"
	}
	if expected := rule.text("x-expected"); expected != "" {
		return expected
	}
	if forms := b.forms(rule); len(forms) > 1 {
		return b.shortForms(rule)
	}
	var names []string
	for _, name := range rule.types() {
		names = append(names, typeWords(name))
	}
	return strings.Join(names, " or ")
}

// list returns the texts of a list.
func (a annotated) list(name string) []string {
	n := a.child(name).node
	if n == nil {
		return nil
	}
	var texts []string
	for _, entry := range n.Content {
		texts = append(texts, entry.Value)
	}
	return texts
}

// types returns the types that a rule names.
func (a annotated) types() []string {
	if name := a.text("type"); name != "" {
		return []string{name}
	}
	return a.list("type")
}
