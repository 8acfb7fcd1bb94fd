package targets_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/explain"
)

var update = flag.Bool("update", false, "write the golden files anew")

const secret = "hunter2: {{ ~ swordfish"

// environment holds a secret whatever it is asked for, but for the names that are not set.
func environment(name string) (string, bool) {
	return secret, name != "UNSET" && name != "SHOP_URL"
}

func TestEveryMistakeIsToldAtOnceWithItsPlaceAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	for path, archive := range badArchives(t, "testdata/bad/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			for i := 0; i < len(archive.Files); i += 2 {
				name := archive.Files[i].Name
				_, err := targets.Load(name, archive.Files[i].Data, environment)
				require.ErrorAs(t, err, new(document.Mistakes), name)
				require.NotContains(t, err.Error(), "hunter2", name)
				require.NotContains(t, err.Error(), "swordfish", name)
				if *update {
					archive.Files[i+1].Data = []byte(err.Error() + "\n\n")
				}
				require.Equal(t, strings.TrimSuffix(name, ".yaml")+".txt", archive.Files[i+1].Name)
				require.Equal(t, strings.TrimSpace(string(archive.Files[i+1].Data)), err.Error(), name)
			}
			if *update {
				require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
			}
		})
	}
}

// badArchives returns the archives of files that are refused, by path. Each file name.yaml is followed by name.txt, the
// mistakes that it has.
func badArchives(tb testing.TB, pattern string) map[string]*txtar.Archive {
	tb.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(tb, err)
	require.NotEmpty(tb, paths)
	all := map[string]*txtar.Archive{}
	for _, path := range paths {
		all[path], err = txtar.ParseFile(path)
		require.NoError(tb, err)
	}
	return all
}

func load(t *testing.T, file string) targets.Target {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	target, err := targets.Load(file, data, environment)
	require.NoError(t, err)
	return target
}

func TestAFullFileIsReadAsItIsMeant(t *testing.T) {
	t.Parallel()
	target := load(t, "testdata/good/full.yaml")
	require.Equal(t, "http://localhost:8080/api", target.BaseURL)
	require.Equal(t, targets.HTTP2, target.Protocol)
	require.Equal(t, "postgres://shop:"+secret+"@localhost/shop", target.Database.URL)
	require.Equal(t, targets.Principal{"Token": secret, "Tenant": "7"}, target.Principals["alice"])
	require.Equal(t, contract.Duration(2*time.Second), target.Settle)
	require.Equal(t, &targets.Received{Path: "/-/received", Pointer: "/received"}, target.Received)

	order := target.Operations["create_order"]
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key", Required: true, Quoted: true}}, order.Key)
	require.Equal(t, "PUT", order.Request.Method)
	require.Equal(t, map[string]any{"1": "one", "2": nil}, order.Request.Body["by"])
	require.Equal(t, "2024-02-03", order.Request.Body["date"])
	require.Equal(t, map[string]string{"amount": "/price/amount"}, order.Rows.Content)

	pay := target.Operations["pay"]
	require.Equal(t, "POST", pay.Request.Method)
	require.Equal(t, "2024-02-04", pay.Request.Body["date"])
	require.Equal(t, "{{.Intent.Marker}}", pay.Request.Body["note"])
}

func TestPromisesAboutLaterAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	target := load(t, "testdata/good/later.yaml")
	failed := map[string]any{"/state": "failed"}
	require.Equal(t, contract.Ack{
		Signature: contract.Signature{Statuses: []int{201}},
		Accepted: contract.Accepted{
			Signature: contract.Signature{Statuses: []int{202}},
			Monitor:   "Location",
			Done:      contract.Signature{Statuses: []int{200}, Where: map[string]any{"/state": "done"}},
			Failed:    contract.Signature{Statuses: []int{200, 410}, Where: failed},
			Identity:  "/order/id",
			Within:    contract.Duration(10 * time.Second),
		},
	}, target.Contract.Ack)
	require.Equal(t, contract.Scope{Principal: contract.ScopeSeparate, Operation: contract.ScopeReject}, target.Contract.Scope)
	require.Equal(t, contract.Expiry{
		After: contract.Duration(30 * time.Second), Then: contract.ExpiryReject, Signature: contract.Signature{Statuses: []int{422, 410}},
	}, target.Contract.Expiry)
	require.Equal(t, contract.FingerprintFields, target.Contract.Fingerprint.Mode)
	require.Equal(t, []string{"/price/amount", "/sku"}, target.Contract.Fingerprint.Fields)
	require.Equal(t, []int{422}, target.Contract.Fingerprint.Statuses, "the preset's")
	require.Equal(t, contract.Duration(90*time.Second), target.Contract.Lease)

	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInQuery, Name: "idempotency key"}}, target.Operations["order"].Key)
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "request_id", Format: contract.OnlyUUID, FoldCase: true}}, target.Operations["refund"].Key)
	lines, total, fewer := 2, 1200.5, -1.0
	require.Equal(t, []contract.Effect{
		{Name: "order-lines", Query: "select 1 from lines where note = :marker", Rows: &lines},
		{Name: "order-total", Query: "select total from orders where note = :marker", Value: &total},
		{Name: "stock", Query: "select n from stock where sku = 'lamp'", Delta: &fewer},
	}, target.Operations["order"].Effects)
}

func TestContractsThatComeCloseToAMistakeAreLoaded(t *testing.T) {
	t.Parallel()
	for name, promise := range map[string]string{
		"an altered body has another marker":               "{fingerprint: {mode: fields, fields: [/n]}}",
		"the last entry of a list is altered":              "{fingerprint: {mode: fields, fields: [/list/1]}}",
		"a field has a slash in its name":                  "{fingerprint: {mode: fields, fields: [/a~1b]}}",
		"done and failed look at different members":        "{ack: {accepted: {statuses: [202], monitor: /m, done: {where: {/a: 1}}, failed: {where: {/b: 1}}}}}",
		"an expired key is refused like another body":      "{preset: ietf, expiry: {after: 1h, then: reject, statuses: [422]}}",
		"an expired key is refused like a missing one":     "{preset: ietf, expiry: {after: 1h, then: reject, statuses: [400]}}",
		"an expiry that may go either way has a signature": "{expiry: {after: 1h, statuses: [410]}}",
		"a preset's expiry is made shorter":                "{preset: stripe, expiry: {after: 1s}}",
		"accepted is narrower than done":                   "{ack: {statuses: [200], accepted: {statuses: [200], where: {/state: pending}, monitor: Location, done: {where: {/state: done}}}}}",
		"operations and principals that are not there":     "{scope: {principal: reject, operation: separate}}",
		"no time at all":                                   "{content_window: 0s, lease: 0s, expiry: {after: 0s}}",
	} {
		_, err := targets.Load("close.yaml", []byte(`
name: close
base_url: http://localhost
contract: `+promise+`
operations:
  create:
    request: {path: /c, body: {n: "{{.Intent.Marker}}", list: [1, 2], a/b: 1}}
    alter: {list: [1, 3], a/b: 2}
    key: {in: header, format: uuid, fold_case: true}
`), nil)
		require.NoError(t, err, name)
	}
}

// Examples that begin with a name are whole files.
func TestTheExamplesInTheDocumentationAreTargets(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/targets.md")
	require.NoError(t, err)
	examples := map[string]targets.Target{}
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		if example, _, _ := strings.Cut(block, "```"); strings.HasPrefix(example, "name:") {
			target, err := targets.Load("targets.md", []byte(example), func(string) (string, bool) { return "sqlite:shop.db", true })
			require.NoError(t, err)
			examples[target.Name] = target
		}
	}
	require.Len(t, examples, 14)
	require.True(t, examples["wallet"].Operations["topup"].Rows.ByKey())
	require.Equal(t, targets.NumberMarker, examples["payments"].Operations["create_payment"].Marker)
	require.Equal(t, targets.Store{Ephemeral: targets.EngineRedis, Flush: "*"}, examples["shop-with-redis"].Store)
	shop := examples["shop"]
	require.NotZero(t, shop.Contract.Expiry.After)
	require.NotZero(t, shop.Contract.Scope)
	require.NotEmpty(t, shop.Contract.Ack.Accepted.Statuses)
	require.Equal(t, []int{200}, shop.Contract.Ack.Accepted.Failed.Statuses, "left out")
	for _, o := range shop.Operations {
		require.NotEmpty(t, o.Effects)
	}
}

func TestTheTablesWhoseWritersMayBeHeldBack(t *testing.T) {
	t.Parallel()
	of := func(gate string) *targets.WriteGate {
		target, err := targets.Load("t.yaml", []byte(`
name: gated
base_url: http://127.0.0.1:80
database: {url: "sqlite:/tmp/orders.db"`+gate+`}
operations:
  create:
    request: {path: /c, body: {n: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows: {query: "select id from orders where note = :marker"}
`), nil)
		require.NoError(t, err, gate)
		return target.Database.WriteGate
	}
	require.Nil(t, of(""))
	require.Equal(t, &targets.WriteGate{Tables: []string{"orders"}, Longest: contract.Duration(300 * time.Millisecond)}, of(", write_gate: {tables: [orders]}"))
	require.Equal(t, &targets.WriteGate{Tables: []string{"shop.orders", `"Keys"`}, Longest: contract.Duration(10 * time.Second)},
		of(`, write_gate: {tables: [shop.orders, '"Keys"'], longest: 10s}`))
}

func TestAFileLeavesOutMuch(t *testing.T) {
	t.Parallel()
	target, err := targets.Load("t.yaml", []byte(`
name: small
base_url: http://127.0.0.1:80
operations: {create: {request: {path: /c, body: {n: "{{.Intent.Marker}}"}}, key: {in: header}}}
`), nil)
	require.NoError(t, err)
	require.Equal(t, contract.Duration(500*time.Millisecond), target.Settle)
	require.Equal(t, contract.Idempotent, target.Contract.Level)
	require.Equal(t, []int{200, 201, 204}, target.Contract.Ack.Statuses)
	require.Equal(t, contract.Replay{Body: contract.SameJSON}, target.Contract.Replay)
	require.NotEqual(t, targets.HTTP2, target.Protocol)
	require.Equal(t, "Idempotency-Key", target.Operations["create"].Key.Name)
	require.Equal(t, "POST", target.Operations["create"].Request.Method)
}

func FuzzLoad(f *testing.F) {
	for _, archive := range badArchives(f, "testdata/bad/*.txtar") {
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	files, err := filepath.Glob("testdata/good/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		target, err := targets.Load("f.yaml", data, environment)
		if err != nil {
			require.ErrorAs(t, err, new(document.Mistakes))
			return
		}
		for _, o := range target.Operations {
			v := targets.Values{Intent: targets.IntentValues{Marker: "m", Reference: "r", Number: 1}}
			for _, v.Principal = range target.Principals {
				for _, which := range []targets.Variant{targets.AsItIs, targets.Altered, targets.Invalid} {
					r, err := o.Render(v, which)
					require.NoError(t, err)
					if o.Key.In != contract.KeyNowhere {
						require.NoError(t, o.PlaceKey(&r, ""))
					}
				}
			}
		}
		require.Len(t, explain.Operations(target), len(target.Operations))
	})
}

func TestWhatVariablesGiveToRequestsIsSecret(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"TOKEN": "red-token", "KEY": "key-of-the-api", "ITEM": "lamp-of-glass", "PATH_KEY": "/orders?key=secret",
		"QUERY": "key-in-a-path", "WORD": "word-in-a-text", "BEARER": "token-in-a-text", "COLOUR": "red-and-blue",
	}
	target, err := targets.Load("secret.yaml", []byte(`
name: secret
base_url: http://localhost
database: {url: "sqlite:/tmp/orders.db"}
redact: [X-Other]
operations:
  create:
    request:
      path: ${PATH_KEY}
      headers: {X-Token: "${TOKEN}", X-Plain: plain, X-Price: $$100}
      body: {note: "{{.Intent.Marker}}", query: "mutation ($$input: Lamp!) { create(input: $$input) { id } }", item: "${ITEM}", list: [{key: "${KEY}"}], who: "x ${KEY} {{.Intent.Number}}", plain: plain}
    key: {in: header}
    rows: {query: "select id from orders where note = :marker", content: {item: /item}}
  change:
    request:
      path: /orders/{{.Key}}?api_key=${QUERY}&item=${ITEM}
      headers: {X-Signed: "${TOKEN} {{.Intent.Number}}"}
      body: {note: "{{.Intent.Marker}}", who: "x ${WORD} {{.Intent.Number}}", with: "Bearer ${BEARER}", paint: "${COLOUR:-white} {{.Intent.Number}}", also: "${COLOUR}"}
    alter: {who: "${KEY} {{.Intent.Number}}"}
    key: {in: path}
    rows: {query: "select id from orders where note = :marker", content: {paint: /paint}}
`), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"X-Other", "X-Token", "X-Signed"}, target.Redact)
	require.ElementsMatch(t, []string{
		"red-token", "/orders?key=secret", "key-of-the-api", "key-in-a-path", "word-in-a-text", "token-in-a-text", "Bearer token-in-a-text",
	}, target.Secrets, "what a row must hold is none, wherever else it stands")
}

func TestWhatIsGivenStandsInPlaceOfTheFiles(t *testing.T) {
	t.Parallel()
	const file = `name: shop
base_url: ${UNSET}
database: {url: "${UNSET}"}
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    rows: {query: select id from orders where note = :marker}
`
	_, err := targets.Load("shop.yaml", []byte(file), environment)
	require.ErrorContains(t, err, "the environment variable UNSET is not set")
	given := map[string]string{"/base_url": "http://127.0.0.1:8080", "/database/url": "sqlite:given", "/socket": "nowhere"}
	target, err := targets.LoadInstead("shop.yaml", []byte(file), environment, given)
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:8080", target.BaseURL)
	require.Equal(t, "sqlite:given", target.Database.URL)
	require.Empty(t, target.Socket, "where the file has none, none stands")
	bare := strings.Replace(file, "database: {url: \"${UNSET}\"}\n", "", 1) + "    effects: [{name: stock, query: select left from stock, delta: -1}]\n"
	target, err = targets.LoadInstead("shop.yaml", []byte(bare), environment, given)
	require.NoError(t, err, "the file may leave a database out that a program gives")
	require.Equal(t, "sqlite:given", target.Database.URL)
	_, err = targets.LoadInstead("shop.yaml", []byte(bare), environment, map[string]string{"/base_url": "http://127.0.0.1:8080"})
	require.ErrorContains(t, err, "the effect is read from a database, and there is none")
	given["/base_url"] = "ftp://nobody"
	_, err = targets.LoadInstead("shop.yaml", []byte(file), environment, given)
	require.ErrorContains(t, err, `shop.yaml:2:11: base_url: expected a URL that begins with http:// or https://, got something else from "${UNSET}"`)
}
