package contract

import (
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// KeyPart is a piece of what keys look like: a text that all of them have, or characters that are drawn for each.
type KeyPart struct {
	Text   string // empty: it is drawn
	Among  string // characters of which each is drawn
	Length int    // how many are drawn
}

// leastKeyBits is how much of a key must be drawn, in bits: nine digits. With less, two keys of one run may be the same.
const leastKeyBits = 29

// Shaped returns a key of the form of k.Like that is drawn from another one: the same from the same. Without a form, and of no key, it is that one.
func (k Key) Shaped(key string) string {
	if k.Like == "" || key == "" {
		return key
	}
	source := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(key))))
	var b strings.Builder
	for _, part := range k.Form() {
		b.WriteString(part.Text)
		for range part.Length {
			b.WriteByte(part.Among[source.IntN(len(part.Among))])
		}
	}
	return b.String()
}

// Drawable reports that enough of a key like k.Like is drawn for keys to differ.
func (k Key) Drawable() bool {
	bits := 0.0
	for _, part := range k.Form() {
		bits += float64(part.Length) * math.Log2(float64(max(len(part.Among), 1)))
	}
	return bits >= leastKeyBits
}

// Form returns what keys like k.Like have in common, and what is drawn. In common are words and dates that they begin with, what is not a letter or a
// digit, the time at the beginning of a ULID, of a UUID of version 7 and of a long number, and the version of a UUID (RFC 9562, section 4).
func (k Key) Form() (parts []KeyPart) {
	kept := keptOf(k.Like)
	for at := 0; at < len(k.Like); {
		end := at + 1
		if kept[at] {
			for end < len(k.Like) && kept[end] {
				end++
			}
			parts = append(parts, KeyPart{Text: k.Like[at:end]})
			at = end
			continue
		}
		for end < len(k.Like) && !kept[end] {
			end++
		}
		among := charactersOf(k.Like, kept, at, end)
		if among == digits && k.Like[at] != '0' { // a number keeps its length
			parts = append(parts, KeyPart{Among: digits[1:], Length: 1})
			at++
		}
		if at < end {
			parts = append(parts, KeyPart{Among: among, Length: end - at})
		}
		at = end
	}
	return parts
}

// The characters of which keys are drawn. Where letters and digits are mixed, they are those that every usual alphabet has: that of Base32 (RFC 4648,
// section 6) and Crockford's, or of Base58.
const (
	digits     = "0123456789"
	hex        = digits + "abcdef"
	letters    = "abcdefghijklmnopqrstuvwxyz"
	mixed      = "abcdefghjkmnpqrstvwxyz234567"
	bothCases  = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	allMixed   = bothCases + "23456789"
	crockford  = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	ulidLength = 26
	ulidTime   = 10 // characters of a ULID that are its time
)

// charactersOf are those of which a run of drawn characters is drawn.
func charactersOf(like string, kept []bool, from, to int) string {
	var all strings.Builder
	for at := range like {
		if !kept[at] {
			all.WriteByte(like[at])
		}
	}
	run := like[from:to]
	lower := strings.ToLower(all.String())
	if strings.Trim(lower, hex) == "" && strings.ContainsAny(lower, digits) && strings.ContainsAny(lower, letters) {
		return cased(hex, all.String())
	}
	small, large := strings.ContainsAny(run, letters), strings.ContainsAny(run, strings.ToUpper(letters))
	switch {
	case !small && !large:
		return digits
	case small && large && strings.ContainsAny(run, digits):
		return allMixed
	case small && large:
		return bothCases
	case strings.ContainsAny(run, digits):
		return cased(mixed, run)
	default:
		return cased(letters, run)
	}
}

// cased is an alphabet in the case of a text.
func cased(alphabet, as string) string {
	if as == strings.ToUpper(as) {
		return strings.ToUpper(alphabet)
	}
	return alphabet
}

// keptOf says of each byte of a key whether other keys have it, too.
func keptOf(like string) []bool {
	kept := make([]bool, len(like))
	keep := func(from, to int) {
		for at := max(from, 0); at < min(to, len(like)); at++ {
			kept[at] = true
		}
	}
	for at := range len(like) {
		kept[at] = !isDigit(like[at]) && !isLetter(like[at])
	}
	switch {
	case isUUID(like):
		keep(14, 15)
		keep(19, 20)
		if like[14] == '7' {
			keep(0, 13)
		}
		return kept
	case len(like) == ulidLength && like[0] <= '7' && strings.Trim(strings.ToUpper(like), crockford) == "":
		keep(0, ulidTime)
		return kept
	}
	begin := 0
	for rest := like; ; rest = like[begin:] {
		length := beginsWith(rest)
		if length == 0 || length == len(rest) {
			break
		}
		keep(begin, begin+length)
		begin += length
	}
	const drawnDigits = 11 // of a long number, which may begin with a time
	if number := like[begin:]; len(number) > drawnDigits+1 && strings.Trim(number, digits) == "" {
		keep(begin, len(like)-drawnDigits)
	}
	if strings.HasSuffix(like, "=") { // the last character of Base64 before what fills it up is not free
		keep(len(strings.TrimRight(like, "="))-1, len(like))
	}
	return kept
}

// beginsWith is the length of a word or a date at the beginning of a text that keys have in common, with what stands behind it; 0: there is none.
func beginsWith(text string) int {
	for _, layout := range []string{"2006-01-02", "20060102"} {
		if len(text) > len(layout) && !isDigit(text[len(layout)]) {
			if _, err := time.Parse(layout, text[:len(layout)]); err == nil {
				return len(layout) + 1
			}
		}
	}
	word := 0
	for word < len(text) && isLetter(text[word]) {
		word++
	}
	rest := text[word:]
	switch {
	case word == 0 || rest == "":
		return 0
	case !isDigit(rest[0]): // order-
		return word + 1
	case strings.Trim(rest, digits) == "": // ORD1234567890
		return word
	default:
		return 0
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// isUUID reports that a text has the form of a UUID (RFC 9562, section 4).
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for at := range len(text) {
		if dash := at == 8 || at == 13 || at == 18 || at == 23; dash != (text[at] == '-') || !dash && !strings.ContainsRune(hex, rune(text[at]|0x20)) && !isDigit(text[at]) {
			return false
		}
	}
	return true
}
