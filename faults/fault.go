// Package faults is the vocabulary of what can be wrong with a connection: scenarios name faults, and the proxy
// injects them. It only describes them.
package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Clean is the lane without faults, which is always there.
const Clean = "clean"

// Fault is one thing wrong with a lane or a link. Exactly one member is set. See [Kinds] for what each does.
type Fault struct {
	Latency   *Latency   `yaml:"latency,omitempty"`
	Bandwidth *Bandwidth `yaml:"bandwidth,omitempty"`
	Withhold  *Withhold  `yaml:"withhold,omitempty"`
	HangUp    *HangUp    `yaml:"hang-up,omitempty"`
	Cut       *Cut       `yaml:"cut,omitempty"`
	Lose      Loss       `yaml:"lose,omitempty"`
	SlowClose *SlowClose `yaml:"slow-close,omitempty"`
	Slice     *Slice     `yaml:"slice,omitempty"`
	Toxic     *Toxic     `yaml:"toxic,omitempty"`
}

// Way is a direction of travel. The empty way is both.
type Way string

// The ways.
const (
	BothWays    Way = ""
	RequestWay  Way = "request"
	ResponseWay Way = "response"
)

// Latency delays bytes by Delay, give or take Jitter, in each direction it applies to.
type Latency struct {
	Delay  Duration `yaml:"delay,omitempty"`
	Jitter Duration `yaml:"jitter,omitempty"`
	Way    Way      `yaml:"way,omitempty"`
}

// Bandwidth limits the flow to Rate kilobytes per second.
type Bandwidth struct {
	Rate int64 `yaml:"rate,omitempty"`
	Way  Way   `yaml:"way,omitempty"`
}

// Withhold keeps every byte of the answer from the client, and the client's leaving from the target.
type Withhold struct{}

// HangUp closes both sides After the connection began: the target notices that the client is gone.
type HangUp struct {
	After Duration `yaml:"after,omitempty"`
}

// Cut breaks the answer off: with a reset at its first byte, or cleanly after so many bytes of it.
type Cut struct {
	Reset bool  `yaml:"reset,omitempty"`
	After int64 `yaml:"after,omitempty"` // bytes; with Reset false
}

// Loss is a message that gets lost, and with it the connection.
type Loss string

// The losses. A lost request never reaches the target; a lost response was sent by it.
const (
	LoseNothing  Loss = ""
	LoseRequest  Loss = "request"
	LoseResponse Loss = "response"
)

// SlowClose keeps a closed connection open for the other side for Delay.
type SlowClose struct {
	Delay Duration `yaml:"delay,omitempty"`
	Way   Way      `yaml:"way,omitempty"`
}

// Slice sends bytes in pieces of about Size, with Delay between them.
type Slice struct {
	Size      int64    `yaml:"size,omitempty"`
	Variation int64    `yaml:"variation,omitempty"`
	Delay     Duration `yaml:"delay,omitempty"`
	Way       Way      `yaml:"way,omitempty"`
}

// Toxic is any toxic of toxiproxy by its own name and attributes, always at toxicity 1.
type Toxic struct {
	Type       string         `yaml:"type,omitempty"`
	Stream     string         `yaml:"stream,omitempty"` // upstream or downstream
	Attributes map[string]any `yaml:"attributes,omitempty"`
}

// Moment is when something passes a link: a number from 1, where 1 is the first question after a request
// began, 2 its answer, 3 the second question; or one of the words.
type Moment string

// The moments that have a word. They are known by the text "commit" and by the marker, which databases are sent as
// they are unless the link is encrypted. Of those with the marker there may be several: "written-2" is the second.
const (
	AtCommit    Moment = "commit"    // the question that asks for a commit, which is lost
	AtCommitted Moment = "committed" // its answer
	AtWrite     Moment = "write"     // the question that carries the intent's marker or reference, which is lost
	AtWritten   Moment = "written"   // its answer
)

// Nth is the n-th moment of a word, from 1.
func (m Moment) Nth(n int) Moment { return Moment(fmt.Sprintf("%s-%d", m, n)) }

// Word splits a moment into its word and which of those it is; 0: that is open.
func (m Moment) Word() (word Moment, nth int) {
	before, after, _ := strings.Cut(string(m), "-")
	nth, _ = strconv.Atoi(after)
	return Moment(before), nth
}

// Count returns the number of a moment; 0: it has a word, or is none.
func (m Moment) Count() int {
	n, _ := strconv.Atoi(string(m))
	return n
}

// Duration is a time in a file, such as 300ms. It is not negative.
type Duration time.Duration
