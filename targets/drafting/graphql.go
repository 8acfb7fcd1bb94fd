package drafting

import (
	"regexp"
	"slices"
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
	return d.GraphQL && (pointer == "/query" || pointer == "/operationName") || call && (pointer == "/jsonrpc" || pointer == "/method") || d.Multipart && slices.Contains(uploaded(d), pointer)
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
