package orders_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// duplicatesAtAnotherInstance repeats a wish at another server over the same tables.
func duplicatesAtAnotherInstance(t *testing.T, s subject, w wish) bool {
	other := serve(t, orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true, Work: fast})
	first, second := s.must(t, w), other.must(t, w)
	require.Equal(t, http.StatusCreated, first.status)
	require.Equal(t, first.same(), s.must(t, w).same(), "each of them tells the same again")
	require.Equal(t, second.same(), other.must(t, w).same())
	return first.member("id") != second.member("id") && len(s.rows(t, w.note)) == 2
}

// A process ends with what it has promised, and another takes its place.
func forgetsWhatItHasPromised(t *testing.T, s subject, w wish) bool {
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

func TestAProcessLocalStoreIsAsGoodAsItsProcess(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		s := serve(t, orders.Options{Design: "store-process-local", Database: database, Work: fast})
		w := newWish("alone")
		first := s.must(t, w)
		for _, again := range s.together(t.Context(), []wish{w, w, w, w}) {
			require.Equal(t, first.same(), again.same())
		}
		require.Equal(t, []string{first.member("id")}, s.rows(t, w.note))
		reused := s.must(t, alter(w))
		require.Equal(t, "key_reused", reused.member("code"))
	})
}
