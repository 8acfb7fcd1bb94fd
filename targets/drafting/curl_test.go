package drafting_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestCurlCommandsAreReadAsShellsReadThem(t *testing.T) {
	t.Parallel()
	const want = "POST http://localhost:8080/orders a b"
	for name, command := range map[string]string{
		"single quotes":         `curl -X POST http://localhost:8080/orders -H 'Note: x' -d '{"note": "a b"}'`,
		"double quotes":         `curl --request=POST "http://localhost:8080/orders" -H "Note: x" --data "{\"note\": \"a b\"}"`,
		"no blanks":             `curl -XPOST -d'{"note":"a b"}' -H'Note:x' http://localhost:8080/orders`,
		"lines that go on":      "curl \\\n  http://localhost:8080/orders \\\r\n -H 'Note: x' --data-raw '{\"note\": \"a b\"}'",
		"dollar quotes":         `curl http://localhost:8080/orders -H $'Note: x' --json $'{"note": "a\u0020b"}'`,
		"flags that are passed": `curl -sS -o /dev/null --max-time 3 -w '%{http_code}' --url localhost:8080/orders -H 'Note: x' -d '{"note": "a b"}'`,
		"more such flags":       `curl -U me:pass --noproxy localhost --connect-to ::localhost: --retry-delay 1 --url localhost:8080/orders -H 'Note: x' -d '{"note": "a b"}'`,
		"escaped blanks":        `curl localhost:8080/orders -H Note:\ x -d {\"note\":\"a\ b\"}`,
	} {
		c, err := drafting.ReadCurl(strings.ReplaceAll(command, `\u0020`, " "))
		require.NoError(t, err, name)
		require.Equal(t, want, c.Method+" "+c.URL.String()+" "+c.Body["note"].(string), name)
		require.Equal(t, [][2]string{{"Note", "x"}}, c.Header, name)
	}
}

func TestACompressedAnswerIsAskedFor(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl --compressed localhost:8080/orders -d '{"note": "a"}'`)
	require.NoError(t, err)
	require.Equal(t, [][2]string{{"Accept-Encoding", "gzip, deflate"}}, c.Header)
	require.Equal(t, "gzip", c.Draft("API").Header["Accept-Encoding"], "and the file asks for it, too")
	c, err = drafting.ReadCurl(`curl -H 'accept-encoding: gzip, deflate, br, zstd' -d '{"a": "b"}' a`) // as browsers copy it
	require.NoError(t, err)
	require.Equal(t, "gzip", c.Draft("API").Header["Accept-Encoding"])
}

func TestATokenOfACurlCommandIsItsHeader(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl --oauth2-bearer t0ken localhost:8080/orders -d '{"note": "a"}'`)
	require.NoError(t, err)
	require.Equal(t, [][2]string{{"Authorization", "Bearer t0ken"}}, c.Header)
}

func TestFormsOfACurlCommand(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl localhost:8080/orders --data-urlencode 'note=a b&c=d' -d amount=3`)
	require.NoError(t, err)
	require.True(t, c.Form && !c.Multipart)
	require.Equal(t, map[string]any{"note": "a b&c=d", "amount": "3"}, c.Body)

	c, err = drafting.ReadCurl(`curl localhost:8080/orders -F 'note=a b' -F 'photo=@/tmp/lamp.png;type=image/png'`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"note": "a b", "photo": map[string]any{"file": "lamp.png", "type": "image/png", "content": "sample"}}, c.Body)
	text, err := drafting.File{Target: "shop", BaseURL: "http://localhost:8080", Draft: c.Draft("SHOP")}.Text()
	require.NoError(t, err)
	require.Contains(t, text, "multipart:\n        note: '{{.Intent.Marker}}'")
}

// TestFilesOfACurlCommand holds that a form has of a file what curl would send, and that what it holds is left to be filled in.
func TestFilesOfACurlCommand(t *testing.T) {
	t.Parallel()
	file := func(name, media, content string) map[string]any {
		return map[string]any{"file": name, "type": media, "content": content}
	}
	for parts, want := range map[string]any{
		`-F 'f=@/tmp/bank.csv;type=text/csv'`:                                file("bank.csv", "text/csv", "a,b\n"),
		`-F 'f=@"/tmp/bank.csv";filename="may.csv";type=text/csv'`:           file("may.csv", "text/csv", "a,b\n"),
		`-F 'f=@/tmp/bank.csv;type=text/csv;charset=utf-8;filename=may.csv'`: file("may.csv", "text/csv;charset=utf-8", "a,b\n"),
		`-F 'f=@/tmp/page.HTML'`:                                             file("page.HTML", "text/html", "a,b\n"),
		`-F 'f=@/tmp/bank.csv'`:                                              map[string]any{"file": "bank.csv", "content": "a,b\n"},
		`-F 'f=</tmp/bank.csv'`:                                              "a,b\n",
		`--form-string 'f=@home;type=x'`:                                     "@home;type=x",
	} {
		c, err := drafting.ReadCurl("curl localhost:8080/orders -F note=hello " + parts)
		require.NoError(t, err)
		for _, u := range c.Files {
			require.True(t, c.Fill(u, []byte("a,b\n")))
			require.False(t, c.Fill(u, []byte("\x89PNG")))
		}
		require.Equal(t, map[string]any{"note": "hello", "f": want}, c.Body, parts)
		require.Equal(t, []string{"/note"}, c.Draft("SHOP").Texts, parts)
	}
}

func TestCurlCommandsThatAreNoCreate(t *testing.T) {
	t.Parallel()
	for command, says := range map[string]string{
		"":                             "does not begin with curl",
		"curl -d '{}' ftp://localhost": "names no URL",
		"curl -d '{}'":                 "names no URL",
		"curl -d '{}' a b":             "more than one URL",
		"curl a -d":                    "-d has no value",
		"curl --unix-socket /run/s.sock -d {} http://a/b": "it goes to the socket /run/s.sock: give it an address of TCP, and write socket: into the target file afterwards",
		"curl a -d 'x":                  "a quotation mark is not closed",
		"curl a -d '[1]'":               "no JSON object, no list of them, no form and no XML",
		"curl a -d '{} {}'":             "no JSON object, no list of them, no form and no XML",
		"curl a -d null":                "no JSON object, no list of them, no form and no XML",
		"curl a -d a=1 -d a=2":          "its form has a more than once",
		"curl http://u:p@a -d '{}'":     "give it with -u",
		"curl a --data-binary @- ":      "its body comes from the standard input",
		"curl a -d @x -d b=1":           "a part of its body is in a file",
		"curl a -d @x -d @y":            "its body is in more than one file",
		"curl a --data-urlencode x@y.z": "its body is in a file",
		"curl a -F note=1 -F note=2":    "its form has note more than once",
		"curl a -F note":                "no NAME=VALUE",
		"curl -X '${HOME}' a -d '{}'":   "no method",
		"curl a -F note=1 -d note=2":    "both a body (-d) and a form (-F)",
	} {
		_, err := drafting.ReadCurl(command)
		require.ErrorContains(t, err, says, command)
		require.NotContains(t, err.Error(), "u:p")
	}
}

func TestNumbersOfACurlCommandStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl a -d '{"big": 9007199254740993, "part": 1.5, "list": [1]}'`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"big": int64(9007199254740993), "part": 1.5, "list": []any{int64(1)}}, c.Body)
}

func TestAKeyInTheBodyIsLeftToTheKey(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl a/orders -d '{"idempotency_key": "7", "item": "lamp", "at": "2030-01-01"}'`)
	require.NoError(t, err)
	d := c.Draft("API")
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "idempotency_key"}}, d.Key)
	require.NotContains(t, d.Body, "idempotency_key")
	require.Equal(t, []string{"/item"}, d.Texts, "a plain word, where no name speaks for a text")
	require.Equal(t, "create_orders", d.Name)
}

func TestAKeyIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	key := func(in contract.KeyPlace, name string) targets.Key {
		return targets.Key{Key: contract.Key{In: in, Name: name}}
	}
	inPath := key(contract.KeyInPath, "")
	inPath.Required, inPath.Format = true, contract.OnlyUUID
	word := inPath
	word.Format = contract.AnyText
	const id = "0d9a1c1e-8f5c-4a4e-9d2e-0c6c1f6f7a11"
	for command, want := range map[string]struct {
		key    targets.Key // that is certain
		may    []targets.Key
		path   string // with the key in its place, or the first of these that may be it
		needed []string
	}{
		`curl a/orders?idempotencyKey=7&x=1 -d '{"note":"a b"}'`:         {key: key(contract.KeyInQuery, "idempotencyKey"), path: "/orders?x=1"},
		`curl a/orders?request_id=7 -d '{"note":"a b"}'`:                 {may: []targets.Key{key(contract.KeyInQuery, "request_id")}, path: "/orders"},
		`curl a/o -d '{"in":{"note":"a b","idempotencyKey":"7"}}'`:       {key: key(contract.KeyInBody, "/in/idempotencyKey"), path: "/o"},
		`curl a/o -d '{"in":{"note":"a b","clientMutationId":"7"}}'`:     {may: []targets.Key{key(contract.KeyInBody, "/in/clientMutationId")}, path: "/o"},
		`curl a/o -d '{"note":"a b","ClientToken":"7"}'`:                 {may: []targets.Key{key(contract.KeyInBody, "ClientToken")}, path: "/o"},
		`curl a/o -d '{"note":"a b","api_token":"7"}'`:                   {path: "/o", needed: []string{"API_API_TOKEN"}},
		`curl -X PUT a/orders/` + id + `?x=1 -d '{"note":"a b"}'`:        {key: inPath, path: "/orders/{{.Key}}?x=1"},
		`curl -X PUT a/orders/` + id + `.json?x=1 -d '{"note":"a b"}'`:   {key: inPath, path: "/orders/{{.Key}}.json?x=1"},
		`curl -X PUT a/orders/ord_9f8a7b6c5d.xml -d '{"note":"a b"}'`:    {key: word, path: "/orders/{{.Key}}.xml"},
		`curl -X PUT a/orders/17 -d '{"note":"a b"}'`:                    {path: "/orders/17"},
		`curl a/orders/` + id + ` -d '{"note":"a b"}'`:                   {may: []targets.Key{inPath}, path: "/orders/{{.Key}}"},
		`curl a/o -H 'X-Request-Id: ` + id + `' -d 'note=a b&token=abc'`: {may: []targets.Key{key(contract.KeyInHeader, "X-Request-Id"), key(contract.KeyInBody, "token")}, path: "/o", needed: []string{"API_TOKEN"}},
		`curl a/o -b 'idempotency-key=7' -d '{"note":"a b"}'`:            {key: key(contract.KeyInCookie, "idempotency-key"), path: "/o"},
		`curl a/o -b 'sid=` + id + `; lang=de; order_token=7; cart=` + id + `; a[b]=` + id + `' -d '{"note":"a b"}'`: {
			may: []targets.Key{key(contract.KeyInCookie, "order_token"), key(contract.KeyInCookie, "cart")}, path: "/o", needed: []string{"API_COOKIE"}},
		`curl a/o -H 'cookie: order_token=7' -d '{"note":"a b"}'`: {may: []targets.Key{key(contract.KeyInCookie, "order_token")}, path: "/o"},
	} {
		c, err := drafting.ReadCurl(command)
		require.NoError(t, err, command)
		d := c.Draft("API")
		require.Equal(t, want.key, d.Key, command)
		require.Equal(t, want.may, d.KeyPlaces(), command)
		if len(want.may) > 0 {
			d = d.WithKeyIn(want.may[0])
		}
		require.Equal(t, want.path, d.Path, command)
		require.ElementsMatch(t, want.needed, d.Needed, command)
		require.NotContains(t, d.Name, "7a11", command)
		_, err = drafting.File{Target: "api", BaseURL: "http://localhost:8080", Draft: d}.Text()
		require.NoError(t, err, command)
	}
}

// TestTheEndOfAPathKeepsItsFormat holds that another thing is asked for in the format of the source's, and that the database knows it without that.
func TestTheEndOfAPathKeepsItsFormat(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{"Berlin_guide.json": "/wiki/{{.Key}}.json", "Berlin_guide.xml": "/wiki/{{.Key}}.xml", "Berlin_guide": "/wiki/{{.Key}}", "Berlin.guide": "/wiki/{{.Key}}"} {
		c, err := drafting.ReadCurl("curl -X PUT 'a/wiki/" + end + "' -d '{\"text\":\"a b\"}'")
		require.NoError(t, err)
		d := c.Draft("API")
		others := d.OtherPlaces()
		require.Len(t, others, 1)
		require.Equal(t, want, d.WithKeyIn(others[0]).Path)
		row := map[string]string{"title": strings.TrimSuffix(strings.TrimSuffix(end, ".json"), ".xml")}
		_, may := drafting.EndOfPath(drafting.File{Draft: d, Proof: &drafting.Proof{Table: databases.Table{Unique: [][]string{{"title"}}}, Row: row}})
		require.True(t, may, end)
	}
	c, err := drafting.ReadCurl(`curl -X PUT a/wiki/17.json -d '{"text":"a b"}'`)
	require.NoError(t, err)
	require.Empty(t, c.Draft("API").OtherPlaces(), "a number is one of the target's")
}

// TestAnIDWithinThePathMayBeTheKey holds that it is among the last places that are tried, and the very last where it looks like that of who asks.
func TestAnIDWithinThePathMayBeTheKey(t *testing.T) {
	t.Parallel()
	const id = "0d9a1c1e-8f5c-4a4e-9d2e-0c6c1f6f7a11"
	c, err := drafting.ReadCurl(`curl 'a/tenants/6` + id[1:] + `/orders/` + id + `/submit?x=1' -d '{"note":"a b"}'`)
	require.NoError(t, err)
	d := c.Draft("API")
	require.Empty(t, d.KeyPlaces())
	others := d.OtherPlaces()
	require.Len(t, others, 3)
	require.Equal(t, "the parameter x", drafting.Called(others[0]))
	require.Equal(t, "/tenants/{{.Key}}/orders/"+id+"/submit?x=1", d.WithKeyIn(others[2]).Path)
	with := d.WithKeyIn(others[1])
	require.Equal(t, "/tenants/6"+id[1:]+"/orders/{{.Key}}/submit?x=1", with.Path)
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true, Format: contract.OnlyUUID}}, with.Key)
}

func TestNumbersThatMayBeAnyCarryAMarkerWhereNoTextDoes(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl a/o -d '{"quantity": 2, "customer_id": 17, "amount": 1200, "external_id": 7, "lines": [{"price": 5}], "share": 0.5}'`)
	require.NoError(t, err)
	require.Equal(t, []string{"/external_id", "/amount", "/lines/0/price", "/quantity"}, c.Draft("API").Numbers())
	c, err = drafting.ReadCurl(`curl a/o -d 'amount=1200&code=R7'`)
	require.NoError(t, err)
	d := c.Draft("API")
	require.Equal(t, []string{"/amount"}, d.Numbers())
	d.Number = "/amount"
	text, err := drafting.File{Target: "api", BaseURL: "http://localhost:8080", Draft: d}.Text()
	require.NoError(t, err)
	require.Contains(t, text, "    marker: number")
	require.Contains(t, text, "amount: '{{.Intent.Marker}}'", "a form has texts only")
}

func FuzzReadCurl(f *testing.F) {
	for _, command := range []string{"curl -d '{\"note\":\"x\"}' http://localhost/things", `curl $'\x1b[2J' -H "a: b" http://h`, "curl \\\n -d @file http://h", "curl 'x", `curl -X $'P\nprocess: x' -H 'X-A: ${HOME}{{.X}}' -d 'note=${HOME}&a={{.X}}' 'http://h/${HOME}/{{.Port}}?x=${HOME}'`, `curl --cacert '${HOME}{{.X}}' -E $'a\nprocess: x' -d a=b https://h`} {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if r, err := drafting.ReadCurl(command); err == nil {
			require.NotNil(t, r.URL)
			r.Header = slices.DeleteFunc(r.Header, func(h [2]string) bool { // a variable that whoever calls curl means
				return regexp.MustCompile(`^([A-Za-z]+ )?\$(\w+|\{\w+\})$`).MatchString(h[1])
			})
			if file, err := (drafting.File{Target: "shop", BaseURL: "http://127.0.0.1:8080", Access: drafting.Access{TLS: r.TLS}, Draft: r.Draft("API")}).Text(); err == nil {
				harmless(t, file)
			}
		}
	})
}
