// Package targets describes systems under test as data: how to ask them to create something, where
// the idempotency key goes, which query lists the rows, and which contract they promise. It turns
// a target file into a Target; it sends nothing and judges nothing.
//
// [Load] reads a file in four steps: the room document checks it against the schema and fills in
// environment variables; decode lays it over the contract of its preset (preset.go,
// preset_providers.go); complete fills in what the file leaves out; validate finds the mistakes
// that a schema cannot see, all of them at once (validate*.go).
//
// Two things are then done with an operation. [Operation.Render] fills in its templates
// (render.go, fill.go, draw.go) and writes the payload (payload.go, text.go); PlaceKey and Sign
// come last, as a signature covers the key (place.go, sign.go). [Extract] takes values out of
// answers to steps (step.go, extract.go).
//
// No function here changes a Target after Load, so that it is safe for concurrent use. It may hold
// secrets: what must never be on record is in Redact and Secrets (secrets.go).
package targets

import (
	"sort"

	"github.com/doubletap-harness/doubletap/contract"
)

// Target is a system under test.
type Target struct {
	Name          string               `yaml:"name" json:"name"`
	BaseURL       string               `yaml:"base_url" json:"base_url"`
	Protocol      Protocol             `yaml:"protocol" json:"protocol,omitempty"`
	Socket        string               `yaml:"socket" json:"socket,omitempty"`           // path of a Unix domain socket to connect to; base_url then gives scheme, Host and path
	TLS           *TLS                 `yaml:"tls" json:"-"`                             // nil: as the system trusts, and without a certificate of one's own
	AllowHosts    []string             `yaml:"allow_hosts" json:"allow_hosts,omitempty"` // hosts beyond loopback that may be sent to
	Process       *Process             `yaml:"process" json:"-"`                         // nil: the target runs already
	Instances     map[string]Instance  `yaml:"instances" json:"instances,omitempty"`     // addresses of a target that runs already, by name; none: base_url alone
	Database      Database             `yaml:"database" json:"database"`
	Store         Store                `yaml:"store" json:"store,omitzero"`
	Links         map[string]Link      `yaml:"links" json:"links,omitempty"` // inside the target, by name
	Sinks         map[string]Sink      `yaml:"sinks" json:"sinks,omitempty"` // in place of other services, by name
	Contract      contract.Contract    `yaml:"contract" json:"contract"`
	Principals    map[string]Principal `yaml:"principals" json:"-"`
	Redact        []string             `yaml:"redact" json:"redact,omitempty"`         // headers to mask besides the usual ones
	Secrets       []string             `yaml:"-" json:"-"`                             // what variables gave to the bodies and paths of requests
	Settle        contract.Duration    `yaml:"settle" json:"settle"`                   // longest time that work goes on unseen after a client has left
	AlwaysSettles bool                 `yaml:"-" json:"always_settles,omitempty"`      // the file declares Settle: work may go on after every answer
	Received      *Received            `yaml:"received" json:"received,omitempty"`     // nil: the target cannot count
	Login         []Step               `yaml:"login" json:"-"`                         // for each principal, before everything else
	RateLimit     *RateLimit           `yaml:"rate_limit" json:"rate_limit,omitempty"` // nil: none that is to be kept to
	Operations    map[string]Operation `yaml:"operations" json:"operations"`
}

// Protocol is the version of HTTP that a target is spoken to in.
type Protocol string

// The protocols. The zero value is HTTP/1.1.
const (
	HTTP1 Protocol = "http/1.1"
	HTTP2 Protocol = "http/2" // in clear text with prior knowledge, in TLS by ALPN (RFC 9113, section 3)
)

// Database is where the rows are. The URL's scheme is sqlite, postgres, mysql or mariadb; it may
// hold a password and never reaches a report. Of URL and Ephemeral at most one is set in a file.
type Database struct {
	URL       string     `yaml:"url" json:"-"`
	Ephemeral Engine     `yaml:"ephemeral" json:"ephemeral,omitempty"`   // started for the target, and removed in the end
	Schema    []string   `yaml:"schema" json:"-"`                        // files with SQL, run once in an ephemeral one; after Load no longer relative to the target file
	WriteGate *WriteGate `yaml:"write_gate" json:"write_gate,omitempty"` // nil: no writes are blocked
}

// Store is the Redis server in which the target keeps what it may lose, such as locks and answers to keys. The
// URL may hold a password and never reaches a report. Of URL and Ephemeral at most one is set in a file. The zero
// value is none.
type Store struct {
	URL       string `yaml:"url" json:"-"`
	Ephemeral Engine `yaml:"ephemeral" json:"ephemeral,omitempty"` // EngineRedis: started for the target, and removed in the end
	Flush     string `yaml:"flush" json:"flush,omitempty"`         // pattern of Redis for the keys that a scenario may delete; empty: none
}

// Link is a network path inside the target, such as the one to its database. The target was told to use
// the address Listen; the harness listens there for the time of a run, and leads on to To.
type Link struct {
	Listen string `yaml:"listen" json:"listen"` // host:port
	To     string `yaml:"to" json:"to"`         // host:port, from where toxiproxy runs
}

// WriteGate allows bursts to hold back the writers of a table for a moment, so that the writes of all
// requests that got so far meet. It takes the right to lock the table.
type WriteGate struct {
	Tables  []string          `yaml:"tables" json:"tables"`             // as the database knows them; intents take them in turn
	Longest contract.Duration `yaml:"longest" json:"longest,omitempty"` // shorter than the target's own patience with its database
}

// Principal is an account that sends requests: names and values for templates, such as a token.
type Principal map[string]string

// Received says where a target reports how many requests it has received.
type Received struct {
	Path    string `yaml:"path" json:"path"`       // of a GET on base_url
	Pointer string `yaml:"pointer" json:"pointer"` // JSON pointer to the number
}

// Operation is one way to create something.
type Operation struct {
	SameAs   string                `yaml:"same_as" json:"same_as,omitempty"` // the operation that makes the same: one key is one thing by either; empty: none
	Marker   MarkerKind            `yaml:"marker" json:"marker,omitempty"`
	Request  Request               `yaml:"request" json:"request"`
	Key      Key                   `yaml:"key" json:"key"`
	Alter    map[string]any        `yaml:"alter" json:"alter,omitempty"`       // members of the body that an altered body replaces
	Invalid  map[string]any        `yaml:"invalid" json:"invalid,omitempty"`   // members of the body that an invalid body replaces, which the target refuses
	Answers  map[AnswerSize]Asking `yaml:"answers" json:"answers,omitempty"`   // how a request asks for answers of other sizes
	Volatile []string              `yaml:"volatile" json:"volatile,omitempty"` // JSON pointers into the body: members that each attempt draws anew
	Work     *Work                 `yaml:"work" json:"work,omitempty"`         // how a request is made to take long; nil: there is no way
	Identity contract.Identity     `yaml:"identity" json:"identity,omitzero"`  // where an acknowledgement names the created thing
	Rows     contract.Rows         `yaml:"rows" json:"rows"`
	Effects  []contract.Effect     `yaml:"effects" json:"effects,omitempty"` // beyond the row
	Parents  map[string][]string   `yaml:"parents" json:"parents,omitempty"` // things that are there already, of which requests name one of each: by the name that templates use
	Prepare  []Step                `yaml:"prepare" json:"-"`                 // for each intent, before the first snapshot
	Remove   []Step                `yaml:"remove" json:"-"`                  // what an intent has made, which may then be made again
	Cleanup  []Step                `yaml:"cleanup" json:"-"`                 // for each intent, after the last one
}

// MarkerKind is what the markers of an operation's bodies look like.
type MarkerKind string

// The kinds of markers: 18 letters and digits; or a whole number of nine digits, for an API that takes no text.
const (
	TextMarker   MarkerKind = ""
	NumberMarker MarkerKind = "number"
)

// Work says what a request carries that is to take long, besides what it carries anyway. Its templates use
// {{.Intent.Work}}.
type Work struct {
	Header map[string]string `yaml:"headers" json:"headers,omitempty"`
	Body   map[string]any    `yaml:"body" json:"body,omitempty"` // members
}

// Request is a template of the request without its key. At most one of Body, Form, Multipart, Text and Query is set.
type Request struct {
	Method    string            `yaml:"method" json:"method"`
	Path      string            `yaml:"path" json:"path"`
	Header    map[string]string `yaml:"headers" json:"headers,omitempty"`
	Body      map[string]any    `yaml:"body" json:"body,omitempty"`           // sent as JSON
	Form      map[string]any    `yaml:"form" json:"form,omitempty"`           // sent as application/x-www-form-urlencoded
	Multipart map[string]any    `yaml:"multipart" json:"multipart,omitempty"` // sent as multipart/form-data (RFC 7578)
	Text      map[string]any    `yaml:"text" json:"text,omitempty"`           // sent as Written has it
	Written   string            `yaml:"written" json:"written,omitempty"`     // template of a text in which the members of Text stand
	Query     map[string]any    `yaml:"query" json:"query,omitempty"`         // sent as the query of the path, with no body
	Sign      *Sign             `yaml:"sign" json:"sign,omitempty"`           // nil: it is not signed

	Credential []string `yaml:"credential" json:"credential,omitempty"` // names of the headers that say who sends it, without which it is refused; none: not known
}

// Key says how an operation takes its idempotency key, and where clients get one.
type Key struct {
	contract.Key `yaml:",inline"`
	Issued       []Step `yaml:"issued" json:"-"` // ask the target for a key, once for each; empty: the client draws it
}

// Judged returns what the checker reads of an operation. It holds no request, whose headers may be secret.
func (o Operation) Judged() contract.Operation {
	return contract.Operation{Key: o.Key.Key, Alter: o.Alter, Identity: o.Identity, Rows: o.Rows, Effects: o.Effects}
}

// OperationNames returns the names of the operations, sorted: the first is the one that is played
// where nobody names another.
func (t Target) OperationNames() []string {
	names := make([]string, 0, len(t.Operations))
	for name := range t.Operations {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
