package orders_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
)

func duplicatesInABurst(t *testing.T, s subject, w intent) bool {
	s.together(t.Context(), slices.Repeat([]intent{w}, 8))
	return len(s.rows(t, w.note)) > 1
}

func duplicatesInCapitals(t *testing.T, s subject, w intent) bool {
	capitals := w
	capitals.reference = strings.ToUpper(w.reference)
	s.together(t.Context(), slices.Repeat([]intent{w, capitals}, 4))
	return len(s.rows(t, w.note)) > 1
}

func changesTwiceForOneVersion(t *testing.T, s subject, w intent) bool {
	told := s.together(t.Context(), slices.Repeat([]intent{w, alter(w)}, 4))
	return len(slices.DeleteFunc(told, func(a reply) bool { return a.status != http.StatusOK })) > 1
}

func duplicatesInSomeBurst(t *testing.T, s subject, w intent) bool {
	for n := range 48 {
		if duplicatesInABurst(t, s, newIntent(fmt.Sprint(w.key, "-", n))) {
			return true
		}
	}
	return false
}

func duplicatesOnAnEarlyRetry(t *testing.T, s subject, w intent) bool {
	leaving, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { defer close(left); _, _ = s.send(leaving, w) }()
	require.Eventually(t, func() bool { return len(s.rows(t, w.note)) == 1 }, soon, time.Millisecond)
	cancel()
	<-left
	s.must(t, w)
	return len(s.rows(t, w.note)) == 2
}

// leave sends the intent, meets others with meanwhile, and leaves before it is answered.
func leave(t *testing.T, s subject, w intent, meanwhile func()) {
	t.Helper()
	before, _ := s.counts(t)
	leaving, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { defer close(left); _, _ = s.send(leaving, w) }()
	s.untilReceived(t, before+1)
	meanwhile()
	cancel()
	<-left
	s.untilIdle(t)
}

// leaveOnceThere leaves when the order is in the database.
func leaveOnceThere(t *testing.T, s subject, w intent) {
	t.Helper()
	leave(t, s, w, func() {
		require.Eventually(t, func() bool { return len(s.rows(t, w.note)) == 1 }, soon, time.Millisecond)
	})
}

func duplicatesForWhoLeaves(t *testing.T, s subject, w intent) bool {
	leave(t, s, w, func() {})
	s.must(t, w)
	return len(s.rows(t, w.note)) == 2
}

func duplicatesForWhoLeavesOnceItIsThere(t *testing.T, s subject, w intent) bool {
	leaveOnceThere(t, s, w)
	s.must(t, w)
	return len(s.rows(t, w.note)) == 2
}

func duplicatesBesideTheHolder(t *testing.T, s subject, w intent) bool {
	leave(t, s, w, func() {
		_, err := politely(t.Context(), s, w)
		require.NoError(t, err)
	})
	return len(s.rows(t, w.note)) == 2
}

// duplicatesBehindOneAnswer: every client is told of the same order, and it is not the only one.
func duplicatesBehindOneAnswer(t *testing.T, s subject, w intent) bool {
	told := s.together(t.Context(), slices.Repeat([]intent{w}, 8))
	return len(s.rows(t, w.note)) > 1 &&
		!slices.ContainsFunc(told, func(r reply) bool { return r.status != http.StatusCreated || r.same() != told[0].same() })
}

// duplicatesEachRepeatOf repeats an intent with this operation, when its first answer is there.
func duplicatesEachRepeatOf(operation string) round {
	return func(t *testing.T, s subject, w intent) bool {
		w = w.as(operation)
		s.must(t, w)
		s.must(t, w)
		return len(s.rowsOf(t, operation, w.note)) == 2
	}
}

func forgetsATokenOfAnotherTab(t *testing.T, s subject, w intent) bool {
	tabs := []intent{w, alter(w).keyed(w.key + "-other")}
	s.together(t.Context(), tabs)
	for _, tab := range tabs {
		s.must(t, tab)
	}
	return len(s.rows(t, tabs[0].note))+len(s.rows(t, tabs[1].note)) == 3
}

func takesTheThirdForTheFirst(t *testing.T, s subject, w intent) bool {
	first, second, third := s.must(t, w), s.must(t, w), s.must(t, w)
	return first.status == http.StatusCreated && second.status == http.StatusConflict && third.status == http.StatusCreated &&
		len(s.rows(t, w.note)) == 2
}

// inUse repeats an intent whose request was decided, and reports whether it is still being executed.
func inUse(t *testing.T, s subject, w intent) bool {
	t.Helper()
	for range 3 {
		if s.must(t, w).member("code") != "key_in_use" {
			return false
		}
	}
	return true
}

// isInUseForEver leaves when there are so many rows.
func isInUseForEver(rows int) round {
	return func(t *testing.T, s subject, w intent) bool {
		if rows == 0 {
			leave(t, s, w, func() {})
		} else {
			leaveOnceThere(t, s, w)
		}
		return len(s.rows(t, w.note)) == rows && inUse(t, s, w)
	}
}

func toldOnceSaysSoForEver(t *testing.T, s subject, w intent) bool {
	s.together(t.Context(), slices.Repeat([]intent{w}, 4))
	return len(s.rows(t, w.note)) == 1 && inUse(t, s, w)
}

// saysSoAfterARollback leaves, and is told by this status that the order exists.
func saysSoAfterARollback(status int) round {
	return func(t *testing.T, s subject, w intent) bool {
		leave(t, s, w, func() {})
		return s.must(t, w).status == status && len(s.rows(t, w.note)) == 0
	}
}

func acknowledgesMoreThanItMakes(t *testing.T, s subject, w intent) bool {
	told := map[string]bool{}
	for _, got := range s.together(t.Context(), slices.Repeat([]intent{w}, 8)) {
		if got.status == http.StatusCreated {
			told[got.member("id")] = true
		}
	}
	s.untilIdle(t)
	return len(told) > 1 && len(s.rows(t, w.note)) == 1
}

// acknowledgesAndDoesNotMake sends different intents at the same time.
func acknowledgesAndDoesNotMake(t *testing.T, s subject, w intent) bool {
	var intents []intent
	for i := range 16 {
		intents = append(intents, newIntent(fmt.Sprint(w.key, "-", i)))
	}
	for i, got := range s.together(t.Context(), intents) {
		if got.status == http.StatusCreated && len(s.rows(t, intents[i].note)) == 0 {
			return true
		}
	}
	return false
}

func makesTwoOrdersOfOneRequest(t *testing.T, s subject, w intent) bool {
	s.must(t, w)
	return len(s.rows(t, w.note)) == 2
}

func acknowledgesWhatIsRolledBack(t *testing.T, s subject, w intent) bool {
	var told reply
	leave(t, s, w, func() { told = s.must(t, w) })
	return told.status == http.StatusOK && told.member("id") == "" && len(s.rows(t, w.note)) == 0
}

// corrected sends an intent with a mistake, which is refused again when it is sent again, and then without.
func corrected(t *testing.T, s subject, w intent) reply {
	t.Helper()
	mistaken := w
	mistaken.amount = -1
	first, again := s.must(t, mistaken), s.must(t, mistaken)
	require.Equal(t, http.StatusBadRequest, first.status)
	require.Equal(t, first.same(), again.same())
	return s.must(t, w)
}

func refusesWhatWasCorrected(t *testing.T, s subject, w intent) bool {
	return corrected(t, s, w).status == http.StatusUnprocessableEntity && len(s.rows(t, w.note)) == 0
}

func placesWhatWasCorrected(t *testing.T, s subject, w intent) bool {
	told := corrected(t, s, w)
	return told.status == http.StatusCreated && told.same() == s.must(t, w).same() && len(s.rows(t, w.note)) == 1
}

func makesWhatItRefuses(t *testing.T, s subject, w intent) bool {
	w.amount = -1
	return s.must(t, w).status == http.StatusBadRequest && len(s.rows(t, w.note)) == 1
}

func repeatsAFailureForEver(t *testing.T, s subject, w intent) bool {
	leave(t, s, w, func() {})
	for range 3 {
		if s.must(t, w).status != http.StatusInternalServerError {
			return false
		}
	}
	return len(s.rows(t, w.note)) == 0
}

func answersAnAlteredBodyWithTheFirstOrder(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, alter(w))
	return second.status == http.StatusCreated && second.same() == first.same() && len(s.rows(t, alter(w).note)) == 0
}

func makesAnOrderOfAnAlteredBody(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, alter(w))
	return len(s.rows(t, w.note)) == 1 && len(s.rows(t, alter(w).note)) == 1 && first.member("id") != second.member("id")
}

func overwritesWhatWasAcknowledged(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, alter(w))
	return len(s.rows(t, w.note)) == 0 && slices.Equal([]string{first.member("id")}, s.rows(t, alter(w).note)) &&
		second.status == http.StatusCreated
}

func echoesAnAlteredBody(t *testing.T, s subject, w intent) bool {
	first, exact, second := s.must(t, w), s.must(t, w), s.must(t, alter(w))
	return exact.same() == first.same() && second.member("id") == first.member("id") &&
		second.member("note") == alter(w).note && len(s.rows(t, w.note)) == 1
}

// refusesSpelling repeats a body in this spelling, which has the note's and the reference's place.
func refusesSpelling(spelling string) round {
	return func(t *testing.T, s subject, w intent) bool {
		first, err := s.sendBody(t.Context(), w.key, fmt.Sprintf(`{"amount":1200,"item":"lamp","reference":%q,"note":%q}`, w.reference, w.note))
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, first.status)
		second, err := s.sendBody(t.Context(), w.key, fmt.Sprintf(spelling, w.reference, w.note))
		require.NoError(t, err)
		return second.status == http.StatusUnprocessableEntity
	}
}

func refusesATwin(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, w.keyed(w.key+"-twin"))
	return second.status == http.StatusConflict && second.member("id") == first.member("id") && len(s.rows(t, w.note)) == 1
}

func sharesABlankKey(t *testing.T, s subject, w intent) bool {
	statuses := make([]int, 2)
	for i, mine := range []intent{w, alter(w)} {
		r, op := s.render(mine)
		require.NoError(t, op.PlaceKey(&r, ""))
		got, err := s.sendRendered(t.Context(), r)
		require.NoError(t, err)
		statuses[i] = got.status
	}
	return slices.Equal([]int{http.StatusCreated, http.StatusUnprocessableEntity}, statuses)
}

// losesWithABlankKey sends two intents without a key: the second one is acknowledged, and makes nothing.
func losesWithABlankKey(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w.keyed("")), s.must(t, alter(w).keyed(""))
	return first.status == http.StatusCreated && second.status == http.StatusCreated && len(s.rows(t, alter(w).note)) == 0
}

func longKey(end string) string { return strings.Repeat("x", 150) + end }

// refusesKeysAlike sends two intents with these keys.
func refusesKeysAlike(one, other string) round {
	return func(t *testing.T, s subject, w intent) bool {
		first, second := s.must(t, w.keyed(one)), s.must(t, alter(w).keyed(other))
		return first.status == http.StatusCreated && second.member("code") == "key_reused" && len(s.rows(t, alter(w).note)) == 0
	}
}

func executesWithoutAKey(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w.keyed("")), s.must(t, w.keyed(""))
	return first.status == http.StatusCreated && second.status == http.StatusCreated && len(s.rows(t, w.note)) == 2
}

func answersWithAForeignOrder(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, alter(w).by("bob"))
	return second.same() == first.same() && len(s.rows(t, alter(w).note)) == 0
}

func answersTheSameFormWithAForeignOrder(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, w.by("bob"))
	return first.status == http.StatusCreated && second.same() == first.same() && len(s.rows(t, w.note)) == 1
}

func answersWithAnotherOperation(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, w.as("create_quote"))
	return second.same() == first.same() && len(s.rowsOf(t, "create_quote", w.note)) == 0
}

// answersDifferently repeats an intent, and compares the status, a member or a header.
func answersDifferently(in string) round {
	part := func(r reply) string {
		if in == "status" {
			return fmt.Sprint(r.status)
		}
		return r.member(in) + r.header.Get(in)
	}
	return func(t *testing.T, s subject, w intent) bool {
		first, second := s.must(t, w), s.must(t, w)
		require.Len(t, s.rows(t, w.note), 1)
		return part(second) != part(first) && second.status < 300 && strings.Contains(second.body, first.member("id"))
	}
}

// tellsNothingOnARepeat answers a repeat with a success and nothing in it.
func tellsNothingOnARepeat(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, w)
	return first.status == http.StatusCreated && second.status == http.StatusOK && second.body == "null" && len(s.rows(t, w.note)) == 1
}

// answersDifferentlyWith repeats an intent with this header.
func answersDifferentlyWith(name, value string) round {
	return func(t *testing.T, s subject, w intent) bool {
		first, second := s.sendWith(t, w, name, value), s.sendWith(t, w, name, value)
		require.Len(t, s.rows(t, w.note), 1)
		return first.status == second.status && first.body != second.body && strings.Contains(second.body, first.member("id"))
	}
}

// duplicatesWith repeats an intent with this header.
func duplicatesWith(name, value string) round {
	return func(t *testing.T, s subject, w intent) bool {
		first, second := s.sendWith(t, w, name, value), s.sendWith(t, w, name, value)
		require.Equal(t, http.StatusCreated, first.status)
		return second.status == http.StatusCreated && len(s.rows(t, w.note)) == 2
	}
}

// duplicatesWithTheNameInLowerCase repeats an intent, with the name of the key's header in another case.
func duplicatesWithTheNameInLowerCase(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.sendKeys(t, w, "idempotency-key", w.key)
	require.Equal(t, http.StatusCreated, first.status)
	return second.status == http.StatusCreated && len(s.rows(t, w.note)) == 2
}

// duplicatesWithTwoKeys repeats an intent that has two keys.
func duplicatesWithTwoKeys(t *testing.T, s subject, w intent) bool {
	first := s.sendKeys(t, w, "Idempotency-Key", w.key, w.key+"-too")
	second := s.sendKeys(t, w, "Idempotency-Key", w.key, w.key+"-too")
	return first.status == http.StatusCreated && second.status == http.StatusCreated && len(s.rows(t, w.note)) == 2
}

// sendKeys sends an intent with keys in headers of this name, which goes on the wire as it is.
func (s subject) sendKeys(t *testing.T, w intent, name string, keys ...string) reply {
	t.Helper()
	r, _ := s.render(w)
	req, err := s.request(t.Context(), r)
	require.NoError(t, err)
	req.Header[name] = keys
	got, err := exchange(req)
	require.NoError(t, err)
	return got
}

// duplicatesElsewhere repeats an intent from another address.
func duplicatesElsewhere(t *testing.T, s subject, w intent) bool {
	s.sendWith(t, w, "X-Forwarded-For", "203.0.113.7")
	s.sendWith(t, w, "X-Forwarded-For", "203.0.113.8")
	return len(s.rows(t, w.note)) == 2
}

// refusesAnotherClient repeats an intent with another header that tells of the client or of the way.
func refusesAnotherClient(t *testing.T, s subject, w intent) bool {
	for _, name := range []string{"User-Agent", "Traceparent"} {
		mine := w.keyed(w.key + "-" + name)
		first, second := s.sendWith(t, mine, name, "one"), s.sendWith(t, mine, name, "other")
		require.Equal(t, http.StatusCreated, first.status)
		if second.status != http.StatusUnprocessableEntity {
			return false
		}
	}
	return true
}

// refusesALaterAttempt repeats a body that says when it was sent.
func refusesALaterAttempt(t *testing.T, s subject, w intent) bool {
	var told []int
	for _, at := range []string{"2026-11-22T10:00:00Z", "2026-11-22T10:00:01Z"} {
		body := fmt.Sprintf(`{"amount":1200,"item":"lamp","reference":%q,"note":%q,"sent_at":%q}`, w.reference, w.note, at)
		got, err := s.sendBody(t.Context(), w.key, body)
		require.NoError(t, err)
		told = append(told, got.status)
	}
	return slices.Equal([]int{http.StatusCreated, http.StatusUnprocessableEntity}, told)
}

// answersForAnotherShop sends the same key and body to the path of another shop.
func answersForAnotherShop(t *testing.T, s subject, w intent) bool {
	there := w
	there.reference += "-there"
	other, _ := s.render(there)
	r, op := s.render(w)
	require.NotEqual(t, r.Path, other.Path)
	require.NoError(t, op.PlaceKey(&r, w.key))
	first, err := s.sendRendered(t.Context(), r)
	require.NoError(t, err)
	r.Path = other.Path
	second, err := s.sendRendered(t.Context(), r)
	require.NoError(t, err)
	return first.status == http.StatusCreated && second.same() == first.same() && len(s.rows(t, w.note)) == 1
}

// throttlesForEver leaves, and is throttled ever after.
func throttlesForEver(t *testing.T, s subject, w intent) bool {
	leave(t, s, w, func() {})
	early := s.must(t, w)
	time.Sleep(time.Second) // twice the penalty of who throttles for a while
	late := s.must(t, w)
	return early.status == http.StatusTooManyRequests && late.status == http.StatusTooManyRequests && len(s.rows(t, w.note)) == 0
}

// leavesSomeWithoutAnAnswer sends copies. A correct design has all the time that a busy machine takes.
func leavesSomeWithoutAnAnswer(t *testing.T, s subject, w intent) bool {
	patience := soon
	if !s.Design().Correct {
		patience = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	told := s.together(ctx, slices.Repeat([]intent{w}, 5))
	require.Len(t, s.rows(t, w.note), 1)
	return slices.ContainsFunc(told, func(r reply) bool { return r.status == 0 })
}

func failsEveryRepeat(t *testing.T, s subject, w intent) bool {
	first, second, third := s.must(t, w), s.must(t, w), s.must(t, w)
	return first.status == http.StatusCreated && second.status == http.StatusInternalServerError &&
		third.status == http.StatusInternalServerError && len(s.rows(t, w.note)) == 1
}

// forgetsAtAge repeats a request when its key has become so much older than it is.
func forgetsAtAge(age time.Duration) func(*testing.T, subject, intent) bool {
	return func(t *testing.T, s subject, w intent) bool {
		s.must(t, w)
		_, err := s.pool.Exec(fmt.Sprintf("update idempotency_keys set used_at = used_at - %d", age.Milliseconds()))
		require.NoError(t, err)
		s.must(t, w)
		return len(s.rows(t, w.note)) == 2
	}
}

func duplicatesSomeTimeLater(t *testing.T, s subject, w intent) bool {
	s.must(t, w)
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(300 * time.Millisecond) {
		s.must(t, w)
	}
	return len(s.rows(t, w.note)) > 1
}

// duplicatesBesideLongWork repeats a request while its work goes on.
func duplicatesBesideLongWork(t *testing.T, s subject, w intent) bool {
	r, op := s.render(w)
	r.Header["X-Test-Work"] = "2000"
	require.NoError(t, op.PlaceKey(&r, w.key))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { _, _ = s.sendRendered(t.Context(), r.Clone()) })
		time.Sleep(700 * time.Millisecond)
	}
	all.Wait()
	return len(s.rows(t, w.note)) > 1
}

func changesMoreOnARepeat(t *testing.T, s subject, w intent) bool {
	s.must(t, w)
	before := s.effects(t, w)
	s.must(t, w)
	return len(s.rows(t, w.note)) == 1 && fmt.Sprint(before) != fmt.Sprint(s.effects(t, w))
}

// effects are the numbers of what an intent has changed beyond its row.
func (s subject) effects(t *testing.T, w intent) []float64 {
	t.Helper()
	var numbers []float64
	for _, effect := range s.Target().Operations[w.operation].Effects {
		query, marker := effect.Query, w.note
		if effect.Rows != nil {
			query = "select count(*) from (" + query + ") as found"
		}
		numbers = append(numbers, s.number(t, query, marker))
	}
	return numbers
}

// untilStatus repeats fresh intents, each with a name of its own, until one gets the status.
func untilStatus(t *testing.T, s subject, w intent, status int) (one intent, found bool) {
	t.Helper()
	for i := range 60 {
		one = w.called(fmt.Sprint(w.key, "-", i))
		if s.must(t, one).status == status {
			return one, true
		}
	}
	return one, false
}

func chargesWhatWasDeclined(t *testing.T, s subject, w intent) bool {
	one, declined := untilStatus(t, s, w, http.StatusPaymentRequired)
	again := s.must(t, one)
	return declined && again.status == http.StatusCreated && len(s.rows(t, one.note)) == 2
}

func duplicatesAfterAFailure(t *testing.T, s subject, w intent) bool {
	one, failed := untilStatus(t, s, w, http.StatusBadGateway)
	again := s.must(t, one)
	return failed && again.status == http.StatusCreated && len(s.rows(t, one.note)) == 2
}

func duplicatesOnARepeat(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, w)
	require.Less(t, first.status, 300)
	require.Less(t, second.status, 500)
	return len(s.rows(t, w.note)) == 2
}

func replacesWhatWasAcknowledged(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, w)
	return first.member("id") != second.member("id") && slices.Equal([]string{second.member("id")}, s.rows(t, w.note))
}

func acknowledgesWithoutAnID(t *testing.T, s subject, w intent) bool {
	replies := s.together(t.Context(), slices.Repeat([]intent{w}, 8))
	return len(s.rows(t, w.note)) == 1 && slices.ContainsFunc(replies, func(r reply) bool {
		return r.status == http.StatusOK && r.member("id") == ""
	})
}

func saysThatThereIsNothing(t *testing.T, s subject, w intent) bool {
	replies := s.together(t.Context(), slices.Repeat([]intent{w}, 8))
	return len(s.rows(t, w.note)) == 1 && slices.ContainsFunc(replies, func(r reply) bool { return r.status == http.StatusNotFound })
}

func refusesAForeignKey(t *testing.T, s subject, w intent) bool {
	first, second := s.must(t, w), s.must(t, alter(w).by("bob"))
	return first.status == http.StatusCreated && second.status == http.StatusConflict &&
		!strings.Contains(second.body, first.member("id")) && len(s.rows(t, alter(w).note)) == 0
}

// several are as many different intents of one customer.
func several(w intent) []intent {
	intents := make([]intent, 6)
	for i := range intents {
		intents[i] = newIntent(fmt.Sprint(w.key, "-", i))
	}
	return intents
}

func losesOneOfSeveral(t *testing.T, s subject, w intent) bool {
	intents := several(w)
	for i, got := range s.together(t.Context(), intents) {
		if got.status == http.StatusCreated && len(s.rows(t, intents[i].note)) == 0 {
			return true
		}
	}
	return false
}

func takesTooLittleForSeveral(t *testing.T, s subject, w intent) bool {
	intents, before := several(w), s.deltas(t)
	for _, got := range s.together(t.Context(), intents) {
		require.Equal(t, http.StatusCreated, got.status)
	}
	for name, now := range s.deltas(t) {
		if before[name]-now < float64(len(intents)) {
			return true
		}
	}
	return false
}

func sharesWhatIsOnes(t *testing.T, s subject, w intent) bool {
	intents := several(w)
	s.together(t.Context(), intents)
	return slices.ContainsFunc(intents, func(w intent) bool { return len(s.rows(t, w.note)) == 1 && s.hasWrongRows(t, w) })
}

func refusesWhatWasDeleted(t *testing.T, s subject, w intent) bool {
	first := s.must(t, w)
	s.delete(t, "/orders/"+first.member("id"))
	require.Empty(t, s.rows(t, w.note))
	return s.must(t, w).member("id") == first.member("id") && len(s.rows(t, w.note)) == 0
}

func neverCompletes(t *testing.T, s subject, w intent) bool {
	leave(t, s, w, func() { time.Sleep(20 * time.Millisecond) })
	return s.must(t, w).status == http.StatusCreated && len(s.rows(t, w.note)) == 1 && s.hasWrongRows(t, w)
}

// hasWrongRows reports that an effect of the intent has more or fewer rows than it should have.
func (s subject) hasWrongRows(t *testing.T, w intent) bool {
	t.Helper()
	return slices.ContainsFunc(s.Target().Operations[w.operation].Effects, func(effect contract.Effect) bool {
		return effect.Rows != nil && s.number(t, "select count(*) from ("+effect.Query+") as found", w.note) != float64(*effect.Rows)
	})
}

// byBody is the intent with its key in the body.
func (w intent) byBody() intent { return w.as("create_order_by_body") }

func duplicatesByTheOtherWay(t *testing.T, s subject, w intent) bool {
	s.must(t, w)
	s.must(t, w.byBody())
	return len(s.rows(t, w.note)) == 2
}

func refusesTheOtherWay(t *testing.T, s subject, w intent) bool {
	first := s.must(t, w)
	again, err := s.send(t.Context(), w.byBody())
	require.NoError(t, err)
	return first.status == http.StatusCreated && again.status == http.StatusUnprocessableEntity
}

func duplicatesByBothWaysAtOnce(t *testing.T, s subject, w intent) bool {
	s.together(t.Context(), []intent{w, w.byBody(), w, w.byBody()})
	return len(s.rows(t, w.note)) == 2
}

// addsOnARepeat repeats an order, and looks at the amount of its line.
func addsOnARepeat(t *testing.T, s subject, w intent) bool {
	first, again := s.must(t, w), s.must(t, w)
	require.Equal(t, first.same(), again.same())
	require.Len(t, s.rows(t, w.note), 1)
	return s.number(t, "select amount from orders where note = :marker", w.note) == 2400
}
