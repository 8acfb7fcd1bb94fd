package orders_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// duplicatesAtAnotherInstance repeats an intent at another server over the same tables.
func duplicatesAtAnotherInstance(t *testing.T, s subject, w intent) bool {
	other := serve(t, orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true, Work: fast})
	first, second := s.must(t, w), other.must(t, w)
	require.Equal(t, http.StatusCreated, first.status)
	require.Equal(t, first.same(), s.must(t, w).same(), "each of them tells the same again")
	require.Equal(t, second.same(), other.must(t, w).same())
	return first.member("id") != second.member("id") && len(s.rows(t, w.note)) == 2
}

// A process ends with what it has promised, and another takes its place.
func forgetsWhatItHasPromised(t *testing.T, s subject, w intent) bool {
	g := newGate()
	place := orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true, Authorise: g.authorise}
	ending := serve(t, place)
	answer := ending.sendLater(t.Context(), w)
	if s.Design().Correct { // it authorises the payment before it promises anything, and once more later
		g.next(t)()
	}
	said := <-answer
	require.NoError(t, ending.Close())
	place.Authorise, place.Work = nil, fast
	next := serve(t, place)
	again := next.must(t, w)
	next.untilIdle(t)
	return said.status == http.StatusAccepted && again.same() == said.same() && len(s.rows(t, w.note)) == 0
}

// A process ends in the middle of what follows its answer, and another takes its place.
func losesWhatItWasDoing(t *testing.T, s subject, w intent) bool {
	place := orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true, Work: fast}
	ending := serve(t, place)
	said := ending.must(t, w)
	time.Sleep(40 * time.Millisecond) // a worker takes the job
	require.NoError(t, ending.Close())
	again := serve(t, place).must(t, w)
	return again.same() == said.same() && len(s.rows(t, w.note)) == 0
}

func TestAProcessLocalStoreIsAsGoodAsItsProcess(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "store-process-local", Database: database, Work: fast})
		w := newIntent("alone")
		first := s.must(t, w)
		for _, again := range s.together(t.Context(), []intent{w, w, w, w}) {
			require.Equal(t, first.same(), again.same())
		}
		require.Equal(t, []string{first.member("id")}, s.rows(t, w.note))
		reused := s.must(t, alter(w))
		require.Equal(t, "key_reused", reused.member("code"))
	})
}

// endsItsProcess repeats an intent while it is being fulfilled, at a server that tells when it would end.
func endsItsProcess(t *testing.T, s subject, w intent) bool {
	died := make(chan string, 9)
	place := orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true, Work: 100 * time.Millisecond, Die: func(text string) { died <- text }}
	mortal := serve(t, place)
	mortal.together(t.Context(), []intent{w, w})
	mortal.untilIdle(t)
	return len(died) == 1 && len(s.rows(t, w.note)) == 1 && strings.HasPrefix(<-died, "panic: ")
}
