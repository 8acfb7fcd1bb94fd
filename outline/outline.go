// Package outline turns a JSON text of any size into a short JSON value that can still be
// compared: what is long in it is folded, which leaves a digest. Equal values have equal digests,
// however they are spelled.
//
// So a history stays small although a target answers with megabytes, and the checker can still say
// that two answers differ, and where. A digest is that of a hash tree: each object and list has
// the digest of its members' digests, with members in the order of their names and numbers in
// their shortest form. A part can then be compared without the whole.
//
// Its functions hold no state and are safe for concurrent use.
package outline

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Outline is a JSON value in which null stands for what is folded. The zero Outline is of no value.
type Outline struct {
	Value  json.RawMessage `json:"value"`
	Folded map[string]Fold `json:"folded,omitempty"` // by JSON pointer
}

// Fold is what is known of a part of a value that is not there.
type Fold struct {
	SHA256 string `json:"sha256"` // of the value, however it is spelled
	Bytes  int    `json:"bytes"`  // of its text, without spaces
}

// The limits of outlines.
const (
	longestText = 256      // bytes of a text that is not folded
	budget      = 16 << 10 // bytes of an outline, and of each object and list in it
	foldBytes   = 100      // that a fold takes in a file
	deepest     = 1000     // nested objects and lists
)

// Of returns the outline of a JSON text; false: it is none, or nested more than 1000 times. Bytes that are not UTF-8 are
// kept apart from each other in texts, as \xE9, and allowed nowhere else.
func Of(text []byte) (Outline, bool) {
	n, ok := read(text)
	if !ok {
		return Outline{}, false
	}
	o := Outline{Value: n.text}
	for _, f := range n.folds {
		if o.Folded == nil {
			o.Folded = map[string]Fold{}
		}
		o.Folded[f.pointer] = f.Fold
	}
	return o, true
}

// At returns the part of the value at a JSON pointer as a fold, whether it is folded or not; false: there is none, or it
// is within a larger fold.
func (o Outline) At(pointer string) (Fold, bool) {
	if f, folded := o.Folded[pointer]; folded {
		return f, true
	}
	var all any
	decoder := json.NewDecoder(bytes.NewReader(escaped(o.Value)))
	decoder.UseNumber()
	if decoder.Decode(&all) != nil {
		return Fold{}, false
	}
	part, found := jsonpointer.Resolve(all, pointer)
	if !found {
		return Fold{}, false
	}
	sum, size := o.sumOf(part, pointer)
	return Fold{SHA256: hex.EncodeToString(sum[:]), Bytes: size}, true
}

// sumOf returns what read has for the value at a place.
func (o Outline) sumOf(value any, at string) (sum [sha256.Size]byte, size int) {
	if f, folded := o.Folded[at]; folded {
		_, _ = hex.Decode(sum[:], []byte(f.SHA256))
		return sum, f.Bytes
	}
	var c *composite
	switch v := value.(type) {
	case map[string]any:
		c = newComposite('{', '}')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			sum, size := o.sumOf(v[name], at+jsonpointer.Of(name))
			c.add(quoted(name), "", node{sum: sum, bytes: size})
		}
	case []any:
		c = newComposite('[', ']')
		for i, element := range v {
			sum, size := o.sumOf(element, at+"/"+strconv.Itoa(i))
			c.add("", "", node{sum: sum, bytes: size})
		}
	default:
		n := scalar(v)
		return n.sum, n.bytes
	}
	c.hash.Sum(sum[:0])
	return sum, c.bytes
}

// quoted is the name of a member before its value.
func quoted(name string) string {
	text, _ := json.Marshal(name) // a text cannot fail
	return string(text) + ":"
}

// Covers returns the pointer of the fold that a place is in; false: it is in none.
func (o Outline) Covers(place string) (string, bool) {
	for at := range o.Folded {
		if Within(place, at) {
			return at, true
		}
	}
	return "", false
}

// Within reports whether a place is at a pointer or below.
func Within(place, at string) bool { return place == at || strings.HasPrefix(place, at+"/") }

// node is a value that was read.
type node struct {
	sum   [sha256.Size]byte
	text  []byte
	bytes int // of the text of the whole value
	folds []folded
}

// folded is a fold and its place.
type folded struct {
	pointer string // from the node on
	Fold
}

// cost is about how many bytes a node takes in a file.
func (n node) cost() int { return len(n.text) + foldBytes*len(n.folds) }

// fold leaves the digest of a node.
func (n node) fold() node {
	n.text = []byte("null")
	n.folds = []folded{{Fold: Fold{SHA256: hex.EncodeToString(n.sum[:]), Bytes: n.bytes}}}
	return n
}

// read reads a text that is one JSON value and nothing else.
func read(text []byte) (node, bool) {
	decoder := json.NewDecoder(bytes.NewReader(escaped(text)))
	decoder.UseNumber()
	n, err := value(decoder, deepest)
	if err != nil {
		return node{}, false
	}
	_, err = decoder.Token()
	return n, err == io.EOF
}

// escaped writes bytes that are not UTF-8 as escapes, which JSON allows in texts only.
func escaped(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	var out bytes.Buffer
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&out, `\\x%02X`, text[0])
		} else {
			out.Write(text[:size])
		}
		text = text[size:]
	}
	return out.Bytes()
}

// value reads one value, with room for so many levels inside it.
func value(decoder *json.Decoder, room int) (node, error) {
	token, err := decoder.Token()
	if err != nil {
		return node{}, err
	}
	delim, composite := token.(json.Delim)
	switch {
	case !composite:
		return scalar(token), nil
	case room == 0:
		return node{}, errors.New("nested too deep")
	case delim == '{':
		return object(decoder, room-1)
	default:
		return list(decoder, room-1)
	}
}

// scalar reads a text, a number, a truth value or null. A long text is folded at once.
func scalar(token json.Token) node {
	if n, ok := token.(json.Number); ok {
		text := Exact(n.String())
		return node{sum: sum('n', []byte(text)), text: []byte(text), bytes: len(text)}
	}
	text, _ := json.Marshal(token) // texts, truth values and null cannot fail
	n := node{sum: sum('s', text), text: text, bytes: len(text)}
	if len(text) > longestText {
		return n.fold()
	}
	return n
}

// composite collects the members of an object, or the elements of a list.
type composite struct {
	begin    byte
	end      byte
	hash     hash.Hash
	bytes    int // of its text
	cost     int
	children []child // but those that cannot fit
}

// child is a member or an element, and where it stands.
type child struct {
	name    string // of a member, as JSON, with its colon
	pointer string
	node
}

// mostChildren is how many fit at all: each takes two bytes.
const mostChildren = budget / 2

// newComposite begins an object or a list. Its first byte goes into the digest, so that [] and {}
// differ.
func newComposite(begin, end byte) *composite {
	c := &composite{begin: begin, end: end, hash: sha256.New(), bytes: 1, cost: 1}
	c.hash.Write([]byte{begin})
	return c
}

// add adds a child. The length of its name goes into the digest before the name, or two names
// could be taken for one.
func (c *composite) add(name, pointer string, n node) {
	c.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
	c.hash.Write([]byte(name))
	c.hash.Write(n.sum[:])
	c.bytes += len(name) + n.bytes + 1
	c.cost += len(name) + n.cost() + 1
	if len(c.children) <= mostChildren {
		c.children = append(c.children, child{name, pointer, n})
	}
}

// object reads an object, and adds its members in the order of their names. Of a name that stands
// there twice the last member counts, as in encoding/json.
func object(decoder *json.Decoder, room int) (node, error) {
	members := map[string]node{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return node{}, err
		}
		text, ok := name.(string)
		if !ok {
			return node{}, errors.New("expected a name")
		}
		if members[text], err = value(decoder, room); err != nil {
			return node{}, err
		}
	}
	c := newComposite('{', '}')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		c.add(quoted(name), jsonpointer.Of(name), members[name])
	}
	_, err := decoder.Token()
	return c.node(), err
}

// list reads a list.
func list(decoder *json.Decoder, room int) (node, error) {
	c := newComposite('[', ']')
	for i := 0; decoder.More(); i++ {
		n, err := value(decoder, room)
		if err != nil {
			return node{}, err
		}
		c.add("", "/"+strconv.Itoa(i), n)
	}
	_, err := decoder.Token()
	return c.node(), err
}

// node folds the largest children until the rest fits; where even that is too long, all of it.
func (c *composite) node() node {
	n := node{bytes: c.bytes}
	c.hash.Sum(n.sum[:0])
	if len(c.children) > mostChildren {
		return n.fold()
	}
	bySize := make([]*child, len(c.children))
	for i := range c.children {
		bySize[i] = &c.children[i]
	}
	slices.SortFunc(bySize, func(a, b *child) int { return cmp.Compare(b.cost(), a.cost()) })
	for _, largest := range bySize {
		short := largest.fold()
		if c.cost <= budget || short.cost() >= largest.cost() {
			break
		}
		c.cost -= largest.cost() - short.cost()
		largest.node = short
	}
	// Even with every child folded, the names alone are too long.
	if c.cost > budget {
		return n.fold()
	}
	var text bytes.Buffer
	text.WriteByte(c.begin)
	for i, member := range c.children {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(member.name)
		text.Write(member.text)
		for _, f := range member.folds {
			n.folds = append(n.folds, folded{member.pointer + f.pointer, f.Fold})
		}
	}
	text.WriteByte(c.end)
	n.text = text.Bytes()
	return n
}

// sum is the digest of a scalar. Kind keeps the number 1 from the text "1".
func sum(kind byte, text []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte{kind}, text...))
}

// isWhole reports that a number is a whole one without a sign, in its shortest form.
func isWhole(text string) bool {
	return text == "0" || text != "" && text[0] != '0' && strings.Trim(text, "0123456789") == ""
}

// What is made exact at most: 1e999999999 would not fit into memory, and a million digits take minutes.
const (
	longestExponent = 400
	longestNumber   = 1000
)

// Exact returns a JSON number in its shortest form: 1, 1.0 and 1e0 become 1. One with more than 1000 characters, or an
// exponent above 400, stays as it is spelled.
func Exact(text string) string {
	if len(text) > longestNumber || isWhole(text) {
		return text
	}
	if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found {
		if n, err := strconv.Atoi(exponent); err != nil || n > longestExponent || n < -longestExponent {
			return text
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if places, finite := r.FloatPrec(); finite {
		return r.FloatString(places)
	}
	return r.RatString()
}
