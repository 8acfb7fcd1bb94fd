package drafting

import (
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

var (
	// wordOf matches a word of a text that may name what was created.
	wordOf = regexp.MustCompile(`[\p{L}\p{N}][\p{L}\p{N}_-]*`)
	// before matches the word in front of a name, and what stands between the two.
	before = regexp.MustCompile(`(\p{L}+)[\s:=#"'(]*$`)
)

// inWords is the pattern by which an answer that is a plain text names a value: as a word of its own, behind the word that stands in front of it,
// or at the beginning.
func inWords(body, value string) contract.Identity {
	if strings.HasPrefix(strings.TrimSpace(body), "<") {
		return contract.Identity{}
	}
	name := `([\p{L}\p{N}][\p{L}\p{N}_-]*)`
	if plainNumber.MatchString(value) {
		name = anyNumber + `(?:[^\p{L}\p{N}_.,-]|[.,]?(?:[\s"')]|$))` // and no amount
	}
	for _, at := range wordOf.FindAllStringIndex(body, -1) {
		if body[at[0]:at[1]] != value {
			continue
		}
		front := `^["\s]*`
		if word := before.FindStringSubmatch(body[:at[0]]); word != nil {
			front = `(?:^|[^\p{L}])` + regexp.QuoteMeta(word[1]) + `[\s:=#"'(]*`
		} else if strings.Trim(body[:at[0]], "\" \t\r\n") != "" {
			continue
		}
		if named := (contract.Identity{Pattern: front + name}); named.In(body) == value {
			return named
		}
	}
	return contract.Identity{}
}

// SaidInWords reports that an answer was found to name what was created as a word of a plain text: not in an element, nor in a member of JSON, which
// is called like what has the address of a thing.
func SaidInWords(f File) bool {
	return f.Proof != nil && f.Proof.Named.InText() && !strings.HasPrefix(f.Proof.Named.Pattern, "<") && !strings.HasPrefix(f.Proof.Named.Pattern, `"`)
}

// unsaid reports that such a word does not name what was created: it is not the key of the rows of other creates as well, or it is what holds now,
// such as how many there are, which is another one only when something else was created.
func unsaid(f *File, r Repeated) bool {
	p := f.Proof
	key := func(row map[string]string) string { return p.Shown.Of(row[p.Identity]) }
	switch {
	case !SaidInWords(*f):
		return false
	case p.Identity == "" || r.Rows != 1 || r.Row == nil || f.name(r.First) != key(r.Row) || f.name(r.First) == r.First.Key:
		return true
	case len(r.Apart) != 2 || r.ApartRow == nil:
		return len(r.Row[p.Identity]) < telling
	}
	return f.name(r.Apart[0]) != key(r.ApartRow) || f.name(r.Again) == f.name(r.First) && f.name(r.Apart[1]) != f.name(r.Apart[0])
}
