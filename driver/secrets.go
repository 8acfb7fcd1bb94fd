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
	"sync"
	"sync/atomic"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// masked stands in records where a secret was.
const masked = "***"

// ShortestSecret is the length from which a secret is masked wherever it stands: shorter ones, such
// as a tenant's number, would tear holes into everything.
const ShortestSecret = 8

// secrets knows the texts that must not go on record. Safe for concurrent use.
type secrets struct {
	workload *Workload
	current  atomic.Pointer[mask]

	mu        sync.Mutex
	logins    map[string]map[string]string // by principal
	extracted []string                     // by steps
}

func newSecrets(w *Workload) *secrets { return &secrets{workload: w} }

// refresh masks what is recorded from now on with all secrets that are known now.
func (s *secrets) refresh(logins map[string]map[string]string) {
	s.mu.Lock()
	s.logins = logins
	s.mu.Unlock()
	s.remask()
}

// remask masks what is recorded from now on with what was kept since the last time, too.
func (s *secrets) remask() {
	m := s.newMask()
	s.current.Store(&m)
}

// mask takes out the secrets that were known at the last refresh.
func (s *secrets) mask() mask { return *s.current.Load() }

// keep notes texts that steps have extracted.
func (s *secrets) keep(extracted []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extracted = append(s.extracted, extracted...)
}

// mask takes secrets out of what is recorded. Safe for concurrent use.
type mask struct {
	headers []string // whose values are secret
	texts   []string // that are secret wherever they stand, longest first
	replace *strings.Replacer
}

// newMask knows the principals' values and what their logins gave, what variables gave, what steps extracted, and
// what the target file itself says in a secret header, and takes more. A header that is made of a principal's
// values or login is secret, however short they are.
func (s *secrets) newMask(more ...string) mask {
	w := s.workload
	m := mask{headers: append(targets.MaskedHeaders(), w.Target.Redact...)}
	texts := append(slices.Clone(w.Target.Secrets), more...)
	texts = append(texts, s.personal()...)
	for _, q := range w.templates() {
		for name, value := range q.Header {
			if strings.Contains(value, ".Principal") || strings.Contains(value, ".Login") {
				m.headers = append(m.headers, name)
			}
			if m.isSecret(name) && !strings.Contains(value, "{{") {
				texts = append(texts, words(value)...)
			}
		}
	}
	compared := w.compared()
	for _, secret := range texts {
		if len(secret) >= ShortestSecret && !strings.Contains(compared, secret) {
			m.texts = append(m.texts, Writings(secret)...)
		}
	}
	slices.SortFunc(m.texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	m.texts = slices.Compact(m.texts)
	m.replace = m.except("")
	return m
}

// personal returns the values and logins of the principals, but those that rows must hold, and what steps extracted.
func (s *secrets) personal() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	public := personalFields.FindAllString(s.workload.compared(), -1)
	texts := slices.Clone(s.extracted)
	keep := func(kind string, values map[string]string) {
		for name, value := range values {
			if !slices.Contains(public, kind+name) {
				texts = append(texts, value)
			}
		}
	}
	for _, p := range s.workload.Principals {
		keep(".Principal.", p.Values)
	}
	for _, given := range s.logins {
		keep(".Login.", given)
	}
	return texts
}

// except is what takes the secrets out of a text, but not out of the public text in it.
func (m mask) except(public string) *strings.Replacer {
	var pairs []string
	for _, text := range m.texts {
		if len(text) <= len(public) {
			pairs, public = append(pairs, public, public), ""
		}
		pairs = append(pairs, text, masked)
	}
	return strings.NewReplacer(pairs...)
}

// personalFields are what a template takes of a principal or of its login.
var personalFields = regexp.MustCompile(`\.(?:Principal|Login)\.\w+`)

// compared is what rows must hold, as templates say it: that is no secret, or it could not be compared.
func (w *Workload) compared() string {
	var texts []string
	for _, o := range w.all() {
		texts = append(texts, o.Compared()...)
	}
	return strings.Join(texts, "\n")
}

// templates returns all requests that may be sent, as far as their headers go.
func (w *Workload) templates() []targets.Request {
	var all []targets.Request
	steps := slices.Clone(w.Target.Login)
	for _, o := range w.all() {
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
func (w *Workload) SpellsOut(given func(text string) bool) bool {
	secrets := newSecrets(w)
	secrets.refresh(w.Logins)
	m := secrets.mask()
	for _, o := range w.all() {
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

func (m mask) body(b history.Body) history.Body {
	b.Header, b.Path, b.Content, b.Says = m.header(b.Header), m.text(b.Path), m.content(b.Content), m.content(b.Says)
	return b
}

// answer masks an attempt. How the answer names what was made is compared with rows, and so stays as it is.
func (m mask) answer(a history.Attempt, named string) history.Attempt {
	if m.text(named) != named {
		m.replace = m.except(named)
	}
	a.Header, a.Content, a.Error = m.header(a.Header), m.content(a.Content), m.text(a.Error)
	if !a.Complete || a.Digest != "" {
		a.Content = m.end(a.Content)
	}
	a.Outline = m.content(a.Outline)
	return a
}

func (m mask) header(header map[string]string) map[string]string {
	safe := maps.Clone(header)
	for name, value := range safe {
		safe[name] = m.text(value)
		if m.isSecret(name) {
			safe[name] = masked
		}
	}
	return safe
}

func (m mask) isSecret(header string) bool {
	return slices.ContainsFunc(m.headers, func(secret string) bool { return strings.EqualFold(header, secret) })
}

func (m mask) text(text string) string { return m.replace.Replace(text) }

// tokens are the texts and the numbers of JSON.
var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*`)

// content masks a body. JSON stays JSON: a number with a secret in it becomes a text.
func (m mask) content(text string) string {
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
func (m mask) end(text string) string {
	for _, secret := range m.texts {
		for n := len(secret) - 1; n >= ShortestSecret; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				return text[:len(text)-n] + masked
			}
		}
	}
	return text
}
