package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// conversation is a command line at a terminal: as soon as a question is there, its answer is typed.
func conversation(t *testing.T, env map[string]string, answers [][2]string, args ...string) (code int, said, out string) {
	t.Helper()
	person, terminal, err := pty.Open()
	require.NoError(t, err)
	open, err := term.GetState(int(terminal.Fd()))
	require.NoError(t, err)
	hidden := func() bool {
		now, err := term.GetState(int(terminal.Fd()))
		return err == nil && !reflect.DeepEqual(open, now)
	}
	heard := make(chan string)
	go func() {
		var all bytes.Buffer
		for reader := bufio.NewReader(person); ; {
			b, err := reader.ReadByte()
			if err != nil { // the terminal is closed
				break
			}
			all.WriteByte(b)
			if len(answers) > 0 && strings.HasSuffix(all.String(), answers[0][0]) {
				for n := 0; strings.Contains(answers[0][0], "not shown") && !hidden() && n < 5000; n++ {
					time.Sleep(time.Millisecond)
				}
				person.WriteString(answers[0][1] + "\n")
				answers = answers[1:]
			}
		}
		heard <- strings.ReplaceAll(all.String(), "\r\n", "\n")
	}()
	var written bytes.Buffer
	code = execute(t.Context(), args, streams{in: terminal, out: &written, err: terminal, getenv: func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}})
	require.NoError(t, terminal.Close())
	said = <-heard
	person.Close()
	require.Empty(t, answers, "all questions were asked\n%s", said)
	return code, said, written.String()
}

func TestInitAsksForWhatIsNotGiven(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	file := filepath.Join(t.TempDir(), "notes.yaml")
	document := writeFile(t, "shop.yaml", `openapi: 3.1.0
info: {title: Notes, version: "1"}
paths:
  /carts: {post: {requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}, responses: {"201": {description: Made}}}}
  /things:
    post:
      operationId: createThing
      parameters: [{name: Idempotency-Key, in: header, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {"201": {description: Made}}
`)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path}
	code, said, out := conversation(t, env, [][2]string{
		{"or a curl command? ", document},
		{"Number? [2] ", "7"},
		{"expected a number from 1 to 2\r\nNumber? [2] ", ""},
		{"requests go? [http://localhost:8080] ", s.url},
		{"or nothing: [$DATABASE_URL] ", ""},
	}, "init", "-o", file)
	require.Equal(t, exitPass, code, "%s", said)
	require.Empty(t, out)
	require.Contains(t, said, "  1  post_carts   POST /carts\n  2  createThing  POST /things\n")
	require.Contains(t, said, "/note landed in things.note")
	require.Equal(t, 8, s.things(t), "one create, one that is repeated, three that are sent at once, one without a key, and two of which one is repeated after the other")
	got := callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
}

// TestInitAsksForSecretsWithoutShowingThem types a user and a password, which nobody may see afterwards.
func TestInitAsksForSecretsWithoutShowingThem(t *testing.T) {
	t.Parallel()
	s := newShop(t, trade)
	document := writeFile(t, "trade.yaml", customersDocument)
	file := filepath.Join(t.TempDir(), "trade.yaml")
	code, said, _ := conversation(t, nil, [][2]string{
		{"TRADE_USER for this one create, not shown and not kept: ", "alice"},
		{"TRADE_PASSWORD for this one create, not shown and not kept: ", "s3same-0pen"},
	}, "init", "-o", file, "--openapi", document, "--operation", "addOrder", "--url", s.url, "--db", "sqlite://"+s.path)
	require.Equal(t, exitPass, code, "%s", said)
	require.Contains(t, said, "/note landed in things.note")
	for _, secret := range []string{"alice", "s3same-0pen"} {
		require.NotContains(t, said+readFile(t, file), secret)
	}
}

func TestInitAsksNothingThatIsGiven(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	code, said, out := conversation(t, nil, nil, "init", "--curl", `curl -d '{"note": "x"}' `+s.url, "--db", "sqlite://"+s.path)
	require.Equal(t, exitPass, code, "%s", said)
	require.NotContains(t, said, "?")
	require.Contains(t, out, "things.note = :marker")
}

func TestQuestionsMayStayUnanswered(t *testing.T) {
	t.Parallel()
	const endOfFile = "\x04"
	code, said, _ := conversation(t, nil, [][2]string{{"or a curl command? ", endOfFile}}, "init")
	require.Equal(t, exitConfig, code)
	require.Contains(t, said, "the questions were not answered to their end")
	code, said, _ = conversation(t, nil, [][2]string{{"or a curl command? ", ""}}, "init")
	require.Equal(t, exitConfig, code)
	require.Contains(t, said, "init takes --openapi FILE, --har FILE or --curl 'COMMAND'")
}

// TestNobodyIsAskedWhoCannotAnswer holds that a question goes only from a terminal to a terminal.
func TestNobodyIsAskedWhoCannotAnswer(t *testing.T) {
	t.Parallel()
	_, terminal, err := pty.Open()
	require.NoError(t, err)
	defer terminal.Close()
	pipe, _, err := os.Pipe()
	require.NoError(t, err)
	defer pipe.Close()
	for name, s := range map[string]streams{
		"answers from a file":        {in: strings.NewReader("openapi.yaml\n"), err: terminal},
		"answers from a pipe":        {in: pipe, err: terminal},
		"questions to a file":        {in: terminal, err: new(bytes.Buffer)},
		"nothing to read answers of": {err: terminal},
	} {
		require.Nil(t, newAsker(s, false).in, name)
	}
	require.NotNil(t, newAsker(streams{in: terminal, err: terminal}, false).in)
	require.Nil(t, newAsker(streams{in: terminal, err: terminal}, true).in, "--yes")
}
