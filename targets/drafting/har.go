package drafting

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// Recorded is a request of a HAR file that looks as if it created something.
type Recorded struct {
	Request
	Name   string  // fit for a target file, and unique in the HAR file
	before []entry // what was sent before it
}

// archive is a HAR file, version 1.2, as far as it is read.
type archive struct {
	Log *struct {
		Entries []entry `json:"entries"`
	} `json:"log"`
}

// entry is one request of a HAR file, and its answer.
type entry struct {
	Request struct {
		Method   string `json:"method"`
		URL      string `json:"url"`
		Headers  []pair `json:"headers"`
		PostData *struct {
			MimeType string `json:"mimeType"`
			Text     string `json:"text"`
			Params   []pair `json:"params"`
		} `json:"postData"`
	} `json:"request"`
	Response struct {
		Status  int    `json:"status"`
		Headers []pair `json:"headers"`
		Content struct {
			Text     string `json:"text"`
			Encoding string `json:"encoding"`
		} `json:"content"`
	} `json:"response"`
}

// pair is a header, or a member of a form.
type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ReadHAR lists the requests of a HAR file, as browsers export it, that look as if they created something: each
// POST, PUT or PATCH with a JSON object, a form or a query that was answered 2xx or sent the browser on, once for its method and
// path, in the order in which they were sent.
func ReadHAR(data []byte) ([]Recorded, error) {
	var file archive
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), &file); err != nil {
		return nil, errors.New("it is no HAR file: it is no JSON")
	}
	if file.Log == nil {
		return nil, errors.New("it is no HAR file: it has no member log with entries")
	}
	var all []Recorded
	taken := map[string]bool{}
	for k, e := range file.Log.Entries {
		r, ok := e.recorded()
		if !ok || slices.ContainsFunc(all, func(o Recorded) bool { return o.Method == r.Method && o.URL.Host+o.URL.Path == r.URL.Host+r.URL.Path }) {
			continue
		}
		base := r.name()
		r.Name = base
		for i := 2; taken[r.Name]; i++ {
			r.Name = fmt.Sprintf("%s_%d", base, i)
		}
		taken[r.Name], r.before = true, file.Log.Entries[:k]
		all = append(all, r)
	}
	return all, nil
}

// notCreating matches the last segment of a path behind which nothing is created that one would look for.
var notCreating = regexp.MustCompile(`(?i)(^|[^a-z])(search|query|login|log-?in|logout|sign-?in|sign-?out|token|refresh|validate|verify|preview|estimate|calculate|convert|graphql|introspect|revoke|cancel)([^a-z]|$)`)

// ofPages matches the last segment of what pages send of themselves, beside what their users do.
var ofPages = regexp.MustCompile(`(?i)(^|[^a-z])(analytics|telemetry|metrics|track|collect|beacon|events?|batch|logs?)([^a-z]|$)`)

// CreatesNothing reports that a path ends with a word of what creates nothing that one would look for, such as search or cancel.
func CreatesNothing(path string) bool {
	return notCreating.MatchString(lastOf(strings.TrimRight(path, "/")))
}

// LooksCreating goes by the status, and where that leaves it open by the end of the path, and by whether somebody
// signs in. Most requests without a body change what is there.
func (r Recorded) LooksCreating() bool {
	if r.Status == http.StatusCreated || r.Status == http.StatusAccepted {
		return true
	}
	_, _, signsIn := r.credentials()
	return !signsIn && !r.Query && !CreatesNothing(r.URL.Path) && !ofPages.MatchString(lastOf(r.URL.Path))
}

// Keyed reports whether the request carried an idempotency key.
func (r Recorded) Keyed() bool { return r.Draft("").Key.In != contract.KeyNowhere }

// recorded reports the request of an entry that may have created something. A form in parts is
// left out: browsers do not keep what its files held.
func (e entry) recorded() (Recorded, bool) {
	q, ok := e.request()
	post := e.Request.PostData
	if !ok || !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, q.Method) {
		return Recorded{}, false
	}
	if (q.Status < 200 || q.Status > 299) && !redirects(q.Status) {
		return Recorded{}, false
	}
	r := Recorded{Request: q}
	if post == nil || post.MimeType == "" && post.Text == "" && len(post.Params) == 0 {
		return r, r.readQuery()
	}
	text := post.Text
	if text == "" { // some browsers give a form only in its parts
		form := url.Values{}
		for _, p := range post.Params {
			form.Add(p.Name, p.Value)
		}
		text = form.Encode()
	}
	if strings.HasPrefix(post.MimeType, "multipart/") || r.read(text) != nil {
		return Recorded{}, false
	}
	return r, true
}

// request is the head of the request and its answer; ok is false for what no target file could send.
func (e entry) request() (q Request, ok bool) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Request{}, false
	}
	u.User, u.Fragment = nil, ""
	q = Request{Method: strings.ToUpper(e.Request.Method), URL: u, Status: e.Response.Status, Answer: e.answer()}
	for _, h := range e.Request.Headers {
		q.Header = append(q.Header, [2]string{h.Name, h.Value})
	}
	return q, true
}

// text is the body of the answer.
func (e entry) text() string {
	if e.Response.Content.Encoding != "base64" {
		return e.Response.Content.Text
	}
	text, _ := base64.StdEncoding.DecodeString(e.Response.Content.Text) // what is no base64 is no answer
	return string(text)
}

// answer is the body of the answer, if it is JSON.
func (e entry) answer() any {
	var value any
	if json.Unmarshal([]byte(e.text()), &value) != nil {
		return nil
	}
	return value
}
