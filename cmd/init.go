package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafts"
	"github.com/doubletap-harness/doubletap/targets/openapi"
)

// initOptions are the flags of init.
type initOptions struct {
	openapi, curl, url, database, operation, output string
	allowHosts                                      []string
	dry                                             bool
}

func newInit(s streams) *cobra.Command {
	o := initOptions{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a target file for your API, from its OpenAPI document or a curl command, and prove it with one create",
		Long: `Init writes a target file. It reads how something is created from an OpenAPI document (3.0 or later) or from
a curl command, and from the database which tables, unique constraints and foreign keys there are. With
--db it sends one real create with a marker in every text of the body, and looks in which table and column
the markers arrive; --dry leaves that out. The file says what init was unsure of.

It only reads the database, and it only talks to this machine unless --allow-host names another. Secrets
stay in environment variables.`,
		Example: `  doubletap init --openapi openapi.yaml --url http://localhost:8080 --db "$DATABASE_URL" -o orders.yaml
  doubletap init --curl "curl -d '{\"note\": \"hello\"}' http://localhost:8080/orders" --db "$DATABASE_URL"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initCommand(cmd.Context(), o, s) },
	}
	f := cmd.Flags()
	f.StringVar(&o.openapi, "openapi", "", "OpenAPI document: a file, or a URL on this machine")
	f.StringVar(&o.curl, "curl", "", "curl command that creates something, or @FILE that holds it")
	f.StringVar(&o.url, "url", "", "where requests go, such as http://localhost:8080 (default: what the source says, if it is this machine)")
	f.StringVar(&o.database, "db", "", "sqlite, postgres, mysql or mariadb URL of the database that holds what is created")
	f.StringVar(&o.operation, "operation", "", "which of the document's operations, if several create something")
	f.StringVarP(&o.output, "output", "o", "", "file to write; it must not be there (default: standard output)")
	f.StringSliceVar(&o.allowHosts, "allow-host", nil, "host beyond this machine that may be sent to and read from")
	f.BoolVar(&o.dry, "dry", false, "send nothing")
	return cmd
}

// initiation is one call of init.
type initiation struct {
	initOptions
	streams streams
	file    drafts.File
	db      *databases.Database // nil: none was given
	tables  []databases.Table
}

func initCommand(ctx context.Context, o initOptions, s streams) error {
	i := &initiation{initOptions: o, streams: s}
	if err := i.check(); err != nil {
		return err
	}
	if err := i.draft(ctx); err != nil {
		return err
	}
	if err := i.hosts(); err != nil {
		return err
	}
	if err := i.connect(ctx); err != nil {
		return err
	}
	if i.db != nil {
		defer i.db.Close()
	}
	if err := i.prove(ctx); err != nil {
		return err
	}
	return i.write()
}

func (i *initiation) check() error {
	if (i.openapi == "") == (i.curl == "") {
		return mistakef("init takes either --openapi FILE or --curl 'COMMAND'")
	}
	if i.output == "" {
		return nil
	}
	if _, err := os.Lstat(i.output); err == nil {
		return mistakef("%s is there already; init does not overwrite it", i.output)
	}
	return nil
}

// draft reads the operation from its source.
func (i *initiation) draft(ctx context.Context) error {
	if i.curl != "" {
		return i.fromCurl()
	}
	return i.fromDocument(ctx)
}

func (i *initiation) fromDocument(ctx context.Context) error {
	where, source, err := i.document(ctx)
	if err != nil {
		return err
	}
	doc, err := openapi.Read(where, source)
	if err != nil {
		return mistakef("%s: %w", i.openapi, err)
	}
	chosen, err := i.choose(doc)
	if err != nil {
		return err
	}
	if err := i.base(doc.Server()); err != nil {
		return err
	}
	name := drafts.Slug(doc.Title())
	draft, err := doc.Draft(chosen, drafts.Prefix(name))
	if err != nil {
		return mistakef("%s: %w", i.openapi, err)
	}
	file, _, _ := strings.Cut(path.Base(filepath.ToSlash(i.openapi)), "?")
	i.file.Target, i.file.Source, i.file.Draft = name, file, draft
	return nil
}

// largestDocument bounds what is read from a URL, in bytes.
const largestDocument = 64 << 20

// document reads the OpenAPI document. Where is its path; empty: it has none.
func (i *initiation) document(ctx context.Context) (where string, source []byte, err error) {
	if !strings.HasPrefix(i.openapi, "http://") && !strings.HasPrefix(i.openapi, "https://") {
		source, err = os.ReadFile(i.openapi)
		if err != nil {
			return "", nil, mistake(describeMissing("OpenAPI document", i.openapi, err))
		}
		return i.openapi, source, nil
	}
	u, err := url.Parse(i.openapi)
	if err != nil || u.User != nil || !allowlist(i.allowHosts).permits(u.Hostname()) {
		return "", nil, mistakef("--openapi: only a URL on this machine is fetched; download the document, or allow its host with --allow-host")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.openapi, nil)
	if err != nil {
		return "", nil, mistake(err)
	}
	answer, err := plainClient().Do(request)
	if err != nil {
		return "", nil, surroundings(fmt.Errorf("fetch the OpenAPI document: %w", err))
	}
	defer answer.Body.Close()
	source, err = io.ReadAll(io.LimitReader(answer.Body, largestDocument))
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", nil, surroundings(errors.Join(fmt.Errorf("fetch the OpenAPI document: %s was answered %d", i.openapi, answer.StatusCode), err))
	}
	return "", source, nil
}

// choose finds the operation that was asked for, or the only one.
func (i *initiation) choose(doc *openapi.Document) (openapi.Create, error) {
	if i.operation != "" {
		if c, found := doc.Find(i.operation); found {
			return c, nil
		}
		return openapi.Create{}, mistakef("%s has no operation %q that is a POST with a JSON body%s", i.openapi, i.operation, asList(doc.Creates()))
	}
	creates := doc.Creates()
	switch len(creates) {
	case 0:
		return openapi.Create{}, mistakef("%s has no operation that creates something: none is a POST with a JSON object for a body", i.openapi)
	case 1:
		return creates[0], nil
	}
	return openapi.Create{}, mistakef("%s has %d operations that create something; choose one with --operation%s", i.openapi, len(creates), asList(creates))
}

// asList lists operations, below a message.
func asList(creates []openapi.Create) string {
	var out strings.Builder
	widest := 0
	for _, c := range creates {
		widest = max(widest, len(c.Name))
	}
	for _, c := range creates {
		fmt.Fprintf(&out, "\n  %-*s  %s %s", widest, c.Name, c.Method, c.Path)
		if c.Summary != "" {
			fmt.Fprintf(&out, "  %s", c.Summary)
		}
	}
	return out.String()
}

// base settles where requests go, of what was given and what the source says.
func (i *initiation) base(said string) error {
	server, err := url.Parse(said)
	if err != nil {
		server = &url.URL{}
	}
	if i.url == "" {
		if !loopback(server.Hostname()) {
			return mistakef("where do requests go? --url is missing, such as --url http://localhost:8080")
		}
		i.url = server.Scheme + "://" + server.Host
	}
	u, err := url.Parse(i.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return mistakef("--url: expected something like http://localhost:8080, without a user and without ? and #")
	}
	if prefix := strings.TrimRight(server.Path, "/"); prefix != "" && strings.Trim(u.Path, "/") == "" {
		u.Path = prefix
		i.file.Doubts = append(i.file.Doubts, fmt.Sprintf("Whether paths begin with %s: the document's first server says so.", prefix))
	}
	i.file.BaseURL, i.file.AllowHosts = u.String(), i.allowHosts
	return nil
}

// hosts holds that nothing but this machine is touched unless a flag names it.
func (i *initiation) hosts() error {
	base, err := url.Parse(i.file.BaseURL)
	if err != nil {
		return mistakef("--url cannot be parsed")
	}
	hosts, err := databases.HostsOf(i.database)
	if err != nil {
		return mistakef("--db: %w", err)
	}
	foreign := allowlist(i.allowHosts).foreign("--db", hosts...)
	if i.database != "" && !i.dry {
		foreign = append(foreign, allowlist(i.allowHosts).foreign("--url", base.Hostname())...)
	}
	if len(foreign) == 0 {
		return nil
	}
	return mistakef("%s points to %s, which is not this machine; allow it with --allow-host %s", foreign[0].what, foreign[0].host, foreign[0].host)
}

// connect opens the database and reads its catalogue.
func (i *initiation) connect(ctx context.Context) error {
	if i.database == "" {
		return nil
	}
	db, err := databases.Open(ctx, i.database, databases.ReadOnly)
	if err != nil {
		return surroundings(err)
	}
	if i.tables, err = db.Catalogue(ctx); err != nil {
		return surroundings(errors.Join(err, db.Close()))
	}
	i.db, i.file.Database, i.file.Dialect = db, true, db.Dialect
	fmt.Fprintf(i.streams.err, "the database at %s has %s\n", databasePlace(i.database), plural(len(i.tables), "table"))
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
func (i *initiation) write() error {
	text, err := i.file.Text()
	if err != nil {
		return mistake(err)
	}
	if _, err := i.load(text, func(string) (string, bool) { return "sqlite:///variable", true }); err != nil {
		return mistakef("%s leads to a target file with mistakes:\n%w", i.file.Source, err)
	}
	if i.output == "" {
		_, err = io.WriteString(i.streams.out, text)
	} else {
		err = os.WriteFile(i.output, []byte(text), 0o644)
	}
	if err != nil {
		return surroundings(fmt.Errorf("write the target file: %w", err))
	}
	i.farewell(strings.Count(text, "\n# - "))
	return nil
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

// farewell says what comes next.
func (i *initiation) farewell(doubts int) {
	name := i.output
	if name == "" {
		name = "FILE"
	}
	if doubts > 0 {
		fmt.Fprintf(i.streams.err, "init was unsure of %s, which the file lists at its top\n", plural(doubts, "thing"))
	}
	variables := slices.Clone(i.file.Draft.Needed)
	if i.file.Database {
		variables = append(variables, "DATABASE_URL")
	}
	if len(variables) > 0 {
		fmt.Fprintf(i.streams.err, "the file takes from the environment: %s\n", strings.Join(variables, ", "))
	}
	fmt.Fprintf(i.streams.err, "next:\n  %s doctor --target %s\n", program(), quoted(name))
}

func (i *initiation) fromCurl() error {
	command, source := i.curl, "a curl command"
	if name, isFile := strings.CutPrefix(i.curl, "@"); isFile {
		text, err := os.ReadFile(name)
		if err != nil {
			return mistake(describeMissing("curl command", name, err))
		}
		command, source = string(text), "the curl command in "+filepath.Base(name)
	}
	c, err := drafts.ReadCurl(command)
	if err != nil {
		return mistakef("--curl: %w", err)
	}
	if i.operation != "" {
		return mistakef("--operation is for --openapi: a curl command is one operation")
	}
	if i.url == "" {
		i.url = c.URL.Scheme + "://" + c.URL.Host
	}
	if err := i.base(""); err != nil {
		return err
	}
	i.file.Target, i.file.Source = "api", source
	i.file.Draft = c.Draft(drafts.Prefix(i.file.Target))
	return nil
}
