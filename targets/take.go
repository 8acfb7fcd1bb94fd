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

// Take says where in an answer a value stands. Exactly one of JSON, Header, Cookie, HTML and Pattern is set.
type Take struct {
	JSON      string `yaml:"json"`      // JSON pointer to a text, a number or a boolean
	Header    string `yaml:"header"`    // name of a header
	Cookie    string `yaml:"cookie"`    // name of a cookie that is set
	HTML      string `yaml:"html"`      // CSS selector; the first element that it matches
	Attribute string `yaml:"attribute"` // of that element; empty: its text
	Pattern   string `yaml:"pattern"`   // regular expression over headers and body, with a group around the value
}

// Answer is an answer as far as values are taken from it.
type Answer struct {
	Header  map[string]string // lines of one name joined by ", "
	Cookies []string          // the lines of Set-Cookie
	Body    string
}

// sources are the members of which exactly one is set.
func (t Take) sources() []string {
	var set []string
	for _, one := range []string{t.JSON, t.Header, t.Cookie, t.HTML, t.Pattern} {
		if one != "" {
			set = append(set, one)
		}
	}
	return set
}

// Secret reports that what is taken is a secret wherever it is taken.
func (t Take) Secret() bool { return t.Cookie != "" }

// From takes the value from an answer. The error says where it was looked for; of the answer it tells names
// and no values, which may be secret.
func (t Take) From(a Answer) (string, error) {
	value, err := t.find(a)
	if err == nil && value == "" {
		err = errors.New("an empty text")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", t, err)
	}
	return value, nil
}

// String names the place as a file does.
func (t Take) String() string {
	switch {
	case t.JSON != "":
		return "json " + t.JSON
	case t.Header != "":
		return "header " + t.Header
	case t.Cookie != "":
		return "cookie " + t.Cookie
	case t.HTML != "" && t.Attribute != "":
		return fmt.Sprintf("html %s, attribute %s", t.HTML, t.Attribute)
	case t.HTML != "":
		return "html " + t.HTML
	default:
		return "pattern " + t.Pattern
	}
}

func (t Take) find(a Answer) (string, error) {
	switch {
	case t.JSON != "":
		return t.inJSON(a.Body)
	case t.Header != "":
		return t.inHeader(a.Header)
	case t.Cookie != "":
		return t.inCookies(a.Cookies)
	case t.HTML != "":
		return t.inHTML(a.Body)
	default:
		return t.byPattern(a)
	}
}

func (t Take) inJSON(body string) (string, error) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", errors.New("the answer is no JSON")
	}
	at, _ := jsonpointer.Resolve(value, t.JSON)
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

func (t Take) inHeader(header map[string]string) (string, error) {
	for name, value := range header {
		if strings.EqualFold(name, t.Header) {
			return value, nil
		}
	}
	return "", errors.New("the answer has no such header")
}

func (t Take) inCookies(lines []string) (string, error) {
	var names []string
	for _, line := range lines {
		cookie, err := http.ParseSetCookie(line)
		switch {
		case err != nil:
		case cookie.Name == t.Cookie:
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

func (t Take) inHTML(body string) (string, error) {
	selector, err := cascadia.Compile(t.HTML)
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
	if t.Attribute == "" {
		return strings.TrimSpace(innerText(element)), nil
	}
	for _, a := range element.Attr {
		if a.Key == t.Attribute {
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
func (t Take) byPattern(a Answer) (string, error) {
	pattern, err := regexp.Compile(t.Pattern)
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

// wrong says what is wrong with the words in which a place is given; empty: nothing.
func (t Take) wrong() (member, complaint string) {
	if len(t.sources()) != 1 {
		return "", "expected exactly one of json, header, cookie, html and pattern"
	}
	if t.Attribute != "" && t.HTML == "" {
		return "attribute", "an attribute is that of an element: it goes with html"
	}
	if t.HTML != "" {
		if _, err := cascadia.Compile(t.HTML); err != nil {
			return "html", "expected a CSS selector such as input[name=token]"
		}
	}
	if t.Pattern != "" {
		pattern, err := regexp.Compile(t.Pattern)
		if err != nil || pattern.NumSubexp() != 1 {
			return "pattern", `expected a regular expression with one group, such as token="([^"]+)"`
		}
	}
	return "", ""
}
