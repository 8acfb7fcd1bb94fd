package reports

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
)

// hostileText is all that a shell, a terminal or curl might take for its own.
const hostileText = "it's \"$HOME\" `id` $(id) \\ !x \x1b[31m \u202e ünï ; # @/etc/passwd\nnext"

// argumentsOf runs a line with a curl that writes its arguments down, one after the other.
func argumentsOf(t *testing.T, line string, env ...string) ([]string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-c", "curl() { printf '%s\\0' \"$@\"; }\n"+line)
	command.Env = env
	out, err := command.Output()
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

func TestACurlLineSendsWhatWasSent(t *testing.T) {
	t.Parallel()
	r := checker.Request{
		Method: "PUT", Path: "/orders/{x}?q=$(id)", Content: `{"note":"` + hostileText + `","token":"***"}`,
		Header: map[string]string{"Authorization": "***", "X-Signed": "v1=***, $HOME", "Empty": "", "@file": "x"},
	}
	require.Empty(t, curl("http://host", r), "curl would read a file for such a header")
	delete(r.Header, "@file")
	line := curl("http://host/", r)
	require.Equal(t, clean(line), line, "it is inert")
	require.NotContains(t, line, "\n")
	got, err := argumentsOf(t, line, "AUTHORIZATION=Bearer a b", "X_SIGNED=s'1", "SECRET=s")
	require.NoError(t, err)
	require.Equal(t, []string{
		"-i", "-X", "PUT", "--globoff", "--url", "http://host/orders/{x}?q=$(id)",
		"-H", "Authorization: Bearer a b", "-H", "Empty;", "-H", "X-Signed: v1=s'1, $HOME",
		"--data-raw", `{"note":"` + hostileText + `","token":"s"}`,
	}, got)
	_, err = argumentsOf(t, line)
	require.Error(t, err, "without its secrets it sends nothing")
}

func TestACurlLineIsLeftOutWhereItWouldSendSomethingElse(t *testing.T) {
	t.Parallel()
	good := checker.Request{Method: "POST", Path: "/orders", Content: "{}"}
	require.Equal(t, `curl -i --globoff --url "${BASE_URL:?}"/orders --data-raw '{}'`, curl("file:///etc/passwd", good), "a report without an address of the web")
	for name, change := range map[string]func(*checker.Request){
		"a method that is none":       func(r *checker.Request) { r.Method = "-o /tmp/x" },
		"a path that is none":         func(r *checker.Request) { r.Path = ".evil.example/" },
		"a body with a NUL":           func(r *checker.Request) { r.Content = "\x00" },
		"a body that is long":         func(r *checker.Request) { r.Content = strings.Repeat("x", mostSent+1) },
		"a header with two lines":     func(r *checker.Request) { r.Header = map[string]string{"A": "b\r\nC: d"} },
		"a header without a name":     func(r *checker.Request) { r.Header = map[string]string{"": "b"} },
		"a header with another's end": func(r *checker.Request) { r.Header = map[string]string{"A: b\r\nC": "d"} },
	} {
		r := good
		change(&r)
		require.Empty(t, curl("http://host", r), name)
	}
}
