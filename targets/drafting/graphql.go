package drafting

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A request of GraphQL has its document in one member of its body, and what a client chooses in another. Most servers answer 200 to all
// of them, and say in "errors" what went wrong.

// mutation matches a document with a mutation, and the first thing that it does.
var mutation = regexp.MustCompile(`^\s*(?:#[^\n]*\n\s*)*mutation\b[^{]*\{\s*(?:\w+\s*:\s*)?(\w+)`)

// mutationOf is what a body of GraphQL does first; empty: it is none.
func mutationOf(body map[string]any) string {
	text, _ := body["query"].(string)
	if found := mutation.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// document reports that a member is part of what the client asks for, in GraphQL or JSON-RPC, and nothing that it chooses, or of a file.
func (d Draft) document(pointer string) bool {
	_, call := d.Body["jsonrpc"]
	return d.GraphQL && d.Written == "" && (pointer == "/query" || pointer == "/operationName") || call && (pointer == "/jsonrpc" || pointer == "/method") || d.Multipart && slices.Contains(uploaded(d), pointer)
}

// argument matches an argument of a document with a text or a number, or else a text or a comment in which none is looked for (GraphQL,
// October 2021, sections 2.1.4 and 2.9).
var argument = regexp.MustCompile(`(?s)(?:\w+\s*:\s*)?""".*?"""|#[^\n]*|(\w+)\s*:\s*(?:"((?:[^"\\\n]|\\.)*)"|(-?\d[\d.eE+-]*))|"(?:[^"\\\n]|\\.)*"`)

// arguments takes what a document says in its arguments as the members of the body, and the rest as how they are written. It does not where what
// a client chooses is in variables.
func arguments(body map[string]any) (members map[string]any, written string, found bool) {
	document, _ := body["query"].(string)
	variables, _ := body["variables"].(map[string]any)
	if len(variables) > 0 {
		return nil, "", false
	}
	members = map[string]any{}
	place := func(n int) string { return fmt.Sprintf("member-%d-of-the-document", n) }
	var names []string
	var holed strings.Builder
	last := 0
	for _, at := range argument.FindAllStringSubmatchIndex(document, -1) {
		from, to := max(at[4], at[6]), max(at[5], at[7])
		if at[2] < 0 || strings.Contains(document[from:to], `\`) || from == to {
			continue
		}
		name := member(document[at[2]:at[3]], members)
		members[name] = document[from:to]
		holed.WriteString(document[last:from] + place(len(names)))
		names, last = append(names, name), to
	}
	whole := maps.Clone(body)
	whole["query"] = holed.String() + document[last:]
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if len(names) == 0 || encoder.Encode(whole) != nil {
		return nil, "", false
	}
	written = literally(strings.TrimSuffix(out.String(), "\n"))
	for n, name := range names {
		written = strings.Replace(written, place(n), "{{."+name+"}}", 1)
	}
	return members, written, true
}

// errs reports that an answer says that nothing was done, whatever its status: it lists errors as those of GraphQL do, or is denied.
func (a Answer) errs() bool {
	if a.Denied != nil || a.Shown {
		return true
	}
	answer, _ := a.Body.(map[string]any)
	list, _ := answer["errors"].([]any)
	if len(list) == 0 {
		return false
	}
	data, _ := answer["data"].(map[string]any)
	for _, member := range data {
		if member != nil {
			return false
		}
	}
	return true
}
