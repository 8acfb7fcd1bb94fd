package mail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLetter reads anything as a mail. All of it is counted, and what is handed on is bounded.
func FuzzLetter(f *testing.F) {
	for _, text := range []string{
		"Subject: =?utf-8?q?Order_dtabcdefgh12345678?=\r\nMessage-Id: <a@b>\r\nContent-Type: text/plain; charset=iso-8859-15\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThank=20you=\r\n=zz",
		"Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nx\r\n--a--\r\n--a\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\ny\r\n--a--",
		"Content-Type: text/html; charset=utf-16\r\nContent-Transfer-Encoding: base64\r\n\r\n/v8AZAB0\r\n!", "Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n--", ": x\r\n\r\n", "Subject: =?x?b?%?= =?utf-16le?b?/w==?=\r\n\r\n",
		"Content-Type: message/rfc822\r\n\r\nContent-Type: message/rfc822\r\n\r\nContent-Type: message/rfc822\r\n\r\n", "\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := read(strings.NewReader(text), text)
		require.NoError(t, err)
		require.EqualValues(t, len(text), l.length)
		require.LessOrEqual(t, len(l.text), mostText)
		require.LessOrEqual(t, len(l.names), 64)
	})
}
