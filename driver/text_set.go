package driver

import (
	"cmp"
	"slices"
	"strings"
)

// textSet finds texts of at least ShortestSecret bytes in others. To add one takes as long
// whatever there is already, and to search takes one look-up per byte, since the texts are
// found by their first bytes. strings.Replacer would be built anew for each text that is
// added, and steps of a million intents extract one each. Not safe for concurrent use.
type textSet struct {
	texts   map[string]bool
	begins  map[string]*sameStart // by their first ShortestSecret bytes
	first   [256]bool             // bytes that a text begins with
	longest int
}

// sameStart is what the texts with the same first bytes are.
type sameStart struct {
	lengths []int // longest first, each once
	texts   []string
}

// newTextSet is empty.
func newTextSet() textSet { return textSet{texts: map[string]bool{}, begins: map[string]*sameStart{}} }

// add adds a text of at least ShortestSecret bytes.
func (s *textSet) add(text string) {
	if s.texts[text] {
		return
	}
	s.texts[text], s.first[text[0]], s.longest = true, true, max(s.longest, len(text))
	b := s.begins[text[:ShortestSecret]]
	if b == nil {
		b = &sameStart{}
		s.begins[text[:ShortestSecret]] = b
	}
	b.texts = append(b.texts, text)
	if at, there := slices.BinarySearchFunc(b.lengths, len(text), func(a, b int) int { return cmp.Compare(b, a) }); !there {
		b.lengths = slices.Insert(b.lengths, at, len(text))
	}
}

// leads returns the length of the longest text of the set that begins at a place of another; 0: there is none.
func (s *textSet) leads(text string, at int) int {
	if len(text)-at < ShortestSecret || !s.first[text[at]] {
		return 0
	}
	if b := s.begins[text[at:at+ShortestSecret]]; b != nil {
		for _, n := range b.lengths {
			if at+n <= len(text) && s.texts[text[at:at+n]] {
				return n
			}
		}
	}
	return 0
}

// mask puts *** for each text of the set, longer ones first, but not inside the public text.
func (s *textSet) mask(text, public string) string {
	var out strings.Builder
	done := 0
	for at := 0; at < len(text); {
		n := s.leads(text, at)
		switch {
		case public != "" && n <= len(public) && strings.HasPrefix(text[at:], public):
			at += len(public)
		case n > 0:
			out.WriteString(text[done:at])
			out.WriteString(masked)
			at += n
			done = at
		default:
			at++
		}
	}
	if done == 0 {
		return text
	}
	return out.String() + text[done:]
}

// maskEnd masks the beginning of a text of the set at the end of another.
func (s *textSet) maskEnd(text string) string {
	for at := max(0, len(text)-s.longest+1); at+ShortestSecret <= len(text); at++ {
		b := s.begins[text[at:at+ShortestSecret]]
		if b != nil && slices.ContainsFunc(b.texts, func(secret string) bool { return len(secret) > len(text)-at && strings.HasPrefix(secret, text[at:]) }) {
			return text[:at] + masked
		}
	}
	return text
}
