package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// How much of a request and its answer is shown, in bytes of a body and in headers.
const (
	mostSent    = 2 << 10
	mostHeaders = 12
)

// exchangeView is one request of a finding and its answer, as they can be sent and read again. It is made of the finding as
// it was recorded, so that JSON stays JSON, and all of it is sanitized.
type exchangeView struct {
	ID, Sent   string   // which attempt, and what is special about it
	At         string   // when it began, by the finding's clock
	Same       string   // id of an attempt above that sent the same; empty: none did, and what was sent follows
	Line       string   // method and path
	Headers    []string // "Name: value", with the key
	Body       bodyView
	Changed    []string // how the request differs from the first one
	Curl       string   // sends it again; empty: see NoCurl
	NoCurl     string
	Answer     string // status, and after what time; or why there is none
	Told       []string
	Said       bodyView
	SameAnswer string // id of an attempt above that got the same body; empty: none did, or it is in Said
	Tone       tone
}

// bodyView is a body for a reader: one line as it was sent, which is valid JSON if it was. More counts the bytes left out.
type bodyView struct {
	Text string
	More int
}

// exchanges shows the attempts of a finding that matter: the first, and those that contradict it or the promise.
func exchanges(base string, f checker.Finding) []exchangeView {
	if len(f.Requests) == 0 {
		return nil
	}
	keys, zero := keyNames(f.Attempts), start(f)
	var list []exchangeView
	shown, said := map[int]string{}, map[string]string{}
	var first *checker.Request
	for _, i := range decisive(f) {
		a := f.Attempts[i]
		v := exchangeView{ID: name(clean(a.ID)), Sent: clean(joined([]string{name(f.Who[a.Intent]), sent(f, i, keys)}, ", ")), At: clock(a.Start - zero), Tone: toneOf(a)}
		if n := requestOf(f, a.ID); n >= 0 {
			r := f.Requests[n]
			v.Same = shown[n]
			if v.Same == "" {
				shown[n] = v.ID
				v.request(base, r, first)
			}
			if first == nil {
				first = &r
			}
		}
		v.answer(a, outcome(f, i), said)
		list = append(list, v)
	}
	return list
}

// unsent says why no request of a finding is shown; empty: some are.
func unsent(f checker.Finding) string {
	switch {
	case len(f.Attempts) > 0 && len(f.Requests) == 0:
		return "What was sent is not on record: the report is from before it was kept."
	case len(f.Attempts) > 0:
		return ""
	case f.Kind == checker.TargetDied:
		return "No request is shown: none had been sent by then."
	case f.Intent == checker.EveryIntent:
		return "No request is shown: no single one explains it, and the report names none."
	default:
		return "No request is shown: no attempt is on record."
	}
}

// requestOf is the index of what an attempt sent; -1: it is not on record.
func requestOf(f checker.Finding, attempt string) int {
	return slices.IndexFunc(f.Requests, func(r checker.Request) bool { return slices.Contains(r.Attempts, attempt) })
}

// request says what was sent, and how it differs from the first request.
func (x *exchangeView) request(base string, r checker.Request, first *checker.Request) {
	x.Line = clean(name(r.Method) + " " + fit(clean(r.Path), 2*widestCell))
	x.Headers = headerLines(r.Header, func(string) bool { return true })
	x.Body = newBodyView(r.Content)
	if first != nil {
		x.Changed = requestChanges(*first, r)
	}
	if x.Curl = curl(base, r); x.Curl == "" {
		x.NoCurl = "Too long for a command line, or no plain text: doubletap export writes a script that sends it."
	}
}

// answer says what the client got. Said holds the attempts by the bodies so far.
func (x *exchangeView) answer(a history.Attempt, judged string, said map[string]string) {
	switch {
	case a.Complete:
		x.Answer = joined([]string{fmt.Sprint(a.Status), http.StatusText(a.Status)}, " ")
	case a.Status == 0 && a.ErrorKind != "":
		x.Answer = "no answer: " + clean(reason(a))
	default:
		x.Answer = clean(answer(a, judged))
	}
	if a.End > a.Start {
		x.Answer += ", after " + duration(a.End-a.Start)
	}
	x.Told = headerLines(a.Header, tells)
	if a.Content == "" {
		return
	}
	if x.SameAnswer = said[a.Content]; x.SameAnswer == "" {
		said[a.Content] = x.ID
		x.Said = newBodyView(a.Content)
		if a.Digest != "" { // the history has only the beginning
			x.Said.More += max(int(a.Length)-len(a.Content), 0)
		}
	}
}

// tells reports that a header of an answer may say something about the request: not how servers and caches do their work.
func tells(header string) bool {
	header = strings.ToLower(header)
	for _, dull := range []string{"date", "content-length", "connection", "keep-alive", "server", "vary", "transfer-encoding", "via", "x-powered-by"} {
		if header == dull {
			return false
		}
	}
	for _, dull := range []string{"x-content-type", "x-frame", "x-xss", "x-dns", "x-download", "x-permitted", "strict-transport", "content-security", "cross-origin", "referrer-", "access-control", "origin-agent", "permissions-"} {
		if strings.HasPrefix(header, dull) {
			return false
		}
	}
	return true
}

// headerLines writes headers by name, a few of them.
func headerLines(header map[string]string, shown func(string) bool) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(header)) {
		if shown(key) && len(lines) < mostHeaders {
			lines = append(lines, name(clean(key))+": "+fit(clean(header[key]), 2*widestCell))
		}
	}
	return lines
}

// newBodyView writes a body on one line, and cuts it. In JSON, whatever a terminal might obey becomes an escape of JSON.
func newBodyView(content string) bodyView {
	var b bytes.Buffer
	if json.Compact(&b, []byte(content)) == nil && b.Len() <= mostSent {
		return bodyView{Text: clean(printableJSON(b.String()))}
	}
	shown := strings.TrimSuffix(head(content, mostSent), "…")
	return bodyView{Text: clean(shown), More: len(content) - len(shown)}
}

// printableJSON writes characters that do not print as JSON writes them inside of strings. Outside of strings JSON has none.
func printableJSON(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case inert.Hidden(c) && c > 0xffff:
			c -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		case inert.Hidden(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// title names the attempt.
func (x exchangeView) title() string {
	return fmt.Sprintf("%s, at %s", joined([]string{x.ID, x.Sent}, ", "), x.At)
}

// requestLines are the request as it was sent, or whose request it repeats.
func (x exchangeView) requestLines() []string {
	if x.Same != "" {
		return []string{"the same request as " + x.Same}
	}
	return withBody(append([]string{x.Line}, x.Headers...), x.Body)
}

// answerLines are the answer: status, headers, body.
func (x exchangeView) answerLines() []string {
	lines := append([]string{x.Answer}, x.Told...)
	if x.SameAnswer != "" {
		return append(lines, "the same body as "+x.SameAnswer)
	}
	return withBody(lines, x.Said)
}

// inBrief says in a line what was sent and answered.
func (x exchangeView) inBrief() string {
	request, answer := x.requestLines(), x.answerLines()
	for _, lines := range [][]string{request, answer} {
		for i := range lines {
			lines[i] = fit(lines[i], 2*widestCell)
		}
	}
	if len(x.Changed) > 0 {
		request = append(request, "differs: "+fit(strings.Join(x.Changed, ", "), 2*widestCell))
	}
	return fmt.Sprintf("%s: %s → %s", x.title(), strings.Join(request, " · "), strings.Join(answer, " · "))
}

// mostBrief is the longest command line of a reader who has little room. One that is cut would send something else.
const mostBrief = 1 << 10

// inBrief says in a line each what was sent and answered, and with which command the first request can be sent again; where there
// are none, why.
func (e evidence) inBrief() []string {
	if e.Unsent != "" {
		return []string{e.Unsent}
	}
	var lines []string
	command := ""
	for _, x := range e.Exchanges {
		lines = append(lines, x.inBrief())
		if command == "" && len(x.Curl) <= mostBrief {
			command = x.Curl
		}
	}
	if command != "" {
		lines = append(lines, "$ "+command)
	}
	return lines
}

// withBody appends a body, if there is one.
func withBody(lines []string, b bodyView) []string {
	if b.Text == "" {
		return lines
	}
	return append(lines, b.text())
}

// text is the body, and how much of it is missing.
func (b bodyView) text() string {
	if b.More == 0 {
		return b.Text
	}
	return fmt.Sprintf("%s … (%d more bytes)", b.Text, b.More)
}

// indented is the body with a member on each line, if it is JSON.
func (b bodyView) indented() bodyView {
	var text bytes.Buffer
	if b.More == 0 && json.Indent(&text, []byte(b.Text), "", "  ") == nil {
		b.Text = text.String()
	}
	return b
}

// requestChanges says in what a request differs from another one: in its first line, in headers and in members of a JSON body.
func requestChanges(a, b checker.Request) []string {
	var list []string
	note := func(where, first, then string) {
		if first != then && len(list) < mostDifferences {
			list = append(list, fmt.Sprintf("%s: %s, not %s", name(clean(where)), quoted(clean(then)), quoted(clean(first))))
		}
	}
	note("method", a.Method, b.Method)
	note("path", a.Path, b.Path)
	for _, key := range slices.Sorted(maps.Keys(united(a.Header, b.Header))) {
		note(key, a.Header[key], b.Header[key])
	}
	one, other := members(a.Content), members(b.Content)
	if one == nil || other == nil {
		note("body", a.Content, b.Content)
		return list
	}
	before := len(list)
	for _, key := range slices.Sorted(maps.Keys(united(one, other))) {
		note(key, one[key], other[key])
	}
	if len(list) == before && a.Content != b.Content {
		list = append(list, "the body is the same JSON, written differently")
	}
	return list
}

// united has the keys of both.
func united(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return all
}

// members are the scalars inside of a JSON object or list as texts, by their pointers; nil: it is neither. So a difference deep inside is named, and
// not all that stands around it.
func members(content string) map[string]string {
	decoder := json.NewDecoder(strings.NewReader(content))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return nil
	}
	switch value.(type) {
	case map[string]any, []any:
		texts := map[string]string{}
		scalars("", value, texts)
		return texts
	}
	return nil
}

// scalars collects what members returns.
func scalars(at string, value any, texts map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			scalars(at+jsonpointer.Of(key), member, texts)
		}
	case []any:
		for n, entry := range value {
			scalars(at+jsonpointer.Of(n), entry, texts)
		}
	case string:
		texts[at] = value
		return
	default:
		texts[at] = fmt.Sprint(value)
		if value == nil {
			texts[at] = "null"
		}
		return
	}
	if text, err := json.Marshal(value); err == nil && len(text) == len("{}") { // an empty one
		texts[at] = string(text)
	}
}
