package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
	"github.com/doubletap-harness/doubletap/targets/drafting/openapi"
)

func read(t *testing.T, name string) (*openapi.Document, error) {
	t.Helper()
	path := filepath.Join("testdata", name)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return openapi.Read(path, data)
}

// draft drafts an operation of a document; an empty name is the only one that creates something.
func draft(t *testing.T, name, operation string) drafting.Draft {
	t.Helper()
	doc, err := read(t, name)
	require.NoError(t, err)
	creates := doc.Creates()
	if operation != "" {
		c, found := doc.Find(operation)
		require.True(t, found, operation)
		creates = []openapi.Create{c}
	}
	require.Len(t, creates, 1)
	d, err := doc.Draft(creates[0], "API")
	require.NoError(t, err)
	return d
}

func names(creates []openapi.Create) []string {
	var all []string
	for _, c := range creates {
		all = append(all, c.Name)
	}
	return all
}

func TestOperationsThatCreateAreFound(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"orders.yaml":   {"create_order"},
		"minimal.json":  {"post_notes"},
		"pets.yaml":     {"addPet"},
		"payments.yaml": {"payments_create"},
		"staff.yaml":    {"createPerson"},
		"cycles.yaml":   {"post_categories", "post_trees"},
		"security.yaml": {"addGuest", "addKey", "addVault", "addItem"},
		"several.json":  {"createItem", "createItem_2"},
		"parts.yaml":    {"post_parts"},
		"loose.yaml":    {"create_thing_v1"},
		"readonly.yaml": {"post_numbers"},
		"tickets.json":  {"openTicket"},
		"crm.yaml":      {"post_auth_register", "addCompany", "addPerson", "addDeal", "addLedger", "addProduct", "post_unlock"},
		"club.json":     {"addMember"},
		"forms.yaml":    {"createCharge"},
	} {
		doc, err := read(t, name)
		require.NoError(t, err, name)
		require.Equal(t, want, names(doc.Creates()), name)
	}
	doc, err := read(t, "several.json")
	require.NoError(t, err)
	_, found := doc.Find("login")
	require.True(t, found, "whoever names an operation gets it")
	_, found = doc.Find("POST /carts")
	require.True(t, found)
	_, found = doc.Find("nobody")
	require.False(t, found)
}

// TestEverySampleFitsItsSchema holds the samples against the validator of the library.
func TestEverySampleFitsItsSchema(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	fit, unfit := 0, []string(nil)
	for _, path := range found {
		doc, err := read(t, filepath.Base(path))
		if err != nil {
			continue
		}
		for _, c := range doc.Creates() {
			d, err := doc.Draft(c, "API")
			if err != nil {
				continue
			}
			if strings.Contains(strings.Join(d.Doubts, " "), "fits its schema") {
				unfit = append(unfit, c.Name)
			}
			fit++
		}
	}
	require.Equal(t, 25, fit)
	require.Equal(t, []string{"createCharge", "create_thing_v1"}, unfit, "lists and objects of a form are left out, and a pattern that Go's regexp does not know cannot be held against")
}

func TestSamplesAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, operation string
		body                map[string]any
	}{
		{"orders.yaml", "", map[string]any{"note": "sample", "reference": "sample", "item": "lamp", "amount": int64(1200)}},
		{"minimal.json", "", map[string]any{"text": "sample"}},
		{"pets.yaml", "", map[string]any{"species": "cat", "name": "sample", "born": "2030-01-15", "lives": int64(9)}},
		{"payments.yaml", "", map[string]any{
			"kind": "charge", "memo": "sample", "statement": "1", "rate": 0.5,
			"amount":   map[string]any{"value": int64(105), "currency": "AAA"},
			"customer": map[string]any{"email": "sample@example.com", "phone": "+1111111", "born": "1990-02-28"},
			"method":   map[string]any{"type": "card", "token": "sample" + strings.Repeat("x", 24)},
		}},
		{"staff.yaml", "", map[string]any{
			"name": "Ada ${HOME} {{lovelace}}", "nickname": "sample", "email": "sample@example.com", "role": "clerk", "salary": 99.5,
			"started": "2030-01-15T10:00:00Z", "home": map[string]any{"street": "sample", "code": "11111"},
		}},
		{"security.yaml", "addItem", map[string]any{"comment": "sample", "size": int64(100)}},
		{"cycles.yaml", "post_trees", map[string]any{"label": "sample"}},
		{"several.json", "createItem", map[string]any{"title": "A lamp", "price": int64(3)}},
		{"parts.yaml", "", map[string]any{"label": "sample", "size": map[string]any{"width": int64(200)}}},
		{"loose.yaml", "", map[string]any{"note": "sample", "code": "sample", "count": int64(100), "when": "2024-05-06T07:08:09Z", "ratio": 1.5, "undeclared": "sample"}},
	} {
		require.Equal(t, c.body, draft(t, c.document, c.operation).Body, "%s %s", c.document, c.operation)
	}
}

func TestKeysAreFoundWhereTheDocumentNamesThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, operation string
		key                 targets.Key
	}{
		{"orders.yaml", "", targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key", Required: true}}},
		{"payments.yaml", "", targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "idempotency_key", Required: true, Format: contract.OnlyUUID}}},
		{"security.yaml", "addItem", targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "X-Request-Id", Format: contract.OnlyUUID}}},
		{"security.yaml", "addVault", targets.Key{}},
		{"minimal.json", "", targets.Key{}},
	} {
		require.Equal(t, c.key, draft(t, c.document, c.operation).Key, c.document)
	}
}

func TestCredentialsAreVariables(t *testing.T) {
	t.Parallel()
	d := draft(t, "security.yaml", "addItem")
	require.Equal(t, map[string]string{"X-Tenant": "acme", "X-Api-Key": "${API_API_KEY}", "Cookie": "session=${API_SESSION}"}, d.Header)
	require.Equal(t, "/vaults/${API_VAULT_ID:-sample}/items?mode=a+b%26c&api_key=${API_API_KEY}", d.Path)
	require.Equal(t, []string{"API_SESSION", "API_API_KEY", "API_API_KEY"}, d.Needed)
	require.Len(t, d.Doubts, 2)
	require.Equal(t, map[string]string{"Authorization": "Bearer ${API_TOKEN}"}, draft(t, "security.yaml", "addVault").Header)
	require.Equal(t, map[string]string{"Authorization": "Basic ${API_BASIC}"}, draft(t, "security.yaml", "addKey").Header)
	require.Empty(t, draft(t, "security.yaml", "addGuest").Header)
}

func TestTextsThatTakeAMarkerComeWithTheLikeliestFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, operation string
		texts               []string
	}{
		{"orders.yaml", "", []string{"/note", "/reference"}},
		{"payments.yaml", "", []string{"/memo"}},
		{"pets.yaml", "", []string{"/name"}},
		{"staff.yaml", "", []string{"/name", "/nickname", "/home/street"}},
		{"several.json", "createItem", []string{"/title"}},
		{"tickets.json", "", []string{"/seat"}},
	} {
		require.Equal(t, c.texts, draft(t, c.document, c.operation).Texts, c.document)
	}
}

func TestOtherValuesFitTheSchema(t *testing.T) {
	t.Parallel()
	others := map[string]any{}
	for _, document := range []string{"orders.yaml", "payments.yaml", "pets.yaml", "staff.yaml"} {
		for _, o := range draft(t, document, "").Others {
			others[o.Pointer] = o.Value
		}
	}
	require.Equal(t, int64(1201), others["/amount"])
	require.Equal(t, int64(112), others["/amount/value"])
	require.Equal(t, int64(8), others["/lives"], "one more would be too much")
	require.Equal(t, "lead", others["/role"])
	require.NotContains(t, others, "/idempotency_key")
	require.NotContains(t, others, "/customer/email")
}

func TestAnswersNameTheirIdentity(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/id", draft(t, "orders.yaml", "").Identity)
	require.Equal(t, "/data/id", draft(t, "pets.yaml", "").Identity)
	require.Equal(t, "/payment/id", draft(t, "payments.yaml", "").Identity)
	require.Empty(t, draft(t, "minimal.json", "").Identity)
	require.Equal(t, []int{200, 202, 409}, draft(t, "payments.yaml", "").Statuses)
}

func TestOneMessageSaysWhatIsWrongWithADocument(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"broken.yaml":  "Nowhere",
		"swagger.json": "it is Swagger 2.0; convert it to OpenAPI 3",
		"garbage.yaml": "it is neither YAML nor JSON",
		"abroad.yaml":  "only files beside the document are read",
	} {
		_, err := read(t, name)
		require.ErrorContains(t, err, says, name)
		require.NotContains(t, err.Error(), "\n", name)
	}
	for text, says := range map[string]string{
		"":              "it is no OpenAPI document",
		"- 1":           "it is neither YAML nor JSON",
		"openapi: 4.0.": "3.0 and later 3.x can be read",
	} {
		_, err := openapi.Read("", []byte(text))
		require.ErrorContains(t, err, says, text)
	}
	doc, err := read(t, "readonly.yaml")
	require.NoError(t, err)
	_, err = doc.Draft(doc.Creates()[0], "API")
	require.ErrorContains(t, err, "no JSON object")
}

func TestFilesOutsideOfTheDocumentsFolderAreNotRead(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"/etc/hostname", "../openapi_test.go", "file:///etc/hostname"} {
		text := fmt.Sprintf("openapi: 3.0.0\ninfo: {title: T, version: '1'}\npaths: {/t: {$ref: %q}}\n", ref)
		_, err := openapi.Read("testdata/made-up.yaml", []byte(text))
		require.ErrorContains(t, err, "only files beside the document are read", ref)
	}
}

// large is a document of about a megabyte whose schemas refer to each other.
func large() []byte {
	var out strings.Builder
	out.WriteString("openapi: 3.0.3\ninfo: {title: Large, version: '1'}\npaths:\n")
	const n = 1500
	for i := range n {
		fmt.Fprintf(&out, "  /things%d:\n    post:\n      operationId: create%d\n      summary: %s\n      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing%d'}}}}\n      responses: {'201': {description: Made}}\n",
			i, i, strings.Repeat("what it is for ", 10), i)
	}
	out.WriteString("components:\n  schemas:\n")
	for i := range n {
		fmt.Fprintf(&out, "    Thing%d:\n      type: object\n      required: [name, next, count]\n      properties:\n        name: {type: string}\n        count: {type: integer}\n        next: {oneOf: [{type: string, format: email}, {$ref: '#/components/schemas/Thing%d'}]}\n        also: {$ref: '#/components/schemas/Thing%d'}\n", i, (i+1)%n, (i*7)%n)
	}
	return []byte(out.String())
}

func TestALargeDocumentIsRead(t *testing.T) {
	t.Parallel()
	data := large()
	require.Greater(t, len(data), 900_000)
	doc, err := openapi.Read("", data)
	require.NoError(t, err)
	creates := doc.Creates()
	require.Len(t, creates, 1500)
	d, err := doc.Draft(creates[700], "API")
	require.NoError(t, err)
	require.Empty(t, d.Doubts)
	require.Equal(t, "sample@example.com", d.Body["next"])
}

// FuzzRead holds that no document crashes the reader, and that what can be read can be drafted or is refused.
func FuzzRead(f *testing.F) {
	found, err := filepath.Glob("testdata/*.*")
	require.NoError(f, err)
	for _, path := range found {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		doc, err := openapi.Read("", data)
		if err != nil {
			return
		}
		doc.Server()
		for _, c := range doc.Creates() {
			_, _ = doc.Draft(c, drafting.Prefix(drafting.Slug(doc.Title())))
		}
	})
}
