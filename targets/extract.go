package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Extract says where in an answer a value stands. Exactly one of JSON, Header, Cookie, HTML and Pattern is set.
type Extract struct {
	JSON      string `yaml:"json"`      // JSON pointer to a text, a number or a boolean
	Header    string `yaml:"header"`    // name of a header
	Cookie    string `yaml:"cookie"`    // name of a cookie that is set
	HTML      string `yaml:"html"`      // CSS selector; the first element that it matches
	Attribute string `yaml:"attribute"` // of that element; empty: its text
	Pattern   string `yaml:"pattern"`   // regular expression over headers and body, with a group around the value
}

// Answer is the part of an answer from which values can be extracted.
type Answer struct {
	Header  map[string]string // lines of one name joined by ", "
	Cookies []string          // the lines of Set-Cookie
	Body    string
}

// sources are the members of which exactly one is set.
func (e Extract) sources() []string {
	var set []string
	for _, one := range []string{e.JSON, e.Header, e.Cookie, e.HTML, e.Pattern} {
		if one != "" {
			set = append(set, one)
		}
	}
	return set
}

// Secret reports that the value is a secret in every step: it is a cookie.
func (e Extract) Secret() bool { return e.Cookie != "" }

// From extracts the value from an answer. The error says where it looked. Of the answer it names headers, cookies and
// members, but no values: they may be secret.
func (e Extract) From(a Answer) (string, error) {
	value, err := e.find(a)
	if err == nil && value == "" {
		err = errors.New("an empty text")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", e, err)
	}
	return value, nil
}

// String names the place as a file does.
func (e Extract) String() string {
	switch {
	case e.JSON != "":
		return "json " + e.JSON
	case e.Header != "":
		return "header " + e.Header
	case e.Cookie != "":
		return "cookie " + e.Cookie
	case e.HTML != "" && e.Attribute != "":
		return fmt.Sprintf("html %s, attribute %s", e.HTML, e.Attribute)
	case e.HTML != "":
		return "html " + e.HTML
	default:
		return "pattern " + e.Pattern
	}
}

// find looks in the one place that the extract names.
func (e Extract) find(a Answer) (string, error) {
	switch {
	case e.JSON != "":
		return e.inJSON(a.Body)
	case e.Header != "":
		return e.inHeader(a.Header)
	case e.Cookie != "":
		return e.inCookies(a.Cookies)
	case e.HTML != "":
		return e.inHTML(a.Body)
	default:
		return e.byPattern(a)
	}
}

// inJSON reads a text, a number or a boolean. Numbers stay as they are spelled: a float64 would
// round an identity of more than 15 digits.
func (e Extract) inJSON(body string) (string, error) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", errors.New("the answer is no JSON")
	}
	at, _ := jsonpointer.Resolve(value, e.JSON)
	switch found := at.(type) {
	case string:
		return found, nil
	case json.Number, bool:
		return fmt.Sprint(found), nil
	case nil:
		return "", fmt.Errorf("nothing stands there%s", members(value))
	default:
		return "", errors.New("neither a text nor a number nor a boolean stands there")
	}
}

// members names those of an object, without their values.
func members(value any) string {
	object, is := value.(map[string]any)
	if !is || len(object) == 0 {
		return ""
	}
	const most = 10
	names := slices.Sorted(maps.Keys(object))
	return "; the answer has /" + strings.Join(names[:min(len(names), most)], ", /")
}

// inHeader compares names without case (RFC 9110, section 5.1).
func (e Extract) inHeader(header map[string]string) (string, error) {
	for name, value := range header {
		if strings.EqualFold(name, e.Header) {
			return value, nil
		}
	}
	return "", errors.New("the answer has no such header")
}

// inCookies reads the value of a cookie that the answer sets. Its error lists the names of those
// that it sets, and no value.
func (e Extract) inCookies(lines []string) (string, error) {
	var names []string
	for _, line := range lines {
		cookie, err := http.ParseSetCookie(line)
		switch {
		case err != nil:
		case cookie.Name == e.Cookie:
			return cookie.Value, nil
		default:
			names = append(names, cookie.Name)
		}
	}
	if len(names) > 0 {
		return "", fmt.Errorf("the answer does not set it; it sets %s", strings.Join(names, ", "))
	}
	return "", errors.New("the answer does not set it")
}

// inHTML reads the first element that the selector matches: its attribute, or else its text.
func (e Extract) inHTML(body string) (string, error) {
	selector, err := cascadia.Compile(e.HTML)
	if err != nil {
		return "", err
	}
	page, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return "", err
	}
	element := cascadia.Query(page, selector)
	if element == nil {
		return "", errors.New("the page has no such element")
	}
	if e.Attribute == "" {
		return strings.TrimSpace(innerText(element)), nil
	}
	for _, a := range element.Attr {
		if a.Key == e.Attribute {
			return a.Val, nil
		}
	}
	return "", errors.New("the element has no such attribute")
}

// innerText joins the texts in an element, at any depth.
func innerText(element *html.Node) string {
	var text strings.Builder
	for node := range element.Descendants() {
		if node.Type == html.TextNode {
			text.WriteString(node.Data)
		}
	}
	return text.String()
}

// byPattern looks in the headers, a line each and sorted by name, and after an empty line in the body.
func (e Extract) byPattern(a Answer) (string, error) {
	pattern, err := regexp.Compile(e.Pattern)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		fmt.Fprintf(&text, "%s: %s\n", name, a.Header[name])
	}
	fmt.Fprintf(&text, "\n%s", a.Body)
	found := pattern.FindSubmatch(text.Bytes())
	if len(found) < 2 {
		return "", errors.New("nothing in the answer matches")
	}
	return string(found[1]), nil
}

// mistake says what is wrong with an extract, and with which member of it; empty: nothing.
func (e Extract) mistake() (member, text string) {
	if len(e.sources()) != 1 {
		return "", "expected exactly one of json, header, cookie, html and pattern"
	}
	if e.Attribute != "" && e.HTML == "" {
		return "attribute", "attribute needs html: it is an attribute of that element"
	}
	if e.HTML != "" {
		if _, err := cascadia.Compile(e.HTML); err != nil {
			return "html", "expected a CSS selector such as input[name=token]"
		}
	}
	if e.Pattern != "" {
		pattern, err := regexp.Compile(e.Pattern)
		if err != nil || pattern.NumSubexp() != 1 {
			return "pattern", `expected a regular expression with one group, such as token="([^"]+)"`
		}
	}
	return "", ""
}
