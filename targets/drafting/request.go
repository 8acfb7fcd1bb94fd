package drafting

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Request is a request that was sent before: recorded, or given as a curl command.
type Request struct {
	Method    string
	URL       *url.URL
	Header    [][2]string // in their order
	Text      string      // of the body as it was sent; empty: it is not known, or there was none
	Body      map[string]any
	Form      bool   // the body was sent as a form; if not, as JSON
	Multipart bool   // the form was sent in parts
	Written   string // template of a body of another kind, in which the members stand; empty: it was none
	Query     bool   // it had no body: the members were parameters of the URL, which has the others
	Status    int    // that it was answered; 0: not known
	Answer    any    // JSON; nil: not known
	Page      string // path and query of the page with the form; empty: not known
	TLS       Certificates
	Files     []Upload // that the form names
}

// Certificates are the files by which a target in TLS is spoken to; empty: none is named.
type Certificates struct{ CA, Certificate, Key string }

// errNoObject is why a body cannot be that of a create.
var errNoObject = errors.New("its body is no JSON object, no list of them, no form and no XML, and no Content-Type calls it a text")

// read reads a body: JSON, XML, what is called a text, or else a form. A failed reading of an object has left no member.
func (c *Request) read(text string) error {
	c.Text = text
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&c.Body); err == nil && c.Body != nil && !decoder.More() {
		c.Body = numbers(c.Body).(map[string]any)
		return nil
	}
	if c.readList(text) {
		return nil
	}
	if isMarkup(text) {
		c.readMarkup(text)
		return nil
	}
	if c.readText(text) {
		return nil
	}
	return c.readForm(text)
}

// formText is a form as it is sent.
var formText = regexp.MustCompile(`^[^=&{}\[\]\s"]+(\[[^=&]*\])*=[^&]*(&[^=&]+=[^&]*)*$`)

// readForm reads a form. A text that only happens to have an equals sign is none.
func (c *Request) readForm(text string) error {
	values, err := url.ParseQuery(text)
	if err != nil || !formText.MatchString(text) {
		return errNoObject
	}
	c.Form, c.Body = true, map[string]any{}
	for name, all := range values {
		if len(all) > 1 {
			return fmt.Errorf("its form has %s more than once", name)
		}
		c.Body[name] = all[0]
	}
	return nil
}

// readQuery takes the parameters of a request without a body for its members, each of which stands there once; false: there is none, or they are
// something else. What may be a secret or a key stays in the URL.
func (c *Request) readQuery() bool {
	var kept []string
	c.Query, c.Body = true, map[string]any{}
	for part := range strings.SplitSeq(c.URL.RawQuery, "&") {
		name, value, err := parameter(part)
		_, again := c.Body[name]
		switch {
		case err != nil:
			return false
		case HoldsSecret(name) || isSession(name, value) || squeezed(name) == "key" || NamesKey(name) || keyName.MatchString(squeezed(name)) || uuidLike.MatchString(value):
			kept = append(kept, part)
		case again:
			return false
		case part != "":
			c.Body[name] = value
		}
	}
	plain := *c.URL
	plain.RawQuery = strings.Join(kept, "&")
	c.URL = &plain
	return len(c.Body) > 0
}

// parameter is the name and the value of one parameter of a query.
func parameter(part string) (name, value string, err error) {
	name, value, _ = strings.Cut(part, "=")
	if name, err = url.QueryUnescape(name); err == nil {
		value, err = url.QueryUnescape(value)
	}
	return name, value, err
}

// numbers makes whole numbers int64, and the others float64.
func numbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		real, _ := value.Float64()
		return real
	case []any:
		for i := range value {
			value[i] = numbers(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = numbers(value[name])
		}
	}
	return value
}

// Draft turns the request into a draft, with variables for what may be secret. Variables begin with a prefix, such as SHOP.
func (c Request) Draft(prefix string) Draft {
	d := Draft{
		Name: c.name(), Method: c.Method, Path: Escape(cmp.Or(c.URL.EscapedPath(), "/")),
		Header: map[string]string{}, Given: map[string]string{}, Templates: map[string]string{}, Body: c.Body, Payload: Payload{c.Form, c.Multipart, c.Written, c.Query},
		Identity: idIn(c.Answer),
	}
	if mutation := mutationOf(c.Body); mutation != "" && !c.Form {
		d.GraphQL, d.Name = true, "create_"+mutation[:min(len(mutation), 50)]
		if members, written, inside := arguments(c.Body); inside {
			d.Body, d.Written = members, written
			d.Header["Content-Type"] = "application/json"
		}
	}
	if c.Status != 0 {
		d.Statuses = []int{c.Status}
	}
	c.query(&d, prefix)
	signature := readSignature(&d, c, prefix)
	for _, h := range c.Header {
		if !slices.Contains(signature, h[0]) {
			d.header(h[0], h[1], prefix)
		}
	}
	if d.listed() {
		AsList(&d)
	}
	if kind := c.mediaType(); isText(kind) && kind != "text/plain" && c.Written != "" && d.Header["Content-Type"] == "" {
		d.Header["Content-Type"] = kind
	}
	d.members(prefix)
	if c.Page != "" && c.Form {
		d.page(Escape(c.Page))
	}
	return d
}

// name is create and the last word of the path that is no id.
func (c Request) name() string {
	path := c.URL.Path
	for lastOf(path) == "" && path != "" || drawn(lastOf(path)) {
		path = strings.TrimSuffix(strings.TrimSuffix(path, lastOf(path)), "/")
	}
	segments := regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`).FindAllString(path, -1)
	if len(segments) == 0 {
		return "create"
	}
	return "create_" + segments[len(segments)-1][:min(len(segments[len(segments)-1]), 50)]
}

// idIn points to the id in an answer, which may be wrapped once; empty: it names none.
func idIn(answer any) string {
	object, _ := answer.(map[string]any)
	for _, name := range []string{"id", "_id", "uuid", "ID", "guid"} {
		if object[name] != nil {
			return jsonpointer.Of(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		inner, wrapped := object[name].(map[string]any)
		if pointer := idIn(inner); wrapped && strings.Count(pointer, "/") == 1 {
			return jsonpointer.Of(name) + pointer
		}
	}
	return ""
}

// secretName matches names of headers, parameters and members that may hold a secret: an author or a secretary is none.
var secretName = regexp.MustCompile(`(?i)auth([^o]|o[^r]|$)|authori[sz]|cookie|token|secret([^a]|$)|passw|passphrase|pwd|api[-_]?key|session([-_]?(id|key|token))?$|signature|credential|csrf|xsrf|cvv|cvc|iban|card[-_]?number|\bpin\b`)

// aboutSecret matches names of what is said of secrets, such as how long a password is good, and that are none.
var aboutSecret = regexp.MustCompile(`(?i)(expir(y|es|ation)|days|length|policy|strength|enabled|required|changed)([-_]?(in|at|days))?$`)

// HoldsSecret reports that a header, a parameter or a member that is called so may hold a secret.
func HoldsSecret(name string) bool {
	return secretName.MatchString(name) && !aboutSecret.MatchString(name)
}

// sessionName matches short names of a session, which also a short name of something else may be.
var sessionName = regexp.MustCompile(`(?i)^(php|j)?(sid|sess(ion)?[-_]?id)$`)

// isSession reports that what is called so is the id of a session, by its length and its digits: who has it acts as its user.
func isSession(name, value string) bool {
	return sessionName.MatchString(name) && len(value) >= 16 && drawn(value)
}

// aSwitch matches values that say yes or no.
var aSwitch = regexp.MustCompile(`(?i)^([01]|true|false|yes|no|on|off)$`)

// saysNothing reports that a value is a switch, or has neither letter nor digit, and so is no secret, whatever a header or parameter is called.
func saysNothing(value string) bool {
	letterOrDigit := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return aSwitch.MatchString(value) || value != "" && !strings.ContainsFunc(value, letterOrDigit)
}

// query writes the parameters into the path. A parameter that may hold a secret becomes a
// variable.
func (c Request) query(d *Draft, prefix string) {
	var parts []string
	for part := range strings.SplitSeq(c.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if (HoldsSecret(name) || isSession(name, value) || strings.EqualFold(name, "key")) && !saysNothing(value) {
			value = d.variable(Variable(prefix, name), value)
		} else {
			value = Escape(value)
		}
		parts = append(parts, Escape(name)+"="+value)
	}
	if c.URL.RawQuery != "" {
		d.Path += "?" + strings.Join(parts, "&")
	}
}

// variable keeps a value away from the file and returns what stands for it there.
func (d *Draft) variable(name, value string) string {
	if !slices.Contains(d.Needed, name) {
		d.Needed = append(d.Needed, name)
	}
	if value != "" {
		d.Given[name] = value
	}
	return "${" + name + "}"
}

// freeVariable is the name of a variable, with a number behind it where one of that name stands for something else, as in a list of two accounts.
func freeVariable(given map[string]string, name, value string) string {
	free := name
	for n := 2; ; n++ {
		if was, taken := given[free]; !taken || was == value {
			return free
		}
		free = fmt.Sprintf("%s_%d", name, n)
	}
}

// ofTheClient are headers that clients and browsers add by themselves.
func ofTheClient() []string {
	return []string{
		"accept", "accept-encoding", "accept-language", "accept-charset", "connection", "content-length", "content-type", "host", "origin", "referer",
		"user-agent", "priority", "dnt", "cache-control", "pragma", "te", "upgrade-insecure-requests", "if-none-match", "if-modified-since", "keep-alive",
		"save-data", "traceparent", "tracestate", "baggage", "sentry-trace", "x-client-data", "newrelic", "x-datadog-trace-id", "x-datadog-parent-id",
		"x-datadog-origin", "x-datadog-sampling-priority",
	}
}

// header takes one header; those that every client sends are left to the client.
func (d *Draft) header(name, value, prefix string) {
	lower := strings.ToLower(name)
	shell := shellVariable.FindStringSubmatch(value)
	switch {
	case lower == "content-type" && (strings.Contains(value, "+json") || strings.Contains(value, "xml")): // a server may refuse the plain one
		d.Header[name] = Escape(value)
	case lower == "if-none-match" && value == "*": // a condition of the create, and no cache's
		d.Header[name] = value
	case lower == "accept-encoding" && strings.Contains(strings.ToLower(value), "gzip"): // what is kept of an answer may be packed, and runs can read this
		d.Header["Accept-Encoding"] = "gzip" // as it is looked for when a request is exported
	case lower == "user-agent" && shell == nil:
		d.Agent = Escape(value)
	case slices.Contains(ofTheClient(), lower) || strings.HasPrefix(lower, "sec-") || strings.HasPrefix(name, ":") || name == "":
	case NamesKey(name):
		d.Key, d.KeyGiven = InHeader(name), value
	case shell != nil:
		d.Header[name] = shell[1] + d.variable(cmp.Or(shell[2], shell[3]), "")
	case lower == "authorization":
		scheme, secret, two := strings.Cut(value, " ")
		if !two {
			scheme, secret = "", value
		}
		word := map[string]string{"bearer": "TOKEN", "basic": "BASIC"}[strings.ToLower(scheme)]
		d.Header[name] = strings.TrimSpace(scheme + " " + d.variable(Variable(prefix, cmp.Or(word, "AUTHORIZATION")), secret))
	case (HoldsSecret(name) || strings.HasSuffix(lower, "key")) && !saysNothing(value):
		d.Header[name] = d.variable(Variable(prefix, name), value)
	default:
		d.Header[name] = Escape(value)
	}
}

// shellVariable is a value that the shell takes from the environment, perhaps after the name of a scheme.
var shellVariable = regexp.MustCompile(`^((?:[A-Za-z]+ )?)\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$`)

// plainWord is a text that means nothing to a program, as far as can be seen.
var plainWord = regexp.MustCompile(`^\pL+$`)

// anotherAmount is an amount that is larger by one, and written as the given one is.
func anotherAmount(text string) string {
	at := strings.IndexAny(text, ".,")
	whole, err := strconv.ParseInt(text[:at], 10, 64)
	if err != nil || whole < 0 {
		return "1" + text[at:]
	}
	return strconv.FormatInt(whole+1, 10) + text[at:]
}

// larger is a number, or one in a text, that is larger by one; nil: it is none.
func larger(value any) any {
	switch value := value.(type) {
	case int64:
		return value + 1
	case float64:
		return value + 1
	case string:
		if amountLike.MatchString(value) {
			return anotherAmount(value)
		}
		if whole, err := strconv.ParseInt(value, 10, 64); err == nil {
			return strconv.FormatInt(whole+1, 10)
		}
	}
	return nil
}

// members finds out what the members of the body are for, by their names and values.
func (d *Draft) members(prefix string) {
	d.keyed()
	likely, spare := map[string]int{}, []string(nil)
	Scalars("", d.Body, func(pointer string, value any) {
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		if d.document(pointer) {
			return
		}
		switch value := value.(type) {
		case string:
			rank, ok := Likely(name)
			switch {
			case HoldsSecret(name) || isSession(name, value):
				if !saysNothing(value) {
					d.Templates[pointer] = d.variable(freeVariable(d.Given, Variable(prefix, name), value), value)
				}
			case uuidBehind.MatchString(value): // whatever it is called, it is no text of people
			case ok || strings.Contains(strings.TrimSpace(value), " ") && !dateLike.MatchString(value):
				d.Texts = append(d.Texts, pointer)
				likely[pointer] = rank
			case plainWord.MatchString(value) && !oneOfFew(pointer, value):
				spare = append(spare, pointer)
			case amountLike.MatchString(value), d.textual():
				if more := larger(value); more != nil {
					d.Others = append(d.Others, Other{Pointer: pointer, Value: more})
				}
			}
		case int64, float64:
			d.Others = append(d.Others, Other{Pointer: pointer, Value: larger(value)})
		}
	})
	slices.SortStableFunc(d.Texts, func(a, b string) int { return cmp.Compare(likely[a], likely[b]) })
	if len(d.Texts) == 0 { // then a word must do, which may be one of a few that the target takes
		d.Texts = spare
	}
}
