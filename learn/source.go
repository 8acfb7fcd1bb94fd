package learn

import (
	"cmp"
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

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/drafting"
	"github.com/doubletap-harness/doubletap/targets/drafting/openapi"
)

// usualDocuments are where OpenAPI documents lie.
func usualDocuments() []string {
	return []string{"openapi.yaml", "openapi.yml", "openapi.json", "docs/openapi.yaml", "docs/openapi.json", "api/openapi.yaml", "api/openapi.json", "spec/openapi.yaml"}
}

// source settles what says how something is created.
func (i *inquiry) source(ctx context.Context) error {
	given := slices.DeleteFunc([]string{i.OpenAPI, i.HAR, i.Curl}, func(s string) bool { return s == "" })
	if len(given) > 1 {
		return runerror.Configf("init takes one of --openapi FILE, --har FILE and --curl 'COMMAND'")
	}
	if len(given) == 1 {
		return nil
	}
	guess := ""
	for _, name := range usualDocuments() {
		if info, err := os.Stat(name); guess == "" && err == nil && info.Mode().IsRegular() {
			guess = name
		}
	}
	answer, _, err := i.Asker.Text(ctx, "What says how something is created: an OpenAPI document, a HAR file, or a curl command?", guess)
	switch {
	case err != nil:
		return err
	case answer == "":
		return runerror.Configf("what says how something is created? init takes --openapi FILE, --har FILE or --curl 'COMMAND'")
	case strings.HasPrefix(answer, "curl "):
		i.Curl = answer
	case strings.HasSuffix(strings.ToLower(answer), ".har"):
		i.HAR = answer
	default:
		i.OpenAPI = answer
	}
	return nil
}

// draft reads the operation from its source.
func (i *inquiry) draft(ctx context.Context) error {
	switch {
	case i.Curl != "":
		return i.fromCurl(ctx)
	case i.HAR != "":
		return i.fromHAR(ctx)
	}
	return i.fromDocument(ctx)
}

// place settles which database there is.
func (i *inquiry) place(ctx context.Context) error {
	if i.Database != "" {
		return nil
	}
	guess := ""
	if value, set := i.Getenv("DATABASE_URL"); set && value != "" {
		guess = "$DATABASE_URL"
	}
	answer, _, err := i.Asker.Text(ctx, "Which database holds what is created? Its URL, or nothing:", guess)
	if answer == "$DATABASE_URL" {
		answer, _ = i.Getenv("DATABASE_URL")
	}
	i.Database = answer
	return err
}

// fromDocument drafts a target file from an operation of an OpenAPI document.
func (i *inquiry) fromDocument(ctx context.Context) error {
	where, source, err := i.document(ctx)
	if err != nil {
		return err
	}
	doc, err := openapi.Read(where, source)
	if err != nil {
		return runerror.Configf("%s: %w", i.OpenAPI, err)
	}
	chosen, err := i.choose(ctx, doc)
	if err != nil {
		return err
	}
	if err := i.base(ctx, doc.Server()); err != nil {
		return err
	}
	name := drafting.Slug(doc.Title())
	draft, err := doc.Draft(chosen, drafting.Prefix(name))
	if err != nil {
		return runerror.Configf("%s: %w", i.OpenAPI, err)
	}
	file, _, _ := strings.Cut(path.Base(filepath.ToSlash(i.OpenAPI)), "?")
	i.file.Target, i.file.Source, i.file.Draft = name, file, draft
	return nil
}

// largestDocument bounds what is read from a URL, in bytes.
const largestDocument = 64 << 20

// document reads the OpenAPI document. Where is its path; empty: it has none.
func (i *inquiry) document(ctx context.Context) (where string, source []byte, err error) {
	if !strings.HasPrefix(i.OpenAPI, "http://") && !strings.HasPrefix(i.OpenAPI, "https://") {
		source, err = files.Read(i.OpenAPI, files.MostText)
		if err != nil {
			return "", nil, runerror.Config(runerror.Unreadable("OpenAPI document", i.OpenAPI, err))
		}
		return i.OpenAPI, source, nil
	}
	u, err := url.Parse(i.OpenAPI)
	if err != nil || u.User != nil || !sut.Allowlist(i.AllowHosts).Permits(u.Hostname()) {
		return "", nil, runerror.Configf("--openapi: only a URL on this machine is fetched; download the document, or allow its host with --allow-host")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.OpenAPI, nil)
	if err != nil {
		return "", nil, runerror.Config(err)
	}
	answer, err := plainClient().Do(request)
	if err != nil {
		return "", nil, runerror.Environment(fmt.Errorf("fetch the OpenAPI document: %w", err))
	}
	defer answer.Body.Close()
	source, err = io.ReadAll(io.LimitReader(answer.Body, largestDocument))
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", nil, runerror.Environment(errors.Join(fmt.Errorf("fetch the OpenAPI document: %s was answered %d", i.OpenAPI, answer.StatusCode), err))
	}
	return "", source, nil
}

// choose finds the operation that was asked for, or the only one, or asks.
func (i *inquiry) choose(ctx context.Context, doc *openapi.Document) (openapi.Create, error) {
	creates := doc.Creates()
	if i.Operation != "" {
		if c, found := doc.Find(i.Operation); found {
			return c, nil
		}
		return openapi.Create{}, runerror.Configf("%s has no operation %q that is a POST with a JSON body or a form, such a PUT that documents a 201, or a PATCH or PUT of what a POST creates%s", i.OpenAPI, i.Operation, below(operationLines(creates)))
	}
	if len(creates) == 0 {
		return openapi.Create{}, runerror.Configf("%s has no operation that creates something: none is a POST with a JSON object or a form for a body, or such a PUT with a 201 and an id in its path", i.OpenAPI)
	}
	return chosen(ctx, i.Asker, candidates[openapi.Create]{from: i.OpenAPI, kind: "operation", all: creates, lines: operationLines(creates), keyed: openapi.Create.Keyed})
}

// candidates are the ways to create something that a source has, at least one.
type candidates[T any] struct {
	from  string // the source
	kind  string // what they are called
	all   []T
	lines []string // that describe them
	keyed func(T) bool
}

// chosen settles which candidate is tried: the only one, the one that is asked for on a terminal, or as a
// guess the first that takes an idempotency key.
func chosen[T any](ctx context.Context, a Asker, c candidates[T]) (one T, err error) {
	if len(c.all) == 1 {
		return c.all[0], nil
	}
	guess := slices.IndexFunc(c.all, c.keyed)
	number, settled, err := a.Choice(ctx, "Which "+c.kind+" is to be tried?", c.lines, max(guess, 0)+1)
	switch {
	case err != nil:
		return one, err
	case !settled:
		return one, runerror.Configf("%s has %d %ss that create something; choose one with --operation%s", c.from, len(c.all), c.kind, below(c.lines))
	}
	return c.all[number-1], nil
}

// operationLines describes operations, each in a line.
func operationLines(creates []openapi.Create) []string {
	var rows [][]string
	for _, c := range creates {
		rows = append(rows, []string{c.Name, c.Method + " " + c.Path, c.Summary})
	}
	return aligned(rows)
}

// aligned makes a line of each row, with the second cells below each other.
func aligned(rows [][]string) []string {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row[0]))
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %s", widest, row[0], strings.Join(row[1:], "  ")), " "))
	}
	return lines
}

// below lists lines under a message.
func below(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("\n  " + line)
	}
	return out.String()
}

// base settles where requests go, of what was given and what the source says.
func (i *inquiry) base(ctx context.Context, said string) error {
	server, err := url.Parse(cmp.Or(said, "/"))
	if err != nil {
		server = &url.URL{Path: "/"}
	}
	if document, err := url.Parse(i.OpenAPI); err == nil && document.Host != "" { // OpenAPI 3.1.1, sections 4.6 and 4.8.1.1
		server = document.ResolveReference(server)
	}
	if i.URL == "" && sut.Loopback(server.Hostname()) {
		i.URL = server.Scheme + "://" + server.Host
	}
	if i.URL == "" {
		if i.URL, _, err = i.Asker.Text(ctx, "Where do requests go?", "http://localhost:8080"); err != nil {
			return err
		}
	}
	if i.URL == "" {
		return runerror.Configf("where do requests go? --url is missing, such as --url http://localhost:8080")
	}
	u, err := url.Parse(i.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return runerror.Configf("--url: expected something like http://localhost:8080, without a user and without ? and #")
	}
	if prefix := strings.TrimRight(server.Path, "/"); prefix != "" && strings.Trim(u.Path, "/") == "" {
		u.Path = prefix
		i.file.Doubt("Whether paths begin with %s: the document's first server says so.", prefix)
	}
	i.file.BaseURL, i.file.AllowHosts = u.String(), i.AllowHosts
	i.file.TLS.CA = cmp.Or(i.CA, i.file.TLS.CA)
	for _, name := range []*string{&i.file.TLS.CA, &i.file.TLS.Certificate, &i.file.TLS.Key} {
		if *name != "" && !filepath.IsAbs(*name) && i.Output != "" {
			*name = files.Relative(filepath.Dir(i.Output), *name)
		}
	}
	return nil
}

// fromCurl drafts a target file from a curl command, or from one that stands in a file.
func (i *inquiry) fromCurl(ctx context.Context) error {
	command, source := i.Curl, "a curl command"
	if name, isFile := strings.CutPrefix(i.Curl, "@"); isFile {
		text, err := files.Read(name, files.MostText)
		if err != nil {
			return runerror.Config(runerror.Unreadable("curl command", name, err))
		}
		command, source = string(text), "the curl command in "+filepath.Base(name)
	}
	c, err := drafting.ReadCurl(command)
	if err != nil {
		return runerror.Configf("--curl: %w", err)
	}
	if i.Operation != "" {
		return runerror.Configf("--operation is for --openapi and --har: a curl command is one operation")
	}
	if i.URL == "" {
		i.URL = c.URL.Scheme + "://" + c.URL.Host
	}
	if err := uploads(&c, i); err != nil {
		return err
	}
	i.file.TLS = c.TLS
	if err := i.base(ctx, ""); err != nil {
		return err
	}
	i.file.Target, i.file.Source = "api", source
	i.file.Draft = c.Draft(drafting.Prefix(i.file.Target))
	return nil
}
