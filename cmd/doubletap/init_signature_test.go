package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deliveries takes signed deliveries, and knows each by its id. The broken one looks whether it has one, and takes its time.
func deliveries(t *testing.T, signed func(h http.Header, body, now string) bool, broken bool) (address, database string) {
	t.Helper()
	unique := "unique"
	if broken {
		unique = ""
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table deliveries (id integer primary key, event text "+unique+", memo text)")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		if !signed(r.Header, string(content), fmt.Sprint(time.Now().Unix())) {
			says(w, http.StatusBadRequest, `{"error":"signature"}`)
			return
		}
		var body struct{ ID, Memo string }
		_ = json.Unmarshal(content, &body)
		if id := r.Header.Get("Delivery-Id"); id != "" {
			body.ID = id
		}
		known := 0
		if broken && db.QueryRow("select id from deliveries where event = ?", body.ID).Scan(&known) != nil {
			time.Sleep(2 * time.Millisecond)
		}
		if known == 0 {
			if _, err := db.Exec("insert or ignore into deliveries (event, memo) values (?, ?)", body.ID, body.Memo); err != nil {
				says(w, http.StatusInternalServerError, `{}`)
				return
			}
		}
		says(w, http.StatusOK, `{"received":true}`)
	})), "sqlite://" + path
}

// TestInitOfASignedRequest holds that init signs its creates as the recorded one was, where it has the secret.
func TestInitOfASignedRequest(t *testing.T) {
	t.Parallel()
	sum := func(secret []byte, text string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	key := []byte("twenty-four bytes of key")
	for name, c := range map[string]struct {
		secret, headers string
		signed          func(h http.Header, body, now string) bool
		learns          []string
	}{
		"the time in the header": {
			"sesame", "-H 'Pay-Signature: t=1767000000,v1=" + strings.Repeat("ab", 32) + "'",
			func(h http.Header, body, now string) bool {
				var at, v1 string
				_, err := fmt.Sscanf(strings.Replace(h.Get("Pay-Signature"), ",v1=", " ", 1), "t=%s %s", &at, &v1)
				return err == nil && at <= now && at > "1767000000" && v1 == hex.EncodeToString(sum([]byte("sesame"), at+"."+body))
			},
			[]string{`prefix: "t={{.Time}},v1="`, "natural_key: [/id]"},
		},
		"an id of the delivery, and a secret of bytes": {
			"whsec_" + base64.StdEncoding.EncodeToString(key),
			"-H 'Delivery-Id: msg_1' -H 'Delivery-Timestamp: 1767000000' -H 'Delivery-Signature: v1," + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "'",
			func(h http.Header, body, _ string) bool {
				return h.Get("Delivery-Signature") == "v1,"+base64.StdEncoding.EncodeToString(sum(key, h.Get("Delivery-Id")+"."+h.Get("Delivery-Timestamp")+"."+body))
			},
			[]string{"secret_encoding: base64", "key: {in: header, name: Delivery-Id"},
		},
		"milliseconds, and an order that the recorded one tells": {
			"sesame",
			"-H 'X-Signed-Timestamp: 1767000000123' -H 'X-Sign: " + base64.StdEncoding.EncodeToString(sum([]byte("sesame"), `POST/hooks1767000000123{"id": "evt_1", "memo": "two socks"}`)) + "'",
			func(h http.Header, body, now string) bool {
				at := h.Get("X-Signed-Timestamp")
				return len(at) == 13 && at[:10] <= now && at > "1767000000123" && h.Get("X-Sign") == base64.StdEncoding.EncodeToString(sum([]byte("sesame"), "POST/hooks"+at+body))
			},
			[]string{`over: "{{.Method}}{{.Path}}{{.Time}}{{.Body}}"`, "time: {header: X-Signed-Timestamp, unit: ms}"},
		},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := deliveries(t, c.signed, broken)
				env := map[string]string{"DATABASE_URL": database, "API_SIGNING_SECRET": c.secret}
				file, said := initiated(t, env, exitPass, "--curl", "curl "+c.headers+` -d '{"id": "evt_1", "memo": "two socks"}' `+address+"/hooks", "--db", database)
				text := readFile(t, file)
				for _, line := range c.learns {
					require.Contains(t, text, line, said.err)
				}
				require.NotContains(t, text, c.secret)
				require.Equal(t, strings.Contains(name, "tells"), !strings.Contains(text, " signs"), "a guess is in doubt, and what was proven is not")
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "tabs-one-key", "rage-clicks")
				require.Equal(t, want, got.code, "%s\n%s", got, text)
			})
		}
	}
}

// TestInitOfAListAndOfAWordThatIsThereOnce holds that a body may be a list, and that a word which the database has once differs in each create.
func TestInitOfAListAndOfAWordThatIsThereOnce(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			unique := "unique"
			if broken {
				unique = ""
			}
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
				"create table sites (id integer primary key, handle text unique, title text, request text "+unique+"); create table jobs (id integer primary key, request text unique, payload text)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var list []struct{ Handle, Title string }
				if json.NewDecoder(r.Body).Decode(&list) != nil || len(list) != 1 {
					says(w, http.StatusUnprocessableEntity, `{"error":"a list of one"}`)
					return
				}
				id, request := 0, r.Header.Get("X-Request-Id")
				_, _ = db.Exec("insert or ignore into jobs (request, payload) values (?, ?)", request, fmt.Sprintf(`{"title":%q,"wide":true}`, list[0].Title)) // of each request, whatever becomes of it
				if db.QueryRow("select id from sites where request = ?", request).Scan(&id) != nil {
					time.Sleep(2 * time.Millisecond)
					handle := list[0].Handle
					if broken { // whose handle is taken gets another one
						var n int
						_ = db.QueryRow("select count(*) from sites where handle like ? || '%'", handle).Scan(&n)
						handle += strings.Repeat("-", n)
					}
					_, _ = db.Exec("insert or ignore into sites (handle, title, request) values (?, ?, ?)", handle, list[0].Title, request)
				}
				_ = db.QueryRow("select id from jobs where request = ?", request).Scan(&id)
				says(w, http.StatusAccepted, fmt.Sprintf(`[{"job":%d}]`, id)) // also of a handle that is another's, which is left out
			}))
			database := "sqlite://" + path
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", "curl -H 'X-Request-Id: 7be0a0d6-5a0e-4a70-9a27-2f57b7a1ad10' -H 'Content-Type: application/json' -d '[{\"handle\": \"acme\", \"title\": \"two words\"}]' "+address+"/sites", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "handle: '{{.Intent.Reference}}'", said.err)
			require.Contains(t, text, "key: {in: header, name: X-Request-Id", said.err)
			require.Contains(t, text, "written: '{{.items | json}}'")
			require.NotContains(t, text, "it is always the same")
			if !broken {
				require.NotContains(t, text, "\n      - name: jobs", "a queue of all requests is no effect of what one has made")
			}
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "tabs-one-key", "rage-clicks", "tabs-natural-key")
			require.Equal(t, want, got.code, "%s\n%s", got, text)
		})
	}
}
