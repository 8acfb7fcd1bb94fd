package drafts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
)

// Curl is a request that a command line of curl sends.
type Curl struct {
	Method string
	URL    *url.URL
	Header [][2]string // in the order of the command line
	Body   map[string]any
}

// ReadCurl understands a command line of curl with a JSON object for a body.
func ReadCurl(command string) (Curl, error) {
	words, err := split(command)
	if err != nil {
		return Curl{}, err
	}
	if len(words) == 0 || words[0] != "curl" {
		return Curl{}, errors.New("it does not begin with curl")
	}
	r := reading{}
	if err := r.all(words[1:]); err != nil {
		return Curl{}, err
	}
	return r.curl()
}

// reading is what was read of a command line so far.
type reading struct {
	method, address string
	header          [][2]string
	data            []string
}

// flagsWithValue are the flags that take a value; the ones that are not read say nothing about the request.
func flagsWithValue() map[string]string {
	return map[string]string{
		"-X": "method", "--request": "method", "-H": "header", "--header": "header", "-u": "user", "--user": "user",
		"-d": "data", "--data": "data", "--data-raw": "data", "--data-binary": "data", "--data-ascii": "data", "--json": "json",
		"-b": "cookie", "--cookie": "cookie", "--url": "url", "-A": "", "--user-agent": "", "-e": "", "--referer": "",
		"-o": "", "--output": "", "-w": "", "--write-out": "", "-m": "", "--max-time": "", "--connect-timeout": "", "--retry": "",
		"-x": "", "--proxy": "", "--cacert": "", "-c": "", "--cookie-jar": "", "-D": "", "--dump-header": "", "--resolve": "",
	}
}

func (r *reading) all(words []string) error {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if !strings.HasPrefix(word, "-") {
			if err := r.take("url", word); err != nil {
				return err
			}
			continue
		}
		name, value, joined := cutFlag(word)
		meaning, takes := flagsWithValue()[name]
		if !takes {
			continue
		}
		if !joined {
			if len(words) == 0 {
				return fmt.Errorf("%s has no value", name)
			}
			value, words = words[0], words[1:]
		}
		if err := r.take(meaning, value); err != nil {
			return err
		}
	}
	return nil
}

// cutFlag splits --flag=value and -Xvalue.
func cutFlag(word string) (name, value string, joined bool) {
	if strings.HasPrefix(word, "--") {
		return strings.Cut(word, "=")
	}
	if len(word) > 2 {
		return word[:2], word[2:], true
	}
	return word, "", false
}

func (r *reading) take(meaning, value string) error {
	switch meaning {
	case "method":
		r.method = strings.ToUpper(value)
	case "url":
		if r.address != "" {
			return errors.New("it has more than one URL")
		}
		r.address = value
	case "header":
		name, text, _ := strings.Cut(value, ":")
		r.header = append(r.header, [2]string{strings.TrimSpace(name), strings.TrimSpace(text)})
	case "user":
		r.header = append(r.header, [2]string{"Authorization", "Basic " + base64Of(value)})
	case "cookie":
		r.header = append(r.header, [2]string{"Cookie", value})
	case "data", "json":
		if strings.HasPrefix(value, "@") {
			return errors.New("its body is in a file: put the JSON into the command")
		}
		r.data = append(r.data, value)
	}
	return nil
}

func (r *reading) curl() (Curl, error) {
	address := r.address
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Curl{}, errors.New("it names no URL that begins with http:// or https://")
	}
	if u.User != nil {
		return Curl{}, errors.New("its URL holds a user; give it with -u")
	}
	c := Curl{Method: cmp.Or(r.method, http.MethodPost), URL: u, Header: r.header}
	if len(r.data) == 0 {
		return Curl{}, errors.New("it has no body (-d): a create needs one that can carry a marker")
	}
	decoder := json.NewDecoder(strings.NewReader(strings.Join(r.data, "&")))
	decoder.UseNumber()
	if err := decoder.Decode(&c.Body); err != nil || c.Body == nil || decoder.More() {
		return Curl{}, errors.New("its body is no JSON object")
	}
	c.Body = numbers(c.Body).(map[string]any)
	return c, nil
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

// Draft turns the request into a draft. Variables begin with a prefix, such as SHOP.
func (c Curl) Draft(prefix string) Draft {
	d := Draft{
		Name: c.name(), Method: c.Method, Path: Escape(cmp.Or(c.URL.EscapedPath(), "/")),
		Header: map[string]string{}, Given: map[string]string{}, Templates: map[string]string{}, Body: c.Body,
	}
	c.query(&d, prefix)
	for _, h := range c.Header {
		d.header(h[0], h[1], prefix)
	}
	d.members(prefix)
	return d
}

// name is create and what the path ends with.
func (c Curl) name() string {
	segments := regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(c.URL.Path, -1)
	if len(segments) == 0 {
		return "create"
	}
	return "create_" + segments[len(segments)-1][:min(len(segments[len(segments)-1]), 50)]
}

var secretName = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|pwd|api[-_]?key|session|signature|credential|csrf|xsrf|cvv|cvc|iban|card[-_]?number|\bpin\b`)

func (c Curl) query(d *Draft, prefix string) {
	var parts []string
	for part := range strings.SplitSeq(c.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if secretName.MatchString(name) || strings.EqualFold(name, "key") {
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

// header takes one header; those that every client sends are left to the client.
func (d *Draft) header(name, value, prefix string) {
	lower := strings.ToLower(name)
	client := []string{"accept", "accept-encoding", "accept-language", "connection", "content-length", "content-type", "host", "origin", "referer", "user-agent", "priority", "dnt", "cache-control", "pragma"}
	shell := regexp.MustCompile(`^((?:[A-Za-z]+ )?)\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$`).FindStringSubmatch(value)
	switch {
	case slices.Contains(client, lower) || strings.HasPrefix(lower, "sec-") || name == "":
	case strings.Contains(lower, "idempoten"):
		d.Key = targets.Key{In: targets.KeyInHeader, Name: name}
	case shell != nil:
		d.Header[name] = shell[1] + d.variable(shell[2], "")
	case lower == "authorization":
		scheme, secret, two := strings.Cut(value, " ")
		if !two {
			scheme, secret = "", value
		}
		word := map[string]string{"bearer": "TOKEN", "basic": "BASIC"}[strings.ToLower(scheme)]
		d.Header[name] = strings.TrimSpace(scheme + " " + d.variable(Variable(prefix, cmp.Or(word, "AUTHORIZATION")), secret))
	case secretName.MatchString(name) || strings.HasSuffix(lower, "key"):
		d.Header[name] = d.variable(Variable(prefix, name), value)
	default:
		d.Header[name] = Escape(value)
	}
}

// plainWord is a text that means nothing to a program, as far as can be seen.
var plainWord = regexp.MustCompile(`^\pL+$`)

// members finds out what the members of the body are for, by their names and values.
func (d *Draft) members(prefix string) {
	for _, name := range slices.Sorted(maps.Keys(d.Body)) {
		if _, isText := d.Body[name].(string); isText && d.Key.In == targets.KeyNowhere && strings.Contains(squeezed(name), "idempoten") {
			d.Key = targets.Key{In: targets.KeyInBody, Name: name}
			delete(d.Body, name)
		}
	}
	likely, spare := map[string]int{}, []string(nil)
	Scalars("", d.Body, func(pointer string, value any) {
		name := pointer[strings.LastIndex(pointer, "/")+1:]
		switch value := value.(type) {
		case string:
			rank, ok := Likely(name)
			switch {
			case secretName.MatchString(name):
				d.Templates[pointer] = d.variable(Variable(prefix, name), value)
			case ok || strings.Contains(strings.TrimSpace(value), " "):
				d.Texts = append(d.Texts, pointer)
				likely[pointer] = rank
			case plainWord.MatchString(value):
				spare = append(spare, pointer)
			}
		case int64:
			d.Others = append(d.Others, Other{Pointer: pointer, Value: value + 1})
		}
	})
	slices.SortStableFunc(d.Texts, func(a, b string) int { return cmp.Compare(likely[a], likely[b]) })
	if len(d.Texts) == 0 {
		d.Texts = spare
	}
}
