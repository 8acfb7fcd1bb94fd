package targets

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/doubletap-harness/doubletap/contract"
)

// meaning is one thing that an answer can mean, and by what it is known.
type meaning struct {
	line      string // of the contract
	says      string // follows "means that"
	signature contract.Signature
}

// The places of the meanings, in the order in which an answer is tried. The last three are
// refusals, for which an answer is tried only when it is nothing else.
const (
	meansThrottled = iota
	meansRunning
	meansAccepted
	meansDone
	meansExists
	meansExpired
	meansMismatch
	meansNoKey
)

func meanings(c contract.Contract) []meaning {
	return []meaning{
		meansThrottled: {line: "throttled", says: "the request was turned away at the door", signature: c.Throttled},
		meansRunning:   {line: "in_progress", says: "the first request is still running", signature: c.InProgress.Signature},
		meansAccepted:  {line: "ack.accepted", says: "it will be done", signature: c.Ack.Accepted.Signature},
		meansDone:      {line: "ack", says: "it is done", signature: c.Ack.Signature},
		meansExists:    {line: "existing", says: "it exists already", signature: c.Existing.Signature},
		meansExpired:   {line: "expiry", says: "the key is forgotten", signature: c.Expiry.Signature},
		meansMismatch:  {line: "fingerprint", says: "the body differs", signature: c.Fingerprint.Signature},
		meansNoKey:     {line: "missing_key", says: "the key is missing", signature: c.MissingKey},
	}
}

// overlap is two meanings that one answer can have.
type overlap struct {
	first, second int  // meanings; an answer is tried for first before second
	status        int  // that they share
	hidden        bool // whatever means second means first as well, so that second is never recognised
}

// overlaps lists the meanings that share a status with nothing in the body to tell them apart.
func overlaps(c contract.Contract) []overlap {
	var all []overlap
	meanings := meanings(c)
	for i, first := range meanings {
		for j := i + 1; j < len(meanings); j++ {
			second := meanings[j].signature
			if status, ok := shared(first.signature, second); ok {
				all = append(all, overlap{first: i, second: j, status: status, hidden: covers(first.signature, second)})
			}
		}
	}
	return all
}

// misleading reports that by such a contract a correct target would be found to break its promises,
// or could never be seen to keep them. What is left only makes some answers weaker evidence.
func (o overlap) misleading() bool {
	switch {
	case !o.hidden:
		return false
	case o.second == meansNoKey:
		return o.first == meansAccepted || o.first == meansDone || o.first == meansExists
	case o.first == meansExpired: // the time tells it from what comes after
		return false
	case o.first == meansThrottled:
		return o.second != meansRunning
	default:
		return o.first != meansRunning || o.second != meansExists
	}
}

// path returns where the line stands in a file.
func (m meaning) path() string { return "/contract/" + strings.ReplaceAll(m.line, ".", "/") }

// shared returns a status of both signatures, unless their bodies tell them apart. Two patterns of one header may
// both match.
func shared(s, other contract.Signature) (int, bool) {
	for pointer, value := range s.Where {
		if different, both := other.Where[pointer]; both && !reflect.DeepEqual(value, different) {
			return 0, false
		}
	}
	i := slices.IndexFunc(s.Statuses, func(status int) bool { return slices.Contains(other.Statuses, status) })
	if i < 0 {
		return 0, false
	}
	return s.Statuses[i], true
}

// covers reports that every answer of a shared status that bears the other signature bears s too.
func covers(s, other contract.Signature) bool {
	for pointer, value := range s.Where {
		if same, both := other.Where[pointer]; !both || !reflect.DeepEqual(value, same) {
			return false
		}
	}
	for name, pattern := range s.Headers {
		if same, both := other.Headers[name]; !both || pattern != same {
			return false
		}
	}
	return true
}

// anyOf joins statuses as in "200, 201 or 204".
func anyOf(statuses []int) string {
	var words []string
	for _, status := range statuses {
		words = append(words, strconv.Itoa(status))
	}
	return enumerate(words, "or")
}

func enumerate(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	head, tail := words[:len(words)-1], words[len(words)-1]
	return strings.Join(head, ", ") + " " + last + " " + tail
}

// word returns a text that a file holds as it stands, in quotes where it would not read as one word.
func word(text string) string {
	strange := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, strange) {
		return strconv.Quote(text)
	}
	return text
}
