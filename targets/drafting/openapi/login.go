package openapi

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

var (
	signingIn  = regexp.MustCompile(`(?i)log-?_?in|sign-?_?in|token|session|auth`)
	notSigning = regexp.MustCompile(`(?i)regist|sign-?_?up|reset|forgot|change|logout|refresh|revoke|password$`)
	userNames  = regexp.MustCompile(`(?i)^(user|user_?name|login|e?-?mail|email_?address|account|identifier|phone)$`)
	secretText = regexp.MustCompile(`(?i)^(password|passwd|pwd|passphrase|secret)$`)
	tokenNames = regexp.MustCompile(`(?i)^(access_?token|id_?token|auth_?token|session_?token|bearer_?token|token|jwt|key)$`)
)

// signed makes signing in part of the draft, if the document has an operation for it.
func (d *Document) signed(cookie string, draft *drafting.Draft, prefix string) bool {
	l, found := d.signIn(cookie)
	if found {
		draft.SignIn(l, prefix)
	}
	return found
}

// signIn finds the operation by which one signs in: a POST with a user and a password, whose answer has a token,
// or sets the cookie of this name. What found takes from its answer is called Token.
func (d *Document) signIn(cookie string) (l drafting.Login, found bool) {
	paths := d.doc.Paths.Map()
	best := 0
	for _, path := range sortedKeys(paths) {
		if paths[path] == nil || paths[path].Post == nil || strings.Contains(path, "{") {
			continue
		}
		op := paths[path].Post
		worth := signInWorth(path, op)
		if made, ok := d.login(path, op, cookie); ok && worth > best {
			l, found, best = made, true, worth
		}
	}
	return l, found
}

// signInWorth is how much the names speak for an operation by which one signs in; 0: it is none.
func signInWorth(path string, op *openapi3.Operation) int {
	names := path + " " + op.OperationID
	switch {
	case notSigning.MatchString(names):
		return 0
	case signingIn.MatchString(names):
		return 2
	}
	return 1
}

// login drafts the request that signs in, and reports whether the operation can be one: it takes a
// user and a password, and answers with a token or a cookie. The user and the password are left
// empty, for variables.
func (d *Document) login(path string, op *openapi3.Operation, cookie string) (drafting.Login, bool) {
	ref := bodySchema(op)
	if ref == nil {
		return drafting.Login{}, false
	}
	schema := flatten(ref, 0)
	l := drafting.Login{Step: drafting.Step{Method: http.MethodPost, Path: drafting.Escape(path), Form: jsonSchema(op) == nil, Extract: map[string]drafting.Extract{}}}
	l.User, l.Password = memberLike(schema, userNames), memberLike(schema, secretText)
	take := drafting.Extract{Cookie: cookie}
	if cookie == "" {
		take.JSON = tokenOf(op)
	}
	if l.User == "" || l.Password == "" || take == (drafting.Extract{}) {
		return drafting.Login{}, false
	}
	l.Extract["Token"] = take
	s := sampler{}
	l.Body, _ = s.object(schema, "", 0).(map[string]any)
	for _, name := range []string{l.User, l.Password} {
		l.Body = drafting.Put(l.Body, name, "").(map[string]any)
	}
	return l, true
}

// memberLike points to the first text of this kind of name.
func memberLike(schema *openapi3.Schema, names *regexp.Regexp) string {
	for _, name := range sortedKeys(schema.Properties) {
		if names.MatchString(name) && kind(flatten(schema.Properties[name], 0)) == "string" {
			return jsonpointer.Of(name)
		}
	}
	return ""
}

// tokenOf points to the token in the documented answer of success, which may be wrapped once.
func tokenOf(op *openapi3.Operation) string {
	for _, code := range slices.Sorted(slices.Values(op.Responses.Keys())) {
		status, err := strconv.Atoi(code)
		ref := op.Responses.Value(code)
		if err != nil || status < 200 || status > 299 || ref == nil || ref.Value == nil {
			continue
		}
		answer := flatten(jsonContent(ref.Value.Content), 0)
		if pointer := memberLike(answer, tokenNames); pointer != "" {
			return pointer
		}
		for _, name := range sortedKeys(answer.Properties) {
			if pointer := memberLike(flatten(answer.Properties[name], 0), tokenNames); pointer != "" {
				return jsonpointer.Of(name) + pointer
			}
		}
	}
	return ""
}
