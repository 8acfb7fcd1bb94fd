package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// about is a charge for what its declared field says, without a marker.
func about(at float64, value string) history.Message {
	m := paid(at, "")
	m.Names, m.Intent = nil, value
	return m
}

func TestADeclaredFieldSaysWhoseAMessageIs(t *testing.T) {
	t.Parallel()
	const early, late, id = 20, 2500, "ord_7f3a91c2"
	one := func() *draft { return story(acknowledged(201, id), acknowledged(201, id)).holding(id) }
	lost := func() *draft { return story(unknown(history.Reset)).holding(id).probe(acknowledged(201, id)) }
	withoutColumn := func(t *checker.Terms) {
		charge(t)
		t.Operation.Rows.Identity = ""
	}
	undone := about(early+1, "ord_nothing")
	undone.Path = "/refunds"
	foreign := about(early, id)
	foreign.Names = []string{"dti0"}
	for name, c := range map[string]struct {
		h     *history.History
		terms func(*checker.Terms)
		want  []string
		doubt string
	}{
		"the id of its row":                {h: reached(scene(one()), about(early, id))},
		"that id as a part":                {h: reached(scene(one()), about(early, "charge-"+id))},
		"two with the id of its row":       {h: reached(scene(one()), about(early, id), about(early+1, id)), want: []string{"effect-mismatch/charge"}},
		"before the id was named":          {h: reached(scene(lost()), about(early, id))},
		"the id that its answer named":     {h: reached(scene(one()), about(early, id)), terms: withoutColumn},
		"two with the id of its answer":    {h: reached(scene(one()), about(early, id), about(early+1, id)), terms: withoutColumn, want: []string{"effect-mismatch/charge"}},
		"its key":                          {h: reached(scene(one()), about(early, "key-i1"))},
		"two with its key":                 {h: reached(scene(one()), about(early, "key-i1"), about(late, "key-i1")), want: []string{"effect-mismatch/charge"}},
		"its id, with another's marker":    {h: reached(scene(one()), foreign)},
		"a short part is none":             {h: reached(scene(story(acknowledged(201, "7")).holding("7")), about(early, "charge-7")), want: []string{"effect-mismatch/charge"}},
		"a short id as a whole":            {h: reached(scene(story(acknowledged(201, "7")).holding("7")), about(early, "7"))},
		"what nobody is known by":          {h: reached(scene(one()), about(early, id), about(early, "ord_nothing")), doubt: "1 message came at payments for what no row, no answer and no key names"},
		"what nobody is known by, undone":  {h: reached(scene(one()), about(early, id), about(early, "ord_nothing"), undone), terms: refundable},
		"what nobody is known by, refused": {h: reached(scene(one()), about(early, id), not(about(early, "ord_nothing"), 402))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adjust := c.terms
			if adjust == nil {
				adjust = charge
			}
			r := check(c.h, terms(adjust))
			require.Equal(t, c.want, found(r))
			if c.doubt == "" {
				require.NotEqual(t, checker.Inconclusive, r.Verdict, r.Reasons)
				return
			}
			require.Equal(t, checker.Inconclusive, r.Verdict)
			require.Contains(t, strings.Join(r.Reasons, "\n"), c.doubt)
			require.Equal(t, "unclaimed-message", r.Warnings[0].Kind)
			require.Contains(t, r.Warnings[0].Text, "ord_nothing")
		})
	}
}

// TestAKeyOfTwoIntentsBelongsToNeither holds that a message which may be of either is neither missed at one nor too many at the other.
func TestAKeyOfTwoIntentsBelongsToNeither(t *testing.T) {
	t.Parallel()
	sharing := func(id string) *draft {
		a := acknowledged(201, "o-"+id)
		a.Key = "shared-key"
		return story(a).named(id).holding("o-" + id)
	}
	h := reached(scenes([]*draft{sharing("i1"), sharing("i2"), story(acknowledged(201, "healthy")).named("i0").holding("healthy")}), about(20, "shared-key"), about(21, "shared-key"))
	require.Empty(t, found(check(h, terms(charge))))
	h = reached(h, about(20, "shared-key"), paid(21, ""))
	require.Empty(t, found(check(h, terms(charge))))
	h = reached(h)
	require.Equal(t, []string{"effect-mismatch/charge"}, found(check(h, terms(charge))))
}

// TestAnEffectIsNotOwedOnceItsIDIsInARow has a snapshot that is not yet on record.
func TestAnEffectIsNotOwedOnceItsIDIsInARow(t *testing.T) {
	t.Parallel()
	h := reached(scene(story(acknowledged(201, "o1")).rows(1)), about(20, "o1"))
	look := *h.T2
	h.T1, h.T2, h.Attempts = nil, nil, nil
	require.NotContains(t, terms(charge).Owed(h, look), "dti1")
}
