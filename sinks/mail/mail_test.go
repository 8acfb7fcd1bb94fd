package mail_test

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/sinks/mail"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const (
	marker    = "dtabcdefgh12345678"
	reference = "refabcdefgh87654321"
)

// letterbox is a sink for mails that is watched.
type letterbox struct {
	*sinks.Sinks
	place targets.SinkPlace

	mu  sync.Mutex
	all []history.Message
}

func open(t *testing.T, spec targets.SMTPSink, fault sinks.Fault) *letterbox {
	t.Helper()
	return openWith(t, spec, fault, mail.Serve)
}

func openWith(t *testing.T, spec targets.SMTPSink, fault sinks.Fault, serve sinks.Serve) *letterbox {
	t.Helper()
	s, err := sinks.Open(t.Context(), map[string]targets.Sink{"mail": {SMTP: &spec}}, sinks.Protocols{SMTP: serve})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	b := &letterbox{Sinks: s, place: s.Places()["mail"]}
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: b.add, Fault: fault, Hide: func(text string) string { return strings.ReplaceAll(text, "hush-hush", "***") }}))
	return b
}

func (b *letterbox) add(m history.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, m)
}

func (b *letterbox) messages() []history.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]history.Message(nil), b.all...)
}

// address is host:port.
func (b *letterbox) address() string { return net.JoinHostPort(b.place.Host, b.place.Port) }

// send sends a mail as Go's net/smtp does.
func (b *letterbox) send(text string, to ...string) error {
	return smtp.SendMail(b.address(), nil, "shop@example.com", append(to, "ann@customer.example")[:max(1, len(to))], lines(text))
}

// lines have the ends of a mail.
func lines(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }

func TestAMarkerIsFoundInAnyMail(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(`{"order":"` + marker + `"}`))
	w.Close()
	utf16 := []byte{0xfe, 0xff}
	for _, c := range []byte("Order " + marker) {
		utf16 = append(utf16, 0, c)
	}
	long := encoded([]byte(strings.Repeat("Thank you for your order. ", 4) + marker))
	for name, c := range map[string]struct{ mail, subject, content string }{
		"plain":                     {"Subject: Your receipt\n\nOrder " + marker + "\n", "Your receipt", "Order " + marker},
		"in the subject":            {"Subject: Order " + marker + "\n\nhello\n", "Order " + marker, "hello"},
		"in an encoded subject":     {"Subject: =?utf-8?B?" + encoded([]byte("Größe "+marker)) + "?=\n\nhello\n", "Größe " + marker, "hello"},
		"a subject of Latin 1":      {"Subject: =?iso-8859-1?Q?Gr=F6=DFe_" + marker[:9] + "?= =?iso-8859-1?Q?" + marker[9:] + "?=\n\nhello\n", "Größe " + marker, "hello"},
		"in a header of its own":    {"X-Order: " + marker + "\n\nhello\n", "", "hello"},
		"quoted-printable":          {"Content-Transfer-Encoding: quoted-printable\n\nGr=C3=B6=C3=9Fe dtabcdef=\ngh12345678\n", "", "Größe " + marker},
		"base64":                    {"Content-Transfer-Encoding: BASE64\n\n" + long[:70] + "\n" + long[70:] + "\n", "", "Thank you"},
		"Windows 1252":              {"Content-Type: text/plain; charset=windows-1252\nContent-Transfer-Encoding: quoted-printable\n\n=80 12 " + marker + "\n", "", "€ 12 " + marker},
		"UTF-16":                    {"Content-Type: text/plain; charset=UTF-16\nContent-Transfer-Encoding: base64\n\n" + encoded(utf16) + "\n", "", "Order " + marker},
		"a charset that is unknown": {"Content-Type: text/plain; charset=x-user\n\n" + marker + "\n", "", marker},
		"in a second part": {"Subject: two\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nhello\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<a href=3D\"/o/dtabcdefgh123=\n45678\">\n--b--\n",
			"two", "hello"},
		"in parts of parts": {"Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/related; boundary=b\n\n--b\n\n" + marker + "\n--b--\n--a--\n", "", marker},
		"in an attachment":  {"Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n" + encoded(packed.Bytes()) + "\n--a--\n", "", ""},
		"in the name of an attachment": {"Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Disposition: attachment; filename=\"" + marker + ".pdf\"\n\nx\n--a--\n", "",
			"x"},
		"in a mail in a mail":  {"Content-Type: message/rfc822\n\nSubject: inner\nContent-Transfer-Encoding: base64\n\n" + long + "\n", "", "Thank you"},
		"no headers":           {marker + "\n", "", ""},
		"parts without a name": {"Content-Type: multipart/mixed\n\n--a\n\n" + marker + "\n", "", ""},
		"parts without an end": {"Content-Type: multipart/mixed; boundary=a\n\n--a\n\n" + marker + "\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, targets.SMTPSink{}, sinks.Fault{})
			require.NoError(t, b.send(c.mail))
			m := b.messages()[0]
			require.Equal(t, []string{marker}, m.Names)
			require.Equal(t, history.Mail, m.Method)
			require.Equal(t, c.subject, m.Subject)
			require.Contains(t, m.Content, c.content)
			require.Equal(t, []string{"ann@customer.example"}, m.To)
			require.Equal(t, 250, m.Status)
			require.True(t, m.Acted)
			require.Empty(t, m.Error)
			require.EqualValues(t, len(lines(c.mail)), m.Length)
		})
	}
}

func TestTheEnvelopeIsRead(t *testing.T) {
	t.Parallel()
	b := open(t, targets.SMTPSink{Intent: "x-order"}, sinks.Fault{})
	require.Equal(t, "smtp://"+b.address(), b.place.URL)
	require.NoError(t, b.send("Message-ID: <1@shop>\nX-Order: =?utf-8?q?ord=5F1?=\nSubject: hush-hush\n\n", "ann+"+reference+"@customer.example", "bob@customer.example"))
	m := b.messages()[0]
	require.Equal(t, []string{reference}, m.Names)
	require.Equal(t, []string{"ann+" + reference + "@customer.example", "bob@customer.example"}, m.To)
	require.Equal(t, "***", m.Subject)
	require.Equal(t, "ord_1", m.Intent)
	require.Empty(t, m.Key, "a sink that does not know Message-IDs has no use for them")
}

func TestAMessageIDIsOneMail(t *testing.T) {
	t.Parallel()
	b := open(t, targets.SMTPSink{Idempotent: true}, sinks.Fault{})
	for _, id := range []string{"<1@shop>", "<1@shop>", "<2@shop>", "", ""} {
		require.NoError(t, b.send("Message-ID: "+id+"\n\n"+marker))
	}
	var first []string
	for _, m := range b.messages() {
		first = append(first, m.First)
	}
	require.Equal(t, []string{"", "mail-1", "", "", ""}, first)
	require.Equal(t, "<1@shop>", b.messages()[1].Key)
}

func TestAFaultHitsTheFirstMailOfEachIntent(t *testing.T) {
	t.Parallel()
	t.Run("refused after its data", func(t *testing.T) {
		t.Parallel()
		b := open(t, targets.SMTPSink{}, sinks.Fault{Kind: sinks.Error})
		var refused *textproto.Error
		require.ErrorAs(t, b.send("\n"+marker), &refused)
		require.Equal(t, 451, refused.Code)
		require.NoError(t, b.send("\n"+marker))
		require.ErrorAs(t, b.send("\ndt0000000000000000"), &refused)
		require.Equal(t, 451, b.messages()[0].Status)
		require.Equal(t, "error", b.messages()[0].Fault)
		require.True(t, b.messages()[0].Acted, "it was taken, whatever was answered")
		require.Empty(t, b.messages()[1].Fault)
	})
	t.Run("the connection ends after its data", func(t *testing.T) {
		t.Parallel()
		b := open(t, targets.SMTPSink{}, sinks.Fault{Kind: sinks.Lost})
		require.ErrorIs(t, b.send("\n"+marker), io.EOF)
		require.NoError(t, b.send("\n"+marker))
		require.Zero(t, b.messages()[0].Status)
		require.True(t, b.messages()[0].Acted)
		require.Len(t, b.messages(), 2)
	})
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		b := open(t, targets.SMTPSink{}, sinks.Fault{Kind: sinks.Late, For: time.Hour})
		done := make(chan error, 1)
		go func() { done <- b.send("\n" + marker) }()
		require.Eventually(t, func() bool { return len(b.messages()) == 1 }, time.Minute, time.Millisecond, "it is on record before it is answered")
		require.NoError(t, b.Close())
		<-done
	})
}

// session is a connection of Go's client.
func session(t *testing.T, b *letterbox, implicit *tls.Config) *smtp.Client {
	t.Helper()
	conn, err := net.Dial("tcp", b.address())
	require.NoError(t, err)
	if implicit != nil {
		conn = tls.Client(conn, implicit)
	}
	c, err := smtp.NewClient(conn, "127.0.0.1")
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func post(t *testing.T, c *smtp.Client, text string) {
	t.Helper()
	require.NoError(t, c.Mail("shop@example.com"))
	require.NoError(t, c.Rcpt("ann@customer.example"))
	w, err := c.Data()
	require.NoError(t, err)
	_, err = w.Write(lines(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

func TestTLSAndCredentialsAreTakenAndNotKept(t *testing.T) {
	t.Parallel()
	trusting := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	for name, way := range map[string]targets.MailTLS{"no TLS": targets.NoTLS, "STARTTLS": targets.StartTLS, "implicit": targets.ImplicitTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, targets.SMTPSink{TLS: way}, sinks.Fault{})
			var implicit *tls.Config
			if way == targets.ImplicitTLS {
				implicit = trusting
				require.Equal(t, "smtps://"+b.address(), b.place.URL)
			}
			c := session(t, b, implicit)
			offered, _ := c.Extension("STARTTLS")
			require.Equal(t, way == targets.StartTLS, offered)
			if offered {
				require.NoError(t, c.StartTLS(trusting))
			}
			require.NoError(t, c.Auth(smtp.PlainAuth("", "shop-user", "pass-of-shop", "127.0.0.1")))
			post(t, c, "\n"+marker)
			require.NoError(t, c.Quit())
			require.Len(t, b.messages(), 1)
			written, err := json.Marshal(b.messages())
			require.NoError(t, err)
			require.NotContains(t, string(written), "pass-of-shop")
			require.NotContains(t, string(written), "shop-user")
		})
	}
}

func TestWhatIsNoMailIsTakenDown(t *testing.T) {
	t.Parallel()
	hello := "\x16\x03\x01\x02\x00"
	for name, c := range map[string]struct {
		tls  targets.MailTLS
		send string
		says string // empty: nothing
	}{
		"a request":                 {targets.NoTLS, "POST /mails HTTP/1.1\r\n\r\n", "no SMTP"},
		"noise":                     {targets.NoTLS, "\x00\xff\r\n\r\n\r\n\r\n", "no SMTP"},
		"a byte":                    {targets.NoTLS, "x", "no SMTP"},
		"TLS":                       {targets.NoTLS, hello, "tls: implicit"},
		"TLS in place of STARTTLS":  {targets.StartTLS, hello, "after STARTTLS only"},
		"SMTP in place of TLS":      {targets.ImplicitTLS, "EHLO shop\r\n", "no TLS"},
		"whether it is there":       {targets.NoTLS, "", ""},
		"whether it is there, said": {targets.NoTLS, "QUIT\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, targets.SMTPSink{TLS: c.tls}, sinks.Fault{})
			conn, err := net.Dial("tcp", b.address())
			require.NoError(t, err)
			_, err = conn.Write([]byte(c.send))
			require.NoError(t, err)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
			if c.says == "" {
				require.NoError(t, b.Close())
				require.Empty(t, b.messages())
				return
			}
			require.Eventually(t, func() bool { return len(b.messages()) == 1 }, time.Minute, time.Millisecond)
			require.Contains(t, b.messages()[0].Error, c.says)
			require.Empty(t, b.messages()[0].Method)
		})
	}
}

func TestACertificateThatIsNotTrustedIsSaid(t *testing.T) {
	t.Parallel()
	for _, way := range []targets.MailTLS{targets.StartTLS, targets.ImplicitTLS} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			b := open(t, targets.SMTPSink{TLS: way}, sinks.Fault{})
			strict := &tls.Config{ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
			conn, err := net.Dial("tcp", b.address())
			require.NoError(t, err)
			defer conn.Close()
			if way == targets.StartTLS {
				c, err := smtp.NewClient(conn, "127.0.0.1")
				require.NoError(t, err)
				err = c.StartTLS(strict)
				require.Error(t, err)
			} else {
				require.Error(t, tls.Client(conn, strict).HandshakeContext(t.Context()))
			}
			conn.Close()
			require.Eventually(t, func() bool { return len(b.messages()) == 1 }, time.Minute, time.Millisecond)
			require.Contains(t, b.messages()[0].Error, "has to accept this sink's certificate")
		})
	}
}

func TestAMailThatBreaksOffIsNoEffect(t *testing.T) {
	t.Parallel()
	b := open(t, targets.SMTPSink{}, sinks.Fault{})
	c := session(t, b, nil)
	require.NoError(t, c.Mail("shop@example.com"))
	require.NoError(t, c.Rcpt("ann@customer.example"))
	w, err := c.Data()
	require.NoError(t, err)
	_, err = w.Write(lines("\n" + marker + "\n" + strings.Repeat("x\n", 8<<10)))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return len(b.messages()) == 1 }, time.Minute, time.Millisecond)
	m := b.messages()[0]
	require.False(t, m.Acted)
	require.Equal(t, []string{marker}, m.Names)
	require.Contains(t, m.Error, "broke off")
}

func TestAHugeMailIsRefused(t *testing.T) {
	t.Parallel()
	b := openWith(t, targets.SMTPSink{}, sinks.Fault{}, mail.ServeUpTo(5<<20))
	send := func(size int) error {
		return b.send("Content-Type: multipart/mixed; boundary=a\n\n--a\n\nsmall\n--a\n\n" + strings.Repeat(strings.Repeat("x ", 38)+"\n", size/77) +
			"\n--a\n\n" + marker + "\n--a--\n")
	}
	require.NoError(t, send(9<<19))
	m := b.messages()[0]
	require.True(t, m.Acted)
	require.Equal(t, []string{marker}, m.Names, "what is behind a huge part is read")
	require.Equal(t, "small", m.Content)
	require.Contains(t, m.Error, "were looked at")
	require.Greater(t, m.Length, int64(4<<20))

	var refused *textproto.Error
	require.ErrorAs(t, send(6<<20), &refused)
	require.Equal(t, 552, refused.Code)
	m = b.messages()[1]
	require.False(t, m.Acted)
	require.Contains(t, m.Error, "more than 5 MiB")
}

// TestAHugeMailIsNotKept runs alone, because it looks at the memory of the process.
func TestAHugeMailIsNotKept(t *testing.T) {
	for name, begins := range map[string]string{"a part": "Subject: large\n\n", "a header": "Subject: "} {
		t.Run(name, func(t *testing.T) {
			before, kept, end := heap(), int64(0), false
			const size = 32 << 20
			n, err := mail.Length(io.MultiReader(bytes.NewReader(lines(begins)), io.LimitReader(blanks{}, size), reading(func(p []byte) (int, error) {
				if !end {
					kept, end = heap()-before, true
				}
				return 0, io.EOF
			})))
			require.NoError(t, err)
			require.Greater(t, n, int64(size))
			require.Less(t, kept, int64(size/2))
		})
	}
}

// blanks is a text of blanks that never ends.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

type reading func(p []byte) (int, error)

func (r reading) Read(p []byte) (int, error) { return r(p) }

// heap is how much memory is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestNodesClient sends as nodemailer does: a mail with a picture, after STARTTLS and with a password.
func TestNodesClient(t *testing.T) {
	t.Parallel()
	node, folder, found := servers.Node()
	if !found {
		require.False(t, servers.NodeRequired(), "nodemailer is missing: apt-get install nodejs npm, and make servers")
		t.Skip("nodemailer is missing: make servers installs it, where there is Node")
	}
	b := open(t, targets.SMTPSink{TLS: targets.StartTLS, Intent: "X-Order"}, sinks.Fault{Kind: sinks.Error})
	const script = `
const [host, port, marker] = process.argv.slice(1);
const mails = require("nodemailer").createTransport({host, port, requireTLS: true, tls: {rejectUnauthorized: false}, auth: {user: "shop-user", pass: "pass-of-shop"}});
const mail = {
  from: "shop@example.com", to: "Ann <ann@customer.example>, bob@customer.example", subject: "Your receipt für " + marker, headers: {"X-Order": "ord_7"},
  text: "Größe: 1\n".repeat(3), html: "<p>Größe</p>", attachments: [{filename: "x.png", content: Buffer.from([0, 1])}],
};
(async () => {
  for (let n = 0; n < 2; n++) await mails.sendMail(mail).catch((e) => console.log("refused", e.responseCode));
  mails.close();
})();
`
	command := exec.CommandContext(t.Context(), node, "-e", script, b.place.Host, b.place.Port, marker)
	command.Dir = folder
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "refused 451\n", string(out))
	got := b.messages()
	require.Len(t, got, 2)
	for _, m := range got {
		require.Equal(t, "Your receipt für "+marker, m.Subject)
		require.Equal(t, []string{marker}, m.Names)
		require.Equal(t, "ord_7", m.Intent)
		require.Equal(t, []string{"ann@customer.example", "bob@customer.example"}, m.To)
		require.Contains(t, m.Content, "Größe: 1")
	}
}

// TestPythonsClient sends as smtplib does: a mail with a picture, after STARTTLS and with a password.
func TestPythonsClient(t *testing.T) {
	t.Parallel()
	python, found := servers.Python()
	require.True(t, found, "Python 3 is missing: make servers installs it")
	b := open(t, targets.SMTPSink{TLS: targets.StartTLS}, sinks.Fault{Kind: sinks.Error})
	const script = `
import smtplib, sys
from email.message import EmailMessage
m = EmailMessage()
m["Subject"], m["From"], m["To"] = "Your receipt für " + sys.argv[3], "shop@example.com", "Ann <ann@customer.example>, bob@customer.example"
m.set_content("Größe: 1\n" * 3)
m.add_alternative("<p>Größe</p>", subtype="html")
m.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="x.png")
for n in range(2):
    with smtplib.SMTP(sys.argv[1], int(sys.argv[2])) as s:
        s.starttls()
        s.login("shop-user", "pass-of-shop")
        try:
            s.send_message(m)
        except smtplib.SMTPResponseException as e:
            print("refused", e.smtp_code)
`
	out, err := exec.CommandContext(t.Context(), python, "-c", script, b.place.Host, b.place.Port, marker).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "refused 451\n", string(out))
	got := b.messages()
	require.Len(t, got, 2)
	for _, m := range got {
		require.Equal(t, "Your receipt für "+marker, m.Subject)
		require.Equal(t, []string{marker}, m.Names)
		require.Equal(t, []string{"ann@customer.example", "bob@customer.example"}, m.To)
		require.Contains(t, m.Content, "Größe: 1")
	}
}
