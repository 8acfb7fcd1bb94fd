package explain_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/explain"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load reads a file of the package targets, in an environment where every secret has the same value.
func load(t *testing.T, file string) targets.Target {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	target, err := targets.Load(file, data, func(name string) (string, bool) { return "swordfish", name != "SHOP_URL" })
	require.NoError(t, err)
	return target
}

// explained is a target whose file says all that an operation can say, with this contract.
func explained(t *testing.T, promise string) targets.Target {
	t.Helper()
	target, err := targets.Load("explained.yaml", []byte(`
name: explained
base_url: http://localhost
database: {url: "sqlite:/tmp/orders.db"}
received: {path: /received, pointer: /received}
contract: `+promise+`
operations:
  create_order:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}", reference: "{{.Intent.Reference}}", amount: 1200}}
    key: {in: header, required: true}
    alter: {amount: 9900}
    identity: /id
    rows: {query: "select id, amount from orders where note = :marker", identity: id, content: {amount: /amount}}
`), nil)
	require.NoError(t, err)
	return target
}

// builtIn is the contract of the built-in orders, which needs no file.
func builtIn(t *testing.T) targets.Target {
	target := explained(t, "{}")
	target.Contract = contract.Contract{
		Level:       contract.Idempotent,
		Ack:         contract.Ack{Signature: contract.Signature{Statuses: []int{200, 201}}},
		Fingerprint: contract.Fingerprint{OnMismatch: contract.MismatchReject, Signature: problem(422, "key_reused")},
		InProgress:  contract.InProgress{Mode: contract.InProgressReject, Signature: problem(409, "in_progress")},
		Replay: contract.Replay{
			Body: contract.SameJSON, Ignore: []string{"/meta/served_at"}, Headers: []string{"Location", "Content-Type"},
			Marker: &contract.ReplayMarker{Name: "Idempotent-Replayed", Value: "true", Required: true},
		},
		MissingKey: problem(400, "key_required"),
	}
	return target
}

func problem(status int, code string) contract.Signature {
	return contract.Signature{Statuses: []int{status}, Where: map[string]any{"/code": code}}
}

// unclear is a contract that no file could hold: one status for everything.
func unclear(t *testing.T) targets.Target {
	target := builtIn(t)
	conflict := contract.Signature{Statuses: []int{409}}
	target.Contract.Fingerprint.Signature, target.Contract.InProgress.Signature = conflict, conflict
	target.Contract.Existing.Signature, target.Contract.Ack.Statuses = conflict, []int{201, 409}
	target.Principals = map[string]targets.Principal{"only": nil}
	return target
}

func TestATargetIsExplainedInPlainSentences(t *testing.T) {
	t.Parallel()
	cases := map[string]targets.Target{"built-in": builtIn(t), "unclear": unclear(t), "full-file": load(t, "../testdata/good/full.yaml"), "later": load(t, "../testdata/good/later.yaml"), "steps": withSteps(t)}
	for _, name := range targets.Presets() {
		cases["preset-"+name] = explained(t, "{preset: "+name+naturalKeyOf(name)+"}")
	}
	for name, promise := range explainedContracts() {
		cases[name] = explained(t, promise)
	}
	cases["bare"] = bare(t, "{in: header}", "{}")
	cases["keyless"] = bare(t, "", "{}")
	cases["keyless-natural"] = bare(t, "", "{preset: natural-key, natural_key: [/n], existing: {identity: /id}}")
	cases["identity-of-nothing"] = bare(t, "{in: header}", "{preset: aws, existing: {statuses: [410], identity: /id}}")
	cases["by-key"] = byKey(apart(t, contract.Scope{Principal: contract.ScopeReject, Operation: contract.ScopeSeparate}))
	cases["apart"] = apart(t, contract.Scope{Principal: contract.ScopeReject, Operation: contract.ScopeSeparate})
	cases["unscoped"] = apart(t, contract.Scope{})
	cases["bodiless"] = bodiless(t)
	cases["form"] = formed(t)
	cases["gated"] = gated(t, "orders")
	cases["gated-twice"] = gated(t, "orders", "keys")
	cases["optional-natural"] = bare(t, "{in: query, name: k}", "{natural_key: [/n], expiry: {after: 5s}}")
	cases["optional-window"] = bare(t, "{in: body, name: k}", "{content_window: 5s, fingerprint: {mode: json}}")
	cases["corrected"] = correctable(t, explained(t, "{errors: {store_4xx: false}}"))
	cases["corrected-stored"] = correctable(t, explained(t, "{errors: {store_4xx: true}}"))
	cases["corrected-natural"] = correctable(t, bare(t, "", "{natural_key: [/n], errors: {store_4xx: false}}"))
	cases["corrected-natural-stored"] = correctable(t, bare(t, "", "{natural_key: [/n], errors: {store_4xx: true}}"))
	for name, target := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, filepath.Join("testdata", name+".txt"), explanation(target))
		})
	}
}

// correctable is a target of whose operations is known what makes a body invalid.
func correctable(t *testing.T, target targets.Target) targets.Target {
	t.Helper()
	for name, o := range target.Operations {
		o.Invalid = map[string]any{"amount": -1}
		target.Operations[name] = o
	}
	return target
}

// withSteps is the file about steps, in an environment without secrets.
func withSteps(t *testing.T) targets.Target {
	t.Helper()
	data, err := os.ReadFile("../testdata/good/steps.yaml")
	require.NoError(t, err)
	target, err := targets.Load("steps.yaml", data, func(name string) (string, bool) { return "given to " + name, true })
	require.NoError(t, err)
	return target
}

// byKey is a target of whose requests nothing but their key is kept, so that no promise about two keys can be held.
func byKey(target targets.Target) targets.Target {
	for name, o := range target.Operations {
		o.Rows.Query = "select id from keys where key = :key"
		target.Operations[name] = o
	}
	return target
}

// apart is the file about promises for later, with the other promises about who shares keys.
func apart(t *testing.T, scope contract.Scope) targets.Target {
	target := load(t, "../testdata/good/later.yaml")
	target.Contract.Scope = scope
	target.Contract.Ack.Accepted.Identity = ""
	one := 1
	target.Operations["order"].Effects[0].Rows = &one
	return target
}

// gated is a target the writers of whose tables may be held back.
func gated(t *testing.T, tables ...string) targets.Target {
	target := explained(t, "{}")
	target.Database.WriteGate = &targets.WriteGate{Tables: tables, Longest: contract.Duration(300 * time.Millisecond)}
	return target
}

// formed is a target that takes forms, with the key in its path.
func formed(t *testing.T) targets.Target {
	target := bare(t, "{in: header, required: true}", "{fingerprint: {mode: json}}")
	o := target.Operations["create"]
	o.Request = targets.Request{Path: "/c/{{.Key}}", Form: map[string]any{"n": "{{.Intent.Marker}}"}}
	o.Key.In = contract.KeyInPath
	target.Operations["create"] = o
	return target
}

func bodiless(t *testing.T) targets.Target {
	target := bare(t, "{in: header}", "{fingerprint: {mode: json}}")
	target.Operations["create"] = targets.Operation{Request: targets.Request{Path: "/{{.Intent.Marker}}"}, Key: target.Operations["create"].Key}
	return target
}

// explainedContracts are contracts that no preset has, as files write them.
func explainedContracts() map[string]string {
	return map[string]string{
		"silent":  "{}",
		"waiting": "{in_progress: {mode: wait}, missing_key: {statuses: [400]}}",
		"bytes": `{replay: {body: bytes, ignore: [/at], status: {200: [201, 204], 201: []}},
  errors: {store_4xx: true, store_5xx: false}, fingerprint: {on_mismatch: replay-original}}`,
		"loose": `{preset: stripe, replay: {body: none}, in_progress: {mode: wait},
  fingerprint: {on_mismatch: replay-original}, errors: {store_4xx: false}}`,
		"dedup": `{preset: stripe, level: dedup-only, errors: {store_4xx: true},
  replay: {headers: [Location], status: {201: [200]}}}`,
		"shared-statuses": `{ack: {statuses: [201]}, in_progress: {statuses: [409, 503], where: {/code: busy}},
  existing: {statuses: [409], where: {/code: exists, /retry: false, /why: null}, identity: /link},
  throttled: {statuses: [503], where: {/code: "slow down"}}, fingerprint: {statuses: [409]}}`,
		"either": "{existing: {statuses: [409]}, in_progress: {mode: reject, statuses: [409]}}",
		"forgetful": `{content_window: 90m, scope: {principal: shared, operation: separate}, expiry: {after: 60s, then: execute},
  ack: {accepted: {statuses: [202], monitor: /status_url, done: {statuses: [303]}}}, fingerprint: {mode: json}}`,
		"undecided": "{expiry: {after: 1m, statuses: [422]}, fingerprint: {mode: bytes, on_mismatch: reject, statuses: [422]}}",
		"again":     "{after_crash: at-least-once, after_flush: at-least-once, after_unknown_commit: at-least-once}",
		"declining": "{preset: stripe, errors: {declined: {statuses: [402], where: {/code: declined}}}}",
		"patient":   "{expiry: {after: 61s}, lease: 1h1m}",
	}
}

func naturalKeyOf(preset string) string {
	if preset == "natural-key" {
		return ", natural_key: [/reference]"
	}
	return ""
}

// bare is a target that says as little as it can.
func bare(t *testing.T, key, promise string) targets.Target {
	t.Helper()
	if key != "" {
		key = ", key: " + key
	}
	target, err := targets.Load("bare.yaml", []byte(`
name: bare
base_url: http://localhost
contract: `+promise+`
operations: {create: {request: {path: /c, body: {n: "{{.Intent.Marker}}"}}`+key+`}}
`), nil)
	require.NoError(t, err)
	return target
}

func explanation(target targets.Target) string {
	var all []string
	for _, e := range explain.Operations(target) {
		all = append(all, e.String())
	}
	return strings.Join(all, "\n")
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestEverySentenceSaysWhereItComesFrom(t *testing.T) {
	t.Parallel()
	for _, name := range targets.Presets() {
		for _, e := range explain.Operations(explained(t, "{preset: "+name+naturalKeyOf(name)+"}")) {
			require.NotEmpty(t, e.Held)
			require.NotEmpty(t, e.NotChecked)
			for _, list := range [][]explain.Sentence{e.Held, e.Weakened, e.NotChecked} {
				for _, s := range list {
					require.NotEmpty(t, s.From, s.Text)
					require.NotContains(t, s.Text, "  ")
					require.NotContains(t, s.String(), "%!")
				}
			}
		}
	}
}

func TestAnExplanationKeepsSecretsAndControlCharactersToItself(t *testing.T) {
	t.Parallel()
	target := load(t, "../testdata/good/full.yaml")
	require.NotContains(t, explanation(target), "swordfish")

	target = builtIn(t)
	target.Contract.Fingerprint.Where = map[string]any{"/a\x1b[2J": "b\nc", "/n": 7}
	require.Contains(t, explanation(target), `422 where "/a\x1b[2J" is "b\nc" and /n is 7`)
}
