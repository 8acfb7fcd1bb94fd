package orders_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// promise serves a correct design over every store, for what only this one promises.
func promise(t *testing.T, design string, test func(t *testing.T, s subject, w intent)) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		test(t, serve(t, orders.Options{Design: design, Database: database, Work: 20 * time.Millisecond}), newIntent("special"))
	})
}

func TestAReplayMayHaveAnotherStatusWhereItIsDeclared(t *testing.T) {
	promise(t, "replay-200", func(t *testing.T, s subject, w intent) {
		require.Equal(t, http.StatusCreated, s.must(t, w).status)
		require.Equal(t, http.StatusOK, s.must(t, w).status)
	})
}

func TestOnlyReplaysAreMarked(t *testing.T) {
	promise(t, "replay-marker", func(t *testing.T, s subject, w intent) {
		require.Empty(t, s.must(t, w).header.Get("Idempotent-Replayed"))
		require.Equal(t, "true", s.must(t, w).header.Get("Idempotent-Replayed"))
		require.Empty(t, s.must(t, alter(w)).header.Get("Idempotent-Replayed"))
	})
}

func TestCurrentStateMovesOn(t *testing.T) {
	promise(t, "current-state-replay", func(t *testing.T, s subject, w intent) {
		require.Equal(t, "received", s.must(t, w).member("status"))
		require.Equal(t, "paid", s.must(t, w).member("status"))
	})
}

func TestAReserialisedAnswerIsTheSameJSONInOtherBytes(t *testing.T) {
	promise(t, "json-reserialised", func(t *testing.T, s subject, w intent) {
		first, second := s.must(t, w), s.must(t, w)
		require.JSONEq(t, first.body, second.body)
		require.NotEqual(t, first.body, second.body)
		require.True(t, json.Valid([]byte(second.body)))
	})
}

func TestSeeOtherHasOnlyALocation(t *testing.T) {
	promise(t, "see-other", func(t *testing.T, s subject, w intent) {
		first := s.must(t, w)
		require.Equal(t, http.StatusSeeOther, first.status)
		require.Empty(t, first.body)
		require.Equal(t, first.header.Get("Location"), s.must(t, w).header.Get("Location"))
		require.Equal(t, http.StatusOK, s.get(t, first.header.Get("Location")).status)
	})
}

func TestUpsertCreatesOnceAndThenFinds(t *testing.T) {
	promise(t, "upsert", func(t *testing.T, s subject, w intent) {
		first, second, third := s.must(t, w), s.must(t, w), s.must(t, alter(w))
		require.Equal(t, []int{http.StatusCreated, http.StatusOK, http.StatusOK}, []int{first.status, second.status, third.status})
		require.Equal(t, []string{first.body, first.body}, []string{second.body, third.body})
		w.reference = ""
		require.Equal(t, "invalid_body", s.must(t, w).member("code"))
	})
}

func TestThePathNamesTheOrder(t *testing.T) {
	promise(t, "put-client-id", func(t *testing.T, s subject, w intent) {
		require.Equal(t, http.StatusCreated, s.must(t, w).status)
		require.Equal(t, http.StatusOK, s.must(t, w).status)
		r, _ := s.render(w)
		r.Path += "x"
		got, err := s.sendRendered(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, "invalid_body", got.member("code"))
	})
}

func TestNaturalKeyNeedsAReference(t *testing.T) {
	promise(t, "natural-key", func(t *testing.T, s subject, w intent) {
		w.reference = ""
		require.Equal(t, "invalid_body", s.must(t, w).member("code"))
	})
}

func TestFieldsThatAreNotComparedMayDiffer(t *testing.T) {
	promise(t, "fields-fingerprint", func(t *testing.T, s subject, w intent) {
		first := s.must(t, w)
		w.note = "another"
		require.Equal(t, first.same(), s.must(t, w).same())
	})
}

func TestWithoutAKeyEachRequestMakesAnOrder(t *testing.T) {
	promise(t, "optional-key", func(t *testing.T, s subject, w intent) {
		w.key = ""
		require.NotEqual(t, s.must(t, w).member("id"), s.must(t, w).member("id"))
		require.Len(t, s.rows(t, w.note), 2)
	})
}

func TestAnOperationTellsItsCustomerHowItEnds(t *testing.T) {
	promise(t, "accepted-202", func(t *testing.T, s subject, w intent) {
		first, second := s.must(t, w), s.must(t, w)
		require.Equal(t, http.StatusAccepted, first.status)
		require.Equal(t, first.same(), second.same())
		id, err := s.follow(t.Context(), "alice", first.header.Get("Location"))
		require.NoError(t, err)
		require.Equal(t, []string{id}, s.rows(t, w.note))
		foreign, err := s.read(t.Context(), "bob", first.header.Get("Location"))
		require.NoError(t, err)
		require.Equal(t, http.StatusNotFound, foreign.status)
	})
}

func TestCloseEndsOperationsInTheBackground(t *testing.T) {
	const long = time.Minute
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "accepted-202", Database: database, Work: long})
		w := newIntent("endless")
		quick := s.another(t, -1)
		quick.must(t, w)
		quick.untilIdle(t)
		require.NoError(t, quick.Close())
		_, err := s.pool.Exec("update operations set state = 'running'") // as if it had died before the end
		require.NoError(t, err)
		got := s.must(t, w) // resumes it
		require.Equal(t, "running", s.get(t, got.header.Get("Location")).member("state"))
		_, inFlight := s.counts(t)
		require.Positive(t, inFlight)
		begun := time.Now()
		require.NoError(t, s.Close())
		require.Less(t, time.Since(begun), long)
	})
}

// What was accepted cannot be made, and making it takes no time of its own.
func TestCloseEndsOperationsThatTheDatabaseDoesNotTake(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "accepted-202", Database: database, Work: -1})
		_, err := s.pool.Exec("drop table orders")
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, s.must(t, newIntent("endless")).status)
		require.NoError(t, s.Close(), "and comes back: it does not go on trying")
	})
}

func TestAnEqualBodyIsARepetitionWithinTheWindow(t *testing.T) {
	promise(t, "content-window", func(t *testing.T, s subject, w intent) {
		twins := s.together(t.Context(), []intent{w, w.keyed("second"), w.keyed("third")})
		rows := s.rows(t, w.note)
		require.Len(t, rows, 1)
		for _, twin := range twins {
			require.Equal(t, rows[0], twin.member("id"))
		}
		require.Equal(t, http.StatusCreated, s.must(t, w.by("bob")).status)
		require.Equal(t, http.StatusCreated, s.must(t, alter(w).keyed("fourth")).status)

		_, err := s.pool.Exec("update contents set seen_at = seen_at - 30000")
		require.NoError(t, err)
		later := s.together(t.Context(), []intent{w.keyed("fifth"), w.keyed("sixth"), w.keyed("seventh")})
		require.Len(t, s.rows(t, w.note), 3, "alice has two now, and bob one")
		require.Equal(t, later[0].member("id"), later[1].member("id"))
	})
}

func TestAnExpiredKeyIsNew(t *testing.T) {
	promise(t, "key-expires", func(t *testing.T, s subject, w intent) {
		s.must(t, w)
		s.ageKeys(t)
		again := s.together(t.Context(), slices.Repeat([]intent{w}, 6))
		require.Len(t, s.rows(t, w.note), 2)
		for _, got := range again {
			require.Equal(t, again[0].same(), got.same())
		}
		s.ageKeys(t)
		require.Equal(t, http.StatusCreated, s.must(t, alter(w)).status, "another body is a new order then")
	})
}

// ageKeys lets the time of all keys be over.
func (s subject) ageKeys(t *testing.T) {
	t.Helper()
	_, err := s.pool.Exec("update idempotency_keys set used_at = 1")
	require.NoError(t, err)
}

func TestAnExpiredKeyIsRefused(t *testing.T) {
	promise(t, "key-expires-rejected", func(t *testing.T, s subject, w intent) {
		s.must(t, w)
		_, err := s.pool.Exec("update orders set created_at = '2001-02-03T04:05:06Z'")
		require.NoError(t, err)
		for _, late := range []intent{w, alter(w)} {
			got := s.must(t, late)
			require.Equal(t, http.StatusPreconditionFailed, got.status)
			require.Equal(t, "key_expired", got.member("code"))
		}
		require.Len(t, s.rows(t, w.note), 1)
	})
}

func TestALoserGets500AndItsRetryTheAnswer(t *testing.T) {
	promise(t, "loser-gets-500", func(t *testing.T, s subject, w intent) {
		for _, got := range s.together(t.Context(), slices.Repeat([]intent{w}, 8)) {
			require.Contains(t, []int{http.StatusCreated, http.StatusInternalServerError}, got.status)
		}
		require.Equal(t, []string{s.must(t, w).member("id")}, s.rows(t, w.note))
	})
}

func TestAPendingOrderCountsForNothingAndIsResumed(t *testing.T) {
	promise(t, "resume-to-completion", func(t *testing.T, s subject, w intent) {
		before := s.deltas(t)
		leave(t, s, w, func() {
			var begun int
			require.Eventually(t, func() bool {
				return s.pool.QueryRow("select count(*) from orders").Scan(&begun) == nil && begun == 1
			}, soon, time.Millisecond)
		})
		var state string
		require.NoError(t, s.pool.QueryRow("select state from orders").Scan(&state))
		if state == "pending" { // else its client left too late
			require.Empty(t, s.rows(t, w.note))
			s.requireEffects(t, before)
		}
		resumed := s.together(t.Context(), slices.Repeat([]intent{w}, 6))
		for _, got := range resumed {
			require.Equal(t, resumed[0].same(), got.same())
		}
		require.Equal(t, []string{resumed[0].member("id")}, s.rows(t, w.note))
		s.requireEffects(t, before, w.note)
	})
}

// A process ends between the log and the order, and nobody asks again.
func TestWhatIsLoggedIsMadeByTheNextProcess(t *testing.T) {
	promise(t, "memory-with-log", func(t *testing.T, s subject, w intent) {
		s.untilIdle(t) // it has looked at the log
		ending := s.another(t, time.Minute)
		logged := func() bool {
			var n int
			return s.pool.QueryRow("select count(*) from write_ahead_log").Scan(&n) == nil && n == 1
		}
		left := make(chan struct{})
		go func() { defer close(left); _, _ = ending.send(t.Context(), w) }()
		require.Eventually(t, logged, soon, time.Millisecond)
		require.NoError(t, ending.Close())
		<-left
		require.Empty(t, s.rows(t, w.note))

		next := s.another(t, fast)
		next.untilIdle(t)
		made := s.rows(t, w.note)
		require.Len(t, made, 1)
		require.Equal(t, made[0], next.must(t, w).member("id"))
		require.Equal(t, "key_reused", next.must(t, alter(w)).member("code"))
	})
}

func TestTwoProcessesWithMemoriesOfTheirOwnGoByOneLog(t *testing.T) {
	promise(t, "memory-with-log", func(t *testing.T, s subject, w intent) {
		other := s.another(t, 20*time.Millisecond)
		var all sync.WaitGroup
		var here, there []reply
		all.Go(func() { here = s.together(t.Context(), []intent{w, alter(w), w, alter(w)}) })
		all.Go(func() { there = other.together(t.Context(), []intent{alter(w), w, alter(w), w}) })
		all.Wait()
		require.NoError(t, s.agree(t.Context(), append(here, there...)))
		s.requireOneOrder(t, w)
		require.Equal(t, s.must(t, w).same(), other.must(t, w).same())
		require.Equal(t, s.must(t, alter(w)).same(), other.must(t, alter(w)).same())
	})
}

// another is one more process over the same tables.
func (s subject) another(t *testing.T, work time.Duration) subject {
	t.Helper()
	return serve(t, orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true, Work: work})
}

func TestAMessageThatComesTwiceHasOneName(t *testing.T) {
	promise(t, "at-least-once", func(t *testing.T, s subject, w intent) {
		before := s.deltas(t)
		sent := func() (found int) {
			require.NoError(t, s.pool.QueryRow("select count(*) from warehouse").Scan(&found))
			return found
		}
		until := func(more func() bool) {
			for began := time.Now(); !more() && time.Since(began) < soon; { // what fails is left to the next request
				s.must(t, w)
				s.untilIdle(t)
			}
			require.True(t, more())
		}
		until(func() bool { return sent() > 0 }) // perhaps twice: what looks when the process begins may send it as well
		first := sent()
		_, err := s.pool.Exec("update outbox set done = 0") // as if it had died in between
		require.NoError(t, err)
		until(func() bool { return sent() > first })
		s.requireEffects(t, before, w.note)
	})
}

// The warehouse is away, and nobody asks for the first order again.
func TestAMessageThatWasNotSentIsSentWithTheNextOne(t *testing.T) {
	promise(t, "at-least-once", func(t *testing.T, s subject, w intent) {
		before, next := s.deltas(t), newIntent("next")
		s.orderWithoutWarehouse(t, w)
		s.must(t, next)
		s.untilIdle(t)
		s.requireEffects(t, before, w.note, next.note)
	})
}

func TestAMessageThatWasNotSentIsSentByTheNextProcess(t *testing.T) {
	promise(t, "at-least-once", func(t *testing.T, s subject, w intent) {
		before := s.deltas(t)
		s.orderWithoutWarehouse(t, w)
		s.another(t, fast).untilIdle(t)
		s.requireEffects(t, before, w.note)
	})
}

// orderWithoutWarehouse orders while no message can be sent.
func (s subject) orderWithoutWarehouse(t *testing.T, w intent) {
	t.Helper()
	_, err := s.pool.Exec("alter table warehouse rename to away")
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, s.must(t, w).status)
	s.untilIdle(t)
	_, err = s.pool.Exec("alter table away rename to warehouse")
	require.NoError(t, err)
}

func TestTheVersionRisesByOneForEachOrder(t *testing.T) {
	promise(t, "optimistic-version", func(t *testing.T, s subject, w intent) {
		intents := several(w)
		s.together(t.Context(), append(intents, intents...))
		var version int
		require.NoError(t, s.pool.QueryRow("select version from customers").Scan(&version))
		require.Equal(t, len(intents), version)
	})
}
