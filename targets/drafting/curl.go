package drafting

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// ReadCurl understands a command line of curl with a JSON object, a list of them, XML, a form or only a query.
// Nothing is run, no variable of the shell is filled in, and no file is read that the command
// names: those of a form, and that of a body, are in [Request.Files].
func ReadCurl(command string) (Request, error) {
	words, err := split(command)
	if err != nil {
		return Request{}, err
	}
	if len(words) == 0 || words[0] != "curl" {
		return Request{}, errors.New("it does not begin with curl; a file with the command is given as @FILE")
	}
	r := reading{}
	if err := r.all(words[1:]); err != nil {
		return Request{}, err
	}
	return r.curl()
}

// reading is what was read of a command line so far.
type reading struct {
	method, address string
	header          [][2]string
	data            []string
	file            *Upload // that holds the body
	parts           []part  // of a form (-F)
	tls             Certificates
}

// flagsWithValue are the flags that take a value; the ones that are not read say nothing about the request.
func flagsWithValue() map[string]string {
	return map[string]string{
		"-X": "method", "--request": "method", "-H": "header", "--header": "header", "-u": "user", "--user": "user",
		"-d": "data", "--data": "data", "--data-raw": "raw", "--data-binary": "binary", "--data-ascii": "data", "--json": "json",
		"--data-urlencode": "urlencode", "-F": "part", "--form": "part", "--form-string": "literal-part",
		"-b": "cookie", "--cookie": "cookie", "--url": "url", "-A": "agent", "--user-agent": "agent", "-e": "referer", "--referer": "referer",
		"-o": "", "--output": "", "-w": "", "--write-out": "", "-m": "", "--max-time": "", "--connect-timeout": "", "--retry": "",
		"-x": "", "--proxy": "", "--cacert": "ca", "-E": "certificate", "--cert": "certificate", "--key": "certificate-key", "-c": "", "--cookie-jar": "", "-D": "", "--dump-header": "", "--resolve": "",
		"-U": "", "--proxy-user": "", "--noproxy": "", "--max-redirs": "", "--interface": "", "--limit-rate": "", "--retry-delay": "", "--retry-max-time": "",
		"--capath": "", "--cert-type": "", "--key-type": "", "--ciphers": "", "--connect-to": "", "--dns-servers": "", "--stderr": "", "--trace": "",
		"--trace-ascii": "", "-y": "", "--speed-time": "", "-Y": "", "--speed-limit": "", "--oauth2-bearer": "bearer", "--unix-socket": "socket",
		"--abstract-unix-socket": "socket",
	}
}

// all reads the words behind curl. Flags that are not known are passed over, as most say nothing
// about the request. The value of one, in a word of its own, is then taken for a URL.
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
		if name == "--compressed" {
			r.header = append(r.header, [2]string{"Accept-Encoding", "gzip, deflate"}) // which runs can read
		}
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

// take notes what one flag says.
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
	case "bearer":
		r.header = append(r.header, [2]string{"Authorization", "Bearer " + value})
	case "socket":
		return fmt.Errorf("it goes to the socket %s: give it an address of TCP, and write socket: into the target file afterwards", value)
	case "ca":
		r.tls.CA = value
	case "certificate":
		r.tls.Certificate = value
	case "certificate-key":
		r.tls.Key = value
	case "agent":
		r.header = append(r.header, [2]string{"User-Agent", value})
	case "referer":
		r.header = append(r.header, [2]string{"Referer", value})
	case "cookie":
		r.header = append(r.header, [2]string{"Cookie", value})
	case "data", "json", "binary":
		if path, inFile := strings.CutPrefix(value, "@"); inFile {
			return r.bodyIn(path, meaning == "data")
		}
		r.data = append(r.data, value)
	case "raw":
		r.data = append(r.data, value)
	case "urlencode":
		text, err := urlencoded(value)
		if err != nil {
			return err
		}
		r.data = append(r.data, text)
	case "part":
		r.parts = append(r.parts, part{text: value})
	case "literal-part":
		r.parts = append(r.parts, part{text: value, literal: true})
	}
	return nil
}

// bodyIn notes that the body is what a file holds; one line says that curl takes the ends of its lines out.
func (r *reading) bodyIn(path string, oneLine bool) error {
	switch {
	case path == "-":
		return errors.New("its body comes from the standard input: name the file that holds it")
	case r.file != nil:
		return errors.New("its body is in more than one file")
	}
	r.file = &Upload{Path: path, whole: true, oneLine: oneLine}
	return nil
}

// urlencoded is a member of a form whose value curl encodes: NAME=VALUE, =VALUE or VALUE.
func urlencoded(text string) (string, error) {
	name, value, named := strings.Cut(text, "=")
	switch {
	case !named && strings.Contains(text, "@"):
		return "", errors.New("its body is in a file: put the value into the command")
	case !named:
		return url.QueryEscape(text), nil
	case name == "":
		return url.QueryEscape(value), nil
	default:
		return name + "=" + url.QueryEscape(value), nil
	}
}

// curl makes the request. A command without a method posts, as curl does where there is a body.
func (r *reading) curl() (Request, error) {
	address := r.address
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Request{}, errors.New("it names no URL that begins with http:// or https://")
	}
	if u.User != nil {
		return Request{}, errors.New("its URL holds a user; give it with -u")
	}
	if r.method != "" && !httpguts.ValidHeaderFieldName(r.method) { // a method is a token (RFC 9110), as a header's name is
		return Request{}, fmt.Errorf("%q is no method", r.method)
	}
	c := Request{Method: cmp.Or(r.method, http.MethodPost), URL: u, Header: r.header, TLS: r.tls}
	if len(r.parts) > 0 && len(r.data) > 0 {
		return Request{}, errors.New("it has both a body (-d) and a form (-F)")
	}
	if len(r.parts) > 0 {
		c.Page = c.referer()
		return c, c.readParts(r.parts)
	}
	c.Page = c.referer()
	switch {
	case r.file != nil && len(r.parts)+len(r.data) > 0:
		return Request{}, errors.New("a part of its body is in a file: put all of it there, or into the command")
	case r.file != nil:
		c.Files = []Upload{*r.file}
		return c, nil
	}
	if len(r.data) > 0 {
		return c, c.read(strings.Join(r.data, "&"))
	}
	if r.method != "" && r.method != http.MethodGet {
		if asked := c; asked.readQuery() {
			return asked, nil
		}
		if c.namesKey() {
			c.Query, c.Body = true, map[string]any{}
			return c, nil
		}
	}
	return Request{}, errors.New("it has no body (-d): a create needs one that can carry a marker, a form (-F), or parameters in its URL and a method (-X POST), or an Idempotency-Key and a method")
}

// namesKey reports that a request has an idempotency key in a header: then rows may be found by it, whatever else the request says.
func (c Request) namesKey() bool {
	return slices.ContainsFunc(c.Header, func(h [2]string) bool { return NamesKey(h[0]) && h[1] != "" })
}

// referer is the path and query of the page that the request came from, if that is the target's.
func (c Request) referer() string {
	for _, h := range c.Header {
		page, err := url.Parse(h[1])
		if strings.EqualFold(h[0], "Referer") && err == nil && page.Host == c.URL.Host && strings.HasPrefix(page.Path, "/") {
			return page.RequestURI()
		}
	}
	return ""
}
