package driver

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/outline"
)

// longestRead bounds the body that is read as JSON or unpacked: 2 MiB. Of a longer one there is only a digest.
const longestRead = 2 << 20

// keepBody records what came of the answer's body. A digest is only that of a complete one. The error says that the body
// is not in the content coding that its header names: no client can read it.
func (x *exchange) keepBody(body *recordedBody, complete bool) error {
	x.record.Complete = complete
	coding := strings.ToLower(strings.TrimSpace(x.record.Header["Content-Encoding"]))
	if complete && body.length > 0 && coding != "" && coding != "identity" {
		plain, err := body.unpacked(coding)
		switch {
		case err == nil:
			body = plain
		case errors.Is(err, errUnread):
			x.record.Unread = err.Error()
		default:
			x.record.Complete = false
			x.record.Length, x.record.Content = body.length, body.text()
			return fmt.Errorf("the body is not the %s that its header names: %w", coding, err)
		}
	}
	x.record.Length, x.record.Content = body.length, body.text()
	if !complete || body.whole() && x.record.Unread == "" {
		return nil
	}
	x.record.Digest = hex.EncodeToString(body.digest.Sum(nil))
	if x.record.Unread == "" {
		x.record.Outline, x.record.Unread = body.outline()
	}
	return nil
}

// recordedBody keeps the beginning of what is written to it and digests all of it. A
// history of a million answers must fit on a disk, and two long answers must still be
// comparable: the digest says whether they are equal, and an outline where they differ.
// What may be JSON, or packed, it keeps up to longestRead bytes, for the outline. Not safe
// for concurrent use.
type recordedBody struct {
	keep   int
	kept   bytes.Buffer
	all    bytes.Buffer
	length int64 // of all of it
	digest hash.Hash
}

// newRecordedBody keeps so many bytes.
func newRecordedBody(keep int) *recordedBody { return &recordedBody{keep: keep, digest: sha256.New()} }

// Write never fails.
func (b *recordedBody) Write(p []byte) (int, error) {
	b.length += int64(len(p))
	if room := b.keep - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(room, len(p))])
	}
	if room := longestRead - b.all.Len(); b.mayBeRead() && room > 0 {
		b.all.Write(p[:min(room, len(p))])
	}
	return b.digest.Write(p)
}

// mayBeRead reports that a body begins like an object or a list of JSON, or like gzip or
// zlib. Images and the like are not kept to be read: only their digest is.
func (b *recordedBody) mayBeRead() bool {
	text := bytes.TrimLeft(b.kept.Bytes(), " \t\r\n")
	return len(text) == 0 || strings.IndexByte("{[\x1f\x78", text[0]) >= 0
}

// whole reports whether text returns exactly the body. If so, a digest would add nothing.
func (b *recordedBody) whole() bool {
	return b.length == int64(b.kept.Len()) && utf8.Valid(b.kept.Bytes())
}

// text is what was kept. A character that was cut, and what is no text, stand as U+FFFD.
func (b *recordedBody) text() string { return strings.ToValidUTF8(b.kept.String(), "\uFFFD") }

// outline returns the outline of the JSON that the body is, or why it is not known whether it is JSON; nothing: it is none.
func (b *recordedBody) outline() (short, unread string) {
	if !b.mayBeRead() {
		return "", ""
	}
	if b.length > int64(b.all.Len()) {
		return "", fmt.Sprintf("it is longer than %d MiB", longestRead>>20)
	}
	o, ok := outline.Of(b.all.Bytes())
	if !ok {
		return "", ""
	}
	text, err := json.Marshal(o)
	if err != nil {
		return "", "its outline cannot be written"
	}
	return string(text), ""
}

// errUnread says that a body is in a content coding that is not read.
var errUnread = errors.New("its content coding")

// unpacked returns the body without its content coding (RFC 9110, section 8.4). An error is errUnread, or the body is not
// in that coding.
func (b *recordedBody) unpacked(coding string) (*recordedBody, error) {
	open := map[string]func(io.Reader) (io.ReadCloser, error){
		"gzip": gunzip, "x-gzip": gunzip, "deflate": zlib.NewReader,
	}[coding]
	switch {
	case open == nil:
		return nil, fmt.Errorf("%w is %s", errUnread, coding)
	case b.length > int64(b.all.Len()) && b.mayBeRead():
		return nil, fmt.Errorf("%w is %s, and it is longer than %d MiB", errUnread, coding, longestRead>>20)
	}
	text := b.all.Bytes()
	if !b.mayBeRead() {
		text = b.kept.Bytes() // its header tells what it is not
	}
	in, err := open(bytes.NewReader(text))
	if errors.Is(err, zlib.ErrHeader) { // some send deflate without its frame
		return nil, fmt.Errorf("%w is deflate without the frame of zlib", errUnread)
	}
	if err != nil {
		return nil, err
	}
	plain := newRecordedBody(b.keep)
	_, err = io.Copy(plain, io.LimitReader(in, longestRead+1))
	if plain.length > longestRead {
		return nil, fmt.Errorf("%w is %s, and it is longer than %d MiB without it", errUnread, coding, longestRead>>20)
	}
	return plain, err
}

// gunzip has the type of the other readers.
func gunzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }
