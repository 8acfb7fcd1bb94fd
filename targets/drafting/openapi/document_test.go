package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

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
	require.True(t, found, "an operation that is named is found")
	_, found = doc.Find("POST /carts")
	require.True(t, found)
	_, found = doc.Find("nobody")
	require.False(t, found)
}

// TestEverySampleFitsItsSchema holds the samples against the validator of the library.

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

// harmless holds that a target file says no more than what init writes.
func harmless(t *testing.T, text string) {
	t.Helper()
	require.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f\x{85}\x{2028}\x{2029}]`, text)
	var file map[string]any
	if yaml.Unmarshal([]byte(text), &file) == nil {
		for key := range file {
			require.Contains(t, []string{"name", "base_url", "contract", "principals", "login", "operations"}, key, "%s", text)
		}
	}
	_, _ = targets.Load("x.yaml", []byte(text), func(name string) (string, bool) {
		require.Regexp(t, `^(API[A-Z0-9_]*|[A-Z0-9_]+_URL)$`, name, "%s", text)
		return "x", true
	})
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
	f.Add([]byte(`{"openapi":"3.0.0","info":{"title":"t\nprocess: x","version":"1"},"servers":[{"url":"http://127.0.0.1:8080/}\u2028process: x #"}],"paths":{"/o/${HOME}/{{.Port}}/{p\u0085process: x}":{"post":
		{"operationId":"c\n${HOME}","summary":"s\u2028process: x","parameters":[{"name":"X-${HOME}","in":"header","required":true,"schema":{"type":"string","example":"${HOME}\nprocess: x"}}],
		"requestBody":{"content":{"application/json":{"schema":{"type":"object","required":["a\n${HOME}"],"properties":{"a\n${HOME}":{"type":"string","example":"{{.X}}${HOME}\u2029"}}}}}},"responses":{"201":{"description":"x"}}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := openapi.Read("", data)
		if err != nil {
			return
		}
		doc.Server()
		for _, c := range doc.Creates() {
			d, err := doc.Draft(c, "API")
			if err != nil {
				continue
			}
			if text, err := (drafting.File{Target: drafting.Slug(doc.Title()), BaseURL: doc.Server(), Draft: d}).Text(); err == nil {
				harmless(t, text)
			}
		}
	})
}

// A PUT creates where its client chooses the id at the end of the path, and a 201 is documented.
func TestAPutThatCreatesIsOffered(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Read("api.yaml", []byte(`
openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /shops/{shop}/orders/{reference}:
    put:
      operationId: put_order
      parameters:
        - {name: shop, in: path, required: true, schema: {type: string, example: s1}}
        - {name: reference, in: path, required: true, schema: {type: string, format: uuid}}
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {"201": {description: created}, "200": {description: there already}}
  /settings/{name}:
    put:
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {value: {type: string}}}}}}
      responses: {"200": {description: changed}}
  /theme:
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {value: {type: string}}}}}}
      responses: {"201": {description: made}}
`))
	require.NoError(t, err)
	require.Equal(t, []string{"put_order"}, names(doc.Creates()))
	draft, err := doc.Draft(doc.Creates()[0], "API")
	require.NoError(t, err)
	require.Equal(t, "PUT", draft.Method)
	require.Equal(t, "/shops/s1/orders/{{.Key}}", draft.Path)
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true, Format: contract.OnlyUUID}}, draft.Key)
}

// A key may stand at the end of the path of a POST, or in a cookie, if it is called so.
func TestAKeyOfAPostMayStandInItsPathOrInACookie(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Read("api.yaml", []byte(`
openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /orders/{idempotencyKey}:
    post:
      operationId: inPath
      parameters: [{name: idempotencyKey, in: path, required: true, schema: {type: string, format: uuid}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {"201": {description: made}}
  /tickets:
    post:
      operationId: inCookie
      parameters: [{name: idempotency_key, in: cookie, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {"201": {description: made}}
`))
	require.NoError(t, err)
	keys := map[string]targets.Key{}
	for _, c := range doc.Creates() {
		draft, err := doc.Draft(c, "API")
		require.NoError(t, err)
		keys[draft.Path] = draft.Key
	}
	require.Equal(t, map[string]targets.Key{
		"/orders/{{.Key}}": {Key: contract.Key{In: contract.KeyInPath, Required: true, Format: contract.OnlyUUID}},
		"/tickets":         {Key: contract.Key{In: contract.KeyInCookie, Name: "idempotency_key"}},
	}, keys)
}

// A PATCH is offered behind the creates, if a POST makes what it changes: each intent changes another thing.
func TestAPatchOfWhatAPostCreatesIsOffered(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Read("api.yaml", []byte(`
openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /accounts/{id}:
    patch:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}
      responses: {"200": {description: changed}}
  /bookings:
    post:
      operationId: book
      requestBody: {content: {application/json: {schema: {type: object, required: [note], properties: {note: {type: string}}}}}}
      responses: {"201": {description: created, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
  /bookings/{bookingId}:
    patch:
      operationId: rebook
      parameters: [{name: bookingId, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {"200": {description: changed, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
`))
	require.NoError(t, err)
	require.Equal(t, []string{"book", "rebook"}, names(doc.Creates()))
	draft, err := doc.Draft(doc.Creates()[1], "API")
	require.NoError(t, err)
	require.Equal(t, "PATCH", draft.Method)
	require.Equal(t, "/bookings/{{.Prepared.Booking}}", draft.Path)
	require.True(t, draft.Changes())
	require.Equal(t, map[string]string{"/note": "{{.Intent.Reference}}"}, draft.Prepare[0].Templates, "the marker is for the change")
}
