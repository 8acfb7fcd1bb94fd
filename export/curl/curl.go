// Package curl writes what a driver would send as a shell script, for people who have bash and
// curl and nothing else. Whatever a target or a file said stands in quotes: the script executes
// none of it.
//
// [Script.Write] collects a page (page.go), which script.sh.tmpl lays out. moves.go writes what a
// plan sends, lane.go what a script does in place of a lane's faults, steps.go the requests around
// it, and judge.go, means.go and effects.go the comparison at the end. word.go puts the script's
// own variables where the run had markers, keys and secrets; helpers.go has the functions in jq by
// which values are taken out of answers. What a script cannot do stands in its head.
package curl

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Script is what a script sends and shows.
type Script struct {
	Tries
	Title       string // what it shows, in one line
	Origin      string // where it comes from, in one line
	Base        string // URL of the target, unless BASE_URL says another; empty: that must
	Plan        scenarios.Plan
	Requests    map[string]driver.Rehearsed // by attempt
	Steps       []driver.RehearsedRun       // that come before, in between and after; all can be taken, see [CannotTake]
	Options     []string                    // of curl, for every request
	Lanes       map[string][]faults.Fault
	Links       map[string][]faults.Fault // inside the target
	Normal      time.Duration             // of a plain create; spans that are shares are of this
	Variables   map[string]string         // names of environment variables, by what stands for them in Requests
	Rows        map[string]string         // row queries, with the parameter :marker, by operation
	Adds        map[string]Addition       // by marker, where each execution adds to a row
	Client      Client
	Database    string   // URL, unless DATABASE_URL says another; empty: that must
	Judge       Judge    // what shows that it happens again
	Files       []File   // that it takes to reach the target
	Lacks       []string // what a script does not do, besides what it finds out itself
	Cannot      []string // likewise, and without which it does not show
	Concurrency int      // of intents; 0: 1
	Minimal     bool     // nothing can be left out: without what a script does not do, it does not show
}

// Tries are how often a script tries.
type Tries struct {
	Rounds int    // of the plan, of which at least one is to show it; 0: 1
	Seen   string // how often it was seen in so many, in one line; empty: it is not known
}

// Judge says how a script sees that it happened again. With the zero value the answers and the rows have to be looked at.
type Judge struct {
	Sees     Condition
	Natural  bool              // an intent is one whatever its keys are
	Late     bool              // it shows after a final retry
	Each     bool              // of Lost: each intent is to have a row of its own, also where others have its marker
	Promise  contract.Contract // how long keys are known, and what comes after that; the zero value: they are not forgotten
	Means    Means             // what answers mean
	Where    []string          // of Differs: "status", "identity", "body", names of headers, and JSON pointers to members of the body
	Identity contract.Identity // where an answer names the created thing; the zero value: nowhere
	Effects  []Effect          // of Effects
	Settle   time.Duration     // after which rows are there
}

// Effect is what belongs to a row, as a query sees it. One of Rows, Value and Delta is set.
type Effect struct {
	Query string   // with the parameter :marker, unless Delta is set
	Rows  *int     // of the query, for each row
	Value *float64 // the number that the query gives, for each row
	Delta *float64 // change of the number that the query gives, for each row
}

// Addition is what each execution of a request adds to its row. The zero value adds nothing: each execution makes a row.
type Addition struct {
	Column string // of the row query, as SQL has it
	Each   string // number, as SQL has it
}

// File is a file that curl is given with an option.
type File struct {
	Option   string // of curl: --cacert
	Variable string // of the script, by which another file is named
	Path     string
}

// Client is the program that the rows are counted with.
type Client string

// The clients. With the zero value the script shows the query and leaves it to the reader.
const (
	NoClient Client = ""
	SQLite   Client = "sqlite3"
	Postgres Client = "psql"
	MariaDB  Client = "mariadb"
)

// Condition is what shows that it happened again.
type Condition int

// The conditions. With the zero value the answers and the rows have to be looked at.
const (
	Unclear    Condition = iota
	TooMany              // rows of one marker
	Lost                 // no row, or not the one that was named, though it was said to be done
	Phantom              // a row, though each answer was a refusal
	Refused              // the last of several retries is not done
	Mixed                // likewise, and that of another request is
	Unanswered           // a request got no answer
	Altered              // one key was done with two bodies
	Corrected            // the corrected body was done under the key of the refused one
	Keyless              // it was done without a key
	Differs              // two answers to one request
	Leaked               // an answer has the marker of another intent
	Told                 // it was done for somebody without a credential
	Undeclared           // an answer below 400 that the contract does not name
	Died                 // a new request is not done any more
	Wrong                // the number of effects
	Gone                 // nothing is there after a removal, and what is sent then is not done
)

//go:embed script.sh.tmpl
var text string

var layout = template.Must(template.New("script").Funcs(template.FuncMap{
	"quote": shell.Quote, "comment": inert.Comment, "lower": strings.ToLower,
}).Parse(text))

// Limits is what the script cannot show it without, as its head says; none: it can show it.
func (s Script) Limits() []string { return s.page().Cannot }

// Write writes the script. What it cannot do it says in its head.
func (s Script) Write(w io.Writer) error {
	if err := layout.Execute(w, s.page()); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	return nil
}
