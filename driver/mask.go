package driver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// masked stands in records where a secret was.
const masked = "***"

// ShortestSecret is the length from which a secret is masked wherever it stands: shorter ones, such
// as a tenant's number, would tear holes into everything.
const ShortestSecret = 8

// masker takes secrets out of what is recorded. Safe for concurrent use.
type masker struct {
	headers []string // whose values are secret
	texts   []string // that are secret wherever they stand, longest first
	replace *strings.Replacer
}

// newMasker knows the principals' values and what their logins gave, what variables gave, and what the target
// file itself says in a secret header, and takes more. A header that is made of a principal's values or
// login is secret, however short they are.
func (d *Driver) newMasker(more ...string) masker {
	m := masker{headers: append(targets.MaskedHeaders(), d.Target.Redact...)}
	secrets := append(slices.Clone(d.Target.Secrets), more...)
	compared := d.compared()
	public := personal.FindAllString(compared, -1)
	keep := func(kind string, values map[string]string) {
		for name, value := range values {
			if !slices.Contains(public, kind+name) {
				secrets = append(secrets, value)
			}
		}
	}
	for _, p := range d.Principals {
		keep(".Principal.", p.Values)
	}
	for _, taken := range d.Logins {
		keep(".Login.", taken)
	}
	d.mu.Lock()
	secrets = append(secrets, d.secret...)
	d.mu.Unlock()
	for _, q := range d.templates() {
		for name, value := range q.Header {
			if strings.Contains(value, ".Principal") || strings.Contains(value, ".Login") {
				m.headers = append(m.headers, name)
			}
			if m.isSecret(name) && !strings.Contains(value, "{{") {
				secrets = append(secrets, words(value)...)
			}
		}
	}
	for _, secret := range secrets {
		if len(secret) >= ShortestSecret && !strings.Contains(compared, secret) {
			m.texts = append(m.texts, Writings(secret)...)
		}
	}
	slices.SortFunc(m.texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	m.texts = slices.Compact(m.texts)
	m.replace = m.except("")
	return m
}

// except is what takes the secrets out of a text, but not out of the public text in it.
func (m masker) except(public string) *strings.Replacer {
	var pairs []string
	for _, text := range m.texts {
		if len(text) <= len(public) {
			pairs, public = append(pairs, public, public), ""
		}
		pairs = append(pairs, text, masked)
	}
	return strings.NewReplacer(pairs...)
}

// personal is what a template takes of a principal or of its login.
var personal = regexp.MustCompile(`\.(?:Principal|Login)\.\w+`)

// compared is what rows must hold, as templates say it: that is no secret, or it could not be compared.
func (d *Driver) compared() string {
	var texts []string
	for _, o := range d.Operations {
		texts = append(texts, o.Compared()...)
	}
	return strings.Join(texts, "\n")
}

// remask makes what is recorded from now on be without the secrets that are known now.
func (d *Driver) remask() {
	m := d.newMasker()
	d.masks.Store(&m)
}

// mask takes out the secrets that were known at the last remask, which Drive and SetUp begin with.
func (d *Driver) mask() masker { return *d.masks.Load() }

// templates returns all requests that the driver may send, as far as their headers go.
func (d *Driver) templates() []targets.Request {
	var all []targets.Request
	steps := slices.Clone(d.Target.Login)
	for _, o := range d.Operations {
		all = append(all, o.Request)
		if o.Rows.HTTP != nil {
			all = append(all, targets.Request{Header: o.Rows.HTTP.Header})
		}
		steps = slices.Concat(steps, o.Prepare, o.Key.Issued, o.Remove, o.Cleanup)
	}
	for _, step := range steps {
		all = append(all, step.Request)
	}
	return all
}

// SpellsOut reports that a header of a question about an operation's rows is secret, and that its text in the
// target file is all there is to it: given reports that a text comes from elsewhere.
func (d *Driver) SpellsOut(given func(text string) bool) bool {
	m := d.newMasker()
	for _, o := range d.Operations {
		if o.Rows.HTTP == nil {
			continue
		}
		for name, value := range o.Rows.HTTP.Header {
			if m.isSecret(name) && !strings.Contains(value, ".Principal") && !strings.Contains(value, ".Login") && !given(value) {
				return true
			}
		}
	}
	return false
}

// words takes a header such as "Bearer token" or "a=token; b=token" apart.
func words(header string) []string {
	return strings.FieldsFunc(header, func(c rune) bool { return strings.ContainsRune(" ;,=", c) })
}

// Writings returns a text as it stands in JSON, in JSON that is fit for HTML, and in URLs.
func Writings(text string) []string {
	query := url.QueryEscape(text)
	return []string{text, inJSON(text, true), inJSON(text, false), query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(text)}
}

func inJSON(text string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(text)
	quoted := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return string(quoted[1 : len(quoted)-1])
}

func (m masker) body(b history.Body) history.Body {
	b.Header, b.Path, b.Content, b.Says = m.header(b.Header), m.text(b.Path), m.content(b.Content), m.content(b.Says)
	return b
}

// answer masks an attempt. How the answer names what was made is compared with rows, and so stays as it is.
func (m masker) answer(a history.Attempt, named string) history.Attempt {
	if m.text(named) != named {
		m.replace = m.except(named)
	}
	a.Header, a.Content, a.Error = m.header(a.Header), m.content(a.Content), m.text(a.Error)
	if !a.Complete || a.Digest != "" {
		a.Content = m.end(a.Content)
	}
	return a
}

func (m masker) header(header map[string]string) map[string]string {
	safe := maps.Clone(header)
	for name, value := range safe {
		safe[name] = m.text(value)
		if m.isSecret(name) {
			safe[name] = masked
		}
	}
	return safe
}

func (m masker) isSecret(header string) bool {
	return slices.ContainsFunc(m.headers, func(secret string) bool { return strings.EqualFold(header, secret) })
}

func (m masker) text(text string) string { return m.replace.Replace(text) }

// tokens are the texts and the numbers of JSON.
var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*`)

// content masks a body. JSON stays JSON: a number with a secret in it becomes a text.
func (m masker) content(text string) string {
	safe := m.text(text)
	if safe == text || json.Valid([]byte(safe)) || !json.Valid([]byte(text)) {
		return safe
	}
	return tokens.ReplaceAllStringFunc(text, func(token string) string {
		safe := m.text(token)
		if safe != token && token[0] != '"' {
			return `"` + masked + `"`
		}
		return safe
	})
}

// end masks the beginning of a secret at the end of a text that was cut off inside it.
func (m masker) end(text string) string {
	for _, secret := range m.texts {
		for n := len(secret) - 1; n >= ShortestSecret; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				return text[:len(text)-n] + masked
			}
		}
	}
	return text
}
