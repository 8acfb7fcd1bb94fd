package contract

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// SaysAbsent reports that a status says that what was asked for does not exist, or not any
// more (RFC 9110, sections 15.5.5 and 15.5.11). Of a create that is done it is no sign that
// it still runs, unless the contract names the status: a look-up that cannot see what
// another transaction commits answers that by mistake.
func SaysAbsent(status int) bool {
	return status == http.StatusNotFound || status == http.StatusGone
}

// Meaning is one thing that an answer can mean, and the signature by which it is known.
type Meaning struct {
	Line      string // of the contract: "in_progress"
	Says      string // follows "means that"
	Signature Signature
}

// The indexes of Meanings, in the order in which an answer is tried. The last three are
// refusals, for which an answer is tried only when it is nothing else.
const (
	MeansThrottled = iota
	MeansRunning
	MeansDeclined
	MeansAccepted
	MeansDone
	MeansExists
	MeansExpired
	MeansMismatch
	MeansNoKey
)

// Meanings lists what an answer can mean; the index is one of the Means constants.
func (c Contract) Meanings() []Meaning {
	return []Meaning{
		MeansThrottled: {Line: "throttled", Says: "the request was rejected before any handling", Signature: c.Throttled},
		MeansRunning:   {Line: "in_progress", Says: "the first request is still running", Signature: c.InProgress.Signature},
		MeansDeclined:  {Line: "errors.declined", Says: "it was declined for good", Signature: c.Errors.Declined},
		MeansAccepted:  {Line: "ack.accepted", Says: "it will be done", Signature: c.Ack.Accepted.Signature},
		MeansDone:      {Line: "ack", Says: "it is done", Signature: c.Ack.Signature},
		MeansExists:    {Line: "existing", Says: "it exists already", Signature: c.Existing.Signature},
		MeansExpired:   {Line: "expiry", Says: "the key is forgotten", Signature: c.Expiry.Signature},
		MeansMismatch:  {Line: "fingerprint", Says: "the body differs", Signature: c.Fingerprint.Signature},
		MeansNoKey:     {Line: "missing_key", Says: "the key is missing", Signature: c.MissingKey},
	}
}

// Overlap is two meanings that one answer can have.
type Overlap struct {
	First, Second int  // meanings; an answer is tried for First before Second
	Status        int  // that they share
	Hidden        bool // whatever means Second means First as well, so that Second is never recognised
}

// Overlaps lists the meanings that share a status with nothing in the body to distinguish them.
func (c Contract) Overlaps() []Overlap {
	var all []Overlap
	meanings := c.Meanings()
	for i, first := range meanings {
		for j := i + 1; j < len(meanings); j++ {
			second := meanings[j].Signature
			if status, ok := first.Signature.Shared(second); ok {
				all = append(all, Overlap{First: i, Second: j, Status: status, Hidden: first.Signature.Covers(second)})
			}
		}
	}
	return all
}

// Misleading reports that by such a contract a correct target would be found to break its promises,
// or could never be seen to keep them. What is left only makes some answers weaker evidence.
func (o Overlap) Misleading() bool {
	switch {
	case !o.Hidden:
		return false
	case o.Second == MeansNoKey:
		return o.First == MeansAccepted || o.First == MeansDone || o.First == MeansExists
	case o.First == MeansExpired: // the time tells it from what comes after
		return false
	case o.First == MeansThrottled:
		return o.Second != MeansRunning
	default:
		return o.First != MeansRunning || o.Second != MeansExists
	}
}

// Path returns where the line stands in a file.
func (m Meaning) Path() string { return "/contract/" + strings.ReplaceAll(m.Line, ".", "/") }

// Shared returns a status of both signatures, unless their bodies distinguish them. Two patterns of one header may
// both match.
func (s Signature) Shared(other Signature) (int, bool) {
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

// Covers reports that every answer of a shared status that bears the other signature bears s too.
func (s Signature) Covers(other Signature) bool {
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
