package checker

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// session is what is known of the requests of a principal: whether its session expired during the run. It was answered, and
// from some moment on every request of it was unauthenticated, also requests of intents that were never sent before. What it
// was told then says nothing of how repetitions are answered. A target that rejects only repetitions in this way is not
// excused.
type session struct {
	ended history.Offset // its first request was answered
	until []visitsUntil  // by the end of a later login, the last without a later one

	again   history.Offset // it logged in after having sent requests; never: it did not
	visits  visitsUntil    // until then
	expired bool           // no request was authenticated from some moment on
}

// visitsUntil is the requests of a principal that began before a moment.
type visitsUntil struct {
	before   history.Offset
	answered int            // requests that were authenticated,
	last     history.Offset // of which the latest began then
	refused  [2]refusedVisit
	fresh    history.Offset // the latest unauthenticated first request of an intent began then, and ended later
}

// refusedVisit is the latest end of the unauthenticated requests of an intent.
type refusedVisit struct {
	intent string
	end    history.Offset
}

// never is later than every moment of a run.
const never = history.Offset(math.MaxInt64)

// newSession prepares for the requests of a principal.
func newSession(steps []history.Step, who string) *session {
	s := &session{ended: never}
	var ends []history.Offset
	for _, step := range steps {
		if step.For == history.Login && step.Principal == who && step.Error == "" {
			ends = append(ends, step.End)
		}
	}
	slices.Sort(ends)
	for _, end := range append(slices.Compact(ends), never) {
		s.until = append(s.until, visitsUntil{before: end, fresh: -1})
	}
	return s
}

// noteVisits notes the requests of an intent.
func (w *whole) noteVisits(tr *trace) {
	who := tr.intent.Principal
	if w.sessions[who] == nil {
		w.sessions[who] = newSession(w.head.Steps, who)
	}
	s := w.sessions[who]
	for _, part := range tr.parts() {
		for _, a := range part.attempts {
			if a.End > 0 {
				s.ended = min(s.ended, a.End)
			}
			refused, first := a.unauthenticated(), a.firstOf(part)
			for i := range s.until {
				s.until[i].note(a, refused, first)
			}
		}
	}
}

// note takes in one request that began before the moment. Whether it was the first of its intent
// matters where it was refused: a target that refuses only repetitions has a defect, one that
// refuses new requests too has ended the session.
func (v *visitsUntil) note(a *classified, refused, first bool) {
	switch {
	case a.Start >= v.before:
	case refused:
		v.refuse(refusedVisit{a.Intent, a.End})
		if first {
			v.fresh = max(v.fresh, min(a.Start, a.End-1))
		}
	case a.Complete:
		v.last, v.answered = max(v.last, a.Start), v.answered+1
	}
}

// refuse keeps the two intents that were refused last. Two are enough to know that not only one intent was refused,
// and a run may have a million of them.
func (v *visitsUntil) refuse(one refusedVisit) {
	first, second := &v.refused[0], &v.refused[1]
	switch {
	case one.intent == first.intent:
		first.end = max(first.end, one.end)
	case one.intent == second.intent:
		second.end = max(second.end, one.end)
	case one.end > second.end:
		*second = one
	}
	if second.end > first.end {
		*first, *second = *second, *first
	}
}

// conclude says whether the session expired, once all requests are noted. For a principal that logged in once, it is not known
// whether only repetitions are rejected where no new intent came after that moment.
func (s *session) conclude(steps []history.Step, who string) {
	s.again = never
	for _, step := range steps {
		if step.For == history.Login && step.Principal == who && step.Error == "" && s.ended <= step.Start {
			s.again = min(s.again, step.End)
		}
	}
	s.visits = s.until[slices.IndexFunc(s.until, func(v visitsUntil) bool { return v.before == s.again })]
	once := s.again == never && slices.ContainsFunc(steps, func(step history.Step) bool { return step.For == history.Login && step.Principal == who })
	v := s.visits
	fresh := v.fresh >= v.last
	s.expired = v.answered > 0 && (fresh || once) && v.refused[1].end > v.last
}

// applyExpiredSessions excuses what principals whose session had expired were told.
func applyExpiredSessions(e *evaluation) {
	for tr := range e.traces() {
		for _, part := range tr.parts() {
			if slices.ContainsFunc(part.attempts, (*classified).unauthenticated) {
				e.asking()
			}
		}
	}
	if !e.whole.ready {
		return
	}
	for _, excuse := range []func(*evaluation, *trace, *session){excuseAfterEnd, excuseBeforeLogin} {
		for tr := range e.traces() {
			for _, part := range tr.parts() {
				excuse(e, part, e.whole.sessions[tr.intent.Principal])
			}
		}
	}
}

// excuseAfterEnd excuses requests that were unauthenticated from some moment on.
func excuseAfterEnd(e *evaluation, tr *trace, s *session) {
	for _, a := range tr.attempts {
		if s.expired && a.unauthenticated() && a.End > s.visits.last && a.Start < s.again {
			a.sessionExpired, a.outcome = true, Throttled
			doubtSession(e, "session of "+tr.intent.Principal, tr.intent.Principal, s.visits.answered, a.Status)
		}
	}
}

// excuseBeforeLogin excuses an unauthenticated request if the same request was answered after a new login, with nothing
// in between. The scenario's own requests in between count as not tried.
func excuseBeforeLogin(e *evaluation, tr *trace, s *session) {
	for _, a := range tr.attempts {
		answeredAgain := func(b *classified) bool {
			return b.Key == a.Key && b.body == a.body && b.Start >= s.again && b.Complete && !b.unauthenticated()
		}
		if !a.unauthenticated() || a.End <= s.visits.last || a.Start >= s.again || !slices.ContainsFunc(tr.attempts, answeredAgain) {
			continue
		}
		a.sessionExpired, a.outcome = true, Throttled
		if !a.Probe {
			doubtSession(e, "", tr.intent.Principal, s.visits.answered, a.Status)
		}
		e.tally.warn(warningSlot{"session-ended", tr.intent.Principal}, e.part, tr.intent.ID)
	}
}

// doubtSession notes that a session expired after some requests.
func doubtSession(e *evaluation, once, who string, answered, status int) {
	whose := "the login"
	if who != "" {
		whose = "the login of " + who
	}
	e.noteDoubt(once, fmt.Sprintf("%s was rejected after %s that succeeded, and every time from then on (status %d): did the session expire?", whose, count(answered, "request"), status))
}

// loginPage matches where web applications redirect an unauthenticated client.
var loginPage = regexp.MustCompile(`(?i)(log|sign)[-_]?in|/sessions?/new|/auth\b`)

// Unauthenticated reports that the target did not accept the sender's credentials (RFC 9110, section 15.5.2), or
// redirected it to sign in.
func (t Terms) Unauthenticated(a history.Attempt) bool { return unauthenticated(&a, t.Classify(a)) }

// unauthenticated reports the same of a classified attempt.
func (a *classified) unauthenticated() bool { return unauthenticated(a.Attempt, a.outcome) }

// unauthenticated reports that an answer asks the sender to sign in.
func unauthenticated(a *history.Attempt, o Outcome) bool {
	redirected := a.Status == http.StatusFound || a.Status == http.StatusSeeOther
	return a.Complete && (a.Status == http.StatusUnauthorized ||
		redirected && o == Unknown && loginPage.MatchString(headerValue(a.Header, "Location")))
}

// firstOf reports that a request is the plain first one of an intent of its own.
func (a *classified) firstOf(tr *trace) bool {
	return a == tr.attempts[0] && !a.Probe && a.Body == history.Original && tr.intent.Kin == "" && !tr.twin &&
		(a.Key != "" || tr.operation.Key.In == "")
}
