package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// initOptions are the flags of init.
type initOptions struct {
	openapi, har, curl, url, database, operation, output, start, ca string
	allowHosts                                                      []string
	dry, yes, force                                                 bool
}

func newInit(s streams) *cobra.Command {
	o := initOptions{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a target file for your API, from its OpenAPI document, a HAR file or a curl command, and prove it with one create",
		Long: `Init writes a target file. It reads how something is created from an OpenAPI document (3.0 or later), from
what a browser has recorded (a HAR file) or from a curl command, and from the database which tables, unique
constraints and foreign keys there are. With --db it sends one real create with a marker in every text of the
body, and looks in which table and column the markers arrive. It then repeats creates: under the same key, with
another body, several at once, and without a key. What they are answered becomes the contract. Where the
source names no key, it tries the usual headers. --dry sends nothing.
The file says what init was unsure of.

What is not given is asked for on a terminal. Elsewhere nothing is asked: --yes takes the best guess and says
which, and without it init says what is missing.

It only reads the database, and it only talks to this machine unless --allow-host names another. Secrets
stay in environment variables.`,
		Example: `  doubletap init --openapi openapi.yaml --url http://localhost:8080 --db "$DATABASE_URL" -o orders.yaml
  doubletap init --har recorded.har --operation create_orders --db "$DATABASE_URL" -o orders.yaml
  doubletap init --curl "curl -d '{\"note\": \"hello\"}' http://localhost:8080/orders" --db "$DATABASE_URL"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initCommand(cmd.Context(), o, s) },
	}
	f := cmd.Flags()
	f.StringVar(&o.openapi, "openapi", "", "OpenAPI document: a file, or a URL on this machine")
	f.StringVar(&o.har, "har", "", "HAR file of a browser that has created something")
	f.StringVar(&o.curl, "curl", "", "curl command that creates something, or @FILE that holds it")
	f.StringVar(&o.url, "url", "", "where requests go, such as http://localhost:8080 (default: what the source says, if it is this machine)")
	f.StringVar(&o.ca, "ca", "", "file of the authority, in PEM, that has signed the target's certificate, if the system does not trust it (default: --cacert of the curl command)")
	f.StringVar(&o.database, "db", "", "sqlite, postgres, mysql or mariadb URL of the database that holds what is created")
	f.StringVar(&o.operation, "operation", "", "which operation of the document or request of the HAR file, if several create something")
	f.StringVar(&o.start, "start", "", "command that starts your service: runs then start it themselves, kill it, and break its connections to the database")
	f.StringVarP(&o.output, "output", "o", "", "file to write; it must not be there (default: standard output)")
	f.BoolVar(&o.force, "force", false, forceUsage)
	f.StringSliceVar(&o.allowHosts, "allow-host", nil, "host beyond this machine that may be sent to and read from")
	f.BoolVar(&o.dry, "dry", false, "send nothing")
	f.BoolVar(&o.dry, "dry-run", false, "the same as --dry")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing: take the best guess, and say which")
	return cmd
}

// initiation is one call of init.
type initiation struct {
	initOptions
	streams streams
	asker   *asker
	file    drafting.File
	db      *databases.Database // nil: none was given
	tables  []databases.Table

	ways      []asVisitor     // to send a form, that were not tried
	hidden    []string        // members that the page of the form gives anew
	plain     *drafting.Draft // as its source has it; nil: nothing was varied
	places    []targets.Key   // of it, that may hold the key and were not tried as such
	rest      []placeTry      // what is tried when neither these nor members of the body are what has to differ
	asked     string          // header that a refusal names, which is tried as the key; empty: none did
	carriers  carriers
	naming    naming
	followed  bool              // an answer has led to another path
	declined  []drafting.Answer // to creates before the one that was done
	looked    int               // how often was looked for what that one has left
	waited    time.Duration     // until that was where it stays
	timed     bool              // the answer to that one may hold the time at which it was given
	throttled time.Duration     // how long a target wanted to be left alone that answered 429; 0: none did
	row       map[string]string // the last one that was found in the created thing's table; nil: none was
}

func initCommand(ctx context.Context, o initOptions, s streams) error {
	i := &initiation{initOptions: o, streams: s, asker: newAsker(s, o.yes)}
	for _, step := range []func(context.Context) error{i.check, i.draft, i.place, i.hosts, i.connect, i.visit} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if i.db != nil {
		defer i.db.Close()
	}
	if err := i.prove(ctx); err != nil {
		return err
	}
	return i.write(ctx)
}

// check settles which source there is.
func (i *initiation) check(ctx context.Context) error {
	if err := i.source(ctx); err != nil {
		return err
	}
	if i.output == "" {
		return nil
	}
	if err := i.target().Check(); err != nil {
		return runerror.Configf("--output: %w", err)
	}
	return nil
}

// target is the file to write. People write in such files, so it has no mark by which one is written anew.
func (i *initiation) target() files.Output {
	return files.Output{Path: i.output, Force: i.force}
}

// hosts holds that nothing but this machine is touched unless a flag names it.
func (i *initiation) hosts(context.Context) error {
	base, err := url.Parse(i.file.BaseURL)
	if err != nil {
		return runerror.Configf("--url cannot be parsed")
	}
	hosts, err := databases.HostsOf(i.database)
	if err != nil {
		return runerror.Configf("--db: %w", err)
	}
	foreign := sut.Allowlist(i.allowHosts).Foreign("--db", hosts...)
	if i.database != "" && !i.dry {
		foreign = append(foreign, sut.Allowlist(i.allowHosts).Foreign("--url", base.Hostname())...)
	}
	if len(foreign) == 0 {
		return nil
	}
	return runerror.Configf("%s points to %s, which is not this machine; allow it with --allow-host %s", foreign[0].What, foreign[0].Host, foreign[0].Host)
}

// connect opens the database and reads its catalogue.
func (i *initiation) connect(ctx context.Context) error {
	if i.database == "" {
		return nil
	}
	db, err := databases.Open(ctx, i.database, databases.ReadOnly)
	if err != nil {
		return runerror.Environment(err)
	}
	if i.tables, err = db.Catalogue(ctx); err != nil {
		return runerror.Environment(errors.Join(err, db.Close()))
	}
	i.db, i.file.Database, i.file.Dialect = db, true, db.Dialect
	fmt.Fprintf(i.streams.err, "the database at %s has %s\n", sut.PublicURL(i.database), english.Plural(len(i.tables), "table"))
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

// write writes the file, once it is known to be one.
func (i *initiation) write(ctx context.Context) error {
	i.file.Schema, i.file.Services = schemaName, drafting.Services(i.environment(), i.file.BaseURL)
	if err := readStart(ctx, i); err != nil {
		return err
	}
	text, err := i.file.Text()
	if err != nil {
		return runerror.Config(err)
	}
	sound := i.file
	if sound.Proof == nil { // rows are left to be filled in
		sound.Database, sound.Start = false, nil
	}
	checked, err := sound.Text()
	if err != nil {
		return runerror.Config(err)
	}
	if _, err := i.load(checked, func(string) (string, bool) { return "sqlite:///variable", true }); err != nil {
		return runerror.Configf("%s leads to a target file with mistakes:\n%w", i.file.Source, err)
	}
	if i.output == "" {
		_, err = io.WriteString(i.streams.bytes, text)
	} else {
		err = errors.Join(i.target().Write(func(w io.Writer) error { _, err := io.WriteString(w, text); return err }), i.schema())
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("write the target file: %w", err))
	}
	i.nextSteps(strings.Count(text, "\n# - "))
	return nil
}

// environment lists the variables of this process, and of the file .env of this folder: init is called where the service's code is.
func (i *initiation) environment() []string {
	var lines []string
	if i.streams.listed != nil {
		lines = i.streams.listed()
		if text, err := files.Read(".env", 64<<10); err == nil { // most folders have none
			lines = append(lines, strings.Split(string(text), "\n")...)
		}
	}
	return lines
}

// schemaName is the file beside a target file from which editors learn its keys.
const schemaName = "target.schema.json"

// schema writes the schema beside the target file, unless there is one.
func (i *initiation) schema() error {
	file, err := os.OpenFile(filepath.Join(filepath.Dir(i.output), schemaName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.Write(targets.Schema())
	return errors.Join(err, file.Close())
}

// load reads a text as a target file; a variable without a default is what stands says.
func (i *initiation) load(text string, stands func(string) (string, bool)) (targets.Target, error) {
	name := i.output
	if name == "" {
		name = "the target file"
	}
	return targets.Load(name, []byte(text), func(variable string) (string, bool) {
		if !slices.Contains(i.file.Draft.Needed, variable) && variable != "DATABASE_URL" {
			return i.streams.getenv(variable)
		}
		return stands(variable)
	})
}

// nextSteps says what comes next.
func (i *initiation) nextSteps(doubts int) {
	name := i.output
	if name == "" {
		name = "FILE"
	}
	if doubts > 0 {
		fmt.Fprintf(i.streams.err, "init was unsure of %s, which the file lists at its top\n", english.Plural(doubts, "thing"))
	}
	variables := drafting.Variables(i.file)
	if i.file.Database {
		variables = append(variables, "DATABASE_URL")
	}
	if len(variables) > 0 {
		fmt.Fprintf(i.streams.err, "the file takes from the environment: %s\n", strings.Join(variables, ", "))
	}
	if i.file.Start == nil {
		fmt.Fprintln(i.streams.err, "runs will not kill the service or break its connections, since they do not start it: init --start COMMAND adds that, or process in the file")
	}
	switch {
	case i.file.Database && i.file.Proof == nil:
		fmt.Fprintf(i.streams.err, "next: fill in the rows of %s, and then\n", shell.Quote(name))
	case i.output == "":
		fmt.Fprintf(i.streams.err, "next:\n  %s schema target > %s\n", program(), schemaName)
	default:
		fmt.Fprintln(i.streams.err, "next:")
	}
	fmt.Fprintf(i.streams.err, "  %s doctor --target %s\n", program(), shell.Quote(name))
}
