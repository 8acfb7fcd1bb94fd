package checker_test

import (
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// sentOn is the answer to a form: it sends the browser on to a page.
func sentOn(location string) history.Attempt {
	return bearing("Location", location, history.Attempt{Sent: 100, Status: 303, Complete: true, Header: map[string]string{}})
}

// redirecting acknowledges with a redirect to an order, and names it there.
func redirecting(t *checker.Terms) {
	t.Contract.Ack.Signature = contract.Signature{Statuses: []int{303}, Headers: map[string]string{"Location": "^/orders/o"}}
	t.Contract.Replay = contract.Replay{Body: contract.SameIdentity}
	t.Operation.Identity = contract.Identity{Header: "location", Pattern: "^/orders/([^/?]+)"}
	t.Contract.Existing = contract.Existing{
		Signature: contract.Signature{Statuses: []int{409}}, Identity: contract.Identity{Header: "Location"},
	}
}

// A header can name what was created, and tell one redirect from another.
func TestRedirects(t *testing.T) {
	t.Parallel()
	a := sentOn("/orders/o1")
	for _, c := range []struct {
		name  string
		terms checker.Terms
		story *draft
		want  []string
	}{
		{name: "the same order again is right", story: story(a, sentOn("/orders/o1?again=1")).rows(1).probe(a)},
		{name: "another order is an unequal replay", story: story(a).rows(1).probe(sentOn("/orders/o2")), want: []string{"replay-mismatch/identity"}},
		{name: "an order that is not the row is an unequal replay", story: story(sentOn("/orders/o2")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "no name, where there should be one, is an unequal replay", story: story(a).rows(1).probe(sentOn("/orders/o")),
			terms: terms(redirecting, func(t *checker.Terms) { t.Operation.Identity.Pattern = "^/orders/(o[0-9])" }), want: []string{"replay-mismatch/identity"}},
		{name: "no name is right where nothing is promised of answers", story: story(a).rows(1).probe(sentOn("/orders/o")),
			terms: terms(redirecting, anyBody, func(t *checker.Terms) { t.Operation.Identity.Pattern = "^/orders/(o[0-9])" })},
		{name: "a login page is no acknowledgement, so nothing is lost", story: story(sentOn("/login"), a).rows(1).probe(a)},
		{name: "a client that is only redirected to a login page never learns", story: story(a).rows(1).probe(sentOn("/login"), sentOn("/login")), want: []string{"refused-though-done"}},
		{name: "an acknowledged order that is not there is lost", story: story(a).rows(0).probe(a), want: []string{"lost-acknowledged-write"}},
		{name: "told exists, with the name in a header, is right", story: story(a).rows(1).probe(bearing("Location", "o1", answer(409, "")))},
		{name: "told exists, with another name in a header, is an unequal replay", story: story(a).rows(1).probe(bearing("Location", "o2", answer(409, ""))),
			want: []string{"replay-mismatch/identity"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.terms.Contract.Level == "" {
				c.terms = terms(redirecting)
			}
			healthy := story(sentOn("/orders/ok")).named("i0").holding("ok")
			if c.terms.Operation.Identity.Pattern != "^/orders/([^/?]+)" {
				healthy = story(sentOn("/orders/o0")).named("i0").holding("o0")
			}
			judge(t, scenes([]*draft{c.story, healthy}), c.terms, c.want, "")
		})
	}
}
