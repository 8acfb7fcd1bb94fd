package sinks

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"slices"
)

// How far one message is searched.
const (
	mostNames   = 64
	deepest     = 4        // encodings inside each other
	mostDecoded = 16 << 20 // bytes, of all encodings together
	mostRuns    = 4096     // of base64, in one text
)

// Search collects the markers and references in the texts of one message, however they are encoded there. It is for one goroutine.
type Search struct {
	names []string
	taken int // bytes that were looked at, of all encodings together
}

// In looks into a text, and into what it is an encoding of.
func (s *Search) In(text []byte) { s.in(text, deepest) }

// Names returns what was found, each once, in the order in which it was found.
func (s *Search) Names() []string { return s.names }

// in looks into a text, and as deep as depth into what it encodes. All that is decoded counts, so
// that a small message cannot unfold into gigabytes.
func (s *Search) in(text []byte, depth int) {
	if len(text) == 0 || s.taken+len(text) > mostDecoded {
		return
	}
	s.taken += len(text)
	s.scan(text)
	if depth == 0 {
		return
	}
	for _, decoded := range [][]byte{unpacked(text), withoutPercent(text), withoutEscapes(text)} {
		s.in(decoded, depth-1)
	}
	for _, run := range base64Runs(text) {
		s.in(fromBase64(run), depth-1)
	}
}

// scan notes what looks like a marker ("dt" and 16 letters and digits) or a reference ("ref" and as many), in either case. Letters of
// both cases are none: base64 has one such text in 2 KB.
func (s *Search) scan(text []byte) {
	lower := lowered(text)
	for _, prefix := range []string{"dt", "ref"} {
		for at := 0; ; at++ {
			next := bytes.Index(lower[at:], []byte(prefix))
			if next < 0 {
				break
			}
			at += next
			name := lower[at:min(len(lower), at+len(prefix)+16)]
			if rest := text[at+1 : at+len(name)]; len(name) == len(prefix)+16 && oneCase(rest) && !bytes.ContainsFunc(name, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
				s.note(string(name))
			}
		}
	}
}

// oneCase reports that a text has not letters of both cases. The first one of a word is left out, which some write large.
func oneCase(text []byte) bool {
	return bytes.Equal(text, bytes.ToLower(text)) || bytes.Equal(text, bytes.ToUpper(text))
}

// lowered has the letters of ASCII small, and all else as it is: bytes that are no UTF-8 keep their places.
func lowered(text []byte) []byte {
	lower := bytes.Clone(text)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return lower
}

// note adds a name that is new.
func (s *Search) note(name string) {
	if len(s.names) < mostNames && !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
}

// unpacked undoes gzip and zlib; nil: it is neither.
func unpacked(text []byte) []byte {
	var in io.Reader
	var err error
	switch {
	case bytes.HasPrefix(text, []byte{0x1f, 0x8b}):
		in, err = gzip.NewReader(bytes.NewReader(text))
	case len(text) > 2 && text[0] == 0x78 && (int(text[0])<<8+int(text[1]))%31 == 0:
		in, err = zlib.NewReader(bytes.NewReader(text))
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(in, mostBody)) // what came before a mistake is worth a look
	return out
}

// percent matches a byte that is encoded in a URL (RFC 3986, section 2.1).
var percent = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// withoutPercent undoes percent-encoding; nil: there is none.
func withoutPercent(text []byte) []byte {
	if !bytes.ContainsRune(text, '%') || !percent.Match(text) { // the first is quick
		return nil
	}
	return percent.ReplaceAllFunc(text, func(code []byte) []byte { return []byte{nibble(code[1])<<4 | nibble(code[2])} })
}

// nibble is the value of a hexadecimal digit.
func nibble(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	default:
		return c - '0'
	}
}

// escapes matches the escapes of JSON that letters and digits of a marker can stand in or beside.
var escapes = regexp.MustCompile(`\\(u[0-9A-Fa-f]{4}|["\\/])`)

// withoutEscapes undoes the escapes of JSON; nil: there are none.
func withoutEscapes(text []byte) []byte {
	if !bytes.ContainsRune(text, '\\') || !escapes.Match(text) {
		return nil
	}
	return escapes.ReplaceAllFunc(text, func(code []byte) []byte {
		var plain string
		if json.Unmarshal(slices.Concat([]byte(`"`), code, []byte(`"`)), &plain) != nil {
			return code
		}
		return []byte(plain)
	})
}

// shortestRun is base64 of a marker: 18 characters take 24.
const shortestRun = 24

// base64Runs returns the first texts inside a text that may be base64, in either alphabet.
func base64Runs(text []byte) [][]byte {
	var runs [][]byte
	begin := 0
	for i := 0; i <= len(text) && len(runs) < mostRuns; i++ {
		if i < len(text) && inBase64[text[i]] {
			continue
		}
		if i-begin >= shortestRun {
			runs = append(runs, text[begin:i])
		}
		begin = i + 1
	}
	return runs
}

// inBase64 says of each byte whether it is a digit of base64.
var inBase64 = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-") {
		is[c] = true
	}
	return is
}()

// fromBase64 undoes base64, in either alphabet; nil: it is none.
func fromBase64(run []byte) []byte {
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	out := make([]byte, encoding.DecodedLen(len(run)))
	n, _ := encoding.Decode(out, run) // what came before a mistake is worth a look
	return out[:n]
}
