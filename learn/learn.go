// Package learn finds out how a service creates something and what it promises of repeated requests, and writes that as a target
// file. An OpenAPI document, a HAR file or a curl command says what is sent; one create, with a marker in every text of its body,
// shows in which table and column the texts arrive; creates that are repeated show the contract. What stays open is in the file as
// a doubt. Nothing but this machine is contacted unless an option names the host, and the database is only read.
package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// Options say what a target file is made of. The zero value leaves everything to be asked for.
type Options struct {
	OpenAPI, HAR, Curl string // what says how something is created: at most one of them
	URL                string // where requests go; empty: what the source says, if it is this machine
	CA                 string // file of the authority that has signed the target's certificate; empty: that of the curl command
	Database           string // URL of the database that holds what is created; empty: none
	Listing            string // path of the target that lists what is created, where there is no database; empty: none
	Operation          string // of the document, or request of the HAR file; empty: it is chosen
	Start              string // command that starts the service; empty: runs do not start it
	Output             string // where the target file will be, by which it names other files; empty: not known
	Schema             string // name of the schema beside the target file
	AllowHosts         []string
	Dry                bool // send nothing
}

// Asker settles what the options leave open. Settled is false where nothing was asked and nothing was guessed.
type Asker interface {
	Text(ctx context.Context, question, guess string) (answer string, settled bool, err error)
	Choice(ctx context.Context, question string, options []string, guess int) (number int, settled bool, err error) // numbers are from 1
	Secret(ctx context.Context, question string) (string, error)
	Asks() bool // a person answers
}

// Surroundings are what there is around the work. All members are required.
type Surroundings struct {
	Asker       Asker
	Said        io.Writer // is told what is done and found, as it is
	Getenv      func(name string) (string, bool)
	Environment func() []string // all variables, as NAME=value, which show what other services there are
}

// inquiry is one call of TargetFile.
type inquiry struct {
	Options
	Surroundings
	file   drafting.File
	db     holdings // nil: none were given
	tables []databases.Table

	ways     []asVisitor          // to send a form, that were not tried
	hidden   []string             // members that the page of the form gives anew
	plain    *drafting.Draft      // as its source has it; nil: nothing was varied
	places   []placeTry           // of it, that may hold the key and were not tried as such
	rest     []placeTry           // what is tried when neither these nor members of the body are what has to differ
	paths    []drafting.Elsewhere // to which no create was sent
	asked    string               // header that a refusal names, which is tried as the key; empty: none did
	carriers carriers
	versions versions
	naming   naming
	followed bool              // an answer has led to another path
	looked   int               // how often was looked for what the create has left that was done
	waited   time.Duration     // until that was where it stays
	timed    bool              // the answer to that one may hold the time at which it was given
	row      map[string]string // the last one that was found in the created thing's table; nil: none was
	dealings
}

// dealings are what requests have left that holds for later ones.
type dealings struct {
	declined  []drafting.Answer // answers to creates before the one that was done
	throttled time.Duration     // how long a target wanted to be left alone that answered 429; 0: none did
	took      time.Duration     // the longest of the creates by which the rows were looked for: copies of one that come at once may wait for each other
	login     login
	failed    []drafting.Answer // that said so in a body, where no row was found
	agent     agent
	rowless   bool // a second create was done, and made no row where the first one's marker was found
	steadied  int  // status of the refusal after which headers stayed as the source has them; 0: they did not have to
	formed    formed
	stored    []string // members whose marker the one create has left in a table
}

// TargetFile learns a target file. Its text is known to be one that loads, but for rows that are left to be filled in. The error is
// of the configuration where the options or what they name is at fault, and otherwise of the environment.
func TargetFile(ctx context.Context, o Options, s Surroundings) (file drafting.File, text string, err error) {
	i := &inquiry{Options: o, Surroundings: s}
	for _, step := range []func(context.Context) error{i.source, i.draft, i.place, i.hosts, i.connect, i.visit} {
		if err := step(ctx); err != nil {
			return drafting.File{}, "", err
		}
	}
	if i.db != nil {
		defer i.db.Close()
	}
	if err := i.prove(ctx); err != nil {
		return drafting.File{}, "", err
	}
	i.file.Schema, i.file.Services = i.Schema, drafting.Services(i.Environment(), i.file.BaseURL)
	if err := readStart(ctx, i); err != nil {
		return drafting.File{}, "", err
	}
	text, err = i.sound()
	return i.file, text, err
}

// hosts holds that nothing but this machine is touched unless a flag names it.
func (i *inquiry) hosts(context.Context) error {
	base, err := url.Parse(i.file.BaseURL)
	if err != nil {
		return runerror.Configf("--url: expected something like http://localhost:8080")
	}
	hosts, err := databases.HostsOf(i.Database)
	if err != nil {
		return runerror.Configf("--db: %w", err)
	}
	foreign := sut.Allowlist(i.AllowHosts).Foreign("--db", hosts...)
	if (i.Database != "" || i.Listing != "") && !i.Dry {
		foreign = append(foreign, sut.Allowlist(i.AllowHosts).Foreign("--url", base.Hostname())...)
	}
	if len(foreign) == 0 {
		return nil
	}
	return runerror.Configf("%s points to %s, which is not this machine; allow it with --allow-host %s", foreign[0].What, foreign[0].Host, foreign[0].Host)
}

// connect opens the database and reads its catalogue.
func (i *inquiry) connect(ctx context.Context) error {
	switch {
	case i.Listing != "" && i.Database != "":
		return runerror.Configf("--listing is for where there is no database; with --db the rows are looked for there")
	case i.Listing != "" && !strings.HasPrefix(i.Listing, "/"):
		return runerror.Configf("--listing is %q, expected a path of the target that begins with /, such as /orders", i.Listing)
	case i.Listing != "":
		i.listed()
		return nil
	case i.Database == "":
		return nil
	}
	db, err := databases.Open(ctx, i.Database, databases.ReadOnly)
	if err != nil {
		return runerror.Environment(err)
	}
	if i.tables, err = db.Catalogue(ctx); err != nil {
		return runerror.Environment(errors.Join(err, db.Close()))
	}
	i.db, i.file.Database, i.file.Dialect = db, true, db.Dialect
	fmt.Fprintf(i.Said, "the database at %s has %s\n", sut.PublicURL(i.Database), english.Plural(len(i.tables), "table"))
	return nil
}

// plainClient sends every request once, to where it says, and follows nothing.
func plainClient() *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// sound returns the text of the file, once it is known to be a target file.
func (i *inquiry) sound() (string, error) {
	text, err := i.file.Text()
	if err != nil {
		return "", runerror.Config(err)
	}
	sound := i.file
	if sound.Proof == nil { // rows are left to be filled in
		sound.Database, sound.Start = false, nil
	}
	checked, err := sound.Text()
	if err != nil {
		return "", runerror.Config(err)
	}
	if _, err := i.load(checked, func(string) (string, bool) { return "sqlite:///variable", true }); err != nil {
		return "", runerror.Configf("%s leads to a target file with mistakes:\n%w", i.file.Source, err)
	}
	return text, nil
}

// load reads a text as a target file; a variable without a default is what stands says.
func (i *inquiry) load(text string, stands func(string) (string, bool)) (targets.Target, error) {
	name := i.Output
	if name == "" {
		name = "the target file"
	}
	return targets.Load(name, []byte(text), func(variable string) (string, bool) {
		if !slices.Contains(i.file.Draft.Needed, variable) && variable != "DATABASE_URL" {
			return i.Getenv(variable)
		}
		return stands(variable)
	})
}
