package orders_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// attempts bounds the rounds in which a broken design must show its defect once.
const attempts = 10

// broken serves a design whose authorisation leaves time to get in between, and plays rounds with
// fresh wishes until one shows the defect.
func broken(t *testing.T, design string, round func(t *testing.T, s subject, w wish) (shown bool)) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: design, Database: database, Work: 100 * time.Millisecond})
		for i := range attempts {
			if round(t, s, newWish(fmt.Sprint("round-", i))) {
				return
			}
			s.untilIdle(t)
		}
		t.Fatalf("%s looked correct in %d rounds", design, attempts)
	})
}

func TestCheckThenInsertDuplicatesInABurst(t *testing.T) {
	broken(t, "check-then-insert", func(t *testing.T, s subject, w wish) bool {
		s.together(t.Context(), slices.Repeat([]wish{w}, 8))
		return len(s.rows(t, w.note)) > 1
	})
}

func TestRecordAfterCommitDuplicatesOnAnEarlyRetry(t *testing.T) {
	broken(t, "record-after-commit", func(t *testing.T, s subject, w wish) bool {
		leaving, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() { defer close(left); _, _ = s.send(leaving, w) }()
		require.Eventually(t, func() bool { return len(s.rows(t, w.note)) == 1 }, 10*time.Second, time.Millisecond)
		cancel()
		<-left
		s.must(t, w)
		return len(s.rows(t, w.note)) == 2
	})
}

func TestNoFingerprintAnswersAnAlteredBodyWithTheFirstOrder(t *testing.T) {
	broken(t, "no-fingerprint", func(t *testing.T, s subject, w wish) bool {
		first, second := s.must(t, w), s.must(t, alter(w))
		require.Len(t, s.rows(t, w.note), 1)
		require.Empty(t, s.rows(t, alter(w).note))
		return second.status == http.StatusCreated && second.same() == first.same()
	})
}

func TestReplayFreshAnswerAnswersDifferently(t *testing.T) {
	broken(t, "replay-fresh-answer", func(t *testing.T, s subject, w wish) bool {
		first, second := s.must(t, w), s.must(t, w)
		require.Len(t, s.rows(t, w.note), 1)
		require.Equal(t, first.member("id"), second.member("id"))
		return second.status == http.StatusOK && second.member("created_at") != first.member("created_at")
	})
}

func TestLockFailSuccessAcknowledgesWhatIsRolledBack(t *testing.T) {
	broken(t, "lock-fail-success", func(t *testing.T, s subject, w wish) bool {
		before, _ := s.counts(t)
		leaving, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() { defer close(left); _, _ = s.send(leaving, w) }()
		s.untilReceived(t, before+1)
		told := s.must(t, w)
		cancel()
		<-left
		s.untilIdle(t)
		return told.status == http.StatusOK && told.member("id") == "" && len(s.rows(t, w.note)) == 0
	})
}
