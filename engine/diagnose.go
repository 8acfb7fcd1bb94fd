package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// create is a plain create of the pilot: whose, and of which operation.
type create struct {
	session   *Session
	operation driver.Operation
	who       string
}

// create is the plain create that an intent of the pilot was.
func (s *Session) create(i history.Intent) create {
	return create{session: s, operation: s.System.OperationOf(i), who: i.Principal}
}

// diagnose says what a plain create's failure means; nil: it did not fail. The pilot asks
// before any fault is played. A mistake in the target file is then one sentence that says
// which line to mend, and not hundreds of findings. Mistakes of the file are configuration
// errors (exit 3), and a target that is not well is the environment's (exit 4).
func (c create) diagnose(a history.Attempt) error {
	where := c.session.System.Address()
	refused := a.ErrorKind == history.Refused || a.Passage != nil && a.Passage.Refused
	switch {
	case refused:
		return notReachable(c.session)
	case a.ErrorKind == history.Timeout && a.Passage != nil && a.Passage.Opened == 0:
		return runerror.Environment(fmt.Errorf("no connection to %s came about within %s (--pilot-timeout): is that the right host, and does nothing between here and there drop what is sent to it?", where, a.Deadline.Duration()))
	case a.ErrorKind == history.Timeout:
		return runerror.Environment(fmt.Errorf("%s takes connections and did not answer a plain create within %s (--pilot-timeout)", where, a.Deadline.Duration()))
	case withoutTLS(c.session, a.Error) != nil:
		return withoutTLS(c.session, a.Error)
	case a.ErrorKind == history.Garbage:
		return runerror.Environment(fmt.Errorf("%s does not answer in %s: %s", where, strings.ToUpper(cmp.Or(string(c.session.System.Target.Protocol), "http")), a.Error))
	case a.ErrorKind == history.Closed || a.ErrorKind == history.Reset:
		return runerror.Environment(fmt.Errorf("%s takes connections and ends them without an answer: %s", where, a.Error))
	case a.ErrorKind != "":
		return runerror.Environment(fmt.Errorf("%s broke off the answer to a plain create: %s", where, a.Error))
	}
	return c.diagnoseAnswer(a)
}

// AdviceOnTLS says which line of a target file helps a handshake that failed; empty: that is not what broke.
func AdviceOnTLS(text string) string {
	for _, known := range [][2]string{
		{"unknown authority", "name the authority in tls.ca of the target file"},
		{"x509: certificate is", "if the target's certificate is for another name, say so in tls.server_name"},
		{"x509: certificate relies", "the target's certificate has no name that could be compared"},
		{"x509: cannot validate certificate for", "the certificate is not for this address; say in tls.server_name which name it is for"},
		{"certificate has expired", "the target's certificate, or this machine's clock, is out of date"},
		{"certificate required", "the target wants a certificate: name one in tls.certificate and tls.key"},
		{"bad certificate", "the target does not take the certificate of tls.certificate, or wants one"},
		{"unknown certificate authority", "the target does not know who made the certificate of tls.certificate"},
		{"first record does not look like a TLS handshake", "the target does not speak TLS there: base_url is https"},
	} {
		if strings.Contains(text, known[0]) {
			return known[1]
		}
	}
	return ""
}

// notReachable says that the target takes no connections, and how its process ended, if it
// is ours.
func notReachable(s *Session) error {
	if ended := s.System.Ended(); ended != nil {
		return runerror.Environment(fmt.Errorf("%s takes no connections: %w", s.System.Address(), ended))
	}
	return runerror.Environment(fmt.Errorf("%s takes no connections: is the target running?", s.System.Address()))
}

// notAlive is notReachable, unless the target takes connections and TLS does not come about.
func notAlive(ctx context.Context, s *Session) error {
	if err := s.life(ctx); err != nil && withoutTLS(s, err.Error()) != nil {
		return withoutTLS(s, err.Error())
	}
	return notReachable(s)
}

// withoutTLS says of an error that TLS does not come about, and what to do; nil: it says something else.
func withoutTLS(s *Session, why string) error {
	advice := AdviceOnTLS(why)
	if advice == "" || !strings.HasPrefix(s.System.Target.BaseURL, "https:") {
		return nil
	}
	return runerror.Configf("%s: TLS does not come about: %s\n  %s", s.System.Address(), why, advice)
}

// diagnoseAnswer says what is wrong with a complete answer; nil: it is as the file says.
// The contract's own words come first, as statuses such as 404 may be declared to mean
// anything.
func (c create) diagnoseAnswer(a history.Attempt) error {
	name, request := c.session.System.Name, "operations."+c.operation.Name+".request"
	said := fmt.Sprintf("a plain create%s was answered %d", c.by(), a.Status)
	text := "\n  " + driver.Snippet(a.Content)
	if location := a.Header["Location"]; location != "" && a.Status < 400 {
		text = "\n  it leads to " + WithoutQuery(location)
	}
	switch {
	case c.session.System.Terms().Classify(a) == checker.Acknowledged:
		return c.diagnoseIdentity(a)
	case c.session.System.Terms().Classify(a) == checker.Accepted:
		return c.diagnoseMonitor(a)
	case c.session.System.Terms().Classify(a) == checker.Declined:
		return runerror.Configf("%s, which contract.errors.declined of %s names, as were all of %d tries: %s has to be one that is not declined%s", said, name, pilotTries, request, text)
	case c.session.System.Terms().Classify(a) == checker.Throttled:
		return runerror.Configf("%s, as were all of %d tries: the target limits the rate of requests; say how much it takes in rate_limit of %s, such as {requests: 20, per: 1s}, or lift the limit%s", said, pilotTries, name, text)
	case slices.Contains([]int{401, 403}, a.Status):
		return runerror.Configf("%s: the credentials in %s are wrong or missing (%s.headers)%s%s", said, name, request, notBasic(c.operation.Request.Header), text)
	case slices.Contains([]int{301, 307, 308, 404, 405}, a.Status):
		return runerror.Configf("%s: base_url, or the method or path of %s, is wrong in %s%s", said, request, name, text)
	case a.Status >= 500:
		return runerror.Environment(fmt.Errorf("%s, as were all of %d tries: the target is not well%s", said, pilotTries, text))
	case a.Status >= 400:
		return runerror.Configf("%s: %s of %s is not what the target takes, or it is declined as business (then say so in contract.errors.declined)%s", said, request, name, text)
	case slices.Contains(c.session.System.Target.Contract.Ack.Statuses, a.Status):
		return runerror.Configf("%s, and yet is no acknowledgement: it is not the JSON that it claims to be, or not what contract.ack of %s declares%s", said, name, text)
	default:
		return runerror.Configf("%s, which contract.ack of %s does not declare (it has %v)%s", said, name, c.session.System.Target.Contract.Ack.Statuses, text)
	}
}

// notBasic says that Basic credentials are not what every server takes (RFC 7617): a user and a password with a colon between them, in base64.
// What they are is never said.
func notBasic(header map[string]string) string {
	for name, value := range header {
		scheme, given, _ := strings.Cut(value, " ")
		if !strings.EqualFold(name, "Authorization") || !strings.EqualFold(scheme, "basic") || strings.Contains(given, "{{") {
			continue
		}
		if pair, err := base64.StdEncoding.DecodeString(strings.TrimSpace(given)); err != nil || !strings.Contains(string(pair), ":") {
			return "; Basic credentials are USER:PASSWORD in base64, and these are not"
		}
	}
	return ""
}

// by names the principal where there are several.
func (c create) by() string {
	if len(c.session.System.Principals) < 2 {
		return ""
	}
	return " of the principal " + c.who
}

// diagnoseMonitor says why it cannot be found out what became of an accepted create.
func (c create) diagnoseMonitor(a history.Attempt) error {
	if c.session.System.Target.Contract.Ack.Accepted.ByRows() || c.session.System.Terms().Monitor(a) != "" {
		return nil
	}
	return runerror.Configf("a plain create was accepted, and its answer does not name a status resource at %s, which is contract.ack.accepted.monitor of %s\n  %s",
		c.session.System.Target.Contract.Ack.Accepted.Monitor, c.session.System.Name, driver.Snippet(a.Content))
}

// diagnoseFollowup says why it cannot be told from its status resource what became of an accepted
// create.
func diagnoseFollowup(s *Session, f history.Followup) error {
	accepted, name := s.System.Target.Contract.Ack.Accepted, s.System.Name
	identity, done := s.System.Terms().Done(f)
	switch {
	case !f.Complete:
		return runerror.Environment(fmt.Errorf("a plain create was accepted, and its status resource gave no answer: %s", f.Error))
	case !done:
		return runerror.Configf("a plain create was accepted, and after %s its status resource does not say that it is done: it answers %d, and contract.ack.accepted.done of %s is %s\n  %s",
			accepted.Within, f.Status, name, accepted.Done, driver.Snippet(f.Content))
	case accepted.Identity != "" && identity == "":
		return runerror.Configf("an accepted create is done, and its status resource has nothing at %s, which is contract.ack.accepted.identity of %s\n  %s",
			accepted.Identity, name, driver.Snippet(f.Content))
	default:
		return nil
	}
}

// diagnoseIdentity says why an acknowledgement does not name the row that it made, where
// the file says that it does: without names, answers cannot be compared with rows.
func (c create) diagnoseIdentity(a history.Attempt) error {
	inBody := c.operation.Identity.Header == ""
	if !c.operation.Identity.Declared() || inBody && a.Length == 0 || checker.Identity(c.operation.Judged(), a) != "" {
		return nil
	}
	where := fmt.Sprintf("operations.%s.identity of %s", c.operation.Name, c.session.System.Name)
	if why := checker.Unread(c.operation.Judged(), a); why != "" {
		return runerror.Configf("the answer to a plain create does not tell which row it made, as %s could not be read: %s. Leave that line out, or name a header", where, why)
	}
	said := driver.Snippet(a.Content)
	if !inBody {
		said = fmt.Sprintf("%s: %s", c.operation.Identity.Header, WithoutQuery(a.Header[http.CanonicalHeaderKey(c.operation.Identity.Header)]))
	}
	return runerror.Configf("a plain create was acknowledged, and its answer has nothing at %s, which is %s\n  %s",
		c.operation.Identity, where, said)
}

// diagnoseFirstRows says why there are rows before the first request: of a new marker there can be none but
// those of what was prepared, unless the query goes by something else.
func diagnoseFirstRows(s *Session, h *history.History) error {
	if h.Before == nil {
		return nil
	}
	for _, i := range h.Intents {
		o, rows := s.create(i).operation, h.Before.Rows[i.Bodies[history.Original].Marker]
		switch {
		case len(rows) == 0:
		case len(o.Prepare) > 0:
			return runerror.Configf("operations.%s.rows.query of %s finds a row before the first request: let it select what the request brings about, and not what prepare has made",
				o.Name, s.System.Name)
		case o.Rows.Query != "":
			return runerror.Configf("operations.%s.rows.query of %s finds %s for a marker that was not sent yet%s: it goes by something that creates share; let it find what has the marker, and nothing else",
				o.Name, s.System.Name, english.Plural(len(rows), "row"), shownRows(rows))
		}
	}
	return nil
}

// diagnoseRows says why the row query does not find exactly what plain creates made.
func diagnoseRows(ctx context.Context, s *Session, h *history.History) error {
	switch {
	case !s.System.Target.KnowsRows(s.System.Operation().Operation):
		return nil
	case h.T1 == nil:
		return diagnoseQuery(ctx, s, "the snapshot was not taken")
	case h.T1.Error != "":
		return diagnoseQuery(ctx, s, h.T1.Error)
	}
	for _, i := range h.Intents {
		marker := i.Bodies[history.Original].Marker
		create := s.create(i)
		doubt, err := create.diagnoseRowsOf(ctx, marker, h.T1.Rows[marker])
		if doubt != "" {
			s.Doubt = cmp.Or(s.Doubt, Doubt{create.operation.Name, doubt})
			continue
		}
		doubt, unseen := create.diagnoseSeen(h, marker)
		wrong := create.diagnoseEffects(marker, h.T1)
		if err != nil || unseen != nil {
			return errors.Join(err, wrong, unseen)
		}
		if wrong != nil {
			return wrong
		}
		if doubt != "" {
			s.Doubt = cmp.Or(s.Doubt, Doubt{create.operation.Name, doubt})
		}
	}
	return nil
}

// tooMuch is that an effect of a create is greater than the file says: that of another create may not be.
type tooMuch struct {
	error
	doubt Doubt // that it is a defect, where the target promises that there is never more; none: it is a mistake in the file
}

// tooLittle is that an effect of a create is there, and less than the file says: that of another create may not be.
type tooLittle struct{ error }

// diagnoseEffects says which query of an effect does not give for one create what the file says.
func (c create) diagnoseEffects(marker string, now *history.Snapshot) error {
	for _, e := range c.operation.Effects {
		got, declared := now.Effects[e.Name][marker], 0.0
		switch {
		case e.Rows != nil:
			declared = float64(*e.Rows)
		case e.Value != nil:
			declared = *e.Value
		default:
			continue
		}
		switch {
		case got < declared && e.Delivery == contract.SentAtMostOnce:
			continue // it may have been taken away, or is to come
		case got > 0 && slices.Contains(slices.Collect(maps.Values(now.Effects[e.Name])), declared):
			continue // too many or too few for one create and not for another are no mistake in the file
		}
		if got != declared {
			err := fmt.Errorf("operations.%s.effects of %s: the query of %q gives %g for one plain create, and the file says %g",
				c.operation.Name, c.session.System.Name, e.Name, got, declared)
			switch {
			case got > declared:
				err = tooMuch{err, c.doubtMore(e, got, declared)}
			case got > 0:
				err = tooLittle{err}
			}
			return runerror.Config(err)
		}
	}
	return nil
}

// doubtMore says that there is more of an effect than there may ever be.
func (c create) doubtMore(e contract.Effect, got, most float64) Doubt {
	if e.Delivery != contract.SentAtMostOnce {
		return Doubt{}
	}
	return Doubt{c.operation.Name, fmt.Sprintf("each plain create of the pilot left more of %q than it may: the query gave %g, and operations.%s.effects of %s says that there are at most %g", e.Name, got, c.operation.Name, c.session.System.Name, most)}
}

// diagnoseRowsOf says why the row query does not find the one row of a plain create, or why that may be a defect.
func (c create) diagnoseRowsOf(ctx context.Context, marker string, rows []history.Row) (doubt string, err error) {
	operation := fmt.Sprintf("operations.%s.rows", c.operation.Name)
	listed, said := c.operation.Rows.HTTP != nil, "acknowledged"
	if a := c.session.System.Target.Contract.Ack.Accepted; a.ByRows() {
		said = fmt.Sprintf("accepted, and given %s (contract.ack.accepted.within)", a.Within)
	}
	switch n := len(rows); {
	case n == 0 && listed:
		return "", runerror.Configf("a plain create was %s, and the target lists nothing for its marker %q: it does not store the field that carries {{.Intent.Marker}}, or %s.http of %s asks elsewhere, or with a login that may not see it, or its listing is slower than rows.visible_within says (5s, if it says nothing)",
			said, marker, operation, c.session.System.Name)
	case n > 1 && listed:
		return "", runerror.Configf("the target lists %d things for the marker of one plain create: %s.http of %s has to ask for exactly the created thing, and a parameter that the target does not know is often overlooked",
			n, operation, c.session.System.Name)
	case n == 0:
		return c.withoutRow(ctx, marker, said)
	case n > 1:
		return c.withRows(ctx, marker, rows)
	}
	column := c.operation.Rows.Identity
	if _, found := rows[0][column]; !found && column != "" {
		return "", runerror.Configf("%s.identity of %s is %q, and %s no such %s", operation, c.session.System.Name, column,
			either(listed, "what the target lists has", "the query returns"), either(listed, "member", "column"))
	}
	return "", nil
}

// either chooses between two words for a message.
func either(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// diagnoseQuery tells a query that the database refuses from a database that is not there.
func diagnoseQuery(ctx context.Context, s *Session, text string) error {
	err := fmt.Errorf("%s: a query failed: %s", s.System.Name, text)
	if s.System.Target.AsksItself() {
		err = fmt.Errorf("%s: %s", s.System.Name, text)
	}
	if s.tellsRows(ctx) {
		return runerror.Config(err)
	}
	return runerror.Environment(err)
}

// WithoutQuery is where a Location leads, for a message: its parameters, its fragment and who signs in there may be secret.
func WithoutQuery(location string) string {
	if u, err := url.Parse(location); err == nil && u.User != nil {
		u.User = nil
		location = u.String()
	}
	if n := strings.IndexAny(location, "?#"); n >= 0 {
		return location[:n] + location[n:n+1] + "..."
	}
	return location
}
