package orders_test

import (
	"fmt"
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
func duplicatesOnALostCommit(t *testing.T, on subject, w wish) bool {
	to := address.AddressOf(on.DatabaseURL())
	if to == "" {
		return false
	}
	link, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", to, proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	s := serve(t, orders.Options{Design: on.Design().Name, Database: on.DatabaseURL(), DatabaseProxy: link.Address(), Work: time.Millisecond})
	s.must(t, newWish(w.key+"-first"))
	moments := []faults.Moment{faults.AtCommitted, faults.AtCommit}
	for n := range mostMoments {
		moments = append(moments, faults.Moment(fmt.Sprint(n+1)))
	}
	for _, moment := range moments {
		one := newWish(fmt.Sprint(w.key, "-", moment))
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

func TestCorrectDesignsSurviveALinkThatBreaks(t *testing.T) {
	overEveryCorrectDesign(t, func(t *testing.T, design orders.Design, database string) {
		sample := []string{"unique-key", "in-progress-409", "natural-key", "upsert", "resume-to-completion", "accepted-202", "at-least-once", "serializable",
			"redis-set-nx-plus-unique", "redis-claim-and-record", "store-fails-closed", "dependency-resumes"}
		if database == "" || !slices.Contains(sample, design.Name) {
			return
		}
		s := serve(t, orders.Options{Design: design.Name, Database: database})
		require.False(t, duplicatesOnALostCommit(t, s, newWish("cut")))
	})
}
