// Package mail hosts sinks that take mails in place of a mail server: it turns what the target sends there into messages of the
// history. The Go library does not link it; a program that has such sinks gives Serve to the run, as the doubletap command does.
package mail

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// How much a sink takes.
const (
	mostMail       = 50 << 20        // bytes of a mail; a larger one is refused with 552 (RFC 1870)
	mostLine       = 1 << 20         // bytes of a line: many programs send longer ones than RFC 5321 allows
	mostRecipients = 1000            // of a mail
	mostTold       = 16              // of them, on record
	patience       = 5 * time.Minute // with a client that says nothing (RFC 5321, section 4.5.3.2.7)
)

// The answers to a mail.
const (
	taken  = 250
	failed = 451 // try again
)

// server takes mails until it is closed.
type server struct {
	spec  targets.SMTPSink
	inbox *sinks.Inbox
	smtp  *smtp.Server
	ended chan struct{}  // closed when it ends: nobody waits any more
	done  sync.WaitGroup // the loop that accepts
	err   error          // of the loop; read when it is done
}

// Serve begins to take the mails that come to a listener, of 50 MiB at most. The certificate of a sink with TLS is made here.
func Serve(l net.Listener, spec targets.Sink, in *sinks.Inbox) (io.Closer, error) {
	return serve(l, spec, in, mostMail)
}

// serve is Serve with another bound on the size of a mail. TLS from the first byte is a listener
// of its own; STARTTLS is the server's affair.
func serve(l net.Listener, spec targets.Sink, in *sinks.Inbox, most int64) (io.Closer, error) {
	s := &server{spec: *spec.SMTP, inbox: in, ended: make(chan struct{})}
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.session))
	s.smtp.Domain, s.smtp.AllowInsecureAuth, s.smtp.EnableSMTPUTF8 = "doubletap", true, true
	s.smtp.MaxMessageBytes, s.smtp.MaxLineLength, s.smtp.MaxRecipients = most, mostLine, mostRecipients
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = patience, patience
	s.smtp.ErrorLog = complaints{in}
	l = in.Hear(l, s.complain)
	if s.spec.TLS != targets.NoTLS {
		host, err := netip.ParseAddrPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		certificate, err := certify(host.Addr())
		if err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
		config := &tls.Config{Certificates: []tls.Certificate{certificate}, GetConfigForClient: beginsTLS}
		if s.spec.TLS == targets.ImplicitTLS {
			l = tls.NewListener(l, config)
		} else {
			s.smtp.TLSConfig = config
		}
	}
	s.done.Go(func() { s.err = s.smtp.Serve(l) })
	return s, nil
}

// Close ends all connections and waits for the loop.
func (s *server) Close() error {
	close(s.ended)
	err := s.smtp.Close()
	s.done.Wait()
	return errors.Join(err, s.err)
}

// complain says what came on a connection without a greeting.
func (s *server) complain(first []byte) string {
	encrypted := first[0] == sinks.TLSHandshake
	switch {
	case encrypted && s.spec.TLS == targets.NoTLS:
		return "a connection began with a TLS handshake, and this sink speaks SMTP without TLS: tls: implicit makes it speak so, and tls: starttls after the greeting"
	case encrypted && s.spec.TLS == targets.StartTLS:
		return "a connection began with a TLS handshake, and this sink speaks TLS after STARTTLS only: tls: implicit makes it speak so from the start"
	case s.spec.TLS == targets.ImplicitTLS:
		return "what came on a connection is no TLS, and this sink speaks nothing else (tls: implicit)"
	case slices.Contains([]string{"QUIT", "NOOP", "RSET"}, strings.ToUpper(string(first))): // somebody asks whether it is there
		return ""
	default:
		return "what came on a connection is no SMTP"
	}
}

// beginsTLS notes that a handshake was begun, which a client ends that does not trust the certificate.
func beginsTLS(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	explain(hello.Conn, "a TLS handshake was begun and did not end well: the client has to accept this sink's certificate, which is made for each run")
	return nil, nil // as it is
}

// explain says what came on a connection; an empty text is nothing to speak of.
func explain(c net.Conn, text string) {
	if encrypted, is := c.(*tls.Conn); is {
		c = encrypted.NetConn()
	}
	if heard, is := c.(*sinks.Conn); is {
		heard.Explain(text)
	}
}

// complaints takes down that the server itself failed. It hears of connections that end, too, which are known otherwise.
type complaints struct{ inbox *sinks.Inbox }

// Println is the other method of the server's logger.
func (c complaints) Println(v ...any) { c.Printf("%s", fmt.Sprintln(v...)) }

// Printf takes down that the server panicked, and nothing else.
func (c complaints) Printf(format string, v ...any) {
	if strings.HasPrefix(format, "panic") {
		text, _, _ := strings.Cut(fmt.Sprintf(format, v...), "\n")
		c.inbox.Note(history.Message{Error: "the sink failed: " + text}, nil)
	}
}

// session is what a client sends between two greetings.
type session struct {
	server *server
	conn   net.Conn
	from   string
	to     []string
}

// session begins with a client's greeting: what came on the connection is SMTP.
func (s *server) session(c *smtp.Conn) (smtp.Session, error) {
	explain(c.Conn(), "")
	return &session{server: s, conn: c.Conn()}, nil
}

// Reset forgets the envelope; Logout has nothing to do.
func (s *session) Reset()        { s.from, s.to = "", nil }
func (s *session) Logout() error { return nil }

// Mail notes the sender.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt notes one recipient more.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

// Data takes a mail. It goes on record before it is answered.
func (s *session) Data(r io.Reader) error {
	l, err := read(r, append([]string{s.from}, s.to...)...)
	m := history.Message{
		Method: history.Mail, To: slices.Clone(s.to[:min(len(s.to), mostTold)]), Subject: l.subject, Names: l.names, Length: l.length, Error: l.unread,
	}
	if name := s.server.spec.Intent; name != "" {
		m.Intent = strings.TrimSpace(decodedHeader(l.header.Get(name)))
	}
	if s.server.spec.Idempotent {
		m.Key = l.id
	}
	switch {
	case errors.Is(err, smtp.ErrDataTooLarge):
		m.Status, m.Error = smtp.ErrDataTooLarge.Code, fmt.Sprintf("the mail has more than %d MiB, and was refused", s.server.smtp.MaxMessageBytes>>20)
		s.server.inbox.Note(m, l.text)
		return smtp.ErrDataTooLarge
	case err != nil: // nobody waits for an answer
		m.Error = "the mail broke off: " + err.Error()
		s.server.inbox.Note(m, l.text)
		return err
	}
	m.Status = taken
	switch fault := s.server.inbox.Take(m, l.text, failed); fault.Kind {
	case sinks.Error:
		return &smtp.SMTPError{Code: failed, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Local error in processing, try again later"}
	case sinks.Lost:
		if fault.Hold != nil {
			select {
			case <-fault.Hold:
			case <-s.server.ended:
			}
		}
		_ = s.conn.Close() // that it ends is all that matters
		return net.ErrClosed
	case sinks.Late:
		select {
		case <-time.After(fault.For):
		case <-s.server.ended:
		}
	}
	return nil
}

// AuthMechanisms are what a client may sign in with. Whatever it says is right, and nothing keeps it.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain, login, xoauth2} }

// The mechanisms that the library has no name for.
const (
	login   = "LOGIN"   // draft-murchison-sasl-login
	xoauth2 = "XOAUTH2" // of Google and Microsoft: one response
)

// Auth begins a mechanism, and takes whatever comes.
func (s *session) Auth(mechanism string) (sasl.Server, error) {
	switch mechanism {
	case sasl.Plain, xoauth2:
		return &questions{ask: []string{""}}, nil
	case login:
		return &questions{ask: []string{"Username:", "Password:"}}, nil
	default:
		return nil, smtp.ErrAuthUnknownMechanism
	}
}

// questions are those of a mechanism, one after the other. A client may answer the first before it is asked.
type questions struct{ ask []string }

// Next asks the next question, until there is none.
func (q *questions) Next(response []byte) (challenge []byte, done bool, err error) {
	if response != nil {
		q.ask = q.ask[1:]
	}
	if len(q.ask) == 0 {
		return nil, true, nil
	}
	return []byte(q.ask[0]), false, nil
}
