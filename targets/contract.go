package targets

// Contract is what a target promises about repeated requests. What it leaves undeclared is not
// checked, except the invariants about rows, which hold for every contract.
type Contract struct {
	Preset      string      `yaml:"preset" json:"preset,omitempty"`
	Level       Level       `yaml:"level" json:"level"`
	NaturalKey  []string    `yaml:"natural_key" json:"natural_key,omitempty"` // JSON pointers into the body: what makes two submissions one intent
	Ack         Ack         `yaml:"ack" json:"ack"`
	Fingerprint Fingerprint `yaml:"fingerprint" json:"fingerprint"`
	InProgress  InProgress  `yaml:"in_progress" json:"in_progress"`
	Replay      Replay      `yaml:"replay" json:"replay"`
	Existing    Existing    `yaml:"existing" json:"existing"`
	Throttled   Signature   `yaml:"throttled" json:"throttled"`
	MissingKey  Signature   `yaml:"missing_key" json:"missing_key"`
	Errors      Errors      `yaml:"errors" json:"errors"`
}

// Level says how much a target promises.
type Level string

// The levels. Idempotent promises one effect and equal answers; DedupOnly promises one effect.
const (
	Idempotent Level = "idempotent"
	DedupOnly  Level = "dedup-only"
)

// Signature recognises an answer by its status and, where Where is set, by members of its JSON body:
// JSON pointer to the value that must stand there. The zero Signature matches nothing.
type Signature struct {
	Statuses []int          `yaml:"statuses" json:"statuses,omitempty"`
	Where    map[string]any `yaml:"where" json:"where,omitempty"`
}

// Ack recognises the answers that say "it is done".
type Ack struct {
	Signature `yaml:",inline"`
}

// Fingerprint says what the target does when a key comes with another body.
type Fingerprint struct {
	OnMismatch OnMismatch `yaml:"on_mismatch" json:"on_mismatch,omitempty"`
	Signature  `yaml:",inline"`
}

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
	Status  map[int][]int `yaml:"status" json:"status,omitempty"` // first status: statuses that a replay of it may have, besides itself
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
	Identity  string `yaml:"identity" json:"identity,omitempty"` // JSON pointer
}

// Errors says which errors a target stores under the key and repeats. Nil is unspecified: both pass.
type Errors struct {
	Store4xx *bool `yaml:"store_4xx" json:"store_4xx,omitempty"`
	Store5xx *bool `yaml:"store_5xx" json:"store_5xx,omitempty"`
}
