package sut_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/sut/builtin"
)

// untried is what the library does not try at a target, by family.
func untried(t *testing.T, o sut.Options) map[checker.Family]string {
	t.Helper()
	s, err := sut.Open(t.Context(), o, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	all := map[checker.Family]string{}
	names, err := fs.Glob(scenarios.Builtin(), "*.yaml")
	require.NoError(t, err)
	for _, name := range names {
		source, err := fs.ReadFile(scenarios.Builtin(), name)
		require.NoError(t, err)
		one, err := scenarios.Load(name, source)
		require.NoError(t, err)
		u := sut.Untried(s, one)
		if s.LeavesOut(one) == "" {
			require.Nil(t, u, name)
		}
		if u != nil {
			require.Contains(t, checker.Families(), u.What)
			all[u.What] = u.Line
		}
	}
	return all
}

func TestWhatIsNotTriedNamesTheLineThatLetsIt(t *testing.T) {
	t.Parallel()
	const file = `name: notes
base_url: http://127.0.0.1:1
database: {url: "sqlite:///tmp/no-such.db"}
operations:
  create:
    request: {path: /notes, body: {note: "{{.Intent.Marker}}", amount: 1}}
    key: {in: header}
    rows: {query: "select id from notes where note = :marker", identity: id}
`
	written := func(more string) sut.Options { return sut.Options{Target: "target.yaml", Source: []byte(file + more)} }
	all := untried(t, written(""))
	require.Equal(t, map[checker.Family]string{
		checker.Crashes: "process", checker.BrokenDatabase: "links.database", checker.BrokenService: "links.dependency", checker.BrokenStore: "links.store",
		checker.OutsideEffects: "effects with seen", checker.SeveralServers: "process.instances, or instances", checker.HeldWrites: "database.write_gate",
		checker.LongWork: "work", checker.SeveralUsers: "principals", checker.OtherBodies: "alter", checker.CorrectedForms: "invalid",
		checker.MadeAgain: "remove", checker.ForgottenKeys: "contract.expiry", checker.AnswersBySize: "answers",
	}, all)
	signedIn := strings.Replace(file, "path: /notes", "path: /notes, headers: {Authorization: Bearer x}", 1)
	all = untried(t, sut.Options{Target: "target.yaml", Source: []byte(signedIn)})
	require.Equal(t, "request.credential", all[checker.NobodysRequest])
	under := strings.Replace(file, "path: /notes", "path: /shops/17/notes", 1)
	require.Equal(t, "parents", untried(t, sut.Options{Target: "target.yaml", Source: []byte(under)})[checker.TwoParents])
	named := strings.Replace(file, "    request: {path: /notes", "    parents: {Shop: [17, 18]}\n    request: {path: \"/shops/{{.Parent.Shop}}/notes\"", 1)
	for more, why := range map[string]string{
		"": "",
		"    effects: [{name: sum, query: select sum(amount) from notes, delta: 1}]\n":                                             "",
		"    effects: [{name: even, query: select n from shops where id = 17, delta: 0}]\n":                                        "",
		"    effects: [{name: notes, query: select count(*) from notes where shop = 17, delta: 1}]\n":                              "an effect says by how much each create changes a number, and its query may ask for one parent alone (effects)",
		"    effects: [{name: same, query: select 1 from notes where n in (select n from notes where note = :marker), rows: 1}]\n": "an effect compares a row with others, such as its number, and the other parent may have numbers of its own (effects)",
	} {
		s, err := sut.Open(t.Context(), sut.Options{Target: "target.yaml", Source: []byte(named + more)}, nil)
		require.NoError(t, err)
		require.Equal(t, why, s.LeavesOut(scenario(t, "same-key-two-parents")), more)
	}
	all = untried(t, written("    alter: {amount: 2}\ncontract: {scope: {principal: shared}}\n"))
	require.NotContains(t, all, checker.OtherBodies, "it is tried")
	require.NotContains(t, all, checker.SeveralUsers, "no line lets it: principals share their keys on purpose")
	require.Equal(t, map[checker.Family]string{
		checker.Crashes: "--target served:NAME", checker.SeveralServers: "--target served:NAME --instances 2",
	}, untried(t, sut.Options{Target: "builtin:unique-key", Parts: builtin.Parts()}), "what a design does not have no line gives it")
}

// scenario is a built-in one.
func scenario(t *testing.T, name string) scenarios.Scenario {
	t.Helper()
	source, err := fs.ReadFile(scenarios.Builtin(), name+".yaml")
	require.NoError(t, err)
	one, err := scenarios.Load(name+".yaml", source)
	require.NoError(t, err)
	return one
}

// TestWhyNoOtherBodyIsTried holds that a file without an altered body is not told what its altered body has, and that a form, into which a page's token
// goes, is told the same.
func TestWhyNoOtherBodyIsTried(t *testing.T) {
	t.Parallel()
	const (
		none  = "the target file does not say what an altered body changes (alter:)"
		void  = "the target file has no altered body (alter:), and none could be of the same intent: {{.Intent.Marker}}, which is another one in each body, stands at contract.natural_key"
		other = "the altered body has another value at contract.natural_key, and so is another intent"

		json = `{path: /users, body: {name: "{{.Intent.Marker}}", no: "{{.Intent.Reference}}", amount: 1}}`
		form = `{path: /users, form: {name: "{{.Intent.Marker}}", no: "{{.Intent.Reference}}", age: '1', token: "{{.Prepared.token}}"}}`
	)
	altered := scenario(t, "altered-after")
	for _, c := range []struct{ request, natural, alter, why string }{
		{json, "/name", "", void},
		{json, "/no", "", none},
		{json, "/name", "    alter: {amount: 2}\n", other},
		{json, "/no", "    alter: {amount: 2}\n", ""},
		{form, "/name", "", void},
		{form, "/no", "", none},
		{form, "/name", "    alter: {age: '2'}\n", other},
		{form, "/no", "    alter: {age: '2'}\n", ""},
	} {
		file := `name: users
base_url: http://127.0.0.1:1
database: {url: "sqlite:///tmp/no-such.db"}
contract: {natural_key: [` + c.natural + `]}
operations:
  create:
    prepare: [{request: {method: GET, path: /new}, extract: {token: {pattern: "(x)"}}}]
    request: ` + c.request + `
` + c.alter + `    rows: {query: "select id from users where name = :marker"}
`
		s, err := sut.Open(t.Context(), sut.Options{Target: "target.yaml", Source: []byte(file)}, nil)
		require.NoError(t, err)
		require.Equal(t, c.why, s.LeavesOut(altered), c)
		require.NoError(t, s.Close())
	}
}
