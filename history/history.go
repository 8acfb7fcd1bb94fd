// Package history holds the facts of one scenario run: which intents there were, which
// attempts went over the wire for them, and what the database held. It turns them into a
// file of JSON lines that is written as things happen, and back; it judges nothing and
// imports nothing of doubletap but a JSON reader.
//
// The file is the contract between sending and judging: a verdict follows from it alone,
// so `doubletap check` gives the same one years later, and also for a run that was killed.
// Fields are only ever added, and a zero value always means "not observed". A field whose
// zero value would read as good news is written the other way round (Complete, not
// Broken).
//
//	history.go          the facts
//	file.go             Writer and Read: one line for each fact
//	build.go            lines into a History, and what a damaged file is
//	decode.go           the common lines, read several times as fast as by encoding/json
//	index.go, parts.go  a history of any size, read some intents at a time
package history

import (
	"slices"
	"time"
)

// Format is the version of the file format that this package writes and reads. A file with
// another one is refused: to guess at facts is worse than not to judge.
const Format = 1

// Names of the bodies that an intent may be sent with.
const (
	Original   = "original"
	Altered    = "altered"
	Invalid    = "invalid"    // which the target is to refuse; the original corrects it
	Reordered  = "reordered"  // the original JSON value with its members in another order, spaces and escapes
	Renumbered = "renumbered" // the original JSON value with a fraction of zero at its whole numbers
	Elsewhere  = "elsewhere"  // the original, with headers that tell of another client, place and time

	HeaderCase = "header-case" // the original, with the name of the key's header in another case
	TwoHeaders = "two-headers" // the original, with a second key in a second header of the same name

	OtherNaming = "other-naming" // the original, with its natural key in another spelling

	OtherWay = "other-way" // the original, as another operation takes it that makes the same

	NoCredential = "no-credential" // the original, without the headers that say who sends it
)

// Meaning returns the name of the body that says the same as this one: a correct target
// may not tell two spellings of one body apart.
func Meaning(body string) string {
	switch body {
	case Reordered, Renumbered, Elsewhere, HeaderCase, TwoHeaders, OtherNaming, OtherWay, NoCredential:
		return Original
	}
	return body
}

// Offset is a moment of the run: nanoseconds on the monotonic clock since [Run.Started].
// Zero means that the moment was not observed.
type Offset int64

// Duration returns the time since the start of the run.
func (o Offset) Duration() time.Duration { return time.Duration(o) }

// History is everything that was observed of one scenario. Attempts are in the order in which they
// were first sent. A nil snapshot was never taken.
type History struct {
	Run       Run
	Steps     []Step
	Intents   []Intent
	Attempts  []Attempt
	Followups []Followup
	Sightings []Sighting
	Holdings  []Holding
	Crashes   []Crash
	Deaths    []Death
	Flushes   []Flush
	Removals  []Removal
	Messages  []Message
	Printed   []Printed
	Traffic   []Traffic
	Received  *Received
	Before    *Snapshot // before the first attempt: every marker must be absent
	T1        *Snapshot // after the faults, before the final retry
	T2        *Snapshot // after the final retry
	Incidents []Incident
	Complete  bool // the last line was written: the run came to its planned end
}

// Several reports that more than one principal sent requests. A history without intents
// has none.
func (h *History) Several() bool {
	return slices.ContainsFunc(h.Intents, func(i Intent) bool { return i.Principal != h.Intents[0].Principal })
}

// Run is the head of a history.
type Run struct {
	Format     int           `json:"format"`
	ID         string        `json:"id"`
	Tool       string        `json:"tool"`
	Scenario   string        `json:"scenario"`
	Summary    string        `json:"summary,omitempty"`
	Target     string        `json:"target"`
	Operation  string        `json:"operation"`
	Instances  int           `json:"instances,omitempty"` // of the target, where there were several
	Streams    bool          `json:"streams,omitempty"`   // the members of a burst were streams of one connection, and their ends one write
	Seed       uint64        `json:"seed"`
	Shard      string        `json:"shard,omitempty"` // 3/8: the third of eight runs that share the intents; empty: all are in this one
	Started    time.Time     `json:"started"`
	Addresses  []Address     `json:"addresses,omitempty"` // of a target with several, by instance; none: it has one, or its instances were started
	Lanes      []Lane        `json:"lanes"`
	Links      []Link        `json:"links,omitempty"`      // that the scenario slows down or cuts
	Exercised  []Proof       `json:"exercised"`            // what must have happened for a pass to mean anything
	Calibrated []Calibration `json:"calibrated,omitempty"` // what bursts like those of the scenario can hit
	Normal     Offset        `json:"normal,omitempty"`     // median duration of a plain create, from the pilot
	Whole      int           `json:"whole,omitempty"`      // intents that the scenario has, where fewer were planned as the target is slow; 0: all were
	Start      Offset        `json:"start,omitempty"`      // that a process of the target takes to start, where that is why fewer were planned
}

// Address is one of several of a target, to which members of bursts were aimed.
type Address struct {
	Name   string `json:"name"`
	Trip   Offset `json:"trip"`             // least time from a plain create of the pilot to its answer
	Varied Offset `json:"varied,omitempty"` // how much longer another one took
}

// Proof is a condition under which the scenario counts as exercised.
type Proof struct {
	Name    string  `json:"name"`
	AtLeast float64 `json:"at_least"` // share of the intents, 0 to 1, for which it must hold
}

// Calibration is how far apart the first two requests of bursts like those of a step came at a target of
// the harness's own, through the same faults.
type Calibration struct {
	Step int      `json:"step"`
	Gaps []Offset `json:"gaps"` // one for each burst, sorted
}

// Lane is a network path to the target, with its faults, as it was opened.
type Lane struct {
	Name     string   `json:"name"`
	Faults   []string `json:"faults,omitempty"` // in the words of the scenario
	Delay    Offset   `json:"delay,omitempty"`  // least time that the declared latency adds to an exchange
	Proxy    string   `json:"proxy"`            // "in-process" or the URL of the toxiproxy server
	Doorstep bool     `json:"doorstep"`         // an upstream tap observed passages in front of the target
}

// Link is a network path inside the target, such as the one to its database, as it was during the scenario.
type Link struct {
	Name    string   `json:"name"`
	Faults  []string `json:"faults,omitempty"`  // in the words of the scenario
	Delay   Offset   `json:"delay,omitempty"`   // least time that the declared latency adds to a question and its answer
	Moments int      `json:"moments,omitempty"` // questions and answers of a plain create, as the pilot counted them; 0: nothing passed
	Commits int      `json:"commits,omitempty"` // of its questions: asked for a commit
	Writes  int      `json:"writes,omitempty"`  // of its questions: carried its marker or reference
	Proxy   string   `json:"proxy"`             // "in-process" or the URL of the toxiproxy server
}

// Step is a request that is not judged: it was sent once, on no lane.
type Step struct {
	For       Purpose `json:"for"`
	Number    int     `json:"number"` // among those of its purpose, from 1
	Principal string  `json:"principal,omitempty"`
	Operation string  `json:"operation,omitempty"` // empty: login
	Intent    string  `json:"intent,omitempty"`    // the first that it was for; empty: login
	Method    string  `json:"method"`
	Path      string  `json:"path"` // secrets masked
	Start     Offset  `json:"start"`
	End       Offset  `json:"end"`
	Status    int     `json:"status,omitempty"` // 0: no answer
	Error     string  `json:"error,omitempty"`  // why the next step could not be sent; empty: it could
}

// Purpose is what a step was sent for.
type Purpose string

// The purposes.
const (
	Login   Purpose = "login"   // of a principal
	Prepare Purpose = "prepare" // what an intent takes
	Issue   Purpose = "issue"   // a key that the target hands out
	Remove  Purpose = "remove"  // what an intent has made, between its requests
	Cleanup Purpose = "cleanup" // after an intent
)

// Intent is one logical request: something that the user wants once, however often it is sent. Intents with the same marker are twins: they were
// sent with identical bodies on purpose.
type Intent struct {
	ID        string          `json:"id"`
	Number    int             `json:"number"`
	Principal string          `json:"principal,omitempty"`
	Operation string          `json:"operation,omitempty"`  // empty: the run's
	Kin       string          `json:"kin,omitempty"`        // first of its neighbours, the intents that it may be mistaken for; empty: none
	Behind    bool            `json:"background,omitempty"` // part of the background traffic
	Fresh     bool            `json:"fresh,omitempty"`      // a plain create with a fresh key beside keys that got no final answer
	Work      Offset          `json:"work,omitempty"`       // its first request is made to take at least so long; 0: as long as it does
	Bodies    map[string]Body `json:"bodies"`               // by Original, Altered, Invalid, Reordered, Renumbered, Elsewhere, HeaderCase, TwoHeaders, OtherNaming, OtherWay
}

// Body is one request as rendered for an intent; the key is on the attempt. Secrets are masked.
type Body struct {
	Marker  string            `json:"marker"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Header  map[string]string `json:"header,omitempty"`
	Content string            `json:"content"`
	Says    string            `json:"says,omitempty"` // the members of a form or a query, as a JSON object; empty: Content is JSON, or nothing

	Operation string `json:"operation,omitempty"` // that takes it; empty: the intent's
}

// JSON returns what the request says, as JSON; empty: nothing.
func (b Body) JSON() string {
	if b.Says != "" {
		return b.Says
	}
	return b.Content
}

// Crash is one time that the target's process was killed and started again.
type Crash struct {
	Attempt string `json:"attempt"`           // beside which it was planned
	Message string `json:"message,omitempty"` // at a sink, which released it; empty: a time did
	After   Offset `json:"after"`             // so long after the attempt's last byte was released, as planned
	Struck  Offset `json:"struck,omitempty"`  // the signal was about to be sent
	Ended   Offset `json:"ended,omitempty"`   // nothing of the process was left
	Ready   Offset `json:"ready,omitempty"`   // another one took requests
	Error   string `json:"error,omitempty"`   // why there is no other one
}

// Death is one time that a process of the target ended by itself.
type Death struct {
	Instance int      `json:"instance,omitempty"` // whose process it was, from 1, where there are several
	At       Offset   `json:"at"`                 // it was seen that it had ended
	How      string   `json:"how"`                // "exit status 2", "signal: killed"
	Said     []string `json:"said,omitempty"`     // lines of its log that tell why
	Ready    Offset   `json:"ready,omitempty"`    // another one took requests
	Error    string   `json:"error,omitempty"`    // why there is no other one
}

// Flush is one time that the target's store was made to lose what may be deleted in it.
type Flush struct {
	Intent  string `json:"intent"` // that asked for it
	Step    int    `json:"step"`   // -1: before the first
	Begun   Offset `json:"begun"`
	Done    Offset `json:"done,omitempty"`  // everything was deleted; 0: it failed
	Deleted int    `json:"deleted"`         // keys
	Error   string `json:"error,omitempty"` // why it failed
}

// Removal is one time that what an intent had made was to be removed, by steps of the target file.
type Removal struct {
	Intent string `json:"intent"`
	Step   int    `json:"step"`
	Begun  Offset `json:"begun"`
	Found  int    `json:"found"`           // rows of the intent, before
	Done   Offset `json:"done,omitempty"`  // no row of the intent was left; 0: it failed
	Error  string `json:"error,omitempty"` // why it failed
}

// Traffic is what passed a link while the scenario was driven, in the order of the answers.
type Traffic struct {
	Link      string     `json:"link"`
	Exchanges []Exchange `json:"exchanges"`
}

// Exchange is a question on one connection of a link and its answer, as the asking side sees them.
type Exchange struct {
	Asked    Offset `json:"asked"`             // the first byte of the question
	Answered Offset `json:"answered"`          // the first byte of the answer
	Begins   bool   `json:"begins,omitempty"`  // the question begins a transaction
	Commits  bool   `json:"commits,omitempty"` // the question asks for a commit
	Writes   bool   `json:"writes,omitempty"`  // the question carries a marker or a reference of the plan
}

// Received compares what the target counted with what was sent. Targets that cannot count have none.
type Received struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Snapshot is what the database held for every marker at one quiet moment.
type Snapshot struct {
	At      Offset                        `json:"at"`
	Rows    map[string][]Row              `json:"rows"`              // by marker; a marker without an entry was not asked for
	Effects map[string]map[string]float64 `json:"effects,omitempty"` // by effect and marker: rows, or the value; a total is under ""
	Waited  Offset                        `json:"waited,omitempty"`  // for rows that clients had been told of, and that came
	Late    []string                      `json:"late,omitempty"`    // markers whose rows came after the contract's time for them
	Error   string                        `json:"error,omitempty"`
	Idle    []Idle                        `json:"idle,omitempty"` // what totals were while nothing was sent

	Order []string `json:"-"` // markers as the plan has them, each once, for a writer; nil: none is known
}

// Idle is what a total was at two moments between which nothing was sent to the target. If it is not the same, something else changed it.
type Idle struct {
	Effect   string  `json:"effect"`
	Scenario string  `json:"scenario,omitempty"` // of the run, after which it was seen, with From and To since it began; empty: this one
	From     Offset  `json:"from"`
	To       Offset  `json:"to"`
	Was      float64 `json:"was"`
	Is       float64 `json:"is"`
}

// Row is one row of the target's row query, by column name. Values are what the driver returned,
// in a form that JSON keeps: string, float64, bool or nil.
type Row map[string]any

// Incident is something that went wrong around the run and that the checker must know.
type Incident struct {
	At   Offset       `json:"at"`
	Kind IncidentKind `json:"kind"`
	Text string       `json:"text"`
}

// IncidentKind says what an incident was.
type IncidentKind string

// The kinds of incident.
const (
	Interruption IncidentKind = "interrupted"   // the run was stopped
	TargetGone   IncidentKind = "target-gone"   // the target stopped taking connections
	DatabaseGone IncidentKind = "database-gone" // the database could not be asked
	StillBusy    IncidentKind = "still-busy"    // the target did not become quiet in time
	NoAnswer     IncidentKind = "no-answer"     // the target left requests without an answer, so that not all were sent
	HarnessFault IncidentKind = "harness"       // doubletap itself failed
	NotRecovered IncidentKind = "not-recovered" // the target had not recovered from an earlier scenario
	PlainDoubt   IncidentKind = "plain-doubt"   // plain creates of the pilot did not do what the target file says
	Flooded      IncidentKind = "flooded"       // more reached a sink than is on record
	SinkBehind   IncidentKind = "sink-behind"   // messages at a broker may be missing from the record
	StepFailed   IncidentKind = "step-failed"   // what goes ahead of the first attempt could not be done
)
