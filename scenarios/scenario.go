// Package scenarios holds the scenario language: what clients and the network do, independent of
// any target. It turns a scenario file and a seed into a Plan, which names every intent and
// attempt; it sends nothing.
//
// A plan is pure: the same file and seed give the same plan, on any machine and against any
// target, so that a finding can be sent again. What is left to chance in a scenario is drawn here,
// from the seed. A plan holds no marker and no key: each run draws new ones.
//
// The files, in the order of a scenario's life: scenario.go has the types, [Load] reads them
// (load.go, values.go) and finds the mistakes that no schema sees (validate.go, obstacles.go);
// needs.go and needs_implied.go say what a target must have; planner.go plans each intent, and
// plan_part.go takes parts of a plan. [Simpler] and [Variations] make other scenarios of one, for
// shrink and hunt, and [Source] writes a file again.
package scenarios

import (
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proofs"
)

// Scenario is one scenario file.
type Scenario struct {
	Name        string                    `yaml:"name"`
	Summary     string                    `yaml:"summary"`
	Operation   string                    `yaml:"operation,omitempty"`   // of the target; empty is its first
	Intents     int                       `yaml:"intents,omitempty"`     // things the user wants
	Concurrency int                       `yaml:"concurrency,omitempty"` // intents in flight at once
	Twins       int                       `yaml:"twins,omitempty"`       // neighbouring intents that share one body; 0 and 1 are none
	Neighbours  *Neighbours               `yaml:"neighbours,omitempty"`
	Work        []faults.Duration         `yaml:"work,omitempty"`   // each intent takes the next one: its requests are made to take so long
	Answer      Answer                    `yaml:"answer,omitempty"` // that all requests ask for
	Needs       []Need                    `yaml:"needs,omitempty"`
	Lanes       map[string][]faults.Fault `yaml:"lanes,omitempty"` // besides Clean, which is always there
	Links       map[string][]faults.Fault `yaml:"links,omitempty"` // inside the target; only faults that slow
	Sinks       *SinkFault                `yaml:"sinks,omitempty"` // nil: sinks answer as the target file says
	Background  *Background               `yaml:"background,omitempty"`
	Steps       []Step                    `yaml:"steps"`
	Exercised   []Proof                   `yaml:"exercised"`
	Known       []KnownBug                `yaml:"known,omitempty"`
}

// SinkFault is what becomes of the answer to the first message of each intent that a sink acts on.
type SinkFault struct {
	Answer SinkAnswer      `yaml:"answer"`
	For    faults.Duration `yaml:"for,omitempty"` // with SinkLate: how late
}

// SinkAnswer is how the answer of a sink goes wrong. The sink has done what was asked.
type SinkAnswer string

// The ways: there is none, it is a failure, or it comes late.
const (
	SinkLost  SinkAnswer = "lost"
	SinkError SinkAnswer = "error"
	SinkLate  SinkAnswer = "late"
)

// Answer is a size of answers, which a target file says how to ask for. The zero value is the usual one.
type Answer string

// The sizes: 64 KiB or more, 1 MiB or more, and no body.
const (
	LargeAnswer Answer = "large"
	HugeAnswer  Answer = "huge"
	EmptyAnswer Answer = "empty"
)

// Clean is the name of the lane without faults.
const Clean = faults.Clean

// Background is plain creates that go on beside the scenario's intents, each an intent of its own, at a
// steady rate until the others are through.
type Background struct {
	Rate    float64 `yaml:"rate,omitempty"`    // requests per second
	Intents int     `yaml:"intents,omitempty"` // at most so many
	Send    `yaml:",inline"`
}

// Neighbours are intents in a row that a target may mistake for each other, because their keys are alike or because
// different principals or operations use the same key. Each has its own body unless they are twins as well.
type Neighbours struct {
	Of     int      `yaml:"of,omitempty"`     // how many belong together
	Keys   Likeness `yaml:"keys,omitempty"`   // of their own keys
	Across Across   `yaml:"across,omitempty"` // what each has to itself
}

// Likeness is how the keys of neighbours resemble each other.
type Likeness string

// The likenesses. The keys are unrelated; equal; differ in the case of their letters; in a space at
// the end; in a quotation mark; beyond their 300th character; or hold nothing at all.
const (
	KeysUnlike Likeness = ""
	KeysEqual  Likeness = "equal"
	KeysCase   Likeness = "case"
	KeysSpace  Likeness = "space"
	KeysQuote  Likeness = "quote"
	KeysLong   Likeness = "long"
	KeysBlank  Likeness = "blank"
)

// Across says what neighbours do not share: nothing in particular, or each sends as another principal, to another
// operation, or to a path with another parent.
type Across string

// The ways in which neighbours are apart.
const (
	AcrossNothing    Across = ""
	AcrossPrincipals Across = "principals"
	AcrossOperations Across = "operations"
	AcrossParents    Across = "parents"
)

// Step is one step of every intent. Exactly one member is set.
type Step struct {
	Send    *Send    `yaml:"send,omitempty"`
	Burst   *Burst   `yaml:"burst,omitempty"`
	Sweep   *Sweep   `yaml:"sweep,omitempty"`
	Crash   *Crash   `yaml:"crash,omitempty"`
	Tabs    []Tab    `yaml:"tabs,omitempty"`
	Alter   *Send    `yaml:"alter,omitempty"`   // a Send with the altered body
	Invalid *Send    `yaml:"invalid,omitempty"` // a Send with the body that the target is to refuse
	Respell *Respell `yaml:"respell,omitempty"`
	Wait    *Wait    `yaml:"wait,omitempty"`
	Look    *Look    `yaml:"look,omitempty"`
	Remove  *Remove  `yaml:"remove,omitempty"`
	Flush   string   `yaml:"flush,omitempty"` // TheStore: it loses everything that it may lose
}

// TheStore is what a step flushes: the target's store.
const TheStore = "store"

// Dependency names the link to another service that the target asks.
const Dependency = "dependency"

// KeyChoice says which idempotency key a request carries.
type KeyChoice string

// The choices. The empty choice is the intent's own key.
const (
	SameKey  KeyChoice = "same"
	FreshKey KeyChoice = "fresh"
	NoKey    KeyChoice = "none"
)

// Send is one request; the next step begins when it is answered or given up.
type Send struct {
	Lane    string    `yaml:"lane,omitempty"`
	Timeout Span      `yaml:"timeout,omitempty"`
	Key     KeyChoice `yaml:"key,omitempty"`
	Retry   *Retry    `yaml:"retry,omitempty"`
	Cut     *LinkCut  `yaml:"cut,omitempty"`  // only of a single request
	Ways    []Way     `yaml:"ways,omitempty"` // of making the same, only of a single request or a burst: each intent, or each copy, takes the next one; empty: OwnWay
}

// Way says by which of a target's operations a request is sent that make the same.
type Way string

// The ways: the run's operation, and another one of which the target file says that it makes the same.
const (
	OwnWay   Way = "own"
	OtherWay Way = "other"
)

// LinkCut breaks a link inside the target while a request is in flight, at one of the moments at which a message
// passes the link.
type LinkCut struct {
	Link   string           `yaml:"link,omitempty"`
	Moment faults.Moment    `yaml:"moment,omitempty"` // empty: each intent takes the next one
	For    *faults.Duration `yaml:"for,omitempty"`    // no connection is accepted for so long; zero: the next one is
}

// Burst is so many copies of one request: all wait before their last byte and are released together.
type Burst struct {
	Copies    int      `yaml:"copies,omitempty"`
	Altered   int      `yaml:"altered,omitempty"`    // of Copies: how many carry the altered body
	Spelling  Spelling `yaml:"spelling,omitempty"`   // of every other one of the copies; empty: all are spelled alike
	WriteGate bool     `yaml:"write_gate,omitempty"` // the database lets none of them write before all of them wait
	Send      `yaml:",inline"`
}

// Sweep is two copies of one request. The time between them changes from intent to intent: the first third of the
// intents spreads it evenly over the life of the first copy; the others look closer where the second copy's answers
// change.
type Sweep struct {
	From Span `yaml:"from,omitempty"` // earliest time after the first
	To   Span `yaml:"to,omitempty"`   // latest
	Send `yaml:",inline"`
}

// Crash is one request during which the target's process and its children are killed and started again. The time of
// the kill spreads over the request's life from intent to intent, or a sink releases it. Retries wait until the target is ready.
type Crash struct {
	At   CrashAt `yaml:"at,omitempty"`   // empty: a time
	From Span    `yaml:"from,omitempty"` // earliest time after the request was released
	To   Span    `yaml:"to,omitempty"`   // latest
	Send `yaml:",inline"`
}

// CrashAt is the moment at a sink at which the target is killed. It has no answer of the sink then.
type CrashAt string

// The moments: the sink has the message, and does nothing; or it has done what it was asked.
const (
	BeforeEffect CrashAt = "before-effect"
	AfterEffect  CrashAt = "after-effect"
)

// Tab is one or more tabs, or clicks, that submit the form, each on its own connection.
type Tab struct {
	At      Span `yaml:"at,omitempty"`      // after the step began
	Within  Span `yaml:"within,omitempty"`  // plus a time drawn from the seed, at most this
	Count   int  `yaml:"count,omitempty"`   // how many such tabs; 0 is one
	Altered bool `yaml:"altered,omitempty"` // the altered body
	Send    `yaml:",inline"`
}

// Respells reports that a step sends a request in a spelling.
func (s Scenario) Respells(spelling Spelling) bool {
	return slices.ContainsFunc(s.Steps, func(one Step) bool { return one.Respell != nil && one.Respell.Spelling == spelling })
}

// Respell is a Send of the same request in another spelling.
type Respell struct {
	Spelling Spelling `yaml:"spelling,omitempty"`
	Send     `yaml:",inline"`
}

// Spelling is a way to send the same request differently.
type Spelling string

// The spellings: members in another order, with spaces and escapes; whole numbers with a fraction of zero;
// headers that tell of another client, place and time, in another order; the name of the key's header in another
// case; a second key in a second header of that name; the natural key in the other case, or with a blank behind it; or
// without the headers that say who sends it.
const (
	SpellingOrder        Spelling = "order"
	SpellingNumbers      Spelling = "numbers"
	SpellingElsewhere    Spelling = "elsewhere"
	SpellingHeaderCase   Spelling = "header-case"
	SpellingTwoHeaders   Spelling = "two-headers"
	SpellingNatural      Spelling = "natural-key"
	SpellingNoCredential Spelling = "no-credential"
)

// Look asks the database once for a row of the intent.
type Look struct{}

// Remove removes what the intent has created, as the target file says. A request after it is a new intent for the same
// thing.
type Remove struct{}

// Wait pauses until something is true, or for a time.
type Wait struct {
	For    WaitFor `yaml:"for,omitempty" json:"for,omitempty"`
	Within Span    `yaml:"within,omitempty" json:"within"` // give up after this; the run goes on
	Pause  Span    `yaml:"pause,omitempty" json:"pause"`
	Pauses []Span  `yaml:"pauses,omitempty" json:"-"` // of WaitRemembered: each intent takes the next one as its Pause
}

// WaitFor is a condition to wait for.
type WaitFor string

// The conditions. The empty condition is a pause.
const (
	WaitPause     WaitFor = ""
	WaitCommitted WaitFor = "committed" // the row query finds a row of the intent
	WaitExpired   WaitFor = "expired"   // by its contract, the target has forgotten every key used so far
	// WaitRemembered is a pause after which, by its contract, the target still knows every key used so far.
	WaitRemembered WaitFor = "remembered"
)

// Retry makes a client send again after certain answers.
type Retry struct {
	Max     int       `yaml:"max,omitempty"`     // retries after the first sending
	Backoff Span      `yaml:"backoff,omitempty"` // before the first retry
	Factor  float64   `yaml:"factor,omitempty"`  // by which it grows; 0 is 2
	Jitter  float64   `yaml:"jitter,omitempty"`  // share of the backoff drawn from the seed, 0 to 1
	On      []RetryOn `yaml:"on,omitempty"`      // empty: no-answer, 409, 425, 429, 5xx
	Key     KeyChoice `yaml:"key,omitempty"`     // key of the retries: same (as the first) or fresh
	Lane    string    `yaml:"lane,omitempty"`    // lane of the retries; empty: the same
	Timeout Span      `yaml:"timeout,omitempty"` // of each retry; zero: the same
}

// RetryOn is an answer that makes a client try again: "no-answer", "5xx", or a status such as "409".
type RetryOn string

// NoAnswer stands for a timeout or a broken connection.
const NoAnswer RetryOn = "no-answer"

// Proof is a condition that must hold for enough intents, or the verdict is inconclusive.
type Proof struct {
	Name    proofs.Name `yaml:"proof,omitempty"`
	AtLeast float64     `yaml:"at_least,omitempty"` // share of intents, 0 to 1; 0 is one half
}

// Span is a length of time that is either fixed ("300ms") or a share of the time that a plain
// create takes at this target ("50%"), as the pilot measured it.
type Span struct {
	Fixed time.Duration
	Share float64 // 0.5 is half of the normal time
}
