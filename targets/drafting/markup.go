package drafting

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// leaf matches an element that holds a text and nothing else.
var leaf = regexp.MustCompile(`<((?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*)(?:\s[^<>]*[^<>/])?>([^<>]+)</`)

var (
	// attribute matches an attribute of an element, without a prefix.
	attribute = regexp.MustCompile(`\s([A-Za-z_][\w.-]*)="([^"<&]+)"`)
	// ofDocument matches what attributes are called that say how the document is written.
	ofDocument = regexp.MustCompile(`(?i)^(xmlns|encoding|standalone|.*version|lang|schema\w*)$`)
)

// ofTag reports that a text ends within the tag of an element.
func ofTag(text string) bool {
	open := strings.LastIndexByte(text, '<')
	return open >= 0 && open > strings.LastIndexByte(text, '>') && !strings.HasPrefix(text[open:], "<?") && !strings.HasPrefix(text[open:], "<!")
}

// isMarkup reports that a text is XML, as that of a message of SOAP.
func isMarkup(text string) bool {
	text = strings.TrimSpace(text)
	decoder := xml.NewDecoder(strings.NewReader(text))
	for strings.HasPrefix(text, "<") {
		if _, err := decoder.Token(); err != nil {
			return err.Error() == "EOF"
		}
	}
	return false
}

// readMarkup takes the texts of an XML body as its members, and the rest as how they are written. An attribute is one where it is called like an
// id, or where no element holds a text: others say more often how something is meant than what it is.
func (c *Request) readMarkup(text string) {
	c.Body = map[string]any{}
	var written strings.Builder
	last := 0
	places := leaf.FindAllStringSubmatchIndex(text, -1)
	var attributes [][]int
	for _, at := range attribute.FindAllStringSubmatchIndex(text, -1) {
		if name := text[at[2]:at[3]]; ofTag(text[:at[0]]) && !ofDocument.MatchString(name) && (len(places) == 0 || idLike.MatchString(name)) {
			attributes = append(attributes, at)
		}
	}
	places = append(places, attributes...)
	slices.SortFunc(places, func(a, b []int) int { return a[4] - b[4] })
	for _, at := range places {
		value := unescaped(text[at[4]:at[5]])
		if strings.TrimSpace(value) == "" {
			continue
		}
		name := member(text[at[2]:at[3]], c.Body)
		c.Body[name] = value
		written.WriteString(literally(text[last:at[4]]) + "{{." + name + "}}")
		last = at[5]
	}
	c.Written = written.String() + literally(text[last:])
}

// literally is a text that stands for itself in a template.
func literally(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }

// member is the name of an element as a template can say it, and as no other is called.
func member(element string, others map[string]any) string {
	_, local, found := strings.Cut(element, ":")
	if !found {
		local = element
	}
	name := strings.NewReplacer("-", "_", ".", "_").Replace(local)
	for n := 2; others[name] != nil; n++ {
		name = strings.TrimRight(name, "0123456789") + strconv.Itoa(n)
	}
	return name
}

// unescaped is a text of XML without its entities.
func unescaped(text string) string {
	var plain string
	if xml.Unmarshal([]byte("<a>"+text+"</a>"), &plain) != nil {
		return text
	}
	return plain
}

// inText is the pattern by which a body that is no JSON names a value, as the text of an element that is called like an id, or like the
// column, or whatever it is called where the value tells enough.
func inText(body, column, value string, tells bool) contract.Identity {
	for _, found := range leaf.FindAllStringSubmatch(body, -1) {
		_, local, prefixed := strings.Cut(found[1], ":")
		if !prefixed {
			local = found[1]
		}
		if unescaped(strings.TrimSpace(found[2])) != value || !tells && !idLike.MatchString(local) && squeezed(local) != squeezed(column) {
			continue
		}
		named := contract.Identity{Pattern: fmt.Sprintf(`<(?:[\w.-]+:)?%s(?:\s[^<>]*)?>\s*([^<>]*[^<>\s])\s*</`, regexp.QuoteMeta(local))}
		if named.In(body) == value {
			return named
		}
	}
	for _, at := range attribute.FindAllStringSubmatchIndex(body, -1) {
		name := body[at[2]:at[3]]
		if body[at[4]:at[5]] != value || !ofTag(body[:at[0]]) || !tells && !idLike.MatchString(name) && squeezed(name) != squeezed(column) {
			continue
		}
		named := contract.Identity{Pattern: fmt.Sprintf(`<[\w.:-]+(?:\s[^<>]*)?\s%s="([^"]+)"`, regexp.QuoteMeta(name))}
		if named.In(body) == value {
			return named
		}
	}
	return contract.Identity{}
}
