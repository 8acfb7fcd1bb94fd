package reports

import (
	"fmt"
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

// plainAround is text in which a shell obeys nothing between double quotes.
var plainAround = regexp.MustCompile(`^[A-Za-z0-9 :=,._/-]*$`)

// curl is one line of a shell that sends a request once. It is inert text, whatever the request holds. A masked secret is an
// environment variable, without which the line sends nothing. It is empty for a request that curl cannot be given in a line.
func curl(base string, r checker.Request) string {
	parts := []string{"curl -i"}
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
		parts = append(parts, "-H "+word(text, variable(name)))
	}
	if r.Content != "" {
		parts = append(parts, "--data-raw "+word(r.Content, "SECRET"))
	}
	return strings.Join(parts, " ")
}

// variable is the name of an environment variable for a header.
func variable(header string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, header)
	return strings.TrimLeft(strings.ToUpper(name), "0123456789")
}

// word quotes a text for a shell, with a variable where a secret was masked.
func word(text, variable string) string {
	if variable == "" || !strings.Contains(text, masked) {
		return quotedWord(text)
	}
	if plainAround.MatchString(strings.ReplaceAll(text, masked, "")) {
		return `"` + strings.ReplaceAll(text, masked, "${"+variable+":?}") + `"`
	}
	var b strings.Builder
	for i, part := range strings.Split(text, masked) {
		if i > 0 {
			fmt.Fprintf(&b, `"${%s:?}"`, variable)
		}
		if part != "" {
			b.WriteString(quotedWord(part))
		}
	}
	return b.String()
}

// quotedWord quotes a text for a shell. What a terminal might obey stands as an escape, in the form that bash and zsh know,
// and POSIX since 2024.
func quotedWord(text string) string {
	if clean(text) == text {
		return shell.Quote(text)
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(text) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
