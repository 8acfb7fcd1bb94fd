package checker

import (
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// visit is an attempt of a principal.
type visit struct {
	*judged
	story *story
}

// sessions finds principals whose session ended in the middle: they were let in, and from some moment on everything
// of theirs was turned away at the door, requests of intents that were never sent before as well. What they were told
// then says nothing of how repetitions are answered. A target that turns away repetitions alone is not excused.
func (c *court) sessions() {
	byWho := map[string][]visit{}
	for _, f := range c.families {
		for _, s := range f.stories {
			for _, wish := range s.wishes() {
				for _, a := range wish.attempts {
					byWho[s.intent.Principal] = append(byWho[s.intent.Principal], visit{a, wish})
				}
			}
		}
	}
	for _, who := range slices.Sorted(maps.Keys(byWho)) {
		again := c.loggedInAgain(who, byWho[who])
		once := again == never && slices.ContainsFunc(c.history.Steps, func(s history.Step) bool { return s.For == history.Login && s.Principal == who })
		c.session(who, slices.DeleteFunc(slices.Clone(byWho[who]), func(v visit) bool { return v.Start >= again }), once)
		c.renewed(who, byWho[who], again)
	}
}

// never is later than everything.
const never = history.Offset(math.MaxInt64)

// loggedInAgain returns when a principal logged in after having sent requests.
func (c *court) loggedInAgain(who string, all []visit) history.Offset {
	again := never
	for _, s := range c.history.Steps {
		after := slices.ContainsFunc(all, func(v visit) bool { return v.End > 0 && v.End <= s.Start })
		if s.For == history.Login && s.Principal == who && s.Error == "" && after {
			again = min(again, s.End)
		}
	}
	return again
}

// renewed excuses who was turned away, was let in with the same request after a new login, and with nothing in
// between. What the scenario itself sent in between was not tried.
func (c *court) renewed(who string, all []visit, again history.Offset) {
	var intents []string
	var last history.Offset // the latest request that the old session was let in with began
	let := 0
	for _, v := range all {
		if v.Complete && !v.turnedAway() && v.Start < again {
			last, let = max(last, v.Start), let+1
		}
	}
	for _, v := range all {
		letIn := func(w visit) bool {
			return w.story == v.story && w.Key == v.Key && w.body == v.body && w.Start >= again && w.Complete && !w.turnedAway()
		}
		if !v.turnedAway() || v.End <= last || v.Start >= again || !slices.ContainsFunc(all, letIn) {
			continue
		}
		v.lockedOut, v.outcome = true, Throttled
		if !v.Probe {
			c.lockedOut(who, let, v.Status)
		}
		if !slices.Contains(intents, v.story.intent.ID) {
			intents = append(intents, v.story.intent.ID)
		}
	}
	if len(intents) > 0 {
		c.warnings = append(c.warnings, Warning{
			Kind: "session-ended", Intents: intents, Text: count(len(intents), "intent") + " turned away at the door, and let in with a new login: the session had ended",
		})
	}
}

// session excuses who was turned away from some moment on. Of somebody who has logged in once it is not known
// whether only repetitions are turned away where nothing else came after that moment.
func (c *court) session(who string, all []visit, once bool) {
	var last history.Offset // the latest request that was let in began
	let := 0
	for _, v := range all {
		if v.Complete && !v.turnedAway() {
			last, let = max(last, v.Start), let+1
		}
	}
	var after []visit
	intents, fresh := map[string]bool{}, false
	for _, v := range all {
		if v.turnedAway() && v.End > last {
			after = append(after, v)
			intents[v.story.intent.ID] = true
			fresh = fresh || v.fresh() && v.Start >= last
		}
	}
	if let == 0 || !fresh && !once || len(intents) < 2 {
		return
	}
	for _, v := range after {
		v.lockedOut, v.outcome = true, Throttled
	}
	c.lockedOut(who, let, after[0].Status)
}

// lockedOut says that a session has ended after so many requests.
func (c *court) lockedOut(who string, let, status int) {
	whose := "the login"
	if who != "" {
		whose = "the login of " + who
	}
	c.wonder("%s was refused after %s that went through, and from then on every time (status %d): does the session end?", whose, count(let, "request"), status)
}

// loginPage is where web pages send whoever is not signed in.
var loginPage = regexp.MustCompile(`(?i)(log|sign)[-_]?in|/sessions?/new|/auth\b`)

// TurnedAway reports that whoever sent an attempt was not known at the door (RFC 9110, section 15.5.2), or was sent
// to sign in.
func (t Terms) TurnedAway(a history.Attempt) bool { return turnedAway(&a, t.Classify(a)) }

func (a *judged) turnedAway() bool { return turnedAway(a.Attempt, a.outcome) }

func turnedAway(a *history.Attempt, o Outcome) bool {
	redirected := a.Status == http.StatusFound || a.Status == http.StatusSeeOther
	return a.Complete && (a.Status == http.StatusUnauthorized ||
		redirected && o == Unknown && loginPage.MatchString(headerValue(a.Header, "Location")))
}

// fresh reports that a request is the plain first one of an intent of its own.
func (v visit) fresh() bool {
	return v.judged == v.story.attempts[0] && !v.Probe && v.Body == history.Original && v.story.intent.Kin == "" && !v.story.twin &&
		(v.Key != "" || v.story.operation.Key.In == "")
}
