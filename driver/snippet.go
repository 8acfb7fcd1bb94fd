package driver

import (
	"fmt"
	"strings"
)

// longestSnippet is how much of an answer a message quotes, in bytes.
const longestSnippet = 200

// Snippet quotes the beginning of an answer, for a message: on one line, with what is not
// printable escaped, as another program wrote it. It never cuts inside a character.
func Snippet(text string) string {
	if len(text) > longestSnippet {
		text = strings.ToValidUTF8(text[:longestSnippet], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}
