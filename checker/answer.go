package checker

import (
	"encoding/json"
	"mime"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/outline"
)

// headerValue finds a header whatever its case; a media type is compared without its parameters.
func headerValue(header map[string]string, name string) string {
	value, is := header[name]
	if !is {
		value = headerOfAnyCase(header, name)
	}
	if value != usualContent && strings.EqualFold(name, "Content-Type") {
		if media, _, err := mime.ParseMediaType(value); err == nil {
			return media
		}
	}
	return value
}

// headerOfAnyCase finds a header whose name is spelled in another way (RFC 9110, section
// 5.1).
func headerOfAnyCase(header map[string]string, name string) string {
	for n, value := range header {
		if strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

// usualContent is the type of almost all answers, of which there may be millions.
const usualContent = "application/json"

// answer is one answer of the target. It is parsed as JSON once, on demand: most rules
// look at the status only. Of a body that is folded, what lies within a fold is not known;
// ask knows before find. Not safe for concurrent use.
type answer struct {
	status  int
	header  map[string]string
	value   any
	isJSON  bool
	read    bool
	shape   outline.Outline // of the JSON that it is
	attempt *history.Attempt
}

// answerOf returns the answer to an attempt.
func answerOf(a *history.Attempt) *answer {
	return &answer{status: a.Status, header: a.Header, attempt: a}
}

// json returns the body as a normalised JSON value, with null for what is folded; false: it is no JSON, or unread.
func (a *answer) json() (any, bool) {
	if a.read {
		return a.value, a.isJSON
	}
	a.read = true
	if a.attempt.Digest == "" {
		a.shape.Value = json.RawMessage(a.attempt.Content)
	} else if a.attempt.Outline == "" || json.Unmarshal([]byte(a.attempt.Outline), &a.shape) != nil {
		return nil, false
	}
	a.value, a.isJSON = parse(string(a.shape.Value))
	return a.value, a.isJSON
}

// valid reports that the body is JSON.
func (a *answer) valid() bool {
	if !a.read && a.attempt.Digest == "" {
		return valid(a.attempt.Content)
	}
	_, ok := a.json()
	return ok
}

// find returns what stands at a place of the body; ok: the body is JSON.
func (a *answer) find(pointer string) (value any, found, ok bool) {
	if !a.read && a.attempt.Digest == "" {
		return find(a.attempt.Content, pointer)
	}
	body, ok := a.json()
	value, found = jsonpointer.Resolve(body, pointer)
	return value, found, ok
}

// knows reports that the value at a place of the body is known, be it that there is none.
func (a *answer) knows(pointer string) bool {
	if a.attempt.Digest == "" {
		return a.attempt.Unread == ""
	}
	a.json()
	_, folded := a.shape.Covers(pointer)
	return !folded && a.attempt.Unread == ""
}

// bears reports whether an answer matches a signature: one of its statuses, every header
// and every member. A member that is not on record does not match. A signature without
// statuses matches nothing, so an undeclared meaning is never found.
func (a *answer) bears(s contract.Signature) bool {
	if !slices.Contains(s.Statuses, a.status) {
		return false
	}
	if !s.Fits(func(name string) string { return headerValue(a.header, name) }) {
		return false
	}
	for pointer, want := range s.Where {
		got, found, ok := a.find(pointer)
		if !ok || !a.knows(pointer) {
			return false
		}
		if !found && want != nil || found && !equal(got, normalise(want)) {
			return false
		}
	}
	return true
}

// knowsName reports that what an answer names at a place is known, be it nothing. Of a long body only the beginning is on record.
func (a *answer) knowsName(where contract.Identity) bool {
	switch {
	case where.Header != "":
		return true
	case where.InText():
		return a.attempt.Unread == "" && (a.attempt.Digest == "" || a.names(where) != "")
	}
	return a.knows(where.JSON)
}

// names returns the identity that an answer has at a place; empty: none.
func (a *answer) names(where contract.Identity) string {
	if where.Header != "" {
		return where.In(headerValue(a.header, where.Header))
	}
	if where.InText() {
		return where.In(a.attempt.Content)
	}
	return a.at(where.JSON)
}

// at returns the identity that an answer has at a JSON pointer; empty: none.
func (a *answer) at(pointer string) string {
	if pointer == "" {
		return ""
	}
	value, _, _ := a.find(pointer)
	if value == nil {
		return ""
	}
	return plain(value)
}
