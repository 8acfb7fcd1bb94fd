package drafting

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// doubtContract says what of the contract is a guess.
func (f *File) doubtContract() {
	d := f.Draft
	if ack := f.acknowledged(); f.Proof == nil && len(ack) > 0 && redirects(ack[0]) {
		f.Doubt("%s", anyRedirect(ack[0]))
	}
	if f.Proof != nil && f.Proof.Redirect != 0 && f.Proof.Named.Header == "" {
		f.Doubt("%s", anyRedirect(f.Proof.Redirect))
	}
	if d.Method == http.MethodPatch && !d.Changes() {
		f.Doubt("What is changed: each request changes the one thing that the path names, so that no intent has a row of its own; create it in prepare, and take its id into the path.")
	}
	switch {
	case Conditional(d):
	case d.Changes() && !d.Keyed():
		f.Doubt("Whether the change adds something, as {add_seats: 1} would: then a repetition adds it again, and only effects show it. There is no alter, because another change of the same thing is nothing wrong.")
	case d.Key.In == contract.KeyNowhere && f.learnt.natural == nil:
		may := ""
		if places := d.KeyPlaces(); len(places) > 0 {
			may = fmt.Sprintf(" %s may be it: key: %s.", Called(places[0]), literal(keyOf(places[0])))
		}
		if len(f.KeysTried) > 0 {
			may = fmt.Sprintf(" A repetition was tried with %s, and none of them kept it from making a second row.", strings.Join(f.KeysTried, ", "))
		}
		f.Doubt("Whether there is an idempotency key: the source names none.%s Without one, repeated requests are different intents, and most scenarios do not apply; add key, or natural_key to the contract.", may)
		return
	}
	if f.learnt.from {
		return
	}
	if len(d.Statuses) == 0 && d.Identity == "" {
		f.Doubt("Whether a repetition gets the same JSON: runs say so where it does not. If answers hold the time, or something else that changes, say identity: /id of the operation, or where else they name the thing, and replay: {body: identity} in the contract.")
	}
	f.Doubt("What is promised: no create was repeated, so what another body under the same key is answered, a request that meets a running one, or one without a key, is left open (contract.fingerprint, in_progress, missing_key).")
}

// contract suggests what is promised.
func (f *File) contract() {
	d := f.Draft
	f.line("contract: # what is promised; doubletap explain --target FILE says it in sentences")
	switch {
	case f.learnt.natural == nil && d.Changes() && !d.Keyed():
		f.line("  level: dedup-only # no promise about the answers\n  natural_key: %s # a change of one thing, however often it is sent", flow([]string{contract.WholePath}))
	case f.learnt.natural == nil && d.Key.In == contract.KeyNowhere:
		f.line("  preset: dedup-only # one effect per intent, and no promise about the answers")
	case f.learnt.from:
		f.learnt.promises(f)
	case len(d.Statuses) == 0 && !f.redirects():
		f.line("  level: idempotent # one effect, and a repetition is acknowledged; nothing else is promised")
		f.line("  replay: %s # no create was repeated: this is what most APIs do", unseenReplay(d))
	default:
		f.line("  level: idempotent # one effect, and a repetition gets the first answer again; nothing else is promised")
		if again := documentedReplay(f.Draft); len(again) > 0 {
			f.line("  replay: {status: {201: %s}} # all of them are documented; no create was repeated", flow(again))
		}
	}
	declined, keeps := f.learnt.declined, f.learnt.invalid.Again != 0
	switch {
	case len(declined.Statuses) > 0 && keeps:
		f.line("  errors: {store_4xx: false, declined: {%s}} # some creates were refused where others like them were done", signed(declined))
	case len(declined.Statuses) > 0:
		f.line("  errors: {declined: {%s}} # some creates were refused where others like them were done", signed(declined))
	case keeps:
		f.line("  errors: {store_4xx: false} # a refusal leaves the key free")
	}
	f.ack()
}

// unseenReplay is what is taken for the replay where neither a document nor an answer says it: 200 says that the thing was there as well as 201
// does, and what else the answer holds, such as the time, is left open where it is known what names the thing.
func unseenReplay(d Draft) string {
	switch {
	case d.GraphQL && d.Identity != "":
		return "{body: identity}"
	case d.GraphQL: // each status is 200
		return "{}"
	case d.Identity != "":
		return "{status: {201: [200]}, body: identity}"
	}
	return "{status: {201: [200]}}"
}

// documentedReplay are the statuses by which a source tells a create that found what it would make from one that made it.
func documentedReplay(d Draft) []int {
	if !slices.Contains(d.Statuses, http.StatusCreated) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d.Statuses), func(s int) bool { return s != http.StatusOK && s != http.StatusAlreadyReported })
}

// ack says by what an acknowledgement is known, where that is not as usual.
func (f *File) ack() {
	documented := f.acknowledged()
	switch p := f.Proof; {
	case f.Draft.GraphQL:
		none := map[string]any{"/errors": nil}
		if at := f.learnt.success.At; at != "" {
			none[at] = nil
		}
		f.line("  ack: {statuses: [200], where: %s} # an answer of GraphQL that lists errors is none", flow(none))
	case f.learnt.leads != "":
		f.line("  ack: # as the create and its repetition were answered\n    statuses: %s\n    headers: %s", flow(f.learnt.ack), literal(map[string]string{"Location": f.learnt.leads}))
	case p != nil && p.Redirect != 0 && f.learnt.ack != nil:
		f.line("  ack: {statuses: %s} # as the create and its repetition were answered", flow(f.learnt.ack))
	case p != nil && p.Redirect != 0 && p.Named.Header != "":
		f.line("  ack: # as the create was answered; a redirect elsewhere, such as to a login page, is no acknowledgement")
		f.line("    statuses: [%d]\n    headers: %s", p.Redirect, literal(map[string]string{p.Named.Header: p.Named.Pattern}))
	case p != nil && p.Redirect != 0:
		f.line("  ack: {statuses: [%d]} # as the create was answered", p.Redirect)
	case f.learnt.accepted:
		done := ""
		if f.learnt.ack != nil {
			done = "statuses: " + flow(f.learnt.ack) + ", "
		}
		recovery, after := "", ""
		if f.Start != nil {
			recovery, after = ", recovery: 60s", "; after a crash, queues give out again what a dead worker held only after a while"
		}
		f.line("  ack: {%saccepted: {statuses: [202], within: 10s%s}} # it is done when the row is there; in which time is a guess%s", done, recovery, after)
	case f.learnt.success.At != "":
		statuses := f.learnt.ack
		if statuses == nil {
			statuses = []int{200, 201, 204}
		}
		f.line("  ack: {statuses: %s, where: %s} # an answer that says otherwise is none", flow(statuses), literal(map[string]any{f.learnt.success.At: f.learnt.success.Value}))
	case f.learnt.ack != nil:
		f.line("  ack: {statuses: %s} # as the create was answered", flow(f.learnt.ack))
	case len(documented) > 0:
		f.line("  ack: {statuses: %s} # documented", flow(documented))
	}
	if f.redirects() && f.Draft.Key.In != contract.KeyNowhere && f.learnt.replay == "" {
		f.line("  replay: {body: identity} # a browser shows the page behind the redirect and not its body")
	}
}

// redirects reports that an acknowledgement sends a browser on.
func (f *File) redirects() bool {
	return f.Proof != nil && f.Proof.Redirect != 0 || slices.ContainsFunc(f.acknowledged(), redirects)
}

// anyRedirect is the doubt of a create that was answered with a redirect.
func anyRedirect(status int) string {
	return fmt.Sprintf("Whether every %d means that it is done: one that leads to a login page or back to the form does not; add headers: {Location: PATTERN} to contract.ack.", status)
}

// acknowledged are the documented statuses of success where the usual ones lack one: a redirect where no other is
// documented.
func (f *File) acknowledged() []int {
	ok := slices.DeleteFunc(slices.Clone(f.Draft.Statuses), func(s int) bool { return s < 200 || s > 299 })
	if len(ok) == 0 {
		ok = slices.DeleteFunc(slices.Clone(f.Draft.Statuses), func(s int) bool { return !redirects(s) })
	}
	usual := []int{200, 201, 204}
	if !slices.ContainsFunc(ok, func(s int) bool { return !slices.Contains(usual, s) }) {
		return nil
	}
	return ok
}
