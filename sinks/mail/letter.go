package mail

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/doubletap-harness/doubletap/sinks"
)

// How far one mail is read. What is behind is counted only.
const (
	mostHeader = 1 << 20 // bytes
	mostRaw    = 1 << 20 // bytes that are looked at as they came
	mostPart   = 4 << 20 // bytes of a part, decoded
	mostParts  = 100     // of one multipart
	deepest    = 8       // parts inside each other
	mostText   = 8 << 10 // bytes of text that are handed on
)

// letter is what a mail says.
type letter struct {
	subject string
	id      string // its Message-ID; empty: none
	header  mail.Header
	text    []byte   // the beginning of its first text
	names   []string // markers and references in it, and in its envelope
	length  int64    // bytes that came
	unread  string   // what was not looked at; empty: nothing

	search sinks.Search
}

// read reads a mail to its end. It never has more than some MiB of it in memory. The error is the reader's: the mail is not whole.
func read(r io.Reader, envelope ...string) (letter, error) {
	var l letter
	for _, address := range envelope {
		l.search.In([]byte(address))
	}
	in := &counting{in: r}
	raw := &beginning{room: mostRaw}
	l.parse(io.TeeReader(in, raw))
	_, _ = io.Copy(io.Discard, in) // whose error is kept there
	l.search.In(raw.text)
	l.names, l.length = l.search.Names(), in.n
	return l, in.err
}

// parse reads as much of a mail as can be understood.
func (l *letter) parse(r io.Reader) {
	limited := &io.LimitedReader{R: r, N: mostHeader}
	m, err := mail.ReadMessage(limited)
	if err != nil { // it is looked at as it came
		return
	}
	limited.N = math.MaxInt64
	l.header = m.Header
	l.subject = decodedHeader(m.Header.Get("Subject"))
	l.id = strings.TrimSpace(m.Header.Get("Message-Id"))
	l.part(textproto.MIMEHeader(m.Header), m.Body, deepest)
}

// part looks into a part of a mail, and into the parts that it is made of.
func (l *letter) part(header textproto.MIMEHeader, body io.Reader, depth int) {
	for _, values := range header {
		for _, value := range values {
			l.search.In([]byte(decodedHeader(value)))
		}
	}
	kind, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		kind = "text/plain" // RFC 2045, section 5.2
	}
	if boundary := parameters["boundary"]; strings.HasPrefix(kind, "multipart/") && boundary != "" && depth > 0 {
		l.parts(multipart.NewReader(body, boundary), depth)
		return
	}
	body = transferred(body, header.Get("Content-Transfer-Encoding"))
	if kind == "message/rfc822" && depth > 0 {
		if inner, err := mail.ReadMessage(io.LimitReader(body, mostPart)); err == nil {
			l.part(textproto.MIMEHeader(inner.Header), inner.Body, depth-1)
		}
		return
	}
	content, _ := io.ReadAll(io.LimitReader(body, mostPart)) // what came before a mistake is worth a look
	if len(content) == mostPart {
		l.unread = fmt.Sprintf("the mail has a part of which the first %d MiB were looked at", mostPart>>20)
	}
	if charset := charsetOf(parameters["charset"]); charset != nil {
		content, _ = charset.NewDecoder().Bytes(content)
	}
	l.search.In(content)
	if l.text == nil && strings.HasPrefix(kind, "text/") {
		l.text = bytes.Clone(content[:min(len(content), mostText)])
	}
}

// parts looks into the parts of a multipart, in their order.
func (l *letter) parts(r *multipart.Reader, depth int) {
	for range mostParts {
		p, err := r.NextRawPart()
		if err != nil { // io.EOF is the end, and nothing comes after a mistake
			return
		}
		l.part(p.Header, p, depth-1)
	}
	l.unread = fmt.Sprintf("the mail has more than %d parts, of which the first %[1]d were looked at", mostParts)
}

// transferred undoes a transfer encoding (RFC 2045, section 6).
func transferred(body io.Reader, encoding string) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, body)
	default:
		return body
	}
}

// decodedHeader undoes the encoded words of a header (RFC 2047); what cannot be undone stays as it is.
func decodedHeader(text string) string {
	words := mime.WordDecoder{CharsetReader: func(name string, in io.Reader) (io.Reader, error) {
		charset := charsetOf(name)
		if charset == nil {
			return nil, errors.New("an unknown charset")
		}
		return charset.NewDecoder().Reader(in), nil
	}}
	decoded, err := words.DecodeHeader(text)
	if err != nil {
		return text
	}
	return decoded
}

// charsetOf is a charset by its name; nil: it is UTF-8, or one that is not known, which has the letters and digits of ASCII. Those
// of Chinese, Japanese and Korean are not known, because their tables would take more room than all else of a mail.
func charsetOf(name string) encoding.Encoding {
	squeezed := func(name string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	}
	wanted := squeezed(name)
	switch wanted {
	case "utf16":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM) // RFC 2781, section 4.3
	case "utf16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case "utf16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	for _, e := range charmap.All {
		if known, named := e.(*charmap.Charmap); named && squeezed(known.String()) == wanted {
			return known
		}
	}
	return nil
}

// counting counts what it reads, and keeps the error that is not the end.
type counting struct {
	in  io.Reader
	n   int64
	err error
}

// Read reads on, and counts.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// beginning keeps the first bytes that are written.
type beginning struct {
	text []byte
	room int
}

// Write keeps what there is room for. It never fails, as the mail goes on.
func (b *beginning) Write(p []byte) (int, error) {
	n := min(len(p), b.room-len(b.text))
	b.text = append(b.text, p[:n]...)
	return len(p), nil
}
