package drafting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// said is an answer with a body of JSON.
func said(t *testing.T, status int, text string) Answer {
	t.Helper()
	a := Answer{Status: status, Written: text}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&a.Body))
	return a
}

// TestAPartOfABatchThatFailedIsNoAcknowledgement holds that an answer to a batch is read by the part that names what was created, and not by its status.
func TestAPartOfABatchThatFailedIsNoAcknowledgement(t *testing.T) {
	t.Parallel()
	const made, other, conflict = `{"result": {"data": {"id": "a1"}}}`, `{"result": {"data": {"id": "b2"}}}`, `{"error": {"message": "there", "code": -32009}}`
	for name, c := range map[string]struct {
		first int // status
		again string
		wants []string
	}{
		"the repetition failed":                 {200, "[" + conflict + "," + other + "]", []string{"where: {/0/error: null}", "existing: {statuses: [207], where: {/0/error/code: -32009}}"}},
		"another part was not done at first":    {207, "[" + made + "," + conflict + "]", []string{"ack: {statuses: [200, 201, 204, 207], where: {/0/error: null}}"}},
		"another part of the repetition failed": {200, "[" + made + "," + conflict + "]", []string{"ack: {statuses: [200, 201, 204, 207], where: {/0/error: null}}"}},
	} {
		f := File{
			Dialect: databases.SQLite, Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"0": map[string]any{"title": "lamp"}}, Texts: []string{"/0/title"}},
			Proof: &Proof{
				Text: "/0/title", Where: Where{Column: "title", Exact: true}, Table: databases.Table{Name: "lamps", Unique: [][]string{{"title"}}},
				Named: contract.Identity{JSON: "/0/result/data/id"},
			},
		}
		first := said(t, c.first, "["+made+","+other+"]")
		f.Success = InForm(f.Draft, *f.Proof, Created{Status: first.Status, Answer: first.Body})
		f.Learn(Repeated{First: first, Again: f.Success.Read(said(t, 207, c.again)), Rows: 1, Natural: []string{"/0/title"}})
		text, err := f.Text()
		require.NoError(t, err)
		for _, want := range c.wants {
			require.Contains(t, text, want, name)
		}
	}
}

// TestARefusalThatIsAnswered200 holds by which words a refusal is known that has the status of a success: those of JSON-RPC in a list, and those
// that a mutation of GraphQL has beside what it creates.
func TestARefusalThatIsAnswered200(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		graphQL      bool
		named        string
		first, again string
		wants        []string
	}{
		"a list of JSON-RPC": {
			false, "", `{"id": 13, "result": [26]}`, `{"id": 13, "error": ["UserError", ["The code on party must be unique.", "", null]]}`,
			[]string{"where: {/error/0: null}", "existing: {statuses: [200], where: {/error/1/0: The code on party must be unique.}}"},
		},
		"a mere no beside what was sent": {
			false, "", `{"ok": true, "item": {"title": "a lamp"}}`, `{"ok": false, "item": {"title": "a lamp of the hall"}}`,
			[]string{"existing: {statuses: [200], where: {/ok: false}}"},
		},
		"a code of a mutation": {
			true, "/data/createCustomer/id", `{"data": {"createCustomer": {"id": "7"}}}`,
			`{"data": {"createCustomer": {"errorCode": "EMAIL_ADDRESS_CONFLICT_ERROR", "message": "The email address is not available."}}}`,
			[]string{"where: {/data/createCustomer/errorCode: null, /errors: null}", "existing: {statuses: [200], where: {/data/createCustomer/errorCode: EMAIL_ADDRESS_CONFLICT_ERROR}}"},
		},
		"a list of a mutation": {
			true, "/data/productCreate/product/id", `{"data": {"productCreate": {"product": {"id": "7"}, "userErrors": []}}}`,
			`{"data": {"productCreate": {"product": null, "userErrors": [{"field": ["handle"], "message": "Handle has already been taken"}]}}}`,
			[]string{"where: {/data/productCreate/userErrors/0: null, /errors: null}", "existing: {statuses: [200], where: {/data/productCreate/userErrors/0/message: Handle has already been taken}}"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := File{
				Dialect: databases.SQLite, Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"code": "lamp"}, Texts: []string{"/code"}, GraphQL: c.graphQL},
				Proof: &Proof{
					Text: "/code", Where: Where{Column: "code", Exact: true}, Table: databases.Table{Name: "parties", Unique: [][]string{{"code"}}},
					Named: contract.Identity{JSON: c.named},
				},
			}
			first := said(t, 200, c.first)
			f.Success = InForm(f.Draft, *f.Proof, Created{Status: first.Status, Answer: first.Body})
			require.True(t, f.Success.Read(first).Done())
			f.Learn(Repeated{First: first, Again: f.Success.Read(said(t, 200, c.again)), Rows: 1, Natural: []string{"/code"}})
			text, err := f.Text()
			require.NoError(t, err)
			for _, want := range c.wants {
				require.Contains(t, text, want)
			}
		})
	}
}
