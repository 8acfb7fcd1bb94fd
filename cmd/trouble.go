package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
)

// create is a plain create of the pilot: whose, and of which operation.
type create struct {
	*stage
	operation driver.Operation
	who       string
}

func (s *stage) create(i history.Intent) create {
	return create{stage: s, operation: s.subject.operationOf(i), who: i.Principal}
}

// troubleWith says what a plain create's failure means.
func (s create) troubleWith(a history.Attempt) error {
	where := s.subject.whereabouts()
	refused := a.ErrorKind == history.Refused || a.Passage != nil && a.Passage.Refused
	switch {
	case refused:
		return s.notThere()
	case a.ErrorKind == history.Timeout && a.Passage != nil && a.Passage.Opened == 0:
		return surroundings(fmt.Errorf("no connection to %s came about within %s (--pilot-timeout): is that the right host, and does nothing between here and there drop what is sent to it?", where, a.Deadline.Duration()))
	case a.ErrorKind == history.Timeout:
		return surroundings(fmt.Errorf("%s takes connections and did not answer a plain create within %s (--pilot-timeout)", where, a.Deadline.Duration()))
	case strings.HasPrefix(s.subject.target.BaseURL, "https:") && troubleWithTLS(a.Error) != "":
		return mistakef("%s: TLS does not come about: %s\n  %s", where, a.Error, troubleWithTLS(a.Error))
	case a.ErrorKind == history.Garbage:
		return surroundings(fmt.Errorf("%s does not answer in %s: %s", where, strings.ToUpper(cmp.Or(string(s.subject.target.Protocol), "http")), a.Error))
	case a.ErrorKind == history.Closed || a.ErrorKind == history.Reset:
		return surroundings(fmt.Errorf("%s takes connections and ends them without an answer: %s", where, a.Error))
	case a.ErrorKind != "":
		return surroundings(fmt.Errorf("%s broke off the answer to a plain create: %s", where, a.Error))
	}
	return s.troubleWithAnswer(a)
}

// troubleWithTLS says what to do about a handshake that fails; empty: that is not what broke.
func troubleWithTLS(text string) string {
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

func (s *stage) notThere() error {
	if ended := s.subject.ended(); ended != nil {
		return surroundings(fmt.Errorf("%s takes no connections: %w", s.subject.whereabouts(), ended))
	}
	return surroundings(fmt.Errorf("%s takes no connections: is the target running?", s.subject.whereabouts()))
}

func (s create) troubleWithAnswer(a history.Attempt) error {
	name, request := s.subject.name, "operations."+s.operation.Name+".request"
	said := fmt.Sprintf("a plain create%s was answered %d", s.by(), a.Status)
	text := "\n  " + snippet(a.Content)
	if location := a.Header["Location"]; location != "" && a.Status < 400 {
		text = "\n  it leads to " + withoutQuery(location)
	}
	switch {
	case s.subject.terms().Classify(a) == checker.Acknowledged:
		return s.troubleWithIdentity(a)
	case s.subject.terms().Classify(a) == checker.Accepted:
		return s.troubleWithMonitor(a)
	case slices.Contains([]int{401, 403}, a.Status):
		return mistakef("%s: the credentials in %s are wrong or missing (%s.headers)%s", said, name, request, text)
	case a.Status == 404 || a.Status == 405:
		return mistakef("%s: base_url, or the method or path of %s, is wrong in %s%s", said, request, name, text)
	case a.Status >= 500:
		return surroundings(fmt.Errorf("%s: the target is not well%s", said, text))
	case a.Status >= 400:
		return mistakef("%s: %s of %s is not what the target takes%s", said, request, name, text)
	case slices.Contains(s.subject.target.Contract.Ack.Statuses, a.Status):
		return mistakef("%s, and yet is no acknowledgement: it is not the JSON that it claims to be, or not what contract.ack of %s declares%s", said, name, text)
	default:
		return mistakef("%s, which contract.ack of %s does not declare (it has %v)%s", said, name, s.subject.target.Contract.Ack.Statuses, text)
	}
}

// by names the principal where there are several.
func (s create) by() string {
	if len(s.subject.principals) < 2 {
		return ""
	}
	return " of the principal " + s.who
}

// troubleWithMonitor says why nobody can be asked what became of an accepted create.
func (s create) troubleWithMonitor(a history.Attempt) error {
	if s.subject.terms().Monitor(a) != "" {
		return nil
	}
	return mistakef("a plain create was accepted, and its answer does not name a status resource at %s, which is contract.ack.accepted.monitor of %s\n  %s",
		s.subject.target.Contract.Ack.Accepted.Monitor, s.subject.name, snippet(a.Content))
}

// troubleWithFollowup says why it cannot be told from its status resource what became of an accepted
// create.
func (s *stage) troubleWithFollowup(f history.Followup) error {
	accepted, name := s.subject.target.Contract.Ack.Accepted, s.subject.name
	identity, done := s.subject.terms().Done(f)
	switch {
	case !f.Complete:
		return surroundings(fmt.Errorf("a plain create was accepted, and its status resource gave no answer: %s", f.Error))
	case !done:
		return mistakef("a plain create was accepted, and after %s its status resource does not say that it is done: it answers %d, and contract.ack.accepted.done of %s is %s\n  %s",
			accepted.Within, f.Status, name, accepted.Done, snippet(f.Content))
	case accepted.Identity != "" && identity == "":
		return mistakef("an accepted create is done, and its status resource has nothing at %s, which is contract.ack.accepted.identity of %s\n  %s",
			accepted.Identity, name, snippet(f.Content))
	default:
		return nil
	}
}

func (s create) troubleWithIdentity(a history.Attempt) error {
	inBody := s.operation.Identity.Header == ""
	if !s.operation.Identity.Declared() || inBody && a.Length == 0 || checker.Identity(s.operation.Judged(), a) != "" {
		return nil
	}
	where := fmt.Sprintf("operations.%s.identity of %s", s.operation.Name, s.subject.name)
	if inBody && a.Digest != "" {
		return mistakef("the answer to a plain create has %d bytes, of which only the first %d are kept: leave out %s, which cannot be read from them",
			a.Length, len(a.Content), where)
	}
	said := snippet(a.Content)
	if !inBody {
		said = fmt.Sprintf("%s: %s", s.operation.Identity.Header, withoutQuery(a.Header[http.CanonicalHeaderKey(s.operation.Identity.Header)]))
	}
	return mistakef("a plain create was acknowledged, and its answer has nothing at %s, which is %s\n  %s",
		s.operation.Identity, where, said)
}

// troubleWithFirstRows says why there are rows before the first request: of a new marker there can be none but
// those of what was prepared.
func (s *stage) troubleWithFirstRows(h *history.History) error {
	if h.Before == nil {
		return nil
	}
	for _, i := range h.Intents {
		if o := s.create(i).operation; len(h.Before.Rows[i.Bodies[history.Original].Marker]) > 0 && len(o.Prepare) > 0 {
			return mistakef("operations.%s.rows.query of %s finds a row before the first request: let it select what the request brings about, and not what prepare has made",
				o.Name, s.subject.name)
		}
	}
	return nil
}

// troubleWithRows says why the row query does not find exactly what plain creates made.
func (s *stage) troubleWithRows(ctx context.Context, h *history.History) error {
	switch {
	case !s.subject.target.KnowsRows(s.subject.operation().Operation):
		return nil
	case h.T1 == nil:
		return s.troubleWithQuery(ctx, "the snapshot was not taken")
	case h.T1.Error != "":
		return s.troubleWithQuery(ctx, h.T1.Error)
	}
	for _, i := range h.Intents {
		marker := i.Bodies[history.Original].Marker
		create := s.create(i)
		if err := errors.Join(create.troubleWithRowsOf(marker, h.T1.Rows[marker]), create.troubleWithEffects(marker, h.T1)); err != nil {
			return err
		}
	}
	return nil
}

// troubleWithEffects says which query of an effect does not give for one create what the file says.
func (s create) troubleWithEffects(marker string, now *history.Snapshot) error {
	for _, e := range s.operation.Effects {
		got, declared := now.Effects[e.Name][marker], 0.0
		switch {
		case e.Rows != nil:
			declared = float64(*e.Rows)
		case e.Value != nil:
			declared = *e.Value
		default:
			continue
		}
		if got != declared {
			return mistakef("operations.%s.effects of %s: the query of %q gives %g for one plain create, and the file says %g",
				s.operation.Name, s.subject.name, e.Name, got, declared)
		}
	}
	return nil
}

func (s create) troubleWithRowsOf(marker string, rows []history.Row) error {
	operation := fmt.Sprintf("operations.%s.rows", s.operation.Name)
	listed := s.operation.Rows.HTTP != nil
	switch n := len(rows); {
	case n == 0 && listed:
		return mistakef("a plain create was acknowledged, and the target lists nothing for its marker %q: it does not store the field that carries {{.Intent.Marker}}, or %s.http of %s asks elsewhere or as somebody who may not see it, or its listing is slower than its answers",
			marker, operation, s.subject.name)
	case n > 1 && listed:
		return mistakef("the target lists %d things for the marker of one plain create: %s.http of %s has to ask for exactly the created thing, and a parameter that the target does not know is often overlooked",
			n, operation, s.subject.name)
	case n == 0:
		return mistakef("a plain create was acknowledged, and no row has its marker %q: the target does not store the field that carries {{.Intent.Marker}}, or %s.query of %s looks elsewhere, or database.url is another database",
			marker, operation, s.subject.name)
	case n > 1:
		return mistakef("%s.query of %s finds %d rows for one plain create: let it find exactly the created thing, unless the target really makes %d of it",
			operation, s.subject.name, n, n)
	}
	column := s.operation.Rows.Identity
	if _, found := rows[0][column]; !found && column != "" {
		return mistakef("%s.identity of %s is %q, and %s no such %s", operation, s.subject.name, column,
			either(listed, "what the target lists has", "the query returns"), either(listed, "member", "column"))
	}
	return nil
}

func either(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// troubleWithQuery tells a query that the database refuses from a database that is not there.
func (s *stage) troubleWithQuery(ctx context.Context, text string) error {
	err := fmt.Errorf("%s: a query failed: %s", s.subject.name, text)
	if s.subject.target.AsksItself() {
		err = fmt.Errorf("%s: %s", s.subject.name, text)
	}
	if s.tellsRows(ctx) {
		return mistake(err)
	}
	return surroundings(err)
}

// withoutQuery is where a Location leads, for a message: its parameters, its fragment and who signs in there may be secret.
func withoutQuery(location string) string {
	if u, err := url.Parse(location); err == nil && u.User != nil {
		u.User = nil
		location = u.String()
	}
	if n := strings.IndexAny(location, "?#"); n >= 0 {
		return location[:n] + location[n:n+1] + "..."
	}
	return location
}

// snippet is the beginning of an answer, for a message.
func snippet(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
