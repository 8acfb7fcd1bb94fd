package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/sut"
)

// gossip is a service of things that prints whatever it is told and whatever secret it gives. Its arguments are where it listens; for
// one that asks for a certificate, the folder of an authority; and "faithful" for one that makes one thing of each note.
func gossip() {
	var given, made atomic.Int64
	var ids sync.Map // by note
	mux := http.NewServeMux()
	mux.HandleFunc("/secret", func(w http.ResponseWriter, r *http.Request) {
		n := given.Add(1)
		secret := fmt.Sprintf("s3cr3t-for-%s-%03d", r.URL.RawQuery, n)
		told, _ := io.ReadAll(r.Body)
		fmt.Printf("was told %s\ngave %s\n", told, secret)
		http.SetCookie(w, &http.Cookie{Name: "secret", Value: secret})
		fmt.Fprintf(w, `{"key":"key-%d"}`, n)
	})
	mux.HandleFunc("/things", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			items := []any{}
			if id, is := ids.Load(r.URL.Query().Get("note")); is {
				items = append(items, map[string]any{"id": id})
			}
			json.NewEncoder(w).Encode(map[string]any{"items": items})
			return
		}
		w.WriteHeader(http.StatusCreated)
		id := made.Add(1)
		if len(os.Args) == 4 {
			var body struct{ Note string }
			json.NewDecoder(r.Body).Decode(&body)
			first, _ := ids.LoadOrStore(body.Note, id)
			id = first.(int64)
		}
		json.NewEncoder(w).Encode(map[string]int64{"id": id})
	})
	mux.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	server := &http.Server{Addr: os.Args[1], Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
			fmt.Println("got", r.Header[name])
		}
		if inside, below := strings.CutPrefix(r.URL.Path, "/s3cr3t-of-the-path"); below {
			fmt.Println("asked for", r.URL.Path)
			r.URL.Path = inside
		}
		mux.ServeHTTP(w, r)
	})}
	if len(os.Args) < 3 {
		log.Fatal(server.ListenAndServe())
	}
	clients := x509.NewCertPool()
	ca, _ := os.ReadFile(filepath.Join(os.Args[2], "ca.pem"))
	clients.AppendCertsFromPEM(ca)
	server.TLSConfig = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	log.Fatal(server.ListenAndServeTLS(filepath.Join(os.Args[2], "server.pem"), filepath.Join(os.Args[2], "server.key")))
}

const gossipFile = `name: gossip
base_url: http://127.0.0.1:0
process: {command: [gossip, "127.0.0.1:{{.Port}}"]}
principals: {alice: {Token: s3cr3t-token-of-alice}}
operations:
  create:
    prepare: [{request: {path: "/secret?prepare", body: {note: "{{.Intent.Marker}}"}}, take: {Secret: {cookie: secret}}}]
    request:
      path: /things
      headers: {Authorization: "Bearer {{.Principal.Token}}", Cookie: "secret={{.Prepared.Secret}}", X-API-Key: s3cr3t-of-the-file}
      body: {note: "{{.Intent.Marker}}"}
    key: {in: header, issued: [{request: {path: "/secret?issued"}, take: {Key: {json: /key}, Secret: {cookie: secret}}}]}
    identity: /id
    remove: [{request: {path: "/secret?remove{{.Made.Identity}}"}, take: {Secret: {cookie: secret}}}]
    cleanup: [{request: {path: "/secret?cleanup"}, take: {Secret: {cookie: secret}}}]
`

func TestTheProcessLogHoldsNoSecretOfAnyStep(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	got := typed(t, "run", "--target", writeFile(t, "gossip.yaml", gossipFile), "--reports", reports, "made-again")
	require.NotEqual(t, exitConfig, got.code, "%s", got)
	text, err := os.ReadFile(filepath.Join(onlyRun(t, reports), sut.ProcessLogName))
	require.NoError(t, err)
	require.Contains(t, string(text), "gave ***", "%s", got)
	require.NotContains(t, string(text), "s3cr3t")
	require.GreaterOrEqual(t, strings.Count(string(text), "gave ***"), 4*6, "for each kind of step of each intent")
	requireNowhere(t, reports, "s3cr3t")
}

func TestAVariableInATemplateIsInNoFile(t *testing.T) {
	t.Parallel()
	x := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Said", r.URL.Query().Get("api_key"))
			next.ServeHTTP(w, r)
		})
	}).trial(t, "sequential-replay")
	x.file = strings.NewReplacer("path: /things", `path: "/things?n={{.Intent.Number}}&api_key=${SHOP_KEY}"`,
		`body: {note: "{{.Intent.Marker}}"}`, `body: {note: "{{.Intent.Marker}}", who: "x ${SHOP_KEY} {{.Intent.Number}}"}`).Replace(shopFile)
	x.env["SHOP_KEY"] = "s3cr3t/key-2"
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	for _, written := range driver.Writings(x.env["SHOP_KEY"]) {
		requireNowhere(t, x.reports, written)
	}
}
