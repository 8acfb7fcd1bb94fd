package checker

import (
	"slices"
	"strconv"
	"strings"
)

// mostSaid is how many letters of an answer a reason quotes.
const mostSaid = 80

// saidBy quotes what a refusal or a failure says of itself; empty: it says nothing that is short. Whatever it is, it comes as one line.
func saidBy(a *classified) string {
	value, is := answerOf(a.Attempt).json()
	said := sentenceIn(value)
	if !is && !strings.Contains(a.Content, "<") {
		said = strings.TrimSpace(a.Content)
	}
	if letters := []rune(said); len(letters) > mostSaid {
		said = string(letters[:mostSaid]) + "…"
	}
	if said == "" {
		return ""
	}
	return strconv.Quote(said)
}

// sentenceIn finds what an error in JSON says, by the names that most have.
func sentenceIn(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return sentenceIn(v[0])
		}
	case map[string]any:
		var parts []string
		for _, name := range []string{"code", "type", "title", "error", "errors", "message", "detail", "reason"} {
			if part := sentenceIn(v[name]); part != "" && !slices.Contains(parts, part) && len(parts) < 2 {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, ": ")
	}
	return ""
}
