package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// clerk is a correct API of a user's own that takes orders in some form, over a SQLite file.
type clerk struct {
	mu     sync.Mutex
	db     *sql.DB
	path   string // of the SQLite file
	url    string
	secret string // that signs requests; empty: nothing does
	read   func(*http.Request) (placed, error)
	answer func(w http.ResponseWriter, id int64, refused string)
	spoils bool // a repetition overwrites the amount
}

// placed is an order as a request places it.
type placed struct{ key, note, amount string }

func (o *clerk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if o.secret != "" && !o.signed(r, body) {
		http.Error(w, "the signature is wrong", http.StatusForbidden)
		return
	}
	order, err := o.read(r)
	if err != nil || order.note == "" {
		http.Error(w, fmt.Sprint("no order: ", err), http.StatusBadRequest)
		return
	}
	id, refused := o.create(order)
	o.answer(w, id, refused)
}

func (o *clerk) signed(r *http.Request, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(o.secret))
	fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("X-Timestamp"), r.RequestURI, body)
	return hmac.Equal([]byte(r.Header.Get("X-Signature")), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
}

// create returns the order's id, or the code of a refusal.
func (o *clerk) create(order placed) (id int64, refused string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if order.key == "" {
		return 0, "NO_KEY"
	}
	var note, amount string
	err := o.db.QueryRow("select id, note, amount from orders where key = ?", order.key).Scan(&id, &note, &amount)
	switch {
	case err == nil && o.spoils:
		_, _ = o.db.Exec("update orders set amount = 1 where key = ?", order.key)
	case err == nil && (note != order.note || amount != order.amount):
		return 0, "KEY_REUSED"
	case err != nil:
		done, err := o.db.Exec("insert into orders(key, note, amount) values (?, ?, ?)", order.key, order.note, order.amount)
		if err != nil {
			return 0, err.Error()
		}
		id, _ = done.LastInsertId()
	}
	return id, ""
}

// byStatus answers as most do.
func byStatus(w http.ResponseWriter, id int64, refused string) {
	w.Header().Set("Content-Type", "application/json")
	if status := map[string]int{"NO_KEY": 400, "KEY_REUSED": 422}[refused]; status != 0 {
		w.WriteHeader(status)
		return
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id":%d}`, id)
}

// byErrors answers 200 always, as GraphQL does.
func byErrors(w http.ResponseWriter, id int64, refused string) {
	w.Header().Set("Content-Type", "application/json")
	if refused != "" {
		fmt.Fprintf(w, `{"data":null,"errors":[{"message":"no","extensions":{"code":%q}}]}`, refused)
		return
	}
	fmt.Fprintf(w, `{"data":{"createOrder":{"id":%d}}}`, id)
}

func (o *clerk) open(t *testing.T, address string) {
	t.Helper()
	o.path = filepath.Join(t.TempDir(), "clerk.db")
	db, err := sql.Open("sqlite", "file:"+o.path+"?_pragma=journal_mode(wal)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec("create table orders (id integer primary key, key text unique, note text, amount text)")
	require.NoError(t, err)
	o.db = db
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(o)
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	o.url = server.URL
}

func ofForm(r *http.Request) (placed, error) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		file, head, err := r.FormFile("photo")
		if err != nil {
			return placed{}, err
		}
		content, err := io.ReadAll(file)
		if head.Filename != "lamp.png" || head.Header.Get("Content-Type") != "image/png" || string(content) != "a picture" {
			return placed{}, fmt.Errorf("no photo: %v %q %w", head, content, err)
		}
	}
	return placed{key: r.PostFormValue("token"), note: r.PostFormValue("note"), amount: r.PostFormValue("amount")}, nil
}

func ofXML(r *http.Request) (placed, error) {
	var order struct {
		Token  string `xml:"token,attr"`
		Note   string
		Amount string
		Buyer  string
	}
	err := xml.NewDecoder(r.Body).Decode(&order)
	if media := r.Header.Get("Content-Type"); err == nil && (order.Buyer != "Fox & Sons <2>" || media != "application/xml") {
		err = fmt.Errorf("%s %+v", media, order)
	}
	return placed{key: order.Token, note: order.Note, amount: order.Amount}, err
}

func ofPath(r *http.Request) (placed, error) {
	var order struct {
		Note   string
		Amount float64
		Buyer  struct{ Name, Mail, Day string }
	}
	err := json.NewDecoder(r.Body).Decode(&order)
	key, found := strings.CutPrefix(r.URL.Path, "/api/v2/orders/")
	if !found || r.Method != http.MethodPut || order.Buyer.Name == "" || !strings.HasSuffix(order.Buyer.Mail, "@example.com") || len(order.Buyer.Day) != 10 {
		return placed{}, fmt.Errorf("%s %s %+v", r.Method, r.URL.Path, order)
	}
	return placed{key: key, note: order.Note, amount: fmt.Sprint(order.Amount)}, err
}

func ofGraphQL(r *http.Request) (placed, error) {
	var query struct {
		Query     string
		Variables struct {
			Note   string
			Amount float64
		}
	}
	err := json.NewDecoder(r.Body).Decode(&query)
	return placed{key: r.Header.Get("Idempotency-Key"), note: query.Variables.Note, amount: fmt.Sprint(query.Variables.Amount)}, err
}

// clerkFile is a target file for a clerk, but for its request.
const clerkFile = `name: clerk
base_url: ${URL}
database: {url: "${DATABASE}"}
contract:
  preset: ietf
  in_progress: {mode: wait}
  %s
operations:
  create:
    request: %s
    key: %s
    alter: %s
    identity: %s
    rows: {query: "select id, amount from orders where note = :marker", identity: id, content: {amount: %s}}
`

func TestWhateverFormARequestHas(t *testing.T) {
	t.Parallel()
	usual := strings.Fields("plain-create altered-after altered-race burst-same-key key-case key-space key-quote key-long key-blank missing-key respelled-body respelled-numbers withheld-answer")
	for name, c := range map[string]struct {
		clerk                                            *clerk
		address, base                                    string
		contract, request, key, alter, identity, content string
		without                                          string // what does not apply, and why
	}{
		"a form": {
			clerk: &clerk{read: ofForm, answer: byStatus}, address: "127.0.0.1:0",
			request: `{path: /orders, form: {note: "{{.Intent.Marker}}", amount: 1200, gift: true}}`,
			key:     `{in: body, name: token, required: true}`, alter: `{amount: 9900}`, identity: `/id`, content: `/amount`,
			without: "respelled-body|respelled-numbers",
		},
		"a form with a file": {
			clerk: &clerk{read: ofForm, answer: byStatus}, address: "127.0.0.1:0",
			request: `{path: /orders, multipart: {note: "{{.Intent.Marker}}", amount: 1200, photo: {file: lamp.png, type: image/png, content: a picture}}}`,
			key:     `{in: body, name: token, required: true}`, alter: `{amount: 9900}`, identity: `/id`, content: `/amount`,
			without: "respelled-body|respelled-numbers",
		},
		"a key in the path, at a base path, in IPv6, signed": {
			clerk: &clerk{read: ofPath, answer: byStatus, secret: "sesame-signs-this"}, address: "[::1]:0", base: "/api/v2",
			request:  `{method: PUT, path: "/orders/{{.Key}}", body: {note: "{{.Intent.Marker}}", amount: "{{random 1 1000 | json}}", buyer: {name: "{{fake \"name\"}}", mail: "{{unique \"email\"}}", day: "{{now \"2006-01-02\" \"24h\"}}"}}, sign: {header: X-Signature, hmac: sha256, secret: "${SECRET}", over: "{{.Time}}.{{.Path}}.{{.Body}}", prefix: "sha256=", time: {header: X-Timestamp}}}`,
			contract: `fingerprint: {mode: json}`,
			key:      `{in: path}`, alter: `{amount: "{{random 2000 3000 | json}}"}`, identity: `/id`, content: `/amount`,
			without: "key-blank|missing-key",
		},
		"XML": {
			clerk: &clerk{read: ofXML, answer: byStatus}, address: "127.0.0.1:0",
			request: `{path: /orders, text: {note: "{{.Intent.Marker}}", amount: 1200, buyer: {name: "Fox & Sons <2>"}}, written: "<Order token='{{.token}}'><Note>{{.note}}</Note><Amount>{{.amount}}</Amount><Buyer>{{.buyer.name}}</Buyer></Order>"}`,
			key:     `{in: body, name: token, required: true}`, alter: `{amount: 9900}`, identity: `/id`, content: `/amount`,
			without: "respelled-body|respelled-numbers",
		},
		"GraphQL": {
			clerk: &clerk{read: ofGraphQL, answer: byErrors}, address: "127.0.0.1:0",
			request: `{path: /graphql, body: {query: "mutation($note: String!, $amount: Int!) { createOrder(note: $note, amount: $amount) { id } }", variables: {note: "{{.Intent.Marker}}", amount: 1200}}}`,
			contract: `ack: {statuses: [200], where: {/errors: null}}
  fingerprint: {mode: json, on_mismatch: reject, statuses: [200], where: {/errors/0/extensions/code: KEY_REUSED}}
  missing_key: {statuses: [200], where: {/errors/0/extensions/code: NO_KEY}}`,
			key: `{in: header, required: true}`, alter: `{variables: {amount: 9900}}`, identity: `/data/createOrder/id`, content: `/variables/amount`,
			without: "key-space",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.clerk.open(t, c.address)
			x := trial{
				file: fmt.Sprintf(clerkFile, c.contract, c.request, c.key, c.alter, c.identity, c.content), args: usual, reports: t.TempDir(),
				env: map[string]string{"URL": c.clerk.url + c.base, "DATABASE": "sqlite://" + c.clerk.path, "SECRET": c.clerk.secret},
			}
			ran := x.run(t)
			require.Equal(t, 0, ran.code, "%s", ran)
			for _, scenario := range usual {
				applies := !strings.Contains("|"+c.without+"|", "|"+scenario+"|")
				require.Regexp(t, map[bool]string{true: `✓ ` + scenario + ` +pass`, false: `– ` + scenario + ` +n/a`}[applies], ran.out)
			}
			x.checked(t, ran)

			c.clerk.spoils = true
			x.args, x.reports = []string{"sequential-replay"}, t.TempDir()
			ran = x.run(t)
			require.Equal(t, 1, ran.code, "%s", ran)
			require.Contains(t, ran.out, "ALTERED-BODY", "the content of the row is held against the request's")
			x.exported(t)
			if c.clerk.secret != "" {
				requireNowhere(t, x.reports, c.clerk.secret)
			}
		})
	}
}

// exported runs the script of the only run's first finding, and holds that it sends what the target takes.
func (x trial) exported(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target.yaml")
	require.NoError(t, os.WriteFile(path, []byte(x.file), 0o644))
	script := callWith(t.Context(), x.env, "export", filepath.Join(onlyRun(t, x.reports), "findings", "F1"), "--target", path)
	require.Equal(t, 0, script.code, "%s", script)
	if secret := x.env["SECRET"]; secret != "" {
		require.NotContains(t, script.out, secret)
	}
	file := filepath.Join(t.TempDir(), "again.sh")
	require.NoError(t, os.WriteFile(file, []byte(script.out), 0o644))
	command := exec.CommandContext(t.Context(), "bash", file)
	command.Env = os.Environ()
	for name, value := range x.env {
		command.Env = append(command.Env, name+"="+value)
	}
	out, _ := command.CombinedOutput() // whether it happened again is not for the script to say
	require.Regexp(t, "(?m)^20[01] 1$", string(out), "%s", script.out)
	require.NotRegexp(t, "(?m)^[3-5][0-9][0-9] ", string(out), "%s", script.out)
}

func TestATargetThatIsSignedForWithAnotherSecretIsSaidSo(t *testing.T) {
	t.Parallel()
	o := &clerk{read: ofGraphQL, answer: byErrors, secret: "sesame-signs-this"}
	o.open(t, "127.0.0.1:0")
	request := `{path: /graphql, body: {variables: {note: "{{.Intent.Marker}}", amount: 1200}}, sign: {header: X-Signature, hmac: sha256, secret: wrong-one}}`
	x := trial{
		file: fmt.Sprintf(clerkFile, "", request, "{in: header}", "{variables: {amount: 1}}", "/data/createOrder/id", "/variables/amount"), args: []string{"plain-create"}, reports: t.TempDir(),
		env: map[string]string{"URL": o.url, "DATABASE": "sqlite://" + o.path},
	}
	ran := x.run(t)
	require.NotZero(t, ran.code)
	require.Contains(t, ran.out+ran.err, "403")
	requireNowhere(t, x.reports, "wrong-one")
}
