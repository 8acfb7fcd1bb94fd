package orders_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// asking serves another API of this one's design over tables of its own, which asks its dependency by a link.
func asking(t *testing.T, on subject) (s subject, link *proxy.LinkProxy) {
	t.Helper()
	o := orders.Options{Design: on.Design().Name, Database: on.DatabaseURL(), Work: time.Millisecond}
	if strings.HasPrefix(o.Database, "sqlite:") {
		o.Database = ""
	}
	o.DependencyProxy = func(ctx context.Context, to string) (string, error) {
		wire, err := proxy.OpenLinkProxy(ctx, scenarios.Dependency, "127.0.0.1:0", to, proxy.Options{})
		if err != nil {
			return "", err
		}
		t.Cleanup(func() { require.NoError(t, wire.Close()) })
		link = wire
		return wire.Address(), nil
	}
	return serve(t, o), link
}

// lostCharges are the moments of one charge: the question does not arrive, or its answer does not.
var lostCharges = []faults.Moment{"1", "2"}

// failOnce sends an intent whose charge is lost at this moment, and returns what it is told. The link is whole then.
func (s subject) failOnce(t *testing.T, link *proxy.LinkProxy, w intent, moment faults.Moment) reply {
	t.Helper()
	strike := link.Strike(time.Now(), moment, time.Nanosecond)
	told := s.must(t, w)
	require.Positive(t, strike.Over().At, "it has asked")
	return told
}

// untilPaid sends intents until one is paid for: on a busy machine the service may take longer than the API waits for it.
func (s subject) untilPaid(t *testing.T, next func() intent) (paid reply) {
	t.Helper()
	require.Eventually(t, func() bool {
		paid = s.must(t, next())
		return paid.status == http.StatusCreated
	}, soon, 5*time.Millisecond)
	return paid
}

func duplicatesOnceTheDependencyIsBack(t *testing.T, on subject, w intent) bool {
	s, link := asking(t, on)
	for _, moment := range lostCharges {
		one := newIntent(w.key + "-" + string(moment))
		failed := s.failOnce(t, link, one, moment)
		require.GreaterOrEqual(t, failed.status, 500)
		again := s.untilPaid(t, func() intent { return one })
		if again.same() != s.must(t, one).same() || len(s.rows(t, one.note)) != 2 {
			return false
		}
	}
	return true
}

func repeatsForEverThatThePaymentFailed(t *testing.T, on subject, w intent) bool {
	s, link := asking(t, on)
	for _, moment := range lostCharges {
		one := newIntent(w.key + "-" + string(moment))
		failed := s.failOnce(t, link, one, moment)
		others := 0
		s.untilPaid(t, func() intent { others++; return newIntent(fmt.Sprint("other-", others, one.key)) }) // the service is back
		for range 3 {
			if again := s.must(t, one); again.status < 500 || again.same() != failed.same() {
				return false
			}
		}
		require.Empty(t, s.rows(t, one.note))
	}
	return true
}

func TestWhatTheDependencyHeldUpIsResumed(t *testing.T) {
	promise(t, "dependency-resumes", func(t *testing.T, on subject, w intent) {
		s, link := asking(t, on)
		for _, moment := range lostCharges {
			one := newIntent(w.key + "-" + string(moment))
			failed := s.failOnce(t, link, one, moment)
			require.Equal(t, http.StatusServiceUnavailable, failed.status)
			require.Equal(t, "payment_away", failed.member("code"))
			require.Empty(t, s.rows(t, one.note), "what is not paid for counts for nothing")
			require.Equal(t, "key_reused", s.must(t, alter(one)).member("code"))
			replies := append(s.together(t.Context(), slices.Repeat([]intent{one}, 6)), s.untilPaid(t, func() intent { return one }))
			replies = slices.DeleteFunc(replies, func(r reply) bool { return r.member("code") == "payment_away" })
			require.NoError(t, s.agree(t.Context(), replies))
			require.NotEmpty(t, replies[0].member("charge"))
			require.Equal(t, []string{replies[0].member("id")}, s.rows(t, one.note))
		}
		require.EqualValues(t, len(lostCharges), s.number(t, "select count(*) from orders", ""), "nor is anything left behind")
	})
}

// The service is away for some of a burst, and for how many does not matter.
func TestABurstThatTheDependencyHeldUpIsResumed(t *testing.T) {
	promise(t, "dependency-resumes", func(t *testing.T, on subject, w intent) {
		s, link := asking(t, on)
		strike := link.Strike(time.Now(), "2", 50*time.Millisecond)
		told := s.together(t.Context(), slices.Repeat([]intent{w}, 8))
		require.Positive(t, strike.Over().At)
		var last reply
		require.Eventually(t, func() bool {
			last = s.must(t, w)
			return last.member("code") != "payment_away"
		}, soon, 5*time.Millisecond)
		told = slices.DeleteFunc(append(told, last), func(r reply) bool { return r.member("code") == "payment_away" })
		require.NoError(t, s.agree(t.Context(), told))
		require.Equal(t, []string{last.member("id")}, s.rows(t, w.note))
	})
}

func TestADependencyChargesOnceForEachThing(t *testing.T) {
	t.Parallel()
	at := ""
	s := serve(t, orders.Options{Design: "dependency-resumes", DependencyProxy: func(_ context.Context, to string) (string, error) {
		at = to
		return to, nil
	}})
	charge := func(body string) reply {
		resp, err := http.Post("http://"+at+"/charges", "application/json", bytes.NewBufferString(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return reply{resp.StatusCode, resp.Header, string(text)}
	}
	first := charge(`{"for":"ord_1"}`)
	require.NotEmpty(t, first.member("id"))
	require.Equal(t, first.same(), charge(`{"for":"ord_1"}`).same())
	require.NotEqual(t, first.member("id"), charge(`{"for":"ord_2"}`).member("id"))
	for _, nothing := range []string{``, `{}`, `{"for":""}`, `{"for":1}`} {
		require.Equal(t, http.StatusBadRequest, charge(nothing).status, nothing)
	}
	require.NoError(t, s.Close())
	requireNobodyAt(t, at)
}

func TestADependencyEndsWithAStartThatFails(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	at := ""
	through := func(_ context.Context, to string) (string, error) {
		at = to
		return to, nil
	}
	nowhere := func(_ context.Context, to string) (string, error) {
		at = to
		return "", errors.New("no way")
	}
	for reason, o := range map[string]orders.Options{
		"listen on " + taken.Addr().String():        {Listen: taken.Addr().String(), DependencyProxy: through},
		"find an address of the dependency: no way": {DependencyProxy: nowhere},
		"start dependency-resumes: serve the depe":  {Dependency: taken.Addr().String(), DependencyProxy: through},
	} {
		o.Design, at = "dependency-resumes", ""
		_, err := orders.Start(t.Context(), o)
		require.ErrorContains(t, err, reason)
		if at != "" {
			requireNobodyAt(t, at)
		}
	}
}

func requireNobodyAt(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	require.Error(t, err, "a server listens at %s", address)
}

// Each of the two has a service of its own, so that their charges differ.
func TestOneOfTwoInstancesRecordsTheCharge(t *testing.T) {
	promise(t, "dependency-resumes", func(t *testing.T, s subject, _ intent) {
		other := serve(t, orders.Options{Design: s.Design().Name, Database: s.DatabaseURL(), Keep: true})
		for _, name := range []string{"a", "b", "c", "d"} {
			w := newIntent(name)
			there := other.sendLater(t.Context(), w)
			replies := append(s.together(t.Context(), []intent{w, w}), <-there, s.must(t, w), other.must(t, w))
			require.NoError(t, s.agree(t.Context(), replies))
			require.Equal(t, []string{replies[0].member("id")}, s.rows(t, w.note))
		}
	})
}
