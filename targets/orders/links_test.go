package orders_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
	address "github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// mostMoments is more than all questions and answers of a create.
const mostMoments = 30

// duplicatesOnALostCommit breaks the link to the database at each moment of a create, one after the other.
// A database in a file has no link.
func duplicatesOnALostCommit(t *testing.T, on subject, w intent) bool {
	to := address.AddressOf(on.DatabaseURL())
	if to == "" {
		return false
	}
	link, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", to, proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	s := serve(t, orders.Options{Design: on.Design().Name, Database: on.DatabaseURL(), DatabaseProxy: link.Address(), Work: time.Millisecond})
	s.must(t, newIntent(w.key+"-first"))
	moments := []faults.Moment{faults.AtCommitted, faults.AtCommit}
	for n := range mostMoments {
		moments = append(moments, faults.Moment(fmt.Sprint(n+1)))
	}
	for _, moment := range moments {
		one := newIntent(fmt.Sprint(w.key, "-", moment))
		strike := link.Strike(time.Now(), moment, 20*time.Millisecond)
		_, _ = s.send(t.Context(), one) // whatever it is told
		cut := strike.Over()
		s.untilIdle(t)
		if len(s.rows(t, one.note)) > 1 {
			return true
		}
		if cut.At == 0 && moment.Count() > 0 {
			return false // a create has no more moments
		}
		time.Sleep(30 * time.Millisecond) // until the link is whole
	}
	return false
}

// duplicatesOnALostInsert lets the link blink at the answer to the write of a create. The one before it leaves a
// connection in the pool.
func duplicatesOnALostInsert(t *testing.T, on subject, w intent) bool {
	to := address.AddressOf(on.DatabaseURL())
	if to == "" {
		return false
	}
	link, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", to, proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	s := serve(t, orders.Options{Design: on.Design().Name, Database: on.DatabaseURL(), DatabaseProxy: link.Address(), Work: time.Millisecond})
	s.must(t, newIntent(w.key+"-first"))
	for nth := 1; ; nth++ { // the first with the marker may be a look
		one := newIntent(fmt.Sprint(w.key, "-", nth))
		strike := link.Strike(time.Now(), faults.AtWritten.Nth(nth), 0, one.note, one.reference)
		_, _ = s.send(t.Context(), one)
		cut := strike.Over()
		s.untilIdle(t)
		if len(s.rows(t, one.note)) > 1 || cut.At == 0 {
			return cut.At != 0
		}
	}
}

// failsForGoodAfterABreak lets the link blink once, and tries fresh requests for longer than a pool that is validated now
// and then takes.
func failsForGoodAfterABreak(t *testing.T, on subject, w intent) bool {
	to := address.AddressOf(on.DatabaseURL())
	require.NotEmpty(t, to)
	link, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", to, proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	s := serve(t, orders.Options{Design: on.Design().Name, Database: on.DatabaseURL(), DatabaseProxy: link.Address(), Work: time.Millisecond})
	s.must(t, newIntent(w.key+"-first"))
	strike := link.Strike(time.Now(), faults.Moment("1"), 0)
	_, _ = s.send(t.Context(), newIntent(w.key+"-struck"))
	require.NotZero(t, strike.Over().At)
	failed := 0
	for n, begun := 0, time.Now(); time.Since(begun) < 4*time.Second; n++ {
		reply, err := s.send(t.Context(), newIntent(fmt.Sprint(w.key, "-", n)))
		require.NoError(t, err)
		if reply.status < http.StatusInternalServerError {
			require.Positive(t, failed, "a request gets a dead connection first")
			return false
		}
		failed++
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

func TestAPoolThatIsValidatedLateRecovers(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		if database != "" {
			require.False(t, failsForGoodAfterABreak(t, serve(t, orders.Options{Design: "pool-validated-late", Database: database}), newIntent("late")))
		}
	})
}

func TestAServerClosesWhoseConnectionsWereCut(t *testing.T) {
	overEveryDatabase(t, func(t *testing.T, database string) {
		to := address.AddressOf(database)
		if to == "" {
			return
		}
		link, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", to, proxy.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, link.Close()) })
		s := serve(t, orders.Options{Design: "unique-key", Database: database, DatabaseProxy: link.Address()})
		s.must(t, newIntent("before")) // leaves connections in the pools
		strike := link.Strike(time.Now(), faults.Moment("1"), 0)
		other, err := net.Dial("tcp", link.Address())
		require.NoError(t, err)
		defer other.Close()
		_, _ = io.WriteString(other, "a question") // unless the server's greeting was the moment
		_, _ = io.Copy(io.Discard, other)          // until it is cut
		require.Greater(t, strike.Over().Connections, 1)
		require.NoError(t, s.Close())
	})
}

func TestCorrectDesignsSurviveALinkThatBreaks(t *testing.T) {
	sample := []string{
		"unique-key", "in-progress-409", "natural-key", "upsert", "resume-to-completion", "accepted-202", "at-least-once", "at-least-once-after-crash", "serializable",
		"redis-set-nx-plus-unique", "redis-claim-and-record", "store-fails-closed", "dependency-resumes", "insert-repeated-behind-index",
	}
	picked := func(d orders.Design) bool { return slices.Contains(sample, d.Name) }
	overDealtDesigns(t, []string{"postgres", "mariadb"}, picked, func(t *testing.T, design orders.Design, database string) {
		s := serve(t, orders.Options{Design: design.Name, Database: database})
		require.False(t, duplicatesOnALostCommit(t, s, newIntent("cut")))
		require.False(t, duplicatesOnALostInsert(t, s, newIntent("blink")))
	})
}
