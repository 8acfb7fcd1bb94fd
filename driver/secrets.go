package driver

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/credentials"
	"github.com/doubletap-harness/doubletap/targets"
)

// masked stands in records where a secret was.
const masked = "***"

// ShortestSecret is the length from which a secret is masked wherever it stands: shorter ones, such
// as a tenant's number, would tear holes into everything.
const ShortestSecret = 8

// secrets masks the texts that must not go on record, and the headers. All that the driver
// records goes through it. A secret may stand anywhere: a target may echo a token in a
// body, an error or a Location. Safe for concurrent use.
type secrets struct {
	headers  []string // whose values are secret
	compared string   // what rows must hold, as templates say it: that is no secret, or it could not be compared
	salt     []byte   // of what stands for credentials in answers; not of the seed, which who reads the record knows

	mu    sync.RWMutex
	texts textSet // that are secret wherever they stand
}

// newSecrets knows the principals' values, what shell variables gave, and what the target
// file itself says in a secret header. A header that is made of a principal's values or
// login is secret, however short they are.
func newSecrets(w *Workload) *secrets {
	s := &secrets{headers: append(targets.MaskedHeaders(), w.Target.Redact...), compared: w.compared(), salt: []byte(rand.Text()), texts: newTextSet()}
	s.keep(w.Target.Secrets)
	for _, p := range w.Principals {
		s.keepFields(".Principal.", p.Values)
	}
	for _, q := range w.templates() {
		for name, value := range q.Header {
			if strings.Contains(value, ".Principal") || strings.Contains(value, ".Login") {
				s.headers = append(s.headers, name)
			}
			if s.isSecret(name) && !strings.Contains(value, "{{") {
				s.keep(words(value))
			}
		}
	}
	return s
}

// keep masks texts in what is recorded from now on, such as what steps have extracted. It takes no longer for all those that are
// known already: steps of a million intents extract one each.
func (s *secrets) keep(texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range texts {
		if len(secret) < ShortestSecret || strings.Contains(s.compared, secret) {
			continue
		}
		for _, written := range Writings(secret) {
			s.texts.add(written)
		}
	}
}

// keepLogins masks what logins gave the principals.
func (s *secrets) keepLogins(logins map[string]map[string]string) {
	for _, given := range logins {
		s.keepFields(".Login.", given)
	}
}

// keepFields masks values of a principal or of its login, but those that rows must hold.
func (s *secrets) keepFields(kind string, values map[string]string) {
	public := personalFields.FindAllString(s.compared, -1)
	for name, value := range values {
		if !slices.Contains(public, kind+name) {
			s.keep([]string{value})
		}
	}
}

// all returns the texts that are masked.
func (s *secrets) all() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.texts.texts))
}

// isSecret reports that the value of a header is masked as a whole.
func (s *secrets) isSecret(header string) bool {
	return slices.ContainsFunc(s.headers, func(secret string) bool { return strings.EqualFold(header, secret) })
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
	for _, o := range w.all() {
		if o.Rows.HTTP == nil {
			continue
		}
		for name, value := range o.Rows.HTTP.Header {
			if secrets.isSecret(name) && !strings.Contains(value, ".Principal") && !strings.Contains(value, ".Login") && !given(value) {
				return true
			}
		}
	}
	return false
}

// words takes a header such as "Bearer token" or "a=token; b=token" apart: the token is
// the secret, and may stand elsewhere without what is around it.
func words(header string) []string {
	return strings.FieldsFunc(header, func(c rune) bool { return strings.ContainsRune(" ;,=", c) })
}

// Writings returns the ways in which a text may stand in a record: plain, in JSON, in JSON
// that is fit for HTML, and in URLs. To mask a secret, look for each of them.
func Writings(text string) []string {
	query := url.QueryEscape(text)
	return []string{text, inJSON(text, true), inJSON(text, false), query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(text)}
}

// inJSON returns a text as it stands between the quotes of JSON.
func inJSON(text string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(text)
	quoted := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return string(quoted[1 : len(quoted)-1])
}

// body masks what goes on record of an intent's request.
func (s *secrets) body(b history.Body) history.Body {
	b.Header, b.Path, b.Content, b.Says = s.header(b.Header), s.text(b.Path), s.content(b.Content), s.content(b.Says)
	return b
}

// answer masks an attempt. How the answer names what was made is compared with rows, and so stays as it is.
func (s *secrets) answer(a history.Attempt, named string) history.Attempt {
	public := named
	if s.text(named) == named {
		public = "" // and needs no care
	}
	a.Header, a.Content, a.Error = s.headerBut(a.Header, public), s.contentBut(a.Content, public), s.textBut(a.Error, public)
	if !a.Complete || a.Digest != "" {
		a.Content = s.end(a.Content)
	}
	a.Outline = s.contentBut(a.Outline, public)
	a.Content, a.Outline = s.given(a.Content, named), s.given(a.Outline, named)
	return a
}

// drawn matches what has a marker or a reference in it, or is a marker that is a number.
var drawn = regexp.MustCompile(`(?i)(?:dt|ref)[a-z2-7]{16}|^[0-9]{9}$`)

// given masks the credentials that a target gives in answers, such as a token of the session that it made: they are known by their names
// alone. What stands for them is the same for equal ones, so that two answers still compare. What names the created thing stays, and what is of this
// run: that another one's marker is in an answer has to show, whatever the member is called.
func (s *secrets) given(answer, named string) string {
	return credentials.Mask(answer, func(credential string) string {
		if credential == named || credential == masked || drawn.MatchString(credential) {
			return credential
		}
		sum := hmac.New(sha256.New, s.salt)
		sum.Write([]byte(credential))
		return masked + hex.EncodeToString(sum.Sum(nil)[:4])
	})
}

// header masks a request's headers.
func (s *secrets) header(header map[string]string) map[string]string { return s.headerBut(header, "") }

// headerBut masks headers: secret ones as a whole, and secrets in all others. It changes a
// copy.
func (s *secrets) headerBut(header map[string]string, public string) map[string]string {
	safe := maps.Clone(header)
	for name, value := range safe {
		safe[name] = s.textBut(value, public)
		if s.isSecret(name) {
			safe[name] = masked
		}
	}
	return safe
}

// text masks a text that is no JSON.
func (s *secrets) text(text string) string { return s.textBut(text, "") }

// textBut takes the secrets out of a text, but not out of the public text in it.
func (s *secrets) textBut(text, public string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.texts.mask(text, public)
}

// tokens are the texts and the numbers of JSON.
var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*`)

// content masks a body.
func (s *secrets) content(text string) string { return s.contentBut(text, "") }

// contentBut masks a body. JSON stays JSON, because the checker reads it: a number with a
// secret in it becomes a text.
func (s *secrets) contentBut(text, public string) string {
	safe := s.textBut(text, public)
	if safe == text || json.Valid([]byte(safe)) || !json.Valid([]byte(text)) {
		return safe
	}
	return tokens.ReplaceAllStringFunc(text, func(token string) string {
		safe := s.textBut(token, public)
		if safe != token && token[0] != '"' {
			return `"` + masked + `"`
		}
		return safe
	})
}

// end masks the beginning of a secret at the end of a text that was cut off inside it.
func (s *secrets) end(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.texts.maskEnd(text)
}
