package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const customersDocument = `openapi: 3.1.0
info: {title: Trade, version: "1"}
security: [{bearer: []}]
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
paths:
  /login: {post: {security: [], requestBody: {content: {application/json: {schema: {type: object, required: [user, password],
    properties: {user: {type: string}, password: {type: string}}}}}},
    responses: {"200": {description: Signed in, content: {application/json: {schema: {type: object, properties: {token: {type: string}}}}}}}}}
  /customers: {post: {operationId: addCustomer, requestBody: {content: {application/json: {schema: {type: object, required: [email],
    properties: {email: {type: string, format: email}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}
  /customers/{customerId}/orders: {post: {operationId: addOrder,
    parameters: [{name: customerId, in: path, required: true, schema: {type: integer}}, {name: Idempotency-Key, in: header, schema: {type: string}}],
    requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}},
    responses: {"201": {description: Made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}
`

// trade puts a login and customers in front of a shop: a thing is created for a customer that has to exist.
func trade(next http.Handler) http.Handler {
	const token = "t0ken-of-alice"
	customers := make(chan map[string]int, 1) // by e-mail address, which nobody may have twice
	customers <- map[string]int{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		var who struct{ User, Password string }
		if json.NewDecoder(r.Body).Decode(&who) != nil || who.User != "alice" || who.Password != "s3same-0pen" {
			http.Error(w, fmt.Sprintf("nobody is %s with %s", who.User, who.Password), http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"token": %q}`, token)
	})
	mux.HandleFunc("POST /customers", func(w http.ResponseWriter, r *http.Request) {
		var who struct{ Email string }
		known := <-customers
		defer func() { customers <- known }()
		if json.NewDecoder(r.Body).Decode(&who) != nil || known[who.Email] > 0 || !strings.Contains(who.Email, "@") {
			http.Error(w, "taken", http.StatusConflict)
			return
		}
		known[who.Email] = len(known) + 1
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id": %d}`, known[who.Email])
	})
	mux.HandleFunc("POST /customers/{id}/orders", func(w http.ResponseWriter, r *http.Request) {
		known := <-customers
		customers <- known
		for _, id := range known {
			if fmt.Sprint(id) == r.PathValue("id") {
				next.ServeHTTP(w, r)
				return
			}
		}
		http.NotFound(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/login" && r.URL.Path != "/" && r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// TestInitSignsInAndPrepares holds that what the document says of logins and parents is enough for a run.
func TestInitSignsInAndPrepares(t *testing.T) {
	t.Parallel()
	s := newShop(t, trade)
	document := writeFile(t, "trade.yaml", customersDocument)
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path, "TRADE_USER": "alice", "TRADE_PASSWORD": "s3same-0pen"}
	file, got := initiated(t, env, exitPass, "--openapi", document, "--operation", "addOrder", "--url", s.url, "--db", env["DATABASE_URL"])
	require.Contains(t, got.err, "sending one create, after the login and POST /customers: POST "+s.url+"/customers/{{.Prepared.Customer}}/orders with a marker in /note\n")
	require.Contains(t, got.err, "/note landed in things.note")
	text := readFile(t, file)
	require.Contains(t, text, `first: {User: "${TRADE_USER}", Password: "${TRADE_PASSWORD}"}`)
	require.Contains(t, text, "email: '{{.Intent.Reference}}@example.com'")
	got = callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
	reports := t.TempDir()
	got = callWith(t.Context(), env, "run", "burst-same-key", "withheld-answer", "--reports", reports, "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
	for _, secret := range []string{"s3same-0pen", "t0ken-of-alice"} {
		require.NotContains(t, text, secret)
		requireNowhere(t, reports, secret)
	}
}

func TestInitSaysWhyItCannotSignIn(t *testing.T) {
	t.Parallel()
	s := newShop(t, trade)
	document := writeFile(t, "trade.yaml", customersDocument)
	args := []string{"--openapi", document, "--operation", "addOrder", "--url", s.url, "--db", "sqlite://" + s.path}
	_, got := initiated(t, nil, exitConfig, args...)
	require.Contains(t, got.err, "a create needs credentials: set TRADE_USER and TRADE_PASSWORD, in the environment or in .env beside the file, or send nothing with --dry")

	beside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(beside, ".env"), []byte("TRADE_USER=alice\nTRADE_PASSWORD=wr0ng-password\n"), 0o600))
	got = callWith(t.Context(), nil, append([]string{"init", "-o", filepath.Join(beside, "trade.yaml")}, args...)...)
	require.Contains(t, got.err, "a step failed: login[0] (POST /login) for the principal first was answered 401", "the credentials are those of .env")

	env := map[string]string{"TRADE_USER": "alice", "TRADE_PASSWORD": "wr0ng-password"}
	file, got := initiated(t, env, exitPass, args...)
	require.Contains(t, got.err, "not proven: a step failed: login[0] (POST /login) for the principal first was answered 401")
	require.Contains(t, got.err, "are the credentials right that principals.first has")
	require.NotContains(t, got.err, "looking for its key", "it would be refused as well")
	require.NotContains(t, got.err+readFile(t, file), "wr0ng-password")
	require.Contains(t, got.err, "next: fill in the rows of")
	require.Zero(t, s.things(t))

	args[5] = freeAddress(t)
	_, got = initiated(t, env, exitEnvironment, args...)
	require.Contains(t, got.err, "is the target running?")
}

// TestInitProvesForms holds that a form is sent as one, and found in the database.
func TestInitProvesForms(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.ParseForm() != nil || r.PostForm.Get("count") == "" {
				http.Error(w, "no form", http.StatusBadRequest)
				return
			}
			body, _ := json.Marshal(map[string]string{"note": r.PostForm.Get("note")})
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		})
	})
	env := map[string]string{"DATABASE_URL": "sqlite://" + s.path}
	file, got := initiated(t, env, exitPass, "--curl", "curl -d note=a+b -d count=3 -H 'Idempotency-Key: 1' "+s.url+"/things", "--db", env["DATABASE_URL"])
	require.Contains(t, got.err, "/note landed in things.note")
	require.Contains(t, readFile(t, file), "      form:\n        count: \"3\"\n        note: '{{.Intent.Marker}}'\n")
	got = callWith(t.Context(), env, "doctor", "--target", file)
	require.Equal(t, exitPass, got.code, "%s", got)
}
