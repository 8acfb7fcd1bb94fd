package history

// Attempt is one HTTP exchange as it was on the wire. A status with Complete false is not an answer.
type Attempt struct {
	ID       string `json:"id"`
	Intent   string `json:"intent"`
	Step     int    `json:"step"`            // index of the scenario step, from 0
	Retry    int    `json:"retry,omitempty"` // 0 is the first sending
	Probe    bool   `json:"probe,omitempty"` // part of the final retry
	Lane     string `json:"lane"`
	Instance int    `json:"instance,omitempty"`  // of the target, to which the connection went, from 1; 0: there is one, or it is not known
	Body     string `json:"body"`                // Original, Altered, Invalid, Reordered, Renumbered, Elsewhere, HeaderCase, TwoHeaders, OtherNaming, OtherWay or NoCredential
	Key      string `json:"key,omitempty"`       // empty: sent without a key, or with a blank one
	BlankKey bool   `json:"blank_key,omitempty"` // the key was sent and holds nothing

	// Own is what of the request no other attempt has: headers by name and members of the body by JSON pointer.
	Own map[string]string `json:"own,omitempty"`

	Deadline Offset `json:"deadline,omitempty"`
	Together bool   `json:"together,omitempty"` // a member of a burst: its last byte waited for those of the others
	After    Offset `json:"after,omitempty"`    // with Together: it was to be released so long after the first; 0: with it

	Start   Offset `json:"start"`             // the attempt began: dialling
	Wrote   Offset `json:"wrote,omitempty"`   // the last byte of the request was handed to the kernel
	Replied Offset `json:"replied,omitempty"` // the first byte of the answer was read
	End     Offset `json:"end,omitempty"`     // the exchange was over for the client; 0: never recorded

	Sent      int64             `json:"sent"`               // bytes written to the lane
	Status    int               `json:"status,omitempty"`   // 0: no status line was read
	Header    map[string]string `json:"header,omitempty"`   // of the answer, secrets masked
	Content   string            `json:"content,omitempty"`  // of the answer, at most the recorder's limit
	Length    int64             `json:"length,omitempty"`   // bytes of the answer's body that were read, without its content coding
	Digest    string            `json:"digest,omitempty"`   // SHA-256 of the answer's body, where Content is cut short or is not text
	Outline   string            `json:"outline,omitempty"`  // with Digest, what is short of the JSON value that the body is, as the package outline has it
	Unread    string            `json:"unread,omitempty"`   // with Digest and without Outline, why it is not known whether the body is JSON; empty: it is none
	Complete  bool              `json:"complete,omitempty"` // the answer was read to the end of its framing
	Error     string            `json:"error,omitempty"`
	ErrorKind ErrorKind         `json:"error_kind,omitempty"`

	Cut *Cut `json:"cut,omitempty"` // of a link inside the target, while the attempt was under way; nil: none was planned

	Passage *Passage `json:"-"` // recorded on a line of its own
}

// Cut is a link inside the target that was to break at one of the moments at which something passes it.
// All connections of the link are reset, and none is made for a while.
type Cut struct {
	Link        string `json:"link"`
	Moment      string `json:"moment"`                // in the words of the scenario: a number from 1, commit, committed, write-1, written-1 and so on
	At          Offset `json:"at,omitempty"`          // it broke; 0: it did not come to that
	Answer      bool   `json:"answer,omitempty"`      // an answer was lost, whose question had arrived; false: a question was
	Connections int    `json:"connections,omitempty"` // that were reset
	Away        Offset `json:"away,omitempty"`        // for so long after At none was made
}

// ErrorKind says how an exchange broke. The empty kind is no error.
type ErrorKind string

// Passage is what the upstream tap observed of an attempt in front of the target, behind the lane's faults.
type Passage struct {
	Opened   Offset `json:"opened,omitempty"`   // a connection to the target stood
	Held     Offset `json:"held,omitempty"`     // all but the last byte was there, which waited for the other members of the burst
	Released Offset `json:"released,omitempty"` // and was released
	Arrived  Offset `json:"arrived,omitempty"`  // the last request byte so far was passed to the target
	Answered Offset `json:"answered,omitempty"` // the target sent its first byte
	Left     Offset `json:"left,omitempty"`     // the client's side was gone
	Closed   Offset `json:"closed,omitempty"`   // the connection to the target was closed
	Up       int64  `json:"up"`                 // bytes passed to the target
	Down     int64  `json:"down"`               // bytes that the target sent
	Status   int    `json:"status,omitempty"`   // of the target's answer, where it could be read
	Refused  bool   `json:"refused,omitempty"`  // the target accepted no connection
}

// Followup is the last that the status resource of an accepted attempt (202) said.
type Followup struct {
	Attempt  string `json:"attempt"`
	At       Offset `json:"at"`    // it was said, or not said
	Tries    int    `json:"tries"` // how often it was asked
	Status   int    `json:"status,omitempty"`
	Content  string `json:"content,omitempty"`
	Complete bool   `json:"complete,omitempty"` // the answer was read to the end of its framing
	Error    string `json:"error,omitempty"`
}

// Sighting is a look into the database during the run.
type Sighting struct {
	Intent string `json:"intent"`
	Marker string `json:"marker"`
	At     Offset `json:"at"` // the query had returned
	Rows   int    `json:"rows"`
}

// Holding is one time that the writers of a table were held back while a burst was released.
type Holding struct {
	Intent  string `json:"intent"`
	Step    int    `json:"step"`
	Table   string `json:"table"`
	Shut    Offset `json:"shut,omitempty"`    // the lock was had
	Opened  Offset `json:"opened,omitempty"`  // it was given back
	Waiting *int   `json:"waiting,omitempty"` // blocked writers at the end; nil: the database does not tell
	Error   string `json:"error,omitempty"`   // why no writer was held back, or not as planned
}

// The ways in which an exchange breaks.
const (
	Timeout     ErrorKind = "timeout"     // the client's deadline passed
	Refused     ErrorKind = "refused"     // no connection was made: nothing was sent
	Reset       ErrorKind = "reset"       // connection reset by the other side
	Closed      ErrorKind = "closed"      // closed by the other side before an answer
	Truncated   ErrorKind = "truncated"   // the answer broke off inside its framing
	Garbage     ErrorKind = "garbage"     // what came was not HTTP
	Interrupted ErrorKind = "interrupted" // the run was stopped
	OtherError  ErrorKind = "other"
)
