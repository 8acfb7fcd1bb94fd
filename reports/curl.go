package reports

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/shell"
)

// masked stands in a history where a secret was.
const masked = "***"

// headerName is a token (RFC 9110, section 5.6.2). curl reads a file for one that begins with @.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// curl is one line of a shell that sends a request once. It is inert text, whatever the request holds. A masked secret is an
// environment variable, without which the line sends nothing. It is empty for a request that curl cannot be given in a line.
func curl(base string, r checker.Request) string {
	parts := []string{"curl -i"}
	if r.Header["Accept-Encoding"] != "" {
		parts[0] = "curl -i --compressed" // else the answer is no text
	}
	if !headerName.MatchString(r.Method) || !strings.HasPrefix(r.Path, "/") || len(r.Content) > mostSent || strings.Contains(r.Content, "\x00") {
		return ""
	}
	if r.Method != "POST" || r.Content == "" {
		parts = append(parts, "-X "+word(r.Method, ""))
	}
	if strings.HasPrefix(base, "http://") || strings.HasPrefix(base, "https://") {
		parts = append(parts, "--globoff --url "+word(strings.TrimSuffix(base, "/")+r.Path, "SECRET"))
	} else {
		parts = append(parts, `--globoff --url "${BASE_URL:?}"`+word(r.Path, "SECRET"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		value := r.Header[name]
		if !headerName.MatchString(name) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return ""
		}
		text := name + ": " + value
		if value == "" {
			text = name + ";" // as curl wants a header without a value
		}
		parts = append(parts, "-H "+word(text, shell.Name(name)))
	}
	if r.Content != "" {
		parts = append(parts, "--data-raw "+word(r.Content, "SECRET"))
	}
	return strings.Join(parts, " ")
}

// word quotes a text for a shell, with a variable where a secret was masked.
func word(text, variable string) string {
	if variable == "" {
		return shell.Quote(text)
	}
	var parts []shell.Part
	for i, part := range strings.Split(text, masked) {
		if i > 0 {
			parts = append(parts, shell.Part{Name: variable + ":?"})
		}
		parts = append(parts, shell.Part{Text: part})
	}
	return shell.Word(parts...)
}
