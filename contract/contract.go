// Package contract holds what a target promises about repeated requests, and what of its operations the
// promises are about: keys, identities, rows and effects. It is data with the keys of target files and
// manifests. It imports nothing but the standard library, so that the checker, which judges by it, depends
// on nothing else. Nothing changes a value after it was read, so that it is safe for concurrent use.
//
// The promises are in contract.go, and operation.go has one way to create something. identity.go and pattern.go
// say where an answer names what was made, meanings.go which statuses mean what whatever a contract says, and
// words.go writes all of it for readers.
package contract

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// UsualLease is for how long, where [Contract.Lease] is not declared, an execution that died may block its key: a lock with a time to live
// is gone by then.
const UsualLease = time.Minute

// Contract is what a target promises about repeated requests. What it leaves undeclared is not
// checked, except the invariants about rows, which hold for every target.
type Contract struct {
	Preset     string   `yaml:"preset" json:"preset,omitempty"`
	Level      Level    `yaml:"level" json:"level"`
	NaturalKey []string `yaml:"natural_key" json:"natural_key,omitempty"` // JSON pointers into the body, or WholePath: what makes two submissions one intent
	// What of the spelling of the natural key makes no difference; nil: nothing is declared.
	NaturalKeyIgnores []Ignored `yaml:"natural_key_ignores" json:"natural_key_ignores,omitempty"`

	ContentWindow Duration    `yaml:"content_window" json:"content_window,omitempty"` // for this long an equal body is a repetition, whatever its key; 0: never
	Converged     Duration    `yaml:"converged" json:"converged,omitempty"`           // for so long after the last answer databases of instances may differ; 0: not declared
	Scope         Scope       `yaml:"scope" json:"scope"`
	Ack           Ack         `yaml:"ack" json:"ack"`
	Fingerprint   Fingerprint `yaml:"fingerprint" json:"fingerprint"`
	InProgress    InProgress  `yaml:"in_progress" json:"in_progress"`
	Lease         Duration    `yaml:"lease" json:"lease,omitempty"` // after this an execution that died stops blocking its key; 0: not declared
	Replay        Replay      `yaml:"replay" json:"replay"`
	Existing      Existing    `yaml:"existing" json:"existing"`
	Throttled     Signature   `yaml:"throttled" json:"throttled"`
	MissingKey    Signature   `yaml:"missing_key" json:"missing_key"`
	Errors        Errors      `yaml:"errors" json:"errors"`
	Expiry        Expiry      `yaml:"expiry" json:"expiry"`
	Store         Failing     `yaml:"store" json:"store,omitzero"`

	AfterCrash         Execution `yaml:"after_crash" json:"after_crash,omitempty"`                   // of requests that were inside when the process was killed
	AfterFlush         Execution `yaml:"after_flush" json:"after_flush,omitempty"`                   // likewise, the store lost what it held
	AfterUnknownCommit Execution `yaml:"after_unknown_commit" json:"after_unknown_commit,omitempty"` // of requests whose database connection broke before the answer to a commit
}

// Execution is how often an intent may be executed. The zero value is at most once.
type Execution string

// The executions. AtLeastOnce allows one more after each such event.
const (
	AtMostOnce  Execution = "at-most-once"
	AtLeastOnce Execution = "at-least-once"
)

// Failing says what is promised while the store fails. The zero value promises the same as ever.
type Failing struct {
	OnFailure OnFailure `yaml:"on_failure" json:"on_failure,omitempty"`
}

// OnFailure is what a target does without its store.
type OnFailure string

// FailOpen executes requests as if there were no keys.
const FailOpen OnFailure = "fail-open"

// Ignored is what of the spelling of a natural key makes no difference.
type Ignored string

// The spellings: the case of letters, and blanks around the value.
const (
	IgnoresCase   Ignored = "case"
	IgnoresBlanks Ignored = "blanks"
)

// SameName reports that two spellings of a natural key are the same, by what is ignored of them.
func SameName(a, b string, ignores []Ignored) bool {
	if slices.Contains(ignores, IgnoresBlanks) {
		a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	}
	return a == b || slices.Contains(ignores, IgnoresCase) && strings.EqualFold(a, b)
}

// WholePath stands in a natural key for the path of the request: whatever is sent there is one intent.
const WholePath = "path"

// Level says how much a target promises.
type Level string

// The levels. Idempotent promises one effect and equal answers; DedupOnly promises one effect.
const (
	Idempotent Level = "idempotent"
	DedupOnly  Level = "dedup-only"
)

// Signature recognises an answer by its status and, where they are set, by members of its JSON body and by
// headers. The zero Signature matches nothing.
type Signature struct {
	Statuses []int             `yaml:"statuses" json:"statuses,omitempty"`
	Where    map[string]any    `yaml:"where" json:"where,omitempty"`     // JSON pointer: the value that must stand there
	Headers  map[string]string `yaml:"headers" json:"headers,omitempty"` // canonical name: regular expression that its value must match
}

// Narrowed reports that a status alone is not enough.
func (s Signature) Narrowed() bool { return len(s.Where)+len(s.Headers) > 0 }

// Scope says between whom keys are kept apart.
type Scope struct {
	Principal KeyScope `yaml:"principal" json:"principal,omitempty"`
	Operation KeyScope `yaml:"operation" json:"operation,omitempty"`
	Path      KeyScope `yaml:"path" json:"path,omitempty"` // of one operation, under two parents
}

// KeyScope is the promise about one key that two principals use, or that is used at two operations or paths.
type KeyScope string

// The scopes. Separate: each has its own keys. Shared: one record for all, on purpose, so that all
// principals are one. Reject: the second is refused, and told nothing of the first. Unspecified checks
// only the invariants that hold for every
const (
	ScopeUnspecified KeyScope = ""
	ScopeSeparate    KeyScope = "separate"
	ScopeShared      KeyScope = "shared" // of principals only
	ScopeReject      KeyScope = "reject"
)

// Ack recognises the answers that say "it is done", and those that say "it will be".
type Ack struct {
	Signature `yaml:",inline"`
	Accepted  Accepted `yaml:"accepted" json:"accepted"`
}

// Accepted recognises "it will be done" (RFC 9110, section 15.3.3), and says where to ask what became
// of it. Without a monitor the rows tell. The zero value recognises nothing.
type Accepted struct {
	Signature `yaml:",inline"`
	Monitor   string    `yaml:"monitor" json:"monitor,omitempty"`   // where the answer names the status resource: a header's name, or a JSON pointer; empty: there is none
	Done      Signature `yaml:"done" json:"done"`                   // of the status resource's answer: it is done
	Failed    Signature `yaml:"failed" json:"failed"`               // it never will be, and nothing took effect
	Identity  string    `yaml:"identity" json:"identity,omitempty"` // JSON pointer into the status resource's answer
	Within    Duration  `yaml:"within" json:"within,omitempty"`     // it is one or the other by then
	Recovery  Duration  `yaml:"recovery" json:"recovery,omitempty"` // after a crash it may take so much longer
}

// ByRows reports that the rows alone tell what became of what was accepted.
func (a Accepted) ByRows() bool { return len(a.Statuses) > 0 && a.Monitor == "" }

// Fingerprint says by what the target knows another body, and what it does when a key comes with one.
type Fingerprint struct {
	Mode       FingerprintMode `yaml:"mode" json:"mode,omitempty"`
	Fields     []string        `yaml:"fields" json:"fields,omitempty"` // JSON pointers into the body, of mode fields
	OnMismatch OnMismatch      `yaml:"on_mismatch" json:"on_mismatch,omitempty"`
	Signature  `yaml:",inline"`
}

// FingerprintMode says which bodies are the same.
type FingerprintMode string

// The modes: the same bytes, the same JSON value however it is spelled, or the same values in some
// fields. Of an unspecified mode only the two ends are known: equal bytes are the same body, and what
// the operation's alter changes is another.
const (
	FingerprintUnspecified FingerprintMode = ""
	FingerprintBytes       FingerprintMode = "bytes"
	FingerprintJSON        FingerprintMode = "json"
	FingerprintFields      FingerprintMode = "fields"
)

// OnMismatch is the promise about a key that comes with another body.
type OnMismatch string

// The promises. Unspecified checks only the rows.
const (
	MismatchUnspecified    OnMismatch = ""
	MismatchReject         OnMismatch = "reject"
	MismatchReplayOriginal OnMismatch = "replay-original"
)

// InProgress says what a request gets while another with its key is being executed.
type InProgress struct {
	Mode      InProgressMode `yaml:"mode" json:"mode,omitempty"`
	Signature `yaml:",inline"`
}

// InProgressMode is the promise about requests that meet a running one.
type InProgressMode string

// The modes: the later request waits for the answer of the first, or it is told to come back.
const (
	InProgressUnspecified InProgressMode = ""
	InProgressWait        InProgressMode = "wait"
	InProgressReject      InProgressMode = "reject"
)

// Replay says in what a repeated answer must equal the first one.
type Replay struct {
	Status  Statuses      `yaml:"status" json:"status,omitempty"` // first status: statuses that a replay of it may have, besides itself
	Body    BodyEquality  `yaml:"body" json:"body,omitempty"`
	Ignore  []string      `yaml:"ignore" json:"ignore,omitempty"`   // JSON pointers that may differ
	Headers []string      `yaml:"headers" json:"headers,omitempty"` // that must be equal
	Marker  *ReplayMarker `yaml:"marker" json:"marker,omitempty"`
}

// BodyEquality says how bodies are compared.
type BodyEquality string

// The comparisons. SameIdentity compares only the identity; AnyBody compares nothing.
const (
	SameBytes    BodyEquality = "bytes"
	SameJSON     BodyEquality = "json"
	SameIdentity BodyEquality = "identity"
	AnyBody      BodyEquality = "none"
)

// ReplayMarker is a header by which a replay says that it is one.
type ReplayMarker struct {
	Name     string `yaml:"name" json:"name"`
	Value    string `yaml:"value" json:"value"`
	Required bool   `yaml:"required" json:"required"`
}

// Existing recognises "that exists already", and may say where the answer names it.
type Existing struct {
	Signature `yaml:",inline"`
	Identity  Identity `yaml:"identity" json:"identity,omitzero"`
}

// Errors says which errors a target stores under the key and repeats, nil: both pass, and which are business: an intent
// that was declined is done, and may have left a row.
type Errors struct {
	Declined Signature `yaml:"declined" json:"declined,omitzero"`
	Store4xx *bool     `yaml:"store_4xx" json:"store_4xx,omitempty"`
	Store5xx *bool     `yaml:"store_5xx" json:"store_5xx,omitempty"`
}

// Expiry says how long a key is remembered, and what its repetition gets afterwards.
type Expiry struct {
	After     Duration    `yaml:"after" json:"after,omitempty"` // since the key was first used; 0: not declared
	Then      AfterExpiry `yaml:"then" json:"then,omitempty"`
	Signature `yaml:",inline"`
}

// Past is the time after which a key must have expired by any correct clock: a tenth more than promised, and at least 1.1 s
// more where times are kept in seconds, as a target may round both the begin and the end.
func (e Expiry) Past() time.Duration {
	after := time.Duration(e.After)
	margin := max(after/10, 100*time.Millisecond)
	if after >= time.Second {
		margin = max(margin, 1100*time.Millisecond)
	}
	return after + margin
}

// enough is how much of the time for which a key is known the next request needs at most, on a busy machine too.
const enough = 5 * time.Second

// StillKnown is a pause that ends while keys must be known that were first used so long ago: more than a third of the promised
// time, or enough of it, is left to the next request. A natural key is not forgotten.
func (c Contract) StillKnown(pause, used time.Duration) time.Duration {
	after := time.Duration(c.Expiry.After)
	if after == 0 || len(c.NaturalKey) > 0 {
		return pause
	}
	return min(pause, max(after*5/8, after-enough)-used)
}

// AfterExpiry is the promise about a key that is not remembered any more.
type AfterExpiry string

// The promises: the request is executed as if the key were new, or it is refused. Unspecified allows
// both.
const (
	ExpiryUnspecified AfterExpiry = ""
	ExpiryExecute     AfterExpiry = "execute"
	ExpiryReject      AfterExpiry = "reject"
)

// Statuses maps the status of a first answer to those that its replays may have besides it. The keys of a
// YAML document are texts, which this reads as numbers.
type Statuses map[int][]int

// UnmarshalYAML adds what a file declares to what is there already.
func (s *Statuses) UnmarshalYAML(decode func(any) error) error {
	var declared map[string][]int
	if err := decode(&declared); err != nil {
		return err
	}
	if *s == nil {
		*s = Statuses{}
	}
	for text, then := range declared {
		first, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("expected a status such as 201")
		}
		(*s)[first] = then
	}
	return nil
}
