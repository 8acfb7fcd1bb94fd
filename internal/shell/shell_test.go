package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/shell"
)

// enemies are texts that would like to be obeyed. A file that $PWNED names must not appear.
func enemies() []string {
	const touch = `: >"$PWNED"`
	return []string{
		"", "orders.yaml", "it's", "$(" + touch + ")", "`" + touch + "`", "a b\tc\nd", `\`, `"`, "'; exit 7; '", "~", "*", "#x", "-n", "!x", "${x}",
		"'; " + touch + "; '", `"; ` + touch + `; "`, "\n" + touch + "\n", "}; " + touch, "\x1b'; " + touch + "; '", "\x1b\\'; " + touch + " #",
		"END\n" + touch, "\u2028" + touch, "\r\n" + touch, "a\xff'; " + touch + "; '", "\u202e'$(" + touch + ")", `\'; ` + touch + "; #",
	}
}

func TestAShellTakesAQuotedTextAsOneWord(t *testing.T) {
	t.Parallel()
	for _, text := range enemies() {
		oneWord(t, text)
	}
	require.Equal(t, "reports/runs/a-b", shell.Quote("reports/runs/a-b"), "what needs no quotes has none")
	require.Equal(t, `$'\033[2J'`, shell.Quote("\x1b[2J"), "a terminal obeys nothing of it")
}

// oneWord runs a text as a word in bash, which has to give it back, and in sh, which may know no $'...' but must obey nothing.
func oneWord(t require.TestingT, text string) {
	dir, err := os.MkdirTemp("", "shell-word-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	run := func(program, script string) string {
		command := exec.Command(program, "-c", script)
		command.Dir, command.Env = dir, append(os.Environ(), "PWNED="+filepath.Join(dir, "pwned"), "a=A")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%q: %s", text, out)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, "%q was obeyed", text)
		return string(out)
	}
	quoted := shell.Quote(text)
	require.NotContains(t, quoted, "\n")
	require.Equal(t, text+"|", run("bash", "printf '%s|' "+quoted))
	run("sh", "printf '%s|' "+quoted)
	require.Equal(t, text+"A"+text+"|", run("bash", "printf '%s|' "+shell.Word(shell.Part{Text: text}, shell.Part{Name: "a"}, shell.Part{Text: text})))
}

func FuzzQuote(f *testing.F) {
	for _, text := range enemies() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "\x00") { // which no argument of a program holds
			oneWord(t, text)
		}
	})
}

func TestNamesOfVariables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Authorization": "AUTHORIZATION", "X-API-Key": "X_API_KEY", "X.Y": "X_Y", "Path": "HEADER_PATH", "9": "HEADER_9", "$(x)": "X", "é": "HEADER_",
		"Bash-Env": "HEADER_BASH_ENV", "LD-Preload": "HEADER_LD_PRELOAD", "Base-URL": "HEADER_BASE_URL",
	} {
		require.Equal(t, want, shell.Name(text), text)
	}
}

func TestSimpleCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"bin/doubletap replay reports/runs/x/findings/{}":    true,
		`go run ./cmd/doubletap run --target 'it'\''s.yaml'`: true,
		`doubletap run --database "$DOUBLETAP_DATABASE" a`:   true,
		`doubletap run $'a\033b'`:                            true,
		"doubletap run; touch x":                             false,
		"doubletap run $(touch x)":                           false,
		"doubletap run `touch x`":                            false,
		"doubletap run > x":                                  false,
		"doubletap run\ntouch x":                             false,
		"doubletap run 'a\nb'":                               false,
		"doubletap run | sh":                                 false,
		`doubletap run "$(touch x)"`:                         false,
		`doubletap run $'a\'; touch x; '`:                    false,
		"doubletap run & touch x":                            false,
		"":                                                   false,
	} {
		require.Equal(t, want, shell.Simple(text), text)
	}
}
