package driver

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

// Names draws the markers, references and keys of one scenario in one run. They come from the seed
// and the run's id, so a run can be judged again from its seed, and a second run of the same plan
// does not meet the rows of the first. The zero value is usable; safe for concurrent use.
type Names struct {
	Seed     uint64
	Run      string
	Scenario string
}

// Marker returns the text that a body carries into a stored field: 18 letters and digits, lower
// case, so that collations and column widths leave it alone. Family is the number of the intent
// whose body it is.
func (n Names) Marker(family int, body string) string {
	return "dt" + n.letters("marker", fmt.Sprint(family), body)
}

// Reference returns the business reference of an intent, equal for both of its bodies.
func (n Names) Reference(family int) string {
	return "ref" + n.letters("reference", fmt.Sprint(family))
}

// Key returns an idempotency key in the form of a version 4 UUID (RFC 9562).
func (n Names) Key(intent, name string) string {
	b := n.sum("key", intent, name)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func (n Names) letters(parts ...string) string {
	sum := n.sum(parts...)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

func (n Names) sum(parts ...string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s", n.Seed, n.Run, n.Scenario, strings.Join(parts, "\x00")))
}
