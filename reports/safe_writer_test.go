package reports_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestSafeWriterEscapesWhatIsObeyed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain text stays", "a b\n\tc 日本語 é 🧑‍🚀\n", "a b\n\tc 日本語 é 🧑‍🚀\n"},
		{"an escape sequence", "\x1b[2J\x1b]0;title\a", `\x1b[2J\x1b]0;title\a`},
		{"a colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"a carriage return hides a line", "good\rbad", `good\rbad`},
		{"control characters of the second range", "\u009b2J", `\u009b2J`},
		{"text that turns its direction", "\u202egnp.exe\u202c \u2066x\u2069", `\u202egnp.exe\u202c \u2066x\u2069`},
		{"bytes that are not UTF-8", "a\xffb", "a\ufffdb"},
		{"a workflow command", "::error::x", `:\x3aerror::x`},
		{"a workflow command behind white space", "a\n \t\u00a0::stop-commands::x", "a\n \t\u00a0" + `:\x3astop-commands::x`},
		{"no workflow command within a line", "fe80::1 a::b", "fe80::1 a::b"},
		{"a command of Azure Pipelines", "a ##vso[task.setvariable variable=x]y", `a ##vso\x5btask.setvariable variable=x]y`},
		{"a command of TeamCity", "##teamcity[message text='x']", `##teamcity\x5bmessage text='x']`},
		{"a heading with a list", "### [1] ##a b[2] # a[3]", "### [1] ##a b[2] # a[3]"},
		{"a workflow command of the older form", "a ##[add-mask]b ##", `a ##\x5badd-mask]b ##`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, safe(t, c.in, false, len(c.in)))
		})
	}
}

func TestSafeWriterLetsColoursPass(t *testing.T) {
	t.Parallel()
	const in = "\x1b[1;31mred\x1b[0m \x1b[2J \x1b[\x1b[38;5;9m::error::x"
	require.Equal(t, "\x1b[1;31mred\x1b[0m \\x1b[2J \\x1b[\x1b[38;5;9m::error::x", safe(t, in, true, len(in)))
	require.Equal(t, "\x1b[31m:\\x3aerror::x", safe(t, "\x1b[31m::error::x", true, 3), "a colour begins no line")
	long := "\x1b[" + strings.Repeat("1;", 99) + "m"
	require.Equal(t, `\x1b`+long[1:], safe(t, long, true, 5))
}

func TestATextReportHasNoWorkflowCommands(t *testing.T) {
	t.Parallel()
	res := passed("commands", 12)
	res.Verdict, res.Reasons = checker.Inconclusive, []string{strings.Repeat("x ", 46) + "::stop-commands::x ##[error]y"}
	got := string(render(t, text(reports.Style{}), report(checker.Inconclusive, res)))
	require.Contains(t, got, `    :\x3astop-commands::x`)
	require.Contains(t, got, `##\x5berror]y`)
}

func TestSafeWriterReturnsAFailedWrite(t *testing.T) {
	t.Parallel()
	n, err := reports.NewSafeWriter(brokenPipe{}, false).Write([]byte("x"))
	require.ErrorContains(t, err, "broken pipe")
	require.Zero(t, n)
}

// safe writes a text in pieces of so many bytes.
func safe(t require.TestingT, text string, colour bool, piece int) string {
	var b bytes.Buffer
	w := reports.NewSafeWriter(&b, colour)
	for left := text; left != ""; {
		part := left[:min(max(piece, 1), len(left))]
		n, err := io.WriteString(w, part)
		require.NoError(t, err)
		require.Equal(t, len(part), n)
		left = left[len(part):]
	}
	return b.String()
}

func FuzzSafeWriter(f *testing.F) {
	f.Add(nasty, 1, true)
	f.Add("\x1b[31m::error::x\n ::a\u202e ##[b]\xff", 2, false)
	f.Add("\x1b[1;3", 3, true)
	f.Fuzz(func(t *testing.T, text string, piece int, colour bool) {
		got := safe(t, text, colour, len(text))
		require.Equal(t, got, safe(t, text, colour, piece), "in pieces it is the same")
		require.True(t, utf8.ValidString(got))
		if colour {
			got = withoutColour(got)
		}
		require.Equal(t, -1, strings.IndexFunc(got, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}))
		require.NotRegexp(t, `##\w*\[`, safe(t, text, false, piece))
		require.False(t, regexp.MustCompile(`(?m)^[\s\p{Z}]*::`).MatchString(safe(t, text, false, piece)))
	})
}
