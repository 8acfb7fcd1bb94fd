// Package curl writes what a driver would send as a shell script, for people who have bash and curl and
// nothing else.
package curl

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Script is what a script sends and shows.
type Script struct {
	Title     string // what it shows, in one line
	Origin    string // where it comes from, in one line
	Base      string // URL of the target, unless BASE_URL says another; empty: that must
	Plan      scenarios.Plan
	Requests  map[string]driver.Rehearsed // by attempt
	Lanes     map[string][]faults.Fault
	Links     map[string][]faults.Fault // inside the target
	Normal    time.Duration             // of a plain create; spans that are shares are of this
	Variables map[string]string         // names of environment variables, by what stands for them in Requests
	Rows      map[string]string         // row queries, with the parameter :marker, by operation
	Client    Client
	Database  string    // URL, unless DATABASE_URL says another; empty: that must
	Broken    Condition // what the rows of an intent show if it happens again
	Files     []File    // that it takes to reach the target
	Lacks     []string  // what a script does not do, besides what it finds out itself
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

// Condition is what a number of rows is tested for, in the shell's words.
type Condition string

// The conditions. With the zero value the answers and the rows have to be looked at.
const (
	Unclear Condition = ""
	TooMany Condition = "-gt 1"
	None    Condition = "-eq 0"
)

//go:embed script.sh.tmpl
var text string

var layout = template.Must(template.New("script").Funcs(template.FuncMap{
	"quote": shell.Quote, "comment": inert.Comment, "lower": strings.ToLower,
}).Parse(text))

// Write writes the script. What it cannot do it says in its head.
func (s Script) Write(w io.Writer) error {
	if err := layout.Execute(w, s.page()); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	return nil
}
