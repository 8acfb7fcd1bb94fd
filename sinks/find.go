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

// search collects the markers and references in one message, however they are encoded there.
type search struct {
	names []string
	room  int // bytes that may still be decoded
}

// find returns the markers and references in texts, each once, in the order in which they were found.
func find(texts ...[]byte) []string {
	s := search{room: mostDecoded}
	for _, text := range texts {
		s.in(text, deepest)
	}
	return s.names
}

// in looks into a text, and into what it is an encoding of.
func (s *search) in(text []byte, depth int) {
	if len(text) == 0 || s.room < len(text) {
		return
	}
	s.room -= len(text)
	s.scan(text)
	if depth == 0 {
		return
	}
	for _, decoded := range [][]byte{unpacked(text), withoutPercent(text), withoutEscapes(text)} {
		s.in(decoded, depth-1)
	}
	for _, run := range base64Runs.FindAll(text, mostRuns) {
		s.in(fromBase64(run), depth-1)
	}
}

// scan notes what looks like a marker ("dt" and 16 letters and digits) or a reference ("ref" and as many), in either case.
func (s *search) scan(text []byte) {
	lower := bytes.ToLower(text)
	for _, prefix := range []string{"dt", "ref"} {
		for at := 0; ; at++ {
			next := bytes.Index(lower[at:], []byte(prefix))
			if next < 0 {
				break
			}
			at += next
			name := lower[at:min(len(lower), at+len(prefix)+16)]
			if len(name) == len(prefix)+16 && !bytes.ContainsFunc(name, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
				s.note(string(name))
			}
		}
	}
}

func (s *search) note(name string) {
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

var percent = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// withoutPercent undoes percent-encoding; nil: there is none.
func withoutPercent(text []byte) []byte {
	if !percent.Match(text) {
		return nil
	}
	return percent.ReplaceAllFunc(text, func(code []byte) []byte { return []byte{nibble(code[1])<<4 | nibble(code[2])} })
}

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

var escapes = regexp.MustCompile(`\\(u[0-9A-Fa-f]{4}|["\\/])`)

// withoutEscapes undoes the escapes of JSON; nil: there are none.
func withoutEscapes(text []byte) []byte {
	if !escapes.Match(text) {
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

// base64Runs are texts that may be base64 of a marker: 18 characters take 24.
var base64Runs = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}`)

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
