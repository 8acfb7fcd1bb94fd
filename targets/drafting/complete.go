package drafting

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// The templates that the file uses most.
const (
	markerTemplate    = "{{.Intent.Marker}}"
	referenceTemplate = "{{.Intent.Reference}}"
)

// cloneTexts copies texts by name; it never returns nil, so that the copy can be written to.
func cloneTexts(m map[string]string) map[string]string {
	copied := maps.Clone(m)
	if copied == nil {
		copied = map[string]string{}
	}
	return copied
}

// settle decides which member of the body carries the marker, which ones have to differ from create to
// create, and which one an altered body changes.
func (f *File) settle() error {
	d := &f.Draft
	d.Templates = cloneTexts(d.Templates)
	text := ""
	switch {
	case f.Proof != nil && f.Proof.ByKey: // nothing carries a marker
	case f.Proof != nil:
		text = f.Proof.Text
	case d.Number != "":
		text = d.Number
		f.Doubt("Whether %s may be any number of nine digits: the marker goes there, because no member of the body takes any text.", text)
	case len(d.Texts) > 0:
		text = d.Texts[0]
		f.Doubt("Whether %s is stored as it is: the marker goes there, because its name or schema allows any text.", text)
	default:
		if text = d.anyText(); text == "" {
			return fmt.Errorf("%s %s has no text in its body that could hold a marker, by which rows are found", d.Method, d.Path)
		}
		f.Doubt("Where a marker can go: no member of the body takes any text for certain, so it goes to %s.", text)
	}
	if f.Proof == nil || !f.Proof.ByKey {
		d.Templates[text] = d.marking(text)
	}
	if f.Proof != nil && f.Proof.ByReference {
		d.Templates[text] = strings.Replace(d.Templates[text], markerTemplate, referenceTemplate, 1)
	}
	for _, pointer := range f.same {
		f.Doubt("Whether %s must be as the source has it: it is the same in each create, as a create with another address was refused.", pointer)
	}
	f.differs()
	f.distinguish()
	distinguishMade(f)
	elements(f)
	f.apart()
	f.alter = f.chooseAlter()
	switch {
	case f.alter == nil:
	case f.learnt.replacing != nil:
		doubtReplacing(f)
	case !d.Keyed() && f.Proof != nil && !f.Proof.ByReference && slices.Contains(f.learnt.natural, text):
		f.Doubt("Whether another body with the same %s is refused: rows are found by it, so each body has its own. Runs send none.", text)
		f.alter.unsent = true
	}
	return nil
}

// upserting matches what an operation is called, or is said to do, that replaces what is there.
var upserting = regexp.MustCompile(`(?i)\bupserts?\b|_upsert\b|upsert_|[a-z]Upsert\b|\b(create|insert|add)[-_ ]?or[-_ ]?(update|replace|overwrite)|\b(update|replace)[-_ ]?or[-_ ]?(create|insert|add)|CreateOrUpdate|OrReplace`)

// doubtReplacing says that another body replaced the first one. A PUT may, and so may a request that is answered as a change of what is
// there. It is not sent then. One that is answered as if it were new, or has a key that makes it the first one, is sent.
func doubtReplacing(f *File) {
	d, at := f.Draft, "key"
	if f.learnt.natural != nil {
		at = strings.Join(f.learnt.natural, ", ")
	}
	doubt := fmt.Sprintf("Whether another body with the same %s may replace the first one: it did, though the first was acknowledged (%s changed)", at, f.alter.Pointer)
	if says := upserting.FindString(d.Path + " " + d.Name + " " + d.Summary); says != "" {
		f.Doubt("%s. It is taken to be meant, as the source says %q. If it must not, add %s to the operation.", doubt, says, "alter: "+flow(changing(f, f.alter.Value)))
		f.alter.unsent = true
		return
	}
	retry := f.learnt.natural == nil && (d.Key.In == contract.KeyInHeader || d.Key.In == contract.KeyInQuery || d.Key.In == contract.KeyInCookie)
	if d.Method == http.MethodPost && (retry || f.learnt.replacing.Status == http.StatusCreated) {
		f.Doubt("%s, and was answered %d as the first one was. Runs will show it as a broken promise; if it may, take alter out.", doubt, f.learnt.replacing.Status)
		return
	}
	f.Doubt("%s. If it must not, add %s to the operation.", doubt, "alter: "+flow(changing(f, f.alter.Value)))
	f.alter.unsent = true
}

// anyText is the first text of the body.
func (d *Draft) anyText() string {
	found := ""
	Scalars("", d.Body, func(pointer string, value any) {
		if _, isText := value.(string); isText && found == "" && d.Templates[pointer] == "" {
			found = pointer
		}
	})
	return found
}

// alteration is what an altered body changes.
type alteration struct {
	Other
	column string // that stores it; empty: not known
	unsent bool   // it may replace the first one, or is of another thing
	marker bool   // it has another marker, and its value is a template
}

// namesAnother is the end of a pointer to the id of something else, of which there may be no other.
var namesAnother = regexp.MustCompile(`[/_-](?i:id|uuid|guid)$|[a-z](Id|ID|Uuid)$`)

// chooseAlter prefers what is stored, and a number before a text before anything else. A list is replaced as a whole, so what stands in one is
// altered only where nothing else can be.
func (f *File) chooseAlter() *alteration {
	if f.Draft.Changes() && !f.Draft.Keyed() && !Conditional(f.Draft) {
		return nil
	}
	var best, listed *alteration
	for _, o := range append(slices.Clone(f.Draft.Others), otherTexts(f)...) {
		a, can := alterable(f, o)
		kind := &best
		if list, _ := listAbove(f.Draft.Body, o.Pointer); list != "" {
			kind, can = &listed, can && !drawsIn(f, list)
		}
		if can && (*kind == nil || a.worth() > (*kind).worth()) {
			*kind = &a
		}
	}
	if best == nil {
		best = listed
	}
	if best == nil {
		best = alteredMarker(f)
	}
	if best == nil {
		f.Doubt("What another body could be: nothing in it can be altered safely, so there is no alter.")
	}
	return best
}

// alteredMarker lets an altered body differ in its marker alone, which is another one in each body, where there is nothing else to alter, as in a
// message that has no member but its text; nil: it has a marker around which more stands, or none of its own.
func alteredMarker(f *File) *alteration {
	p := f.Proof
	if p == nil || !f.Draft.Keyed() || p.ByReference || p.ByKey || f.Draft.Templates[p.Text] != markerTemplate || slices.Contains(p.Unfit, p.Text) {
		return nil
	}
	if list, _ := listAbove(f.Draft.Body, p.Text); list != "" {
		return nil
	}
	return &alteration{Other: Other{p.Text, markerTemplate}, marker: true}
}

// alterable is another value for a member with the column that stores it; false: it is not altered.
func alterable(f *File, o Other) (alteration, bool) {
	value, there := jsonpointer.Resolve(f.Draft.Body, o.Pointer)
	if !there || f.Draft.document(o.Pointer) || f.Draft.Templates[o.Pointer] != "" || namesAnother.MatchString(o.Pointer) || f.Proof != nil && slices.Contains(f.Proof.Unfit, o.Pointer) {
		return alteration{}, false
	}
	a := alteration{Other: o, column: f.Proof.stored(o.Pointer, value)}
	if a.column == "" {
		if f.Proof.refers(value) {
			return alteration{}, false
		}
		a.column = marked(f, o.Pointer)
	}
	if f.Proof != nil && (!f.Proof.Several.share(a.column) || slices.Contains(f.Proof.Unkept, o.Pointer)) {
		a.column = ""
	}
	return a, true
}

// otherTexts are other values of members that took any text in the one create, and do not carry the marker from then on.
func otherTexts(f *File) []Other {
	var all []Other
	for _, pointer := range f.Draft.Texts {
		if value, _ := jsonpointer.Resolve(f.Draft.Body, pointer); f.Proof != nil && pointer != f.Proof.Text && !f.Draft.document(pointer) {
			if text, isText := value.(string); isText {
				all = append(all, Other{pointer, text + " 2"})
			}
		}
	}
	return all
}

// marked is the column in which the one create has left the marker of a member, and nothing else; empty: none.
func marked(f *File, pointer string) string {
	if f.Proof == nil || !f.Proof.Exact {
		return ""
	}
	marker, which := f.Proof.Row[f.Proof.Column], slices.Index(f.Draft.Texts, pointer)
	for _, c := range f.Proof.Table.Columns {
		if value := f.Proof.Row[c.Name]; f.landed(c.Name, which) && len(value) == len(marker) && value[:len(value)-1] == marker[:len(marker)-1] {
			return c.Name
		}
	}
	return ""
}

// Words are other values of members that hold a word, of which it is not known whether they take another.
func Words(f File) []Other {
	if f.settle() != nil || f.alter != nil {
		return nil
	}
	var all []Other
	for _, pointer := range plainWords(f.Draft) {
		value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
		list, _ := listAbove(f.Draft.Body, pointer)
		if word, isText := value.(string); list == "" && isText && !oneOfFew(pointer, word) && !namesAnother.MatchString(pointer) {
			all = append(all, Other{pointer, word + "a"})
		}
	}
	return all[:min(len(all), mostCarriers)]
}

// number reports that the member holds a number.
func (a alteration) number() bool {
	switch a.Value.(type) {
	case int64, float64:
		return true
	}
	return false
}

// worth is how good an alteration is: whole numbers before fractions and texts, and what is stored
// before what is not, because only a column shows which body took effect.
func (a alteration) worth() int {
	worth := 1
	switch a.Value.(type) {
	case int64:
		worth = 4
	case float64:
		worth = 3
	case string:
		worth = 2
	}
	if a.column != "" {
		worth += 4
	}
	return worth
}

// listAbove is the outermost list that a JSON pointer leads into, and the rest of the pointer; empty: it leads through objects only.
func listAbove(body any, pointer string) (list, rest string) {
	for at, r := range pointer {
		if value, _ := jsonpointer.Resolve(body, pointer[:at]); r == '/' && at > 0 {
			if _, is := value.([]any); is {
				return pointer[:at], pointer[at:]
			}
		}
	}
	return "", ""
}

// drawing matches templates that give another value each time.
var drawing = regexp.MustCompile(`\{\{\s*(unique|random|pick|fake|now)\b`)

// drawsIn reports that a member below a pointer is drawn, and so would be another one in another body.
func drawsIn(f *File, pointer string) bool {
	for at, template := range f.Draft.Templates {
		if strings.HasPrefix(at, pointer+"/") && drawing.MatchString(template) {
			return true
		}
	}
	return false
}

// changing is what is written for another value of the altered member.
func changing(f *File, value any) any {
	if f.alter.marker {
		return changingAt(f, f.alter.Pointer, value)
	}
	return changingAt(f, f.alter.Pointer, escaped(value))
}

// changingAt is what is written for another value of a member: the members above it, and the whole list if it stands in one.
func changingAt(f *File, pointer string, changed any) any {
	if list, rest := listAbove(f.Draft.Body, pointer); list != "" {
		whole, _ := jsonpointer.Resolve(filled(f.Draft.Body, f.Draft.Templates), list)
		pointer, changed = list, Put(whole, rest, changed)
	}
	return nested(pointer, changed)
}

// nested is a value below the members that a JSON pointer goes through.
func nested(pointer string, value any) any {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for _, token := range slices.Backward(tokens) {
		value = map[string]any{jsonpointer.Unescape(token): value}
	}
	return value
}
