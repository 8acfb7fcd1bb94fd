package orders_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

const (
	fast = 2 * time.Millisecond // a payment authorisation whose length does not matter
	soon = time.Minute          // a busy machine gets there
)

// aspect is what holds for a design, whatever it promises besides.
type aspect struct {
	name  string
	holds func(t *testing.T, s subject)
}

// aspectsOfAll hold for broken designs as well.
func aspectsOfAll() []aspect {
	return []aspect{
		{"creates an order and a quote", createsAnOrderAndAQuote},
		{"takes no order without a session", takesNoOrderWithoutASession},
		{"is described by its target", isDescribedByItsTarget},
	}
}

func aspectsOfCorrectOnes() []aspect {
	return []aspect{
		{"answers a repeat", answersARepeat},
		{"treats distinct intents apart", treatsDistinctIntentsApart},
		{"keeps customers and operations apart", keepsCustomersAndOperationsApart},
		{"asks for a key that it requires", asksForAKeyThatItRequires},
		{"treats an altered body as promised", treatsAnAlteredBodyAsPromised},
		{"compares bodies as promised", comparesBodiesAsPromised},
	}
}

// One server of each design is asked for all of it: starting one takes longer than most of them.
func TestWhatEveryDesignDoes(t *testing.T) {
	overDealtDesigns(t, []string{"mariadb", "sqlite", "postgres"}, every, func(t *testing.T, design orders.Design, database string) {
		s := serve(t, orders.Options{Design: design.Name, Database: database, Work: fast})
		aspects := aspectsOfAll()
		if design.Correct {
			aspects = append(aspects, aspectsOfCorrectOnes()...)
		}
		for _, a := range aspects {
			t.Run(a.name, func(t *testing.T) { a.holds(t, s) })
		}
		// The server closes while it still works for a client that has left.
		leaving, cancel := context.WithTimeout(t.Context(), fast)
		defer cancel()
		_, _ = s.send(leaving, newIntent("left"))
	})
}

func createsAnOrderAndAQuote(t *testing.T, s subject) {
	design := s.Design()
	if slices.Equal(design.By, []string{"plain-create"}) {
		t.Skip("a plain create shows its defect")
	}
	for operation, prefix := range map[string]string{"create_order": "ord_", "create_quote": "quo_"} {
		w, got := s.notDeclined(t, "plain-"+operation, operation)
		require.Contains(t, append(design.Contract.Ack.Statuses, design.Contract.Ack.Accepted.Statuses...), got.status, got.body)
		id, err := s.identity(t.Context(), got)
		require.NoError(t, err)
		require.Regexp(t, "^"+prefix+"[a-z0-9]{20,}$", id)
		require.Eventually(t, func() bool { return len(s.rowsNow(t, operation, w.note)) > 0 }, soon, 5*time.Millisecond)
		require.Equal(t, []string{id}, s.rowsOf(t, operation, w.note))
		s.requireShown(t, w, id)
	}
}

// requireShown looks at what was created as a client of it, and as other people.
func (s subject) requireShown(t *testing.T, w intent, id string) {
	t.Helper()
	path := "/" + strings.TrimPrefix(w.operation, "create_") + "s/"
	read := s.get(t, path+id)
	require.Equal(t, http.StatusOK, read.status)
	want := fmt.Sprintf(`{"id":%q,"note":%q,"reference":%q,"item":"lamp","amount":1200,"created_at":%q}`,
		id, w.note, s.referenceOf(w), read.member("created_at"))
	require.Equal(t, want, read.body)
	require.Equal(t, http.StatusNotFound, s.get(t, path+"nobody").status)
	foreign, err := s.read(t.Context(), "bob", path+id)
	require.NoError(t, err)
	if s.Design().Contract.Scope.Principal != contract.ScopeShared {
		require.Equal(t, http.StatusNotFound, foreign.status)
	}
	require.Equal(t, http.StatusNotFound, s.get(t, map[string]string{"/orders/": "/quotes/", "/quotes/": "/orders/"}[path]+id).status)
}

func TestTheUsualAnswerIsTheWholeOrder(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "unique-key", Database: database, Work: fast})
		for operation, path := range map[string]string{"create_order": "/orders/", "create_quote": "/quotes/"} {
			got := s.must(t, newIntent("whole").as(operation))
			require.Equal(t, http.StatusCreated, got.status)
			require.Equal(t, path+got.member("id"), got.header.Get("Location"))
			require.Equal(t, "application/json", got.header.Get("Content-Type"))
			require.Equal(t, s.get(t, got.header.Get("Location")).body, got.body)
		}
	})
}

func takesNoOrderWithoutASession(t *testing.T, s subject) {
	w := newIntent("stranger")
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "Bearer \u00e9"} {
		r, _ := s.render(w)
		delete(r.Header, "X-Session")
		r.Header["Authorization"], r.Header["Idempotency-Key"] = authorization, "k"
		got, err := s.sendRendered(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, got.status)
		require.Equal(t, "unauthorized", got.member("code"))
		r.Method, r.Body = http.MethodGet, nil
		r.Path = "/orders/any"
		got, err = s.sendRendered(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, got.status)
	}
	require.Empty(t, s.rows(t, w.note))
}

func answersARepeat(t *testing.T, s subject) {
	design := s.Design()
	w, first := s.notDeclined(t, "repeat", "create_order")
	replies := []reply{first, s.must(t, w), s.must(t, w)}
	id, err := s.identity(t.Context(), replies[0])
	require.NoError(t, err)
	require.Equal(t, []string{id}, s.rows(t, w.note))
	require.NoError(t, s.agree(t.Context(), replies))
	if design.Contract.Level == contract.DedupOnly {
		require.Equal(t, design.Contract.Existing.Where["/code"], replies[1].member("code"))
	}
}

func treatsDistinctIntentsApart(t *testing.T, s subject) {
	intents := []intent{newIntent("case"), newIntent("blank"), newIntent("blank !"), newIntent("case\"")}
	if len(s.Design().Contract.NaturalKeyIgnores) == 0 {
		intents = append(intents, newIntent("CASE"))
	}
	for i := range 3 { // each opens a connection: bursts have a test of their own
		intents = append(intents, newIntent(fmt.Sprint("distinct-", i)))
	}
	for i, got := range s.together(t.Context(), intents) {
		var err error
		if s.ungraceful(got) {
			got, err = politely(t.Context(), s, intents[i])
			require.NoError(t, err)
		}
		if s.declined(got) {
			continue
		}
		id, err := s.identity(t.Context(), got)
		require.NoError(t, err, got.body)
		require.Equal(t, []string{id}, s.rows(t, intents[i].note))
	}
}

func keepsCustomersAndOperationsApart(t *testing.T, s subject) {
	design := s.Design()
	var w intent
	var mine, theirs, quote reply
	for n := 0; n == 0 || n < 50 && (s.declined(theirs) || s.declined(quote)); n++ {
		w, mine = s.notDeclined(t, fmt.Sprint("mine-", n), "create_order")
		theirs, quote = s.must(t, w.by("bob")), s.must(t, w.as("create_quote"))
	}
	first, err := s.identity(t.Context(), mine)
	require.NoError(t, err)
	switch design.Contract.Scope.Principal {
	case contract.ScopeReject:
		require.Equal(t, http.StatusConflict, theirs.status)
		require.NotContains(t, theirs.body, first)
		require.NotContains(t, theirs.body, w.note)
		require.Equal(t, []string{first}, s.rows(t, w.note))
	case contract.ScopeShared:
		require.Equal(t, mine.same(), theirs.same())
		require.Equal(t, []string{first}, s.rows(t, w.note))
	default:
		second, err := s.identityFor(t.Context(), "bob", theirs)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{first, second}, s.rows(t, w.note))
	}
	third, err := s.identity(t.Context(), quote)
	require.NoError(t, err)
	require.Equal(t, []string{third}, s.rowsOf(t, "create_quote", w.note))
}

func asksForAKeyThatItRequires(t *testing.T, s subject) {
	design := s.Design()
	w := newIntent("keyless").keyed("")
	got := s.must(t, w)
	if !design.Key.Required {
		_, err := s.identity(t.Context(), got)
		require.NoError(t, err, got.body)
		return
	}
	require.Contains(t, design.Contract.MissingKey.Statuses, got.status)
	require.Equal(t, design.Contract.MissingKey.Where["/code"], got.member("code"))
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	require.Empty(t, s.rows(t, w.note))
}

// notDeclined sends intents until one is not declined, and returns its first answer: some designs decline one order of five.
func (s subject) notDeclined(t *testing.T, name, operation string) (w intent, got reply) {
	t.Helper()
	for n := range 50 {
		w = newIntent(fmt.Sprint(name, "-", n)).as(operation)
		if got = s.must(t, w); s.ungraceful(got) {
			var err error
			got, err = politely(t.Context(), s, w)
			require.NoError(t, err)
		}
		if !s.declined(got) {
			break
		}
	}
	return w, got
}

func treatsAnAlteredBodyAsPromised(t *testing.T, s subject) {
	design := s.Design()
	if !s.alters() {
		return
	}
	w, first := s.notDeclined(t, "altered", "create_order")
	got := s.must(t, alter(w))
	id, err := s.identity(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, []string{id}, s.rows(t, w.note))
	require.Empty(t, s.rows(t, alter(w).note))
	if design.Contract.Fingerprint.OnMismatch == contract.MismatchReject {
		require.Contains(t, design.Contract.Fingerprint.Statuses, got.status)
		require.Equal(t, design.Contract.Fingerprint.Where["/code"], got.member("code"))
		return
	}
	require.NoError(t, s.agree(t.Context(), []reply{first, got}))
}

func comparesBodiesAsPromised(t *testing.T, s subject) {
	spellings := map[string]string{
		"order":   `{"note":"n","reference":"r","item":"lamp","amount":1200}`,
		"space":   `{"amount": 1200, "item": "lamp", "note": "n", "reference": "r"}`,
		"numbers": `{"amount":1200.0,"item":"lamp","note":"n","reference":"r"}`,
		"escapes": `{"amount":1200,"item":"l\u0061mp","note":"n","reference":"r"}`,
	}
	design := s.Design()
	mode := design.Contract.Fingerprint.Mode
	if mode == contract.FingerprintUnspecified || design.Key.In != contract.KeyInHeader {
		return
	}
	first, err := s.sendBody(t.Context(), "k", `{"amount":1200,"item":"lamp","note":"n","reference":"r"}`)
	require.NoError(t, err)
	for name, body := range spellings {
		got, err := s.sendBody(t.Context(), "k", body)
		require.NoError(t, err)
		if mode == contract.FingerprintBytes {
			require.Equal(t, "key_reused", got.member("code"), name)
		} else {
			require.NoError(t, s.agree(t.Context(), []reply{first, got}), name)
		}
	}
}

func TestBodiesThatMeanTheSameAreTheSame(t *testing.T) {
	t.Parallel()
	s := serve(t, orders.Options{Design: "unique-key", Work: fast})
	first, err := s.sendBody(t.Context(), "k", `{"note":"é","reference":"r","item":"lamp","amount":1200,"x":[1,{"a":1,"b":2}]}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, first.status)
	for _, body := range []string{
		` { "amount":1200.0, "item":"lamp", "reference":"r", "note":"\u00e9", "x":[1.0,{"b":2,"a":1}] } `,
		`{"note":"é","reference":"r","item":"lamp","amount":1.2e3,"x":[1,{"a":10e-1,"b":2}]}`,
	} {
		got, err := s.sendBody(t.Context(), "k", body)
		require.NoError(t, err)
		require.Equal(t, first.same(), got.same(), body)
	}
	other, err := s.sendBody(t.Context(), "k", `{"note":"é","reference":"r","item":"lamp","amount":1200,"x":[1,{"a":1,"b":3}]}`)
	require.NoError(t, err)
	require.Equal(t, "key_reused", other.member("code"))
}

func TestMalformedRequestsAreRefusedAndCounted(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "unique-key", Database: database, Work: fast})
		bodies := []string{
			``, `null`, `[]`, `{`, `{} {}`, `{"item":"lamp"}`, `{"amount":1}`, `{"item":"lamp","amount":0.5}`,
			`{"item":"lamp","amount":-1}`, `{"item":"lamp","amount":"1"}`, `{"item":"lamp","amount":1e400}`,
			`{"item":7,"amount":1}`, `{"item":"lamp","amount":1,"note":"\u0000"}`,
			`{"item":"lamp","amount":1,"reference":"` + strings.Repeat("é", 256) + `"}`,
		}
		for _, body := range bodies {
			got, err := s.sendBody(t.Context(), "k", body)
			require.NoError(t, err)
			require.Equal(t, http.StatusBadRequest, got.status, body)
			require.Equal(t, "invalid_body", got.member("code"))
		}
		for _, key := range []string{strings.Repeat("k", 256), "schlüssel", "\xff"} {
			got, err := s.sendBody(t.Context(), key, `{"item":"lamp","amount":1}`)
			require.NoError(t, err)
			require.Equal(t, "key_invalid", got.member("code"), key)
		}
		got, err := s.sendBody(t.Context(), "k", `{"item":"lamp","amount":1,"reference":"`+strings.Repeat("é", 255)+`"}`)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, got.status, "a refused body leaves the key free")
		received, inFlight := s.counts(t)
		require.Equal(t, len(bodies)+4, received)
		require.Zero(t, inFlight)
	})
}

func TestRequestsAreCountedWhileTheyAreExecuted(t *testing.T) {
	t.Parallel()
	s := serve(t, orders.Options{Design: "check-then-insert", Work: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []reply, 1)
	go func() { done <- s.together(ctx, []intent{newIntent("a"), newIntent("b"), newIntent("c")}) }()
	s.untilReceived(t, 3)
	_, inFlight := s.counts(t)
	require.Equal(t, 3, inFlight)
	cancel()
	<-done
	s.untilIdle(t)
}

func TestCloseEndsWorkThatGoesOnWithoutAClient(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "in-progress-409", Database: database, Work: time.Hour})
		leaving, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() { defer close(left); _, _ = s.send(leaving, newIntent("left")) }()
		s.untilReceived(t, 1)
		cancel()
		<-left
		began := time.Now()
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "closing again does nothing")
		require.Less(t, time.Since(began), time.Minute)
	})
}

func isDescribedByItsTarget(t *testing.T, s subject) {
	design := s.Design()
	target := s.Target()
	require.Equal(t, "builtin:"+design.Name, target.Name)
	require.Equal(t, s.URL(), target.BaseURL)
	require.Equal(t, s.DatabaseURL(), target.Database.URL)
	require.Equal(t, design.Contract, target.Contract)
	require.Equal(t, design.Key, target.Operations["create_order"].Key)
	require.Equal(t, design.Key, target.Operations["create_quote"].Key)
	names := []string{"create_order", "create_quote"}
	if len(target.Ways("create_order")) > 0 {
		names = slices.Insert(names, 1, "create_order_by_body")
	}
	require.Equal(t, names, target.OperationNames())
	require.Len(t, target.Principals, 2)
}

func TestDesignsAreDescribed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, design := range orders.Designs() {
		require.False(t, names[design.Name], design.Name)
		names[design.Name] = true
		require.NotEmpty(t, design.Summary, design.Name)
		require.NotEmpty(t, design.Contract.Level, design.Name)
		require.NotEmpty(t, design.Contract.Ack.Statuses, design.Name)
		require.Equal(t, design.Correct, len(design.Shows) == 0, "%s: broken designs say how they show", design.Name)
	}
}

func TestStartExplainsMistakes(t *testing.T) {
	t.Parallel()
	_, err := orders.Start(t.Context(), orders.Options{Design: "uniqe-key"})
	require.ErrorContains(t, err, `unknown design "uniqe-key", did you mean "unique-key"? (doubletap targets list has all)`)
	_, err = orders.Start(t.Context(), orders.Options{Design: strings.Repeat("a", 1<<20)})
	require.Less(t, len(err.Error()), 16<<10, "a stranger's finding names it")
	_, err = orders.Start(t.Context(), orders.Options{Design: "zzz"})
	require.NotContains(t, err.Error(), "did you mean")
	_, err = orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: "oracle://x"})
	require.ErrorContains(t, err, `begins with "oracle"`)
	_, err = orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: "postgres://u:secret@127.0.0.1:1/x"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")

	_, err = orders.Start(t.Context(), orders.Options{Design: "key-collation-case"})
	require.EqualError(t, err, "start key-collation-case: it is built for mariadb, and the database is sqlite")

	path := filepath.Join(t.TempDir(), "mine.db")
	server, err := orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: "sqlite://" + path})
	require.NoError(t, err)
	require.Equal(t, "sqlite://"+path, server.DatabaseURL())
	_, err = orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: "sqlite://" + path})
	require.ErrorContains(t, err, "exists already")
	require.NoError(t, server.Close())
	_, err = os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist)
}
