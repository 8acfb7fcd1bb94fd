package orders_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

const (
	rounds  = 30
	clients = 12
)

// Rounds overlap, so that keys also meet each other in the database.
func TestCorrectDesignsSurviveBurstsAndLeavingClients(t *testing.T) {
	overEveryDesign(t, func(t *testing.T, design orders.Design, database string) {
		if !design.Correct {
			return
		}
		s := serve(t, orders.Options{Design: design.Name, Database: database})
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
		for i := range rounds {
			w, altered := newWish(fmt.Sprint("burst-", i)), alter(newWish(fmt.Sprint("burst-", i)))
			found := append(s.rows(t, w.note), s.rows(t, altered.note)...)
			require.Len(t, found, 1)
			last, err := politely(t.Context(), s, w)
			require.NoError(t, err)
			if last.status != http.StatusUnprocessableEntity {
				require.Equal(t, found[0], last.member("id"), "everybody is told of the order that exists")
			}
		}
		var total int
		require.NoError(t, s.pool.QueryRow("select count(*) from orders").Scan(&total))
		require.Equal(t, rounds, total)
	})
}

// alter is the same key, and the same reference, with another body.
func alter(w wish) wish {
	w.note, w.amount = w.note+"-altered", 9900
	return w
}

// burst sends one key twelve times at once, twice of them with another body; about half of the
// clients leave at a random moment. Then both bodies are repeated politely.
func burst(ctx context.Context, s subject, name string, random *rand.Rand) error {
	w := newWish(name)
	replies := make([]reply, clients)
	var all sync.WaitGroup
	for i := range clients {
		mine, patience := w, 30*time.Second
		if i%6 == 5 {
			mine = alter(w)
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
	for _, sent := range []wish{w, alter(w)} {
		last, err := politely(ctx, s, sent)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		replies = append(replies, last)
	}
	return agree(s.Design().Contract, replies)
}

// politely repeats the wish until it is decided.
func politely(ctx context.Context, s subject, w wish) (reply, error) {
	for range 300 {
		got, err := s.send(ctx, w)
		if err != nil {
			return got, err
		}
		if got.member("code") != "key_in_use" {
			return got, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return reply{}, fmt.Errorf("key %s is stuck", w.key)
}

// agree checks that the answers to one key are about one order and as the contract says.
func agree(contract targets.Contract, replies []reply) error {
	var acks, ids []string
	for _, r := range replies {
		switch {
		case r.status == 0: // its client has left
		case slices.Contains(contract.Ack.Statuses, r.status):
			acks, ids = append(acks, r.same()), append(ids, r.member("id"))
		case r.status == 409 && r.member("code") == "already_exists" && slices.Contains(contract.Existing.Statuses, 409):
			ids = append(ids, r.member("id"))
		case r.status == 409 && r.member("code") == "key_in_use" && contract.InProgress.Mode == targets.InProgressReject:
		case r.status == 422 && r.member("code") == "key_reused" && contract.Fingerprint.OnMismatch == targets.MismatchReject:
		default:
			return fmt.Errorf("unexpected answer %d %s", r.status, r.body)
		}
	}
	if len(ids) == 0 || ids[0] == "" || len(slices.Compact(ids)) != 1 {
		return fmt.Errorf("not one identity: %q", ids)
	}
	if len(acks) > 0 && len(slices.Compact(acks)) != 1 {
		return fmt.Errorf("acknowledgements differ: %q", acks)
	}
	return nil
}

func TestAClientThatLeavesStopsNobodyElse(t *testing.T) {
	overEveryDesign(t, func(t *testing.T, design orders.Design, database string) {
		if !design.Correct {
			return
		}
		s := serve(t, orders.Options{Design: design.Name, Database: database, Work: 100 * time.Millisecond})
		w := newWish("left")
		leaving, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() { defer close(left); _, _ = s.send(leaving, w) }()
		s.untilReceived(t, 1)
		cancel()
		<-left
		began := time.Now()
		got, err := politely(t.Context(), s, w)
		require.NoError(t, err)
		require.NoError(t, agree(design.Contract, []reply{got}))
		require.Less(t, time.Since(began), 4*time.Second)
		require.Equal(t, []string{got.member("id")}, s.rows(t, w.note))
	})
}

func TestWaitingIsWhatUniqueKeyPromises(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "unique-key", Database: database})
		w := newWish("wait")
		for _, got := range s.together(t.Context(), slices.Repeat([]wish{w}, 60)) {
			require.Equal(t, http.StatusCreated, got.status, got.body)
		}
		require.Len(t, s.rows(t, w.note), 1)
	})
}

func TestInProgressIsToldAndEnds(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "in-progress-409", Database: database, Work: 300 * time.Millisecond})
		w := newWish("busy")
		first := make(chan reply, 1)
		go func() { first <- s.together(t.Context(), []wish{w})[0] }()
		s.untilReceived(t, 1)
		require.Eventually(t, func() bool { return s.claims(t) == 1 }, 5*time.Second, time.Millisecond)
		require.Equal(t, "key_in_use", s.must(t, w).member("code"))
		require.Equal(t, "key_reused", s.must(t, alter(w)).member("code"))
		done := <-first
		require.Equal(t, http.StatusCreated, done.status)
		require.Equal(t, done.same(), s.must(t, w).same())
	})
}

// The first holder is slow and loses its claim to a thief; only one of them may create the order.
func TestAnExpiredClaimIsTakenAndItsHolderFenced(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "in-progress-409", Database: database, Work: 300 * time.Millisecond})
		w := newWish("slow")
		first := make(chan reply, 1)
		go func() { first <- s.together(t.Context(), []wish{w})[0] }()
		require.Eventually(t, func() bool { return s.claims(t) == 1 }, 5*time.Second, time.Millisecond)
		_, err := s.pool.Exec("update idempotency_keys set lease_until = 1")
		require.NoError(t, err)
		thieves := s.together(t.Context(), []wish{w, w, w})
		require.Equal(t, "key_in_use", (<-first).member("code"))
		slices.SortFunc(thieves, func(a, b reply) int { return a.status - b.status })
		require.Equal(t, http.StatusCreated, thieves[0].status)
		require.Equal(t, http.StatusConflict, thieves[1].status)
		require.Equal(t, []string{thieves[0].member("id")}, s.rows(t, w.note))
		require.Equal(t, thieves[0].same(), s.must(t, w).same())
	})
}

func (s subject) claims(t *testing.T) int {
	t.Helper()
	var n int
	require.NoError(t, s.pool.QueryRow("select count(*) from idempotency_keys where status = 0").Scan(&n))
	return n
}

func TestNaturalKeyNeedsAReference(t *testing.T) {
	t.Parallel()
	s := serve(t, orders.Options{Design: "natural-key", Work: fast})
	w := newWish("nameless")
	w.reference = ""
	require.Equal(t, "invalid_body", s.must(t, w).member("code"))
}
