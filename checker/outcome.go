package checker

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

var outcomeNames = [...]string{
	Unknown: "unknown", Acknowledged: "acknowledged", Exists: "exists", Rejected: "rejected",
	InProgress: "in-progress", Throttled: "throttled", NotSent: "not-sent", Accepted: "accepted", Declined: "declined",
}

// String returns the outcome's name, as it stands in files.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames) {
		return fmt.Sprintf("outcome(%d)", int(o))
	}
	return outcomeNames[o]
}

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name; an unknown one is an error and leaves the outcome unknown.
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomeNames[:], string(text))
	if i < 0 {
		*o = Unknown
		return fmt.Errorf("unknown outcome %q", text)
	}
	*o = Outcome(i)
	return nil
}

// Outcome is the judgement on one attempt. The zero value is unknown: an attempt
// that was not judged may have had an effect.
type Outcome int

// The outcomes, with the letters of the decision tables.
const (
	Unknown      Outcome = iota // U: no complete answer; the effect may be absent, present or still to come
	Acknowledged                // A: a complete, final "done"
	Exists                      // X: "that exists already"
	Rejected                    // R: a definite no; this attempt had no effect
	InProgress                  // P: another attempt of the group is being executed
	Throttled                   // T: rejected at the entry, before the target looked at it
	NotSent                     // N: no byte of the request reached the target
	Accepted                    // A': it will be done; what became of it is not known, or still to come
	Declined                    // D: a final no to the intent, which may have left a row of the attempt
)

// Classify judges one attempt by what was on the wire and by the contract. It needs no
// other attempt, so a driver can ask it while a run goes on. Safe for concurrent use.
func (t Terms) Classify(a history.Attempt) Outcome { return t.classify(&a, answerOf(&a)) }

// classify is Classify with an answer that was read before. What the contract declares
// comes before what a status usually means, and the narrower of two meanings before the
// wider. What fits nothing is unknown below 400 and from 500 on, and a refusal in between.
func (t *Terms) classify(a *history.Attempt, said *answer) Outcome {
	if neverArrived(a) {
		return NotSent
	}
	if !a.Complete || unparsable(a, said) {
		return Unknown
	}
	c := t.Contract
	switch {
	case said.bears(c.Throttled):
		return Throttled
	case t.inProgress(a, said):
		return InProgress
	case said.bears(c.Errors.Declined):
		return Declined
	case said.bears(c.Ack.Accepted.Signature):
		return Accepted
	case said.bears(c.Ack.Signature):
		return Acknowledged
	case t.exists(a, said):
		return Exists
	case a.Status == tooManyRequests:
		return Throttled
	case t.declinesByStatus(a, said):
		return Declined
	case a.Status < 400 && t.refuses(said):
		return Rejected
	case a.Status < 400 || a.Status >= 500 || fromIntermediary(a.Status):
		return Unknown
	default:
		return Rejected
	}
}

// declinesByStatus reports a 402, which says that a payment was declined, where the contract names no declines and gives this
// answer no other meaning.
func (t *Terms) declinesByStatus(a *history.Attempt, said *answer) bool {
	return a.Status == paymentRequired && !t.namesDeclines() && !t.refuses(said)
}

// namesDeclines reports that the contract says which answers decline, so that it promises something of them.
func (t *Terms) namesDeclines() bool { return len(t.Contract.Errors.Declined.Statuses) > 0 }

// inProgress decides between "in progress" and "mismatch" where both are declared with the same
// status and nothing in the body tells them apart: only a changed body can be a mismatch.
func (t *Terms) inProgress(a *history.Attempt, said *answer) bool {
	return said.bears(t.Contract.InProgress.Signature) && !(changed(a) && said.bears(t.Contract.Fingerprint.Signature))
}

// exists decides in the same way between "exists already" and "mismatch". Without a key that is required, nothing exists by it.
func (t *Terms) exists(a *history.Attempt, said *answer) bool {
	return said.bears(t.Contract.Existing.Signature) && !(changed(a) && said.bears(t.Contract.Fingerprint.Signature)) && !lacksKey(t, a)
}

// lacksKey reports that a request lacks the one thing by which the target could know it: a form may refuse a token that was used as it does none.
func lacksKey(t *Terms, a *history.Attempt) bool {
	return a.Key == "" && !a.BlankKey && t.Operation.Key.Required && len(t.Contract.NaturalKey) == 0
}

// changed reports that an attempt was sent with another body than the intent's own.
func changed(a *history.Attempt) bool { return a.Body == history.Altered || a.Body == history.Invalid }

// refuses reports whether the contract names an answer as a refusal, whatever its status says. A
// target that rejects with a 200, as in GraphQL, is known by the members of the answer.
func (t *Terms) refuses(said *answer) bool {
	c := t.Contract
	return said.bears(c.Fingerprint.Signature) || said.bears(c.MissingKey) || said.bears(c.Expiry.Signature)
}

// mismatch reports whether an answer says that the key was used with another body. A request without
// a key cannot be told so: the same status means something else then.
func (t *Terms) mismatch(a *history.Attempt, said *answer) bool {
	keyed := a.Key != "" || a.BlankKey && !said.bears(t.Contract.MissingKey)
	return a.Complete && keyed && !t.inProgress(a, said) && said.bears(t.Contract.Fingerprint.Signature)
}

// neverArrived reports that the harness knows that no byte reached the target. It has to
// be sure: a request that is taken for "not sent" excuses a missing row. A passage that
// saw no connection at all proves nothing.
func neverArrived(a *history.Attempt) bool {
	if a.ErrorKind == history.Refused && a.Sent == 0 {
		return true
	}
	p := a.Passage
	return p != nil && (p.Refused || p.Opened > 0 && p.Up == 0)
}

// unparsable reports that an answer calls itself JSON and is not. One that could not be read is given the benefit of the
// doubt.
func unparsable(a *history.Attempt, said *answer) bool {
	if a.Content == "" || a.Unread != "" || !isJSON(a.Header["Content-Type"]) {
		return false
	}
	return !said.valid()
}

// isJSON reports that a Content-Type is JSON's, or ends in +json (RFC 6839, section 3.1).
// The usual spelling is compared first: parsing each is slow.
func isJSON(contentType string) bool {
	if contentType == usualContent {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == usualContent || strings.HasSuffix(media, "+json"))
}

// tooManyRequests means the same everywhere (RFC 6585), so it needs no declaration.
const (
	paymentRequired = 402
	tooManyRequests = 429
)

// fromIntermediary lists the 4xx that a proxy on the way may have sent after the target
// had the request, or in its place: timeout, too large, headers too large, and nginx's
// "client closed request". They do not prove that nothing was done.
func fromIntermediary(status int) bool {
	return slices.Contains([]int{408, 413, 431, 499}, status)
}
