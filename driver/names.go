package driver

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// Names draws the markers, references and keys of one scenario in one run. They come from the seed
// and the run's id, so a run can be judged again from its seed, and a second run of the same plan
// does not meet the rows of the first. The zero value is usable; safe for concurrent use.
type Names struct {
	Seed     uint64
	Run      string
	Scenario string
}

// Marker returns the text that a body carries into a stored field: 18 letters and digits,
// lower case, so that collations and column widths leave it alone. Family is the number of
// the intent whose body it is; twins share it.
func (n Names) Marker(family int, body string) string {
	return "dt" + n.letters("marker", fmt.Sprint(family), body)
}

// NumberMarker returns a marker for an API that takes no text: a whole number of nine digits, which fits into 32 bits.
func (n Names) NumberMarker(family int, body string) string {
	return targets.NineDigits(n.sum("number", fmt.Sprint(family), body))
}

// Reference returns the business reference of an intent, equal for both of its bodies.
func (n Names) Reference(family int) string {
	return "ref" + n.letters("reference", fmt.Sprint(family))
}

// Key returns an idempotency key in the form of a version 4 UUID (RFC 9562).
func (n Names) Key(intent, name string) string {
	return targets.UUID(n.sum("key", intent, name))
}

// Draws returns what the functions of templates draw from, for the family of an intent. The plan of
// another run gives the same, but for what is unique.
func (n Names) Draws(family int, now time.Time) targets.Draws {
	plan := fmt.Sprintf("%d\x00%s\x00%d", n.Seed, n.Scenario, family)
	return targets.Draws{Plan: plan, Run: n.Run + "\x00" + plan, Now: now}
}

// NeighbourKey returns the key of an intent that has neighbours: its own, or one that resembles theirs. No
// two of them are equal unless they are meant to be. A blank key is empty.
func (n Names) NeighbourKey(kin scenarios.Neighbour, intent string) string {
	family := fmt.Sprint("kin", kin.First)
	base := alikeLetters + n.letters("key", family)
	if kin.Pair > 0 {
		base += fmt.Sprint(kin.Pair)
	}
	switch kin.Keys {
	case scenarios.KeysUnlike:
		return n.Key(intent, scenarios.OwnKey)
	case scenarios.KeysEqual:
		return n.Key(family, scenarios.OwnKey)
	case scenarios.KeysCase:
		return inCase(base, kin.Form())
	case scenarios.KeysSpace:
		return base + strings.Repeat(" ", kin.Form())
	case scenarios.KeysQuote:
		return base + strings.Repeat(`"`, kin.Form())
	case scenarios.KeysLong:
		alike := longKeys[kin.First/2%len(longKeys)]
		begin := n.Key(family, scenarios.OwnKey) + strings.Repeat("x", alike)
		if alike == begins && kin.Place == 1 {
			return begin[:alike]
		}
		return begin[:alike] + fmt.Sprintf("%03d", kin.Place)
	default:
		return ""
	}
}

// alikeLetters begin every key that resembles another: 7 letters have 128 cases.
const alikeLetters = "letters"

// longKeys are the lengths up to which long keys are equal, pair by pair: each is a little more than what columns usually hold, and than the
// one before, as a target that cuts keys may refuse those that are much longer. The first one is a UUID.
var longKeys = []int{33, 45, 77, 137, 197, 300}

// begins is the length of those long keys of which the second is the beginning of the first: a target that looks for keys by how they begin, or
// within a text, finds another's. Keys with a quotation mark show that, too, where a target takes them.
const begins = 45

// inCase raises the letters of which a bit is set in n.
func inCase(text string, n int) string {
	letters := []byte(text)
	for i := range alikeLetters {
		if n>>i&1 == 1 {
			letters[i] -= 'a' - 'A'
		}
	}
	return string(letters)
}

// letters returns a sum as lower-case letters and digits.
func (n Names) letters(parts ...string) string {
	return targets.Letters(n.sum(parts...))
}

// sum hashes what identifies a name. Zero bytes separate the parts, so that no two lists
// of parts give the same text.
func (n Names) sum(parts ...string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s", n.Seed, n.Run, n.Scenario, strings.Join(parts, "\x00")))
}
