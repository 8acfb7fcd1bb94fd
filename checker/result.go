package checker

import (
	"github.com/doubletap-harness/doubletap/history"
)

// Verdict is the judgement on one scenario. The zero value is inconclusive.
type Verdict int

// The verdicts.
const (
	Inconclusive  Verdict = iota // nothing broke, but not enough was exercised to say that it holds
	Pass                         // exercised, and every promise held
	Fail                         // at least one finding that is not known
	NotApplicable                // the target's contract has nothing for this scenario to test
	Broken                       // the harness or its environment failed: no judgement
	Known                        // it fails as expected: all findings are known
	Mended                       // exercised, and a known bug was not seen: it is fixed
)

// EveryIntent stands for the intent of a finding that shows only in all of them together.
const EveryIntent = "all"

// Finding is one broken promise with its evidence.
type Finding struct {
	ID       string            `json:"id"` // unique in the run: "F1", "F2", ...
	Kind     Kind              `json:"kind"`
	Detail   string            `json:"detail,omitempty"`  // what differs in a replay: status, body, header, identity, marker; or the sub-kind
	Known    string            `json:"known,omitempty"`   // where it is told; empty: it is new
	Excused  string            `json:"excused,omitempty"` // line of the contract that allows it: the promise is kept; empty: none does
	Intent   string            `json:"intent"`            // or EveryIntent
	Typical  string            `json:"typical,omitempty"` // of a finding about EveryIntent: the intent that Attempts, Requests and Rows show; empty: none was sent
	Moment   string            `json:"moment"`            // snapshot at which it showed: "T1" before the final retry, "T2" after it
	Promise  string            `json:"promise"`           // the invariant in one sentence
	Contract string            `json:"contract"`          // the line of the contract, or "holds for every contract"
	Expected string            `json:"expected"`
	Observed string            `json:"observed"`
	Differs  []Difference      `json:"differs,omitempty"`
	Who      map[string]string `json:"who,omitempty"` // principals by intent, where several send
	Attempts []history.Attempt `json:"attempts"`      // of the intent and its neighbours, in the order of sending
	Outcomes []Outcome         `json:"outcomes"`      // of Attempts, by index
	Meanwhile
	Rows     []RowEvidence `json:"rows"`               // at Moment, by marker
	Requests []Request     `json:"requests,omitempty"` // what Attempts sent; none: the report is from before it was kept

	Circumstances []Circumstance `json:"circumstances,omitempty"` // none: plain requests, one after the other; or as with Requests
	Clues
	Shrunk *Shrunk `json:"shrunk,omitempty"` // nil: it was not shrunk
}

// Shrunk is the minimal reproduction of a finding.
type Shrunk struct {
	File string `json:"file"` // its scenario
	Left string `json:"left"` // what it takes: "2 requests and 0 faults"
	Seen string `json:"seen"` // how often it showed: "in 8 of 8 separate runs of 2 rounds"
}

// Clues are what a finding says of its cause beside its kind.
type Clues struct {
	Unrepeated bool `json:"unrepeated,omitempty"` // no repetition explains it: there is too little of an effect, or it was wrong before anything was sent twice
	Own        bool `json:"own,omitempty"`        // the effect is in the target's own database, and not at another service
}

// Meanwhile is what happened beside the attempts of a finding.
type Meanwhile struct {
	Crashes  []history.Crash   `json:"crashes,omitempty"`  // beside Attempts
	Flushes  []history.Flush   `json:"flushes,omitempty"`  // between Attempts
	Removals []history.Removal `json:"removals,omitempty"` // likewise, of what the intent had made
	Printed  Printed           `json:"printed,omitzero"`   // by the target's processes between the first and the last of Attempts
}

// Printed is what the target's processes printed while a finding came to be.
type Printed struct {
	Lines    []history.Printed `json:"lines"`              // at most 20
	Unlisted int               `json:"unlisted,omitempty"` // lines that are left out
}

// Difference is one member in which two answers differ.
type Difference struct {
	Attempt string `json:"attempt"` // compared with the first answer
	Where   string `json:"where"`   // JSON pointer, header name, or "status"
	First   string `json:"first"`
	Then    string `json:"then"`
}

// RowEvidence is what the row query returned for one marker.
type RowEvidence struct {
	Body   string        `json:"body"` // Original or Altered
	Marker string        `json:"marker"`
	Rows   []history.Row `json:"rows"`

	Adds     string            `json:"adds,omitempty"`     // column of one row, to which each of Rows was added; empty: they are rows
	Unknown  bool              `json:"unknown,omitempty"`  // the rows could not be read: Rows says nothing
	Messages []history.Message `json:"messages,omitempty"` // that reached sinks by then; at most 20, without their contents
}

// Warning is something that breaks no promise and that a user wants to know, such as
// "ungraceful-loser": the loser of a race got a 5xx, though a retry resolved it.
type Warning struct {
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Intents []string `json:"intents"`
}

// Exercise says for how many intents a proof of exercise held.
type Exercise struct {
	Proof  string `json:"proof"`
	Held   int    `json:"held"` // intents for which it held
	Of     int    `json:"of"`   // intents
	Needed int    `json:"needed"`
	Text   string `json:"text"` // in words: "2 or more requests were inside the target at once"
}

// Gate is where the members of a burst were released.
type Gate string

// The gates. What is released in front of a lane passes the lane's faults afterwards; the ends of HTTP/2
// streams pass them together, in one write.
const (
	GateDoorstep Gate = "doorstep"
	GateLane     Gate = "lane"
	GateWrite    Gate = "write"
)

// Bursts says how close together the members of bursts were released.
type Bursts struct {
	Count   int            `json:"count"`   // bursts of which every member was let go
	Members int            `json:"members"` // requests in the largest
	Gate    Gate           `json:"gate"`    // the lane's, if one burst was let go there
	Median  history.Offset `json:"median"`
	P90     history.Offset `json:"p90"`
	Most    history.Offset `json:"most"`
	Hits    *Hits          `json:"hits,omitempty"`  // nil: not calibrated
	Aimed   *Aimed         `json:"aimed,omitempty"` // nil: all went to one address. Otherwise Median, P90 and Most are of the arrivals, as aimed
}

// Aimed says how members of bursts were aimed that went to several addresses: each was released so early that all arrive together, by
// half of the round trip.
type Aimed struct {
	Addresses int            `json:"addresses"`
	Error     history.Offset `json:"error"` // half of how much the round trips to an address varied: arrivals may be so much further apart
}

// Hits says how long a window between check and write must be for bursts to hit it: as calibrated at a
// target of the harness's own, on the same machine and through the same faults.
type Hits struct {
	Bursts int            `json:"bursts"` // that were tried
	Half   history.Offset `json:"half"`   // a window of this length is hit in half of them
	Most   history.Offset `json:"most"`   // in 95 of 100
}

// Writers says how often the writers of a table were held back while a burst was released. Many blocked writers are
// normal for a target that relies on a constraint: they are no finding.
type Writers struct {
	Held    int      `json:"held"` // times
	Of      int      `json:"of"`   // bursts for which it was tried
	Tables  []string `json:"tables"`
	Waiting []int    `json:"waiting,omitempty"` // how many stood in line when they were let go, sorted; empty: the database does not tell
}

// Phase is a range of offsets in which a second request was always answered in the same way.
type Phase struct {
	Answer string         `json:"answer"`
	From   history.Offset `json:"from"` // of the offsets that were tried
	To     history.Offset `json:"to"`
	Count  int            `json:"count"` // offsets that were tried
}

// Result is the judgement on one history.
type Result struct {
	Scenario string          `json:"scenario"`
	Summary  string          `json:"summary,omitempty"`
	Verdict  Verdict         `json:"verdict"`
	Reasons  []string        `json:"reasons,omitempty"` // why inconclusive, broken, not applicable or fixed; or what a failure left unexercised
	Findings []Finding       `json:"findings"`
	Unlisted map[Kind]int    `json:"unlisted,omitempty"` // of a large run, how many more findings of a kind there are
	Warnings []Warning       `json:"warnings,omitempty"`
	Exercise []Exercise      `json:"exercise"`
	Bursts   *Bursts         `json:"bursts,omitempty"`  // nil: there were none
	Writers  *Writers        `json:"writers,omitempty"` // nil: no burst asked for it
	Phases   []Phase         `json:"phases,omitempty"`  // of what sweeps saw, by offset
	Intents  int             `json:"intents"`
	Beside   int             `json:"beside,omitempty"` // of Intents, those of the background, if none of them has such a finding
	Attempts int             `json:"attempts"`
	Failed   int             `json:"failed"` // intents with a finding that the contract does not excuse: k of Intents
	Outcomes map[Outcome]int `json:"outcomes"`
	Elapsed  history.Offset  `json:"elapsed"`
	Seed     uint64          `json:"seed"`

	Untried      *Untried   `json:"untried,omitempty"`       // nil: it was played, or nothing lets it
	Exercised    *Exercised `json:"exercised,omitempty"`     // nil: each intent that counts was
	Fewer        *Fewer     `json:"fewer,omitempty"`         // nil: it was played with all of its intents
	DatabaseGone bool       `json:"database_gone,omitempty"` // or the target's own listing: the rows became unknown
}

// Fewer says that a scenario was played with fewer intents than it has, as plain creates or starts of the target are slow.
type Fewer struct {
	Whole  int            `json:"whole"`           // intents that it has, without the background
	Create history.Offset `json:"create"`          // median duration of a plain create
	Start  history.Offset `json:"start,omitempty"` // that a process of the target takes to start, if that is why; 0: creates are
}

// Exercised says how many intents were exercised where not all were, and how many of these broke: an intent that the target never
// tried says nothing of how often it breaks.
type Exercised struct {
	Intents int          `json:"intents"` // for which each proof held
	Broke   map[Kind]int `json:"broke,omitempty"`
}

// Of is how many intents a share counts against: those that went through the scenario's steps, and those of the background if
// one of them broke.
func (r Result) Of() int { return r.Intents - r.Beside }

// Report is the judgement on a whole run: what every renderer gets.
type Report struct {
	Version int      `json:"version"` // of this structure: 1
	Run     string   `json:"run"`
	Tool    string   `json:"tool"`
	Target  string   `json:"target"`
	Seed    uint64   `json:"seed"`
	Started string   `json:"started"`            // RFC 3339
	Dir     string   `json:"dir"`                // where the run's files are
	BaseURL string   `json:"base_url,omitempty"` // of the target, where paths begin
	Replay  string   `json:"replay"`             // command that shows a finding again; "{}" stands for the finding's id
	Shrink  string   `json:"shrink"`             // command that leaves out of it what it does not take, likewise
	Export  string   `json:"export"`             // command that hands it over, likewise
	Again   string   `json:"again"`              // command that does the whole run again
	OwnWord bool     `json:"own_word,omitempty"` // the rows are what the target itself says there is
	Verdict Verdict  `json:"verdict"`
	Results []Result `json:"results"`

	NoRows    bool     `json:"no_rows,omitempty"`    // nothing tells what the target holds: answers alone were judged
	Operation string   `json:"operation,omitempty"`  // of the target, that was played
	NotPlayed []string `json:"not_played,omitempty"` // its others, by name
	Unsure    int      `json:"unsure,omitempty"`     // things that the target file lists of which init was unsure: the verdict rests on them
	Together  bool     `json:"together,omitempty"`   // its others are played in runs of their own, of one command
	Hunt      *Hunt    `json:"hunt,omitempty"`       // nil: it was none
}
