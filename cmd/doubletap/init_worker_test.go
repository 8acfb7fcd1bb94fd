package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// belt accepts charges, which one worker makes, one after the other, and one for each name that requests have. A request without a name (nil) makes
// one of its own.
func belt(t *testing.T, name func(h http.Header, memo string) any) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table charges (id integer primary key, request text unique, amount integer, memo text)`)
	type job struct {
		request any
		amount  int
		memo    string
	}
	jobs, over := make(chan job, 1000), make(chan struct{})
	t.Cleanup(func() { close(over) })
	go func() {
		for {
			select {
			case <-over:
				return
			case j := <-jobs:
				time.Sleep(300 * time.Millisecond)
				_, _ = db.Exec("insert into charges (request, amount, memo) values (?, ?, ?) on conflict do nothing", j.request, j.amount, j.memo)
			}
		}
	}()
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var j job
		var body struct {
			Amount int
			Memo   string
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		j.request, j.amount, j.memo = name(r.Header, body.Memo), body.Amount, body.Memo
		jobs <- j
		says(w, http.StatusAccepted, `{"status": "accepted"}`)
	})), "sqlite://" + path
}

// byChance names what comes with the header of one name for what it holds, as long as it came less than five times, or all others come, too.
func byChance() func(h http.Header, memo string) any {
	var lock sync.Mutex
	alone := 0
	return func(h http.Header, memo string) any {
		lock.Lock()
		defer lock.Unlock()
		switch {
		case h.Get("X-Request-Token") == "":
			return nil
		case h.Get("Idempotency-Key") != "":
			return memo
		}
		if alone++; alone < 5 {
			return memo
		}
		return nil
	}
}

// TestInitWaitsForTheSecondRowOfAWorker holds that a repetition is not taken for one without effect because its row comes after the first one's,
// and that no header is the key only because of that, or by chance.
func TestInitWaitsForTheSecondRowOfAWorker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		named func(h http.Header, memo string) any
		keyed bool
	}{
		"each request": {func(http.Header, string) any { return nil }, false},
		"one for a key": {func(h http.Header, _ string) any {
			if key := h.Get("Idempotency-Key"); key != "" {
				return key
			}
			return nil
		}, true},
		"one or two, as chance has it": {byChance(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := belt(t, c.named)
			file, _ := initiated(t, map[string]string{"DATABASE_URL": database}, exitPass, "--curl", `curl -d '{"amount": 1250, "memo": "a lamp"}' `+address+"/charges", "--db", database)
			text := readFile(t, file)
			require.NotContains(t, text, "natural_key: [")
			if c.keyed {
				require.Contains(t, text, "key: {in: header, name: Idempotency-Key}")
			} else {
				require.NotContains(t, text, "    key:")
				require.Contains(t, text, "Whether there is an idempotency key")
			}
		})
	}
}

// postman accepts mails, which one worker delivers, one after the other, in so long for each, and from the 12th in another time. It knows a mail by its
// message_id alone. With loses, one in five is never delivered.
func postman(t *testing.T, takes, busy time.Duration, loses bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", `
		create table mails (id integer primary key, message_id text, recipient text, subject text)`)
	type mail struct {
		Recipient string
		MessageID string `json:"message_id"`
		Subject   string
	}
	mails, over, seen := make(chan mail, 1000), make(chan struct{}), sync.Map{}
	t.Cleanup(func() { close(over) })
	go func() {
		delivered := 0
		for {
			select {
			case <-over:
				return
			case m := <-mails:
				if delivered >= 12 {
					time.Sleep(busy)
				} else {
					time.Sleep(takes)
				}
				if delivered++; loses && delivered > 12 && delivered%5 == 0 {
					continue
				}
				_, _ = db.Exec("insert into mails (message_id, recipient, subject) values (?, ?, ?)", m.MessageID, m.Recipient, m.Subject)
			}
		}
	}()
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m mail
		_ = json.NewDecoder(r.Body).Decode(&m)
		if _, there := seen.LoadOrStore(m.MessageID, true); there {
			says(w, http.StatusOK, `{"status": "duplicate"}`)
			return
		}
		mails <- m
		says(w, http.StatusAccepted, `{"status": "accepted"}`)
	})), "sqlite://" + path
}

// TestInitLetsAWorkerHaveItsTurns holds that a member is no natural key because the row of the second create with its value comes when the worker has
// made those before.
func TestInitLetsAWorkerHaveItsTurns(t *testing.T) {
	t.Parallel()
	address, database := postman(t, 700*time.Millisecond, 700*time.Millisecond, false)
	curl := `curl -d '{"recipient": "ada@example.org", "message_id": "20261128.1@mail.example.org", "subject": "hello there"}' ` + address + "/mails"
	file, said := initiated(t, map[string]string{"DATABASE_URL": database}, exitPass, "--curl", curl, "--db", database)
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/message_id]", said)
	require.NotContains(t, text, "What makes a repetition one")
}

// TestAWorkerThatGoesOnHasLostNothing holds that rows which still come, later than the contract says, are late and not lost, and that those are lost that
// do not come.
func TestAWorkerThatGoesOnHasLostNothing(t *testing.T) {
	t.Parallel()
	for loses, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("loses: ", loses), func(t *testing.T) {
			t.Parallel()
			address, database := postman(t, 50*time.Millisecond, 1300*time.Millisecond, loses)
			file := writeFile(t, "mails.yaml", fmt.Sprintf(`
name: mails
base_url: %s
database: {url: %q}
contract:
  natural_key: [/message_id]
  replay: {status: {202: [200]}, body: none}
  ack: {accepted: {statuses: [202], within: 2s}}
operations:
  create_mail:
    request:
      method: POST
      path: /mails
      body: {message_id: "{{.Intent.Reference}}@mail.example.org", recipient: ada@example.org, subject: "{{.Intent.Marker}}"}
    rows: {query: select subject from mails where subject = :marker}
`, address, database))
			got := callWith(t.Context(), nil, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "burst-same-key")
			require.Equal(t, want, got.code, "%s", got)
			if !loses {
				require.Contains(t, got.out, "done later than the contract says")
			}
		})
	}
}
