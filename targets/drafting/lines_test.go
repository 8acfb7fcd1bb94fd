package drafting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

func TestATextHasWhatItsLinesNameAsMembers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command string
		members map[string]any
		written string
	}{
		"a calendar's event": {
			`curl -X PUT a/cal/1.ics -H 'Content-Type: text/calendar; charset=utf-8' -d $'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//A//EN\r\nBEGIN:VEVENT\r\nUID:u-1\r\nDTSTART:20260502T090000Z\r\nATTENDEE;CN="a:b":mailto:c@example.com\r\nSUMMARY;LANGUAGE=en:Dentist\r\n {{folded}}\r\nCLASS:PUBLIC\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'`,
			map[string]any{"UID": "u-1", "ATTENDEE": "mailto:c@example.com", "SUMMARY": "Dentist"},
			"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//A//EN\r\nBEGIN:VEVENT\r\nUID:{{.UID}}\r\nDTSTART:20260502T090000Z\r\nATTENDEE;CN=\"a:b\":{{.ATTENDEE}}\r\nSUMMARY;LANGUAGE=en:{{.SUMMARY}}\r\n {{\"{{\"}}folded}}\r\nCLASS:PUBLIC\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		},
		"YAML": {
			"curl a -H 'Content-Type: application/yaml' --data-binary 'kind: Order\nmeta:\n  name: lamp\n  count: 2\nlines:\n  - sku: a\n  - sku: b\n'",
			map[string]any{"kind": "Order", "name": "lamp", "count": "2", "sku": "a", "sku2": "b"},
			"kind: {{.kind}}\nmeta:\n  name: {{.name}}\n  count: {{.count}}\nlines:\n  - sku: {{.sku}}\n  - sku: {{.sku2}}\n",
		},
		"a table": {
			"curl a -H 'Content-Type: text/csv' --data-binary 'name,count,\nb'", map[string]any{"text": "name,count,\nb"}, "{{.text}}",
		},
		"a table with rows": {
			"curl a -H 'Content-Type: text/csv' --data-binary 'name,count\nlamp,2\nbulb,\n'", map[string]any{"name": "lamp", "count": "2", "name2": "bulb"}, "name,count\n{{.name}},{{.count}}\n{{.name2}},\n",
		},
		"a sentence": {
			"curl a -H 'Content-Type: text/plain' -d 'Backup: all well\nand so on\n'", map[string]any{"text": "Backup: all well\nand so on"}, "{{.text}}\n",
		},
		"a sentence with an equals sign": {
			"curl a -H 'Content-Type: text/plain' -d 'a=b'", map[string]any{"text": "a=b"}, "{{.text}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := ReadCurl(test.command)
			require.NoError(t, err)
			require.Equal(t, test.members, c.Body)
			require.Equal(t, test.written, c.Written)
			text, err := File{Dialect: databases.SQLite, Draft: c.Draft("API")}.Text()
			require.NoError(t, err)
			require.Contains(t, text, "      text:\n")
			if kind := c.mediaType(); kind != "text/plain" {
				require.Contains(t, text, "Content-Type: "+kind)
			}
		})
	}
}

func TestAShellsNamedCharactersAreRead(t *testing.T) {
	t.Parallel()
	words, err := split(`$'wow\u0021 caf\xc3\xa9 \r\n\t\\ \'\" \101\U1F600 \q \x' "a\n" 'b\r'`)
	require.NoError(t, err)
	require.Equal(t, []string{"wow! café \r\n\t\\ '\" A😀 \\q \\x", `a\n`, `b\r`}, words)
}

func TestAKeyInThePathKeepsWhatTheNameOfAFileEndsWith(t *testing.T) {
	t.Parallel()
	for path, end := range map[string]string{
		"/cal/5d2e4c40-2f0b-4f4e-9f0c-3a1f1c7b0a11.ics": "/cal/{{.Key}}.ics", "/notes/5d2e4c40-2f0b-4f4e-9f0c-3a1f1c7b0a11": "/notes/{{.Key}}",
		"/notes/a1-2026.0518123456": "/notes/a1-2026.0518123456", "/notes/n-2026051812345.json?a=b.c": "/notes/{{.Key}}.json?a=b.c",
	} {
		c, err := ReadCurl(`curl -X PUT 'a` + path + `' -d '{"note":"n"}'`)
		require.NoError(t, err)
		require.Equal(t, end, c.Draft("API").Path)
	}
}

func TestABodyThatRepeatsThePathsIdHasTheKeyThere(t *testing.T) {
	t.Parallel()
	const id = "5d2e4c40-2f0b-4f4e-9f0c-3a1f1c7b0a11"
	c, err := ReadCurl(`curl -X PUT a/notes/` + id + `.json -d '{"id":"` + id + `","title":"Shopping","parts":[{"of":"` + id + `"}],"other":"see ` + id + `"}'`)
	require.NoError(t, err)
	text, err := File{Dialect: databases.SQLite, Draft: c.Draft("API")}.Text()
	require.NoError(t, err)
	require.Contains(t, text, `path: "/notes/{{.Key}}.json"`)
	require.Contains(t, text, "        id: '{{.Key}}'\n")
	require.Contains(t, text, "- of: '{{.Key}}'\n")
	require.Contains(t, text, "other: see "+id)
	c, err = ReadCurl(`curl -X PUT a/wiki/Guide -d '{"slug":"Guide","title":"Guide"}'`)
	require.NoError(t, err)
	require.NotContains(t, c.Draft("API").WithKeyIn(keyInPath("Guide")).Templates, "/slug", "a word may be there by chance")
}

func TestABodyMayStandInAFile(t *testing.T) {
	t.Parallel()
	for command, body := range map[string]map[string]any{
		"curl a -d @x": {"text": "one: {}two: {}"}, "curl a --data-binary @x": {"text": "one: {}\ntwo: {}"}, "curl a --data-raw @x": {"text": "@x"},
	} {
		c, err := ReadCurl(command + " -H 'Content-Type: text/plain'")
		require.NoError(t, err)
		for _, u := range c.Files {
			require.True(t, u.Whole())
			require.Equal(t, "x", u.Path)
			require.NoError(t, c.ReadBody(u, []byte("one: {}\ntwo: {}\n")))
			require.ErrorContains(t, c.ReadBody(u, []byte("a\x00")), "no text")
		}
		require.Equal(t, body, c.Body, command)
	}
}

func TestABodyWithoutAMemberCanBeWritten(t *testing.T) {
	t.Parallel()
	for command, left := range map[string]map[string]any{
		`curl a -H 'Content-Type: text/x' -d $'note: lamp\namount: 12\n'`: {"note": "lamp", "amount": ""},
		`curl a -d '<a><note>lamp</note><amount>12</amount></a>'`:         {"note": "lamp", "amount": ""},
		`curl a -d '{"note":"lamp","amount":12}'`:                         {"note": "lamp"},
		`curl a -d 'note=lamp&amount=12'`:                                 {"note": "lamp"},
	} {
		c, err := ReadCurl(command)
		require.NoError(t, err)
		other, can := WithoutAltered(File{Draft: c.Draft("API"), Proof: &Proof{Text: "/note"}})
		require.True(t, can, command)
		require.Equal(t, left, other.Draft.Body, command)
	}
}

func TestATextOfSeveralLinesIsReadBackAsItIs(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"# Shopping\n\nmilk\n", "one\ntwo", "note: lamp\n  more\namount: 2\n\n", " <a>\n  <note>lamp</note>\n</a>\n", "<a>\n  <note>lamp</note>\n</a>", "note,n\nlamp,2\n"} {
		c, err := ReadCurl("curl a -H 'Content-Type: text/x' --data-binary '" + body + "'")
		require.NoError(t, err)
		text, err := File{Dialect: databases.SQLite, Draft: c.Draft("API")}.Text()
		require.NoError(t, err)
		var file struct {
			Operations map[string]struct{ Request struct{ Written string } }
		}
		require.NoError(t, yaml.Unmarshal([]byte(text), &file), text)
		require.Equal(t, strings.ReplaceAll(c.Written, "$", "$$"), file.Operations["create"].Request.Written)
	}
}

func TestATextShowsNoSecretInTheFile(t *testing.T) {
	t.Parallel()
	c, err := ReadCurl("curl a -H 'Content-Type: application/yaml' --data-binary 'title: a lamp\napi_key: ABCDEF\ntokens:\n  - GHIJKL\n  - MNOPQR\nsecret: |\n  STUVWX\nlogin: {user: ann, password: YZABCD}\npassword: [EFGHIJ]\nafter:\n  - kept\n'")
	require.NoError(t, err)
	text, err := File{Dialect: databases.SQLite, Draft: c.Draft("API")}.Text()
	require.NoError(t, err)
	for _, secret := range []string{"ABCDEF", "GHIJKL", "MNOPQR", "STUVWX", "YZABCD", "EFGHIJ"} {
		require.NotContains(t, text, secret)
	}
	require.Contains(t, text, "- kept")
}

func TestAnotherLargeNumberHasAsManyDigits(t *testing.T) {
	t.Parallel()
	for number, template := range map[int64]string{
		4100000000: `{{slice (unique "number") 0 10 | json}}`, 9007199254740993: `{{printf "9%s" (unique "number") | json}}`, 95123456789012345: `{{printf "95%s" (unique "number") | json}}`,
		999123456789012345: `{{printf "999%s" (unique "number") | json}}`, 9223372036854775807: `{{printf "9222%s" (unique "number") | json}}`,
	} {
		require.Equal(t, template, anotherNumber(number))
	}
}

func TestRowsOfAnArchiveThatAreAlikeStayTwo(t *testing.T) {
	t.Parallel()
	for with, query := range map[string]string{
		"id": "select id, note from orders where orders.note = :marker union select id, note from gone where gone.note = :marker", "": "select note from orders where orders.note = :marker union all select note from gone where gone.note = :marker",
	} {
		table := databases.Table{Name: "orders", Columns: []databases.Column{{Name: "id"}, {Name: "note"}}}
		if with != "" {
			table.Primary = []string{with}
		}
		archive := table
		archive.Name, archive.Primary = "gone", nil
		f := File{Dialect: databases.SQLite, Proof: &Proof{Table: table, Where: Where{Column: "note", Exact: true, Archive: &archive}}}
		require.Equal(t, query, f.query())
		f.Proof.Rekeyed = true
		require.Equal(t, "select note from orders where orders.note = :marker union all select note from gone where gone.note = :marker", f.query())
	}
}
