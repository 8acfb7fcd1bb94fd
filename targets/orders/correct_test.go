package orders_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

const (
	rounds  = 4
	clients = 12
)

// remembers reports that a design is correct, and that no key is forgotten while a test goes on.
func remembers(design orders.Design) bool { return design.Correct && design.Contract.Expiry.After == 0 }

// Rounds overlap, so that keys also meet each other in the database.
func TestCorrectDesignsSurviveBurstsAndLeavingClients(t *testing.T) {
	overDealtDesigns(t, allStores, remembers, func(t *testing.T, design orders.Design, database string) {
		s := serve(t, orders.Options{Design: design.Name, Database: database})
		before := s.deltas(t)
		problems := make([]error, rounds)
		slots := make(chan struct{}, 4)
		var all sync.WaitGroup
		for i := range rounds {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				problems[i] = burst(t.Context(), s, fmt.Sprint("burst-", i), rand.New(rand.NewPCG(7, uint64(i))))
			})
		}
		all.Wait()
		for _, problem := range problems {
			require.NoError(t, problem)
		}
		s.untilIdle(t)
		markers := make([]string, rounds)
		for i := range rounds {
			markers[i] = s.requireOneOrder(t, newIntent(fmt.Sprint("burst-", i)))
		}
		var total int
		require.NoError(t, s.pool.QueryRow("select count(*) from orders").Scan(&total))
		require.Equal(t, rounds, total)
		s.requireEffects(t, before, markers...)
	})
}

// requireOneOrder checks that every client is told of the order that exists, and returns its marker.
func (s subject) requireOneOrder(t *testing.T, w intent) string {
	t.Helper()
	last, err := politely(t.Context(), s, w)
	require.NoError(t, err)
	var ids, markers []string
	for _, mine := range s.bodies(w) {
		if rows := s.rows(t, mine.note); len(rows) > 0 {
			ids, markers = append(ids, rows...), append(markers, mine.note)
		}
	}
	require.Len(t, ids, 1)
	if !s.mismatched(last) && !s.declined(last) {
		id, err := s.identity(t.Context(), last)
		require.NoError(t, err)
		require.Equal(t, ids[0], id)
	}
	return markers[0]
}

// deltas are the numbers that creates change by a constant, by the effect's name.
func (s subject) deltas(t *testing.T) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, effect := range s.Target().Operations["create_order"].Effects {
		if effect.Delta != nil {
			all[effect.Name] = s.number(t, effect.Query, "")
		}
	}
	return all
}

// number is what an effect's query gives.
func (s subject) number(t *testing.T, query, marker string) float64 {
	t.Helper()
	query, args := s.bind(query, marker)
	var n float64
	require.NoError(t, s.pool.QueryRow(query, args...).Scan(&n))
	return n
}

// requireEffects holds that so many orders have been made, each with its effects once.
func (s subject) requireEffects(t *testing.T, before map[string]float64, markers ...string) {
	t.Helper()
	for _, effect := range s.Target().Operations["create_order"].Effects {
		if effect.Seen != "" {
			continue // it is no row
		}
		if effect.Delta != nil {
			change := s.number(t, effect.Query, "") - before[effect.Name]
			require.Equal(t, *effect.Delta*float64(len(markers)), change, effect.Name)
			continue
		}
		for _, marker := range markers {
			want, query := effect.Value, effect.Query
			if effect.Rows != nil {
				want, query = new(float64(*effect.Rows)), "select count(*) from ("+query+") as found"
			}
			require.Equal(t, *want, s.number(t, query, marker), effect.Name)
		}
	}
}

// alter is the same key, and the same reference, with another body.
func alter(w intent) intent {
	w.note, w.amount = w.note+"-altered", 9900
	return w
}

// alters reports whether the target's requests can come with another body.
func (s subject) alters() bool {
	return s.Target().Operations["create_order"].Alter != nil && !s.oneField("create_order")
}

// oneField reports that the note is the reference as well: another body is another order.
func (s subject) oneField(operation string) bool {
	_, members := s.Target().Operations[operation].Request.Payload()
	return members["note"] != nil && members["note"] == members["reference"]
}

// referenceOf is the reference that an intent is sent with.
func (s subject) referenceOf(w intent) string {
	if s.oneField(w.operation) {
		return w.note
	}
	return w.reference
}

// bodies are the intent, and the same key with another body, if the target's requests can have one.
func (s subject) bodies(w intent) []intent {
	if !s.alters() {
		return []intent{w}
	}
	return []intent{w, alter(w)}
}

// burst sends one key twelve times at once, twice of them with another body; about half of the
// clients leave at a random moment. Then both bodies are repeated politely.
func burst(ctx context.Context, s subject, name string, random *rand.Rand) error {
	w := newIntent(name)
	replies := make([]reply, clients)
	var all sync.WaitGroup
	for i := range clients {
		mine, patience := w, 30*time.Second
		if i%6 == 5 {
			mine = s.bodies(w)[len(s.bodies(w))-1]
		}
		if random.IntN(2) == 0 {
			patience = time.Duration(random.IntN(60_000)) * time.Microsecond
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			replies[i], _ = s.send(ctx, mine)
		})
	}
	all.Wait()
	for _, sent := range s.bodies(w) {
		last, err := politely(ctx, s, sent)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		replies = append(replies, last)
	}
	if err := s.agree(ctx, replies); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// politely repeats the intent until it is decided.
func politely(ctx context.Context, s subject, w intent) (reply, error) {
	for began := time.Now(); time.Since(began) < soon; time.Sleep(10 * time.Millisecond) {
		got, err := s.send(ctx, w)
		if err != nil {
			return got, err
		}
		if got.member("code") != "key_in_use" && !s.ungraceful(got) {
			return got, nil
		}
	}
	return reply{}, fmt.Errorf("key %s is stuck", w.key)
}

// ungraceful reports an answer that is not nice but keeps the contract.
func (s subject) ungraceful(r reply) bool {
	return s.Design().Name == "loser-gets-500" && r.status == http.StatusInternalServerError ||
		s.Design().Name == "fails-now-and-then" && r.status == http.StatusBadGateway ||
		s.Design().Name == "throttled-for-a-while" && r.status == http.StatusTooManyRequests ||
		r.status == http.StatusServiceUnavailable && r.member("code") == "try_again" // the database gave up often enough, and nothing was done
}

// mismatched reports a refusal of another body, where it is promised.
func (s subject) mismatched(r reply) bool {
	promised := s.Design().Contract.Fingerprint
	return slices.Contains(promised.Statuses, r.status) && r.member("code") == promised.Where["/code"]
}

// declined reports a final no: 402 is one where no line of the contract says so.
func (s subject) declined(r reply) bool {
	return r.status == http.StatusPaymentRequired || slices.Contains(s.Design().Contract.Errors.Declined.Statuses, r.status)
}

// existing reports an answer that names what is there.
func (s subject) existing(r reply) bool {
	promised := s.Design().Contract.Existing
	code, narrowed := promised.Where["/code"]
	return slices.Contains(promised.Statuses, r.status) && (!narrowed || r.member("code") == code)
}

// agree checks that the answers to one key are about one order and as the contract says.
func (s subject) agree(ctx context.Context, replies []reply) error {
	promise := s.Design().Contract
	var acks, ids []string
	for _, r := range replies {
		switch {
		case r.status == 0: // its client has left
		case s.ungraceful(r):
		case slices.Contains(promise.Ack.Statuses, r.status), slices.Contains(promise.Ack.Accepted.Statuses, r.status):
			id, err := s.identity(ctx, r)
			if err != nil {
				return err
			}
			acks, ids = append(acks, essence(promise.Replay, r)), append(ids, id)
		case s.declined(r):
			acks, ids = append(acks, essence(promise.Replay, r)), append(ids, r.member("code"))
		case s.existing(r):
			ids = append(ids, r.member("id"))
		case r.status == 409 && r.member("code") == "key_in_use" && promise.InProgress.Mode == contract.InProgressReject:
		case s.mismatched(r):
		default:
			return fmt.Errorf("unexpected answer %d %s", r.status, r.body)
		}
	}
	if len(ids) == 0 || ids[0] == "" || len(slices.Compact(ids)) != 1 {
		return fmt.Errorf("not one identity: %q", ids)
	}
	if promise.Level == contract.Idempotent && len(slices.Compact(acks)) > 1 {
		return fmt.Errorf("acknowledgements differ: %q", acks)
	}
	return nil
}

// essence is equal for answers of which one may be the replay of the other.
func essence(promised contract.Replay, r reply) string {
	parts := []any{r.status}
	for first, then := range promised.Status {
		if slices.Contains(then, r.status) {
			parts[0] = first
		}
	}
	for _, name := range promised.Headers {
		parts = append(parts, r.header.Get(name))
	}
	switch promised.Body {
	case contract.SameBytes:
		parts = append(parts, r.body)
	case contract.SameJSON:
		var value any
		if r.body != "" && json.Unmarshal([]byte(r.body), &value) != nil {
			value = "no JSON: " + r.body
		}
		parts = append(parts, value)
	}
	return fmt.Sprint(parts...)
}

// identity is the id of the order that an answer to alice is about.
func (s subject) identity(ctx context.Context, r reply) (string, error) {
	return s.identityFor(ctx, "alice", r)
}

func (s subject) identityFor(ctx context.Context, who string, r reply) (string, error) {
	id := r.member("id")
	switch {
	case slices.Contains(s.Design().Contract.Ack.Accepted.Statuses, r.status) && !s.Design().Contract.Ack.Accepted.ByRows():
		return s.follow(ctx, who, r.header.Get("Location"))
	case s.Target().Operations["create_order"].Identity.Header != "":
		id = path.Base(r.header.Get("Location"))
	}
	if id == "" {
		return "", fmt.Errorf("no identity in %d %s", r.status, r.body)
	}
	return id, nil
}

// follow asks a status resource until what was accepted is done.
func (s subject) follow(ctx context.Context, who, where string) (string, error) {
	for began := time.Now(); time.Since(began) < soon; time.Sleep(5 * time.Millisecond) {
		got, err := s.read(ctx, who, where)
		if err != nil {
			return "", err
		}
		switch state := got.member("state"); state {
		case "done":
			return got.member("order_id"), nil
		case "running":
		default:
			return "", fmt.Errorf("%s: %d %s", where, got.status, got.body)
		}
	}
	return "", fmt.Errorf("%s goes on for ever", where)
}

func TestAClientThatLeavesStopsNobodyElse(t *testing.T) {
	overDealtDesigns(t, allStores, remembers, func(t *testing.T, design orders.Design, database string) {
		s := serve(t, orders.Options{Design: design.Name, Database: database, Work: 100 * time.Millisecond})
		w := newIntent("left")
		s.render(w) // what it takes is prepared
		before, _ := s.counts(t)
		leaving, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() { defer close(left); _, _ = s.send(leaving, w) }()
		s.untilReceived(t, before+1)
		cancel()
		<-left
		began := time.Now()
		got, err := politely(t.Context(), s, w)
		require.NoError(t, err)
		require.NoError(t, s.agree(t.Context(), []reply{got}))
		require.Less(t, time.Since(began), time.Minute)
		if s.declined(got) {
			require.Len(t, s.rows(t, w.note), 1)
			return
		}
		id, err := s.identity(t.Context(), got)
		require.NoError(t, err)
		require.Equal(t, []string{id}, s.rows(t, w.note))
	})
}

func TestWaitingIsWhatUniqueKeyPromises(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "unique-key", Database: database})
		w := newIntent("wait")
		for _, got := range s.together(t.Context(), slices.Repeat([]intent{w}, 60)) {
			require.Equal(t, http.StatusCreated, got.status, got.body)
		}
		require.Len(t, s.rows(t, w.note), 1)
	})
}

func TestInProgressIsToldAndEnds(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		g := newGate()
		s := serve(t, orders.Options{Design: "in-progress-409", Database: database, Authorise: g.authorise})
		w := newIntent("busy")
		first := s.sendLater(t.Context(), w)
		open := g.next(t)
		require.Equal(t, "key_in_use", s.must(t, w).member("code"))
		require.Equal(t, "key_reused", s.must(t, alter(w)).member("code"))
		open()
		done := <-first
		require.Equal(t, http.StatusCreated, done.status)
		require.Equal(t, done.same(), s.must(t, w).same())
	})
}

// The first holder is slow and loses its claim to a thief, at which two more come too late; only the thief may create
// the order.
func TestAnExpiredClaimIsTakenAndItsHolderFenced(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		g := newGate()
		s := serve(t, orders.Options{Design: "in-progress-409", Database: database, Authorise: g.authorise})
		w := newIntent("slow")
		first := s.sendLater(t.Context(), w)
		openFirst := g.next(t)
		require.Equal(t, 1, s.claims(t))
		_, err := s.pool.Exec("update idempotency_keys set lease_until = 1")
		require.NoError(t, err)
		thief := s.sendLater(t.Context(), w)
		openThief := g.next(t)
		for _, late := range s.together(t.Context(), []intent{w, w}) {
			require.Equal(t, http.StatusConflict, late.status)
		}
		openFirst()
		require.Equal(t, "key_in_use", (<-first).member("code"))
		openThief()
		stolen := <-thief
		require.Equal(t, http.StatusCreated, stolen.status)
		require.Equal(t, []string{stolen.member("id")}, s.rows(t, w.note))
		require.Equal(t, stolen.same(), s.must(t, w).same())
	})
}

func (s subject) claims(t *testing.T) int {
	t.Helper()
	var n int
	require.NoError(t, s.pool.QueryRow("select count(*) from idempotency_keys where status = 0").Scan(&n))
	return n
}
