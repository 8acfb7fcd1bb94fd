package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// charge is an effect that is counted at the sink payments, once for each row.
func charge(t *checker.Terms) {
	t.Operation.Effects = []contract.Effect{{Name: "charge", Seen: "payments", Where: contract.Where{Method: "POST", Path: "/v1/*"}}}
}

// refundable is charge, with requests that take one back.
func refundable(t *checker.Terms) {
	charge(t)
	t.Operation.Effects[0].Undone = &contract.Where{Path: "/refunds"}
}

// twice is charge, two for each row.
func twice(t *checker.Terms) {
	charge(t)
	t.Operation.Effects[0].Times = new(2)
}

// paid is a message of the intent i1 that reached the sink at a moment and was acted on.
func paid(at float64, key string) history.Message {
	return history.Message{At: ms(at), Sink: "payments", Method: "POST", Path: "/v1/charges?x=1", Key: key, Names: []string{"dti1"}, Status: 200, Acted: true}
}

// not makes a message one that the sink answered so, and did nothing.
func not(m history.Message, status int) history.Message {
	m.Status, m.Acted = status, false
	return m
}

// again makes a message a repetition, whose key the sink knew.
func again(m history.Message) history.Message {
	m.First = "m1"
	return m
}

func refund(at float64) history.Message {
	m := paid(at, "")
	m.Path = "/refunds"
	return m
}

// reached adds what reached the sinks. The healthy intent is paid for.
func reached(h *history.History, all ...history.Message) *history.History {
	healthy := paid(15, "healthy")
	healthy.Names = []string{"dti0"}
	h.Messages = append(all, healthy)
	for i := range h.Messages {
		h.Messages[i].ID = fmt.Sprintf("m%d", i+1)
	}
	return h
}

func TestEffectsAtASinkBelongToTheirRows(t *testing.T) {
	t.Parallel()
	const early, late = 20, 2500 // before and after the final retry
	one := func() *draft { return story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1) }
	none := func() *draft { return story(rejected(400)).rows(0) }
	elsewhere, other := paid(early, "k"), paid(early, "k")
	elsewhere.Sink, other.Path = "shipping", "/v1/charges/7"
	garbage := history.Message{At: ms(early), Sink: "payments", Names: []string{"dti1"}, Acted: true, Error: "no HTTP request"}
	byReference := paid(early, "k")
	byReference.Names = []string{"refxyz"}
	referring := scene(one())
	body := referring.Intents[0].Bodies[history.Original]
	body.Content = `{"note":"dti1","reference":"refxyz"}`
	referring.Intents[0].Bodies[history.Original] = body
	for name, c := range map[string]struct {
		h     *history.History
		terms func(*checker.Terms)
		want  []string
	}{
		"one for one row":                        {h: reached(scene(one()), paid(early, "k"))},
		"none for one row":                       {h: reached(scene(one())), want: []string{"effect-mismatch/charge"}},
		"one that comes with the final retry":    {h: reached(scene(one()), paid(late, "k"))},
		"two without a key":                      {h: reached(scene(one()), paid(early, ""), paid(early+1, "")), want: []string{"effect-mismatch/charge"}},
		"two with one key":                       {h: reached(scene(one()), paid(early, "k"), paid(early+1, "k")), want: []string{"effect-mismatch/charge"}},
		"two, of which the sink knew one":        {h: reached(scene(one()), paid(early, "k"), again(paid(early+1, "k")))},
		"two with two keys":                      {h: reached(scene(one()), paid(early, "k"), paid(early+1, "l")), want: []string{"effect-mismatch/charge", "downstream-key-changed/charge"}},
		"a second one with the final retry":      {h: reached(scene(one()), paid(early, "k"), paid(late, "k")), want: []string{"effect-mismatch/charge"}},
		"a failure, and another key":             {h: reached(scene(one()), not(paid(early, "k"), 500), paid(early+1, "l")), want: []string{"downstream-key-changed/charge"}},
		"a refusal, and another key":             {h: reached(scene(one()), not(paid(early, "k"), 402), paid(early+1, "l"))},
		"a refusal only":                         {h: reached(scene(one()), not(paid(early, "k"), 402)), want: []string{"effect-mismatch/charge"}},
		"at another sink":                        {h: reached(scene(one()), elsewhere), want: []string{"effect-mismatch/charge"}},
		"at another path":                        {h: reached(scene(one()), other), want: []string{"effect-mismatch/charge"}},
		"what is no request":                     {h: reached(scene(one()), paid(early, "k"), garbage)},
		"by the reference":                       {h: reached(referring, byReference)},
		"without a row":                          {h: reached(scene(none()), paid(early, "k")), want: []string{"effect-before-commit/charge"}},
		"without a row until the final retry":    {h: reached(scene(story(unknown(history.Reset)).later("o1").probe(acknowledged(201, "o1"))), paid(early, "k"))},
		"two without a row, and one row later":   {h: reached(scene(story(unknown(history.Reset)).later("o1").probe(acknowledged(201, "o1"))), paid(early, "k"), paid(early, "k")), want: []string{"effect-mismatch/charge"}},
		"refunded, and no row":                   {h: reached(scene(none()), paid(early, "k"), refund(early+1)), terms: refundable},
		"refunded twice, and no row":             {h: reached(scene(none()), paid(early, "k"), refund(early+1), refund(early+2)), terms: refundable, want: []string{"effect-mismatch/charge"}},
		"refunded, and charged with another key": {h: reached(scene(one()), paid(early, "k"), refund(early+1), paid(early+2, "l")), terms: refundable},
		"declined, and refunded twice": {
			h: reached(scene(story(answer(402, `{"error":"declined"}`)).rows(0)), paid(early, "k"), refund(early+1), refund(early+2)), want: []string{"effect-mismatch/charge"},
			terms: func(t *checker.Terms) {
				refundable(t)
				t.Contract.Errors.Declined = contract.Signature{Statuses: []int{402}}
			},
		},
		"declined, and not charged": {h: reached(scene(story(answer(402, `{"error":"declined"}`)).rows(1))), terms: func(t *checker.Terms) {
			charge(t)
			t.Contract.Errors.Declined = contract.Signature{Statuses: []int{402}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adjust := c.terms
			if adjust == nil {
				adjust = charge
			}
			require.Equal(t, c.want, found(check(c.h, terms(adjust))))
		})
	}
}

func TestEffectsWithOneKeySayWhatTheFileMayLack(t *testing.T) {
	t.Parallel()
	const hint = "; all have one key: if payments acts once for a key, say idempotent: true of the sink"
	for name, c := range map[string]struct {
		second history.Message
		hinted bool
	}{
		"the same key": {paid(25, "k"), true},
		"another key":  {paid(25, "l"), false},
		"no key":       {paid(25, ""), false},
	} {
		h := reached(scene(story(acknowledged(201, "o1")).rows(1)), paid(20, "k"), c.second)
		require.Equal(t, c.hinted, strings.HasSuffix(check(h, terms(charge)).Findings[0].Observed, hint), name)
	}
}

func TestAnEffectMayBelongToEachRowSeveralTimes(t *testing.T) {
	t.Parallel()
	healthy := paid(16, "second")
	healthy.Names = []string{"dti0"}
	h := func() *history.History { return scene(story(acknowledged(201, "o1")).rows(1)) }
	require.Empty(t, found(check(reached(h(), paid(20, "k"), paid(21, "l"), healthy), terms(twice))))
	require.Equal(t, []string{"effect-mismatch/charge"}, found(check(reached(h(), paid(20, "k"), healthy), terms(twice))))
}

// mailed is a mail of the intent i1.
func mailed(at float64, subject string, to ...string) history.Message {
	return history.Message{At: ms(at), Sink: "mail", Method: history.Mail, To: to, Subject: subject, Names: []string{"dti1"}, Status: 250, Acted: true}
}

// TestMailsAreMeantByTheirRecipientsAndSubjects has a healthy intent whose mail is meant always.
func TestMailsAreMeantByTheirRecipientsAndSubjects(t *testing.T) {
	t.Parallel()
	const subject = "Your order 7 is a*paid"
	ann, shop := "Ann@customer.example", "desk@shop.example"
	for name, c := range map[string]struct {
		where contract.Where
		meant bool
	}{
		"all":                        {contract.Where{}, true},
		"a recipient":                {contract.Where{To: "ann@CUSTOMER.example"}, true},
		"one of several":             {contract.Where{To: "*@shop.example"}, true},
		"somebody else":              {contract.Where{To: "*@elsewhere.example"}, false},
		"part of a recipient":        {contract.Where{To: "ann"}, false},
		"a subject":                  {contract.Where{Subject: subject}, true},
		"a subject's beginning":      {contract.Where{Subject: "Your order *"}, true},
		"a subject's end":            {contract.Where{Subject: "*paid"}, true},
		"a subject's parts":          {contract.Where{Subject: "*order*is*"}, true},
		"parts in another order":     {contract.Where{Subject: "*is*order*"}, false},
		"parts that overlap":         {contract.Where{Subject: "Your order 7 is*is a*paid"}, false},
		"another case":               {contract.Where{Subject: "your*"}, false},
		"both":                       {contract.Where{To: "ann*", Subject: "Your*"}, true},
		"the recipient and no more":  {contract.Where{To: "ann*", Subject: "Refund*"}, false},
		"a beginning and an end":     {contract.Where{Subject: "Your*paid"}, true},
		"an end that is no end":      {contract.Where{Subject: "Your*order"}, false},
		"more than the subject says": {contract.Where{Subject: subject + " twice"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			healthy := mailed(15, subject, ann, shop)
			healthy.Names = []string{"dti0"}
			h := scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1))
			h.Messages = []history.Message{mailed(20, subject, ann, shop), healthy}
			want := []string{"effect-mismatch/receipt"}
			if c.meant {
				want = nil
			}
			require.Equal(t, want, found(checker.Check(h, terms(func(t *checker.Terms) {
				t.Operation.Effects = []contract.Effect{{Name: "receipt", Seen: "mail", Where: c.where}}
			}))))
		})
	}
}

func TestASpanBelongsToTheAttemptWhoseTraceItIsOf(t *testing.T) {
	t.Parallel()
	const first, second, healthy = "0102ab00000000000000000000000000", "0102ab00000000000000000000000001", "0102ab00000000000000000000000002"
	spanned := func(name string, traces ...string) history.Message {
		return history.Message{ID: name, At: ms(20), Sink: "spans", Method: history.Span, Subject: name, Traces: traces, Acted: true}
	}
	for name, c := range map[string]struct {
		messages []history.Message
		want     []string
	}{
		"one of the first attempt":            {[]history.Message{spanned("charge card", first)}, nil},
		"one of the second":                   {[]history.Message{spanned("charge card", second)}, nil},
		"one of each":                         {[]history.Message{spanned("charge card", first), spanned("charge card", second)}, []string{"effect-mismatch/charge"}},
		"one that is linked":                  {[]history.Message{spanned("charge card", "f00", first)}, nil},
		"one that is linked to both attempts": {[]history.Message{spanned("charge card", "f00", first, second)}, nil},
		"another name":                        {[]history.Message{spanned("look up", first)}, []string{"effect-mismatch/charge"}},
		"another trace":                       {[]history.Message{spanned("charge card", "f00")}, []string{"effect-mismatch/charge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1))
			h.Messages = append(c.messages, spanned("charge card", healthy))
			all := map[string][]string{"i0": {healthy, healthy}, "i1": {first, second}}
			for i := range h.Attempts {
				a := &h.Attempts[i]
				if traces := all[a.Intent]; len(traces) > 0 {
					a.Own, all[a.Intent] = map[string]string{"Traceparent": "00-" + strings.ToUpper(traces[0]) + "-0102030405060708-01"}, traces[1:]
				}
			}
			require.Equal(t, c.want, found(checker.Check(h, terms(func(t *checker.Terms) {
				t.Operation.Effects = []contract.Effect{{Name: "charge", Seen: "spans", Where: contract.Where{Span: "charge*"}}}
			}))))
		})
	}
}

func TestASpanOfAnotherBodyBelongsToTheRowThatItMade(t *testing.T) {
	t.Parallel()
	altered := mismatch()
	altered.Body, altered.Own = history.Altered, map[string]string{"traceparent": "00-0102ab00000000000000000000000001-0102030405060708-01"}
	spanned := func(names ...string) history.Message {
		return history.Message{At: ms(20), Sink: "spans", Method: history.Span, Subject: "charge", Traces: []string{"0102ab00000000000000000000000001"}, Names: names, Acted: true}
	}
	spans := func(t *checker.Terms) {
		t.Operation.Effects = []contract.Effect{{Name: "charge", Seen: "spans"}}
	}
	healthy := spanned("dti0")
	h := scene(story(acknowledged(201, "o1"), altered).rows(1))
	h.Messages = []history.Message{spanned(), healthy}
	require.Empty(t, found(checker.Check(h, terms(spans))), "it completes what the original began")
	h.Messages = []history.Message{spanned("dti1"), healthy}
	require.Empty(t, found(checker.Check(h, terms(spans))), "a marker says more than a trace")
	h.Messages = []history.Message{spanned(), spanned(), healthy}
	require.Equal(t, []string{"effect-mismatch/charge"}, found(checker.Check(h, terms(spans))))
}

// TestWhatIsSentOnceMayBeMissing holds that a second one is still one too many.
func TestWhatIsSentOnceMayBeMissing(t *testing.T) {
	t.Parallel()
	once := func(t *checker.Terms) {
		charge(t)
		t.Operation.Effects[0].Delivery = contract.SentAtMostOnce
	}
	h := func() *history.History { return scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1)) }
	require.Empty(t, found(checker.Check(reached(h()), terms(once))))
	r := checker.Check(reached(h(), paid(20, "k"), paid(21, "k")), terms(once))
	require.Equal(t, []string{"effect-mismatch/charge"}, found(r))
	require.Equal(t, "at most 1 at payments: 1 for each row of the original body, of which there is 1 row", r.Findings[0].Expected)
}

// TestWhatIsSentOnceAndNotDoneWasThere is about a service that dies when its mail is there and not yet taken: it may not send another.
func TestWhatIsSentOnceAndNotDoneWasThere(t *testing.T) {
	t.Parallel()
	broken := paid(20, "k")
	broken.Acted, broken.Status, broken.Fault = false, 0, "crash"
	h := func() *history.History {
		return reached(scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1)), broken)
	}
	r := check(h(), terms(func(t *checker.Terms) {
		charge(t)
		t.Operation.Effects[0].Delivery = contract.SentAtMostOnce
	}))
	require.Equal(t, checker.Pass, r.Verdict, "%v", r.Reasons)
	require.Equal(t, 2, r.Exercise[1].Held, "of both intents")
	require.Equal(t, checker.Fail, check(h(), terms(charge)).Verdict, "what is sent until it is done was not done")
}

func TestAnEffectOfABodyThatWasRefusedIsOneWithoutARow(t *testing.T) {
	t.Parallel()
	altered := mismatch()
	altered.Body = history.Altered
	h := func() *history.History { return scene(story(acknowledged(201, "o1"), altered).rows(1)) }
	of := paid(25, "l")
	of.Names = []string{h().Intents[0].Bodies[history.Altered].Marker}
	require.Empty(t, found(check(reached(h(), paid(20, "k")), terms(charge))))
	require.Equal(t, []string{"effect-before-commit/charge"}, found(check(reached(h(), paid(20, "k"), of), terms(charge))))
}

func TestAPassShowsThatEffectsWereSeen(t *testing.T) {
	t.Parallel()
	r := check(reached(scene(story(acknowledged(201, "o1")).rows(1)), paid(20, "k")), terms(charge))
	require.Equal(t, checker.Pass, r.Verdict)
	require.Equal(t, checker.Exercise{Proof: "effect-seen", Held: 2, Of: 2, Needed: 1, Text: "each of its effects that is counted at a sink was there"}, r.Exercise[1])
	require.Empty(t, r.Warnings)
}

func TestASinkThatSawNothingIsNoPass(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).rows(1))
	require.Equal(t, checker.Fail, check(h, terms(charge)).Verdict)
	h.Incidents = []history.Incident{{Kind: history.Flooded, Text: "so much came"}}
	reached(h, paid(20, "k"))
	r := check(h, terms(charge))
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, r.Reasons, "so much came")
}

// A sink that may have missed messages says nothing of what is missing; two that it saw are two.
func TestMessagesThatMayBeMissingAreNoFinding(t *testing.T) {
	t.Parallel()
	for _, kind := range []history.IncidentKind{history.SinkBehind, history.Flooded} {
		for charges, verdict := range map[int]checker.Verdict{0: checker.Inconclusive, 2: checker.Fail} {
			h := scene(story(acknowledged(201, "o1")).rows(1))
			h.Incidents = []history.Incident{{Kind: kind, Text: "messages may be missing"}}
			if charges > 0 {
				reached(h, paid(20, "k"), paid(21, "l"))
			}
			r := check(h, terms(charge))
			require.Equal(t, verdict, r.Verdict, "%s, %d", kind, charges)
			if charges == 0 {
				require.Contains(t, r.Reasons, "messages may be missing")
			}
		}
	}
}

func TestWhatIsNotWatchedIsSaid(t *testing.T) {
	t.Parallel()
	h := reached(scene(story(acknowledged(201, "o1")).rows(1)), paid(20, "k"), paid(21, "l"))
	r := check(h, terms(charge, func(t *checker.Terms) { t.Unwatched = true }))
	require.Equal(t, checker.Pass, r.Verdict)
	require.Equal(t, []checker.Warning{{Kind: "not-watched", Text: "effects were not watched: charge (payments)"}}, r.Warnings)
}

func TestWhatBelongsToNoIntentIsCountedApart(t *testing.T) {
	t.Parallel()
	ping, late := paid(30, ""), paid(31, "")
	ping.Names, late.Names = nil, []string{"dtearlier"}
	r := check(reached(scene(story(acknowledged(201, "o1")).rows(1)), paid(20, "k"), ping, late), terms(charge))
	require.Equal(t, checker.Pass, r.Verdict)
	require.Len(t, r.Warnings, 2)
	require.Equal(t, "late-message", r.Warnings[0].Kind)
	require.Contains(t, r.Warnings[1].Text, "1 message came at a sink with no marker, and was counted for no intent: m2 POST /v1/charges")
}

func TestAnEffectThatIsToComeIsOwed(t *testing.T) {
	t.Parallel()
	h := reached(scene(story(acknowledged(201, "o1")).rows(1)))
	owed := func() []string { return terms(charge).Owed(h, *h.T2) }
	require.Equal(t, []string{"dti1"}, owed())
	reached(h, paid(20, "k"))
	require.Empty(t, owed())
}
