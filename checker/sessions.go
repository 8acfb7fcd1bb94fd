package checker

import (
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// visit is an attempt of a principal, with its trace.
type visit struct {
	*classified
	trace *trace
}

// findExpiredSessions finds principals whose session expired during the run: they were answered, and from some moment
// on every request of theirs was unauthenticated, also requests of intents that were never sent before. What they
// were told then says nothing of how repetitions are answered. A target that rejects only repetitions in this way is
// not excused.
func findExpiredSessions(e *evaluation) {
	byWho := map[string][]visit{}
	for tr := range e.traces() {
		for _, part := range tr.parts() {
			for _, a := range part.attempts {
				byWho[tr.intent.Principal] = append(byWho[tr.intent.Principal], visit{a, part})
			}
		}
	}
	for _, who := range slices.Sorted(maps.Keys(byWho)) {
		again := loggedInAgain(e, who, byWho[who])
		once := again == never && slices.ContainsFunc(e.history.Steps, func(s history.Step) bool { return s.For == history.Login && s.Principal == who })
		checkSessionEnd(e, who, slices.DeleteFunc(slices.Clone(byWho[who]), func(v visit) bool { return v.Start >= again }), once)
		checkNewLogin(e, who, byWho[who], again)
	}
}

// never is later than every moment of a run.
const never = history.Offset(math.MaxInt64)

// loggedInAgain returns when a principal logged in after having sent requests; never: it did not.
func loggedInAgain(e *evaluation, who string, all []visit) history.Offset {
	again := never
	for _, s := range e.history.Steps {
		after := slices.ContainsFunc(all, func(v visit) bool { return v.End > 0 && v.End <= s.Start })
		if s.For == history.Login && s.Principal == who && s.Error == "" && after {
			again = min(again, s.End)
		}
	}
	return again
}

// checkNewLogin excuses an unauthenticated request if the same request was answered after a new login, with nothing
// in between. The scenario's own requests in between count as not tried.
func checkNewLogin(e *evaluation, who string, all []visit, again history.Offset) {
	var intents []string
	var last history.Offset // the latest request that the old session got an answer to began
	answered := 0
	for _, v := range all {
		if v.Complete && !v.unauthenticated() && v.Start < again {
			last, answered = max(last, v.Start), answered+1
		}
	}
	for _, v := range all {
		answeredAgain := func(w visit) bool {
			return w.trace == v.trace && w.Key == v.Key && w.body == v.body && w.Start >= again && w.Complete && !w.unauthenticated()
		}
		if !v.unauthenticated() || v.End <= last || v.Start >= again || !slices.ContainsFunc(all, answeredAgain) {
			continue
		}
		v.sessionExpired, v.outcome = true, Throttled
		if !v.Probe {
			doubtSession(e, who, answered, v.Status)
		}
		if !slices.Contains(intents, v.trace.intent.ID) {
			intents = append(intents, v.trace.intent.ID)
		}
	}
	if len(intents) > 0 {
		e.found.warnings = append(e.found.warnings, Warning{
			Kind: "session-ended", Intents: intents, Text: count(len(intents), "intent") + " unauthenticated, and answered after a new login: the session had expired",
		})
	}
}

// checkSessionEnd excuses requests that were unauthenticated from some moment on. For a principal that logged in
// once, it is not known whether only repetitions are rejected where no new intent came after that moment.
func checkSessionEnd(e *evaluation, who string, all []visit, once bool) {
	var last history.Offset // the latest authenticated request began
	answered := 0
	for _, v := range all {
		if v.Complete && !v.unauthenticated() {
			last, answered = max(last, v.Start), answered+1
		}
	}
	var after []visit
	intents, fresh := map[string]bool{}, false
	for _, v := range all {
		if v.unauthenticated() && v.End > last {
			after = append(after, v)
			intents[v.trace.intent.ID] = true
			fresh = fresh || v.firstOfItsIntent() && v.Start >= last
		}
	}
	if answered == 0 || !fresh && !once || len(intents) < 2 {
		return
	}
	for _, v := range after {
		v.sessionExpired, v.outcome = true, Throttled
	}
	doubtSession(e, who, answered, after[0].Status)
}

// doubtSession notes that a session expired after some requests.
func doubtSession(e *evaluation, who string, answered, status int) {
	whose := "the login"
	if who != "" {
		whose = "the login of " + who
	}
	e.doubt("%s was rejected after %s that succeeded, and every time from then on (status %d): did the session expire?", whose, count(answered, "request"), status)
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

// firstOfItsIntent reports that a request is the plain first one of an intent of its own.
func (v visit) firstOfItsIntent() bool {
	return v.classified == v.trace.attempts[0] && !v.Probe && v.Body == history.Original && v.trace.intent.Kin == "" && !v.trace.twin &&
		(v.Key != "" || v.trace.operation.Key.In == "")
}
