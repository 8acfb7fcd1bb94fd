package scenarios

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

//go:embed known.schema.json
var knownSchema []byte

// KnownSchema returns the JSON Schema of registers of known bugs.
func KnownSchema() []byte { return bytes.Clone(knownSchema) }

// KnownBug is a bug that a scenario finds and that is expected until it is fixed.
type KnownBug struct {
	Operation string `yaml:"operation,omitempty"` // of the target, that has it; empty: any
	Expect    string `yaml:"expect"`              // kind of its findings
	Detail    string `yaml:"detail,omitempty"`    // of its findings; empty: any
	Link      string `yaml:"link"`                // to the report of the bug
}

// Concerns reports that an operation may have the bug.
func (k KnownBug) Concerns(operation string) bool {
	return k.Operation == "" || k.Operation == operation
}

// Register is the known bugs of built-in scenarios, by their names. Other scenarios have them in
// their own files.
type Register map[string][]KnownBug

// Registered is a line of a register.
type Registered struct {
	Scenario string `yaml:"scenario"`
	KnownBug `yaml:",inline"`
}

// LoadRegister reads a register of known bugs. The error is document.Mistakes where the file has mistakes.
func LoadRegister(file string, data []byte) (Register, error) {
	doc, err := document.Parse(data, document.Options{File: file, Schema: knownSchema})
	if doc == nil {
		return nil, err
	}
	var mistakes document.Mistakes
	collect(&mistakes, err)
	var content struct {
		Known []Registered `yaml:"known"`
	}
	if unfit := doc.Decode(&content); unfit != nil && err == nil {
		return nil, unfit
	}
	mistakes = append(mistakes, unknownScenarios(doc, content.Known, Library())...)
	mistakes = append(mistakes, repeated(doc, content.Known)...)
	register := Register{}
	for _, line := range content.Known {
		register[line.Scenario] = append(register[line.Scenario], line.KnownBug)
	}
	return register, mistakes.Err()
}

// unknownScenarios returns the mistakes of lines whose scenario does not exist.
func unknownScenarios(doc *document.Document, lines []Registered, library []File) document.Mistakes {
	var names []string
	for _, f := range library {
		names = append(names, f.Scenario.Name)
	}
	var mistakes document.Mistakes
	for i, line := range lines {
		path := jsonpointer.Of("known", i, "scenario")
		if doc.Length("/known") != len(lines) || !doc.Sound(path) || slices.Contains(names, line.Scenario) {
			continue
		}
		hint := document.DidYouMean(line.Scenario, names)
		if hint == "" {
			hint = "; known bugs of your own scenario go into its own file, under the key known"
		}
		mistakes = append(mistakes, doc.Mistake(path, "there is no built-in scenario %q%s", line.Scenario, hint))
	}
	return mistakes
}

// repeated returns the mistakes of lines that repeat an earlier one.
func repeated(doc *document.Document, lines []Registered) document.Mistakes {
	var mistakes document.Mistakes
	for i, line := range lines {
		path := jsonpointer.Of("known", i)
		same := func(other Registered) bool {
			return other.Scenario == line.Scenario && other.Operation == line.Operation && other.Expect == line.Expect && other.Detail == line.Detail
		}
		if doc.Length("/known") == len(lines) && doc.Sound(path) && slices.ContainsFunc(lines[:i], same) {
			mistakes = append(mistakes, doc.Mistake(path+"/expect", "this bug is already there"))
		}
	}
	return mistakes
}

// RegisterPart is the lines of a register that are about one bug.
type RegisterPart struct {
	Comment string // above the lines; empty: none
	Lines   []Registered
}

// RegisterSource returns the text of a register, with a comment above all and one above each part. What is there twice is written
// once.
func RegisterSource(comment string, parts []RegisterPart) ([]byte, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	written := map[Registered]bool{}
	for _, part := range parts {
		about := part.Comment
		for _, line := range part.Lines {
			id := line
			id.Link = ""
			if written[id] {
				continue
			}
			written[id] = true
			item := new(yaml.Node)
			if err := item.Encode(line); err != nil {
				return nil, fmt.Errorf("write a register of known bugs: %w", err)
			}
			item.HeadComment, about = about, ""
			list.Content = append(list.Content, item)
		}
	}
	if len(list.Content) == 0 {
		list.Style = yaml.FlowStyle
	}
	root := &yaml.Node{Kind: yaml.MappingNode, HeadComment: comment, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "known"}, list}}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("write a register of known bugs: %w", err)
	}
	return out.Bytes(), nil
}
