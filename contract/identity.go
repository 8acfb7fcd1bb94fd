package contract

import "encoding/json"

// Identity says where an answer names a thing: at a JSON pointer into its body, in a header, or by a pattern in a body of any
// kind, such as XML. In a file it is the pointer itself, or a mapping with header and pattern. At most one of JSON and Header is set;
// the zero value is nowhere.
type Identity struct {
	JSON    string
	Header  string // its name
	Pattern string // regular expression whose one group is the name, of the header or of the body; empty: the header's whole value
}

// InText reports that it is found by a pattern in the body.
func (i Identity) InText() bool { return i.Header == "" && i.Pattern != "" }

// inHeader is the form of an identity that is no pointer.
type inHeader struct {
	Header  string `yaml:"header" json:"header,omitempty"`
	Pattern string `yaml:"pattern" json:"pattern,omitempty"`
}

// UnmarshalYAML reads a pointer, or a header and a pattern. It has the form that needs no import of a
// YAML library.
func (i *Identity) UnmarshalYAML(decode func(any) error) error {
	if decode(&i.JSON) == nil {
		return nil
	}
	var in inHeader
	err := decode(&in)
	i.Header, i.Pattern = in.Header, in.Pattern
	return err
}

// MarshalJSON writes it as a file has it.
func (i Identity) MarshalJSON() ([]byte, error) {
	if i.Header == "" && !i.InText() {
		return json.Marshal(i.JSON)
	}
	return json.Marshal(inHeader{Header: i.Header, Pattern: i.Pattern})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Identity) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &i.JSON)
	}
	var in inHeader
	err := json.Unmarshal(text, &in)
	i.Header, i.Pattern = in.Header, in.Pattern
	return err
}

// Declared reports whether it is anywhere at all.
func (i Identity) Declared() bool { return i != Identity{} }

// Where names the place, as reports do: the pointer, the header's name, or the body.
func (i Identity) Where() string {
	if i.InText() {
		return "body"
	}
	if i.Header != "" {
		return i.Header
	}
	return i.JSON
}

// String names the place and what of it is the name.
func (i Identity) String() string {
	if i.Pattern == "" {
		return word(i.Where())
	}
	return word(i.Where()) + " by " + i.Pattern
}

// In returns what a header's value, or a body, names; empty: nothing.
func (i Identity) In(value string) string {
	if i.Pattern == "" || value == "" {
		return value
	}
	p := compiled(i.Pattern)
	if p == nil {
		return ""
	}
	if found := p.FindStringSubmatch(value); len(found) > 1 {
		return found[1]
	}
	return ""
}
