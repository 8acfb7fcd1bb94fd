package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/learn"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// initOptions are the flags of init.
type initOptions struct {
	learn.Options
	yes, force bool
}

// newInit returns the command that writes a target file.
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

Where you may not look into the database, --listing names a path by which the API lists what it holds. Init
then finds the parameter that makes it list one created thing, or takes the one that you give:
--listing '/orders?note={{.Intent.Marker}}'.

What is not given is asked for on a terminal. Elsewhere nothing is asked: --yes takes the best guess and says
which, and without it init says what is missing.

It only reads the database, and it only talks to this machine unless --allow-host names another. Secrets
stay in environment variables.`,
		Example: `  doubletap init --openapi openapi.yaml --url http://localhost:8080 --db "$DATABASE_URL" -o orders.yaml
  doubletap init --har recorded.har --operation create_orders --db "$DATABASE_URL" -o orders.yaml
  doubletap init --curl "curl -d '{\"note\": \"hello\"}' http://localhost:8080/orders" --db "$DATABASE_URL"
  doubletap init --curl @create.sh --listing /orders -o orders.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initCommand(cmd.Context(), o, s) },
	}
	f := cmd.Flags()
	f.StringVar(&o.OpenAPI, "openapi", "", "OpenAPI document: a file, or a URL on this machine")
	f.StringVar(&o.HAR, "har", "", "HAR file of a browser that has created something")
	f.StringVar(&o.Curl, "curl", "", "curl command that creates something, or @FILE that holds it")
	f.StringVar(&o.URL, "url", "", "where requests go, such as http://localhost:8080 (default: what the source says, if it is this machine)")
	f.StringVar(&o.CA, "ca", "", "file of the authority, in PEM, that has signed the target's certificate, if the system does not trust it (default: --cacert of the curl command)")
	f.StringVar(&o.Database, "db", "", "sqlite, postgres, mysql or mariadb URL of the database that holds what is created")
	f.StringVar(&o.Listing, "listing", "", "path by which your API lists what it holds, such as /orders, if there is no --db: init looks there for what it creates")
	f.StringVar(&o.Operation, "operation", "", "which operation of the document or request of the HAR file, if several create something")
	f.StringVar(&o.Start, "start", "", "command that starts your service: runs then start it themselves, kill it, and break its connections to the database")
	f.StringVarP(&o.Output, "output", "o", "", "file to write; it must not be there (default: standard output)")
	f.BoolVar(&o.force, "force", false, forceUsage)
	f.StringSliceVar(&o.AllowHosts, "allow-host", nil, "host beyond this machine that may be sent to and read from")
	f.BoolVar(&o.Dry, "dry", false, "send nothing")
	f.BoolVar(&o.Dry, "dry-run", false, "the same as --dry")
	f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing: take the best guess, and say which")
	return cmd
}

// initCommand learns a target and writes its file, with the schema beside it for editors. The text
// is written last and as a whole: a file that is half written would be taken for a target.
func initCommand(ctx context.Context, o initOptions, s streams) error {
	output := files.Output{Path: o.Output, Force: o.force} // people write in such files, so it has no mark by which one is written anew
	if o.Output != "" {
		if err := output.Check(); err != nil {
			return runerror.Configf("--output: %w", err)
		}
	}
	o.Schema = schemaName
	env, err := sut.Beside(filepath.Dir(o.Output), s.getenv) // runs of the file will read it, too
	if err != nil {
		return err
	}
	file, text, err := learn.TargetFile(ctx, o.Options, learn.Surroundings{
		Asker: newAsker(s, o.yes), Said: s.err, Getenv: env, Environment: func() []string { return environment(s) },
	})
	if err != nil {
		return err
	}
	if o.Output == "" {
		_, err = io.WriteString(s.bytes, text)
	} else {
		err = errors.Join(output.Write(func(w io.Writer) error { _, err := io.WriteString(w, text); return err }), writeSchema(filepath.Dir(o.Output)))
	}
	if err != nil {
		return runerror.Environment(fmt.Errorf("write the target file: %w", err))
	}
	nextSteps(s.err, o.Output, file, strings.Count(text, "\n# - "))
	return nil
}

// environment lists the variables of this process, and of the file .env of this folder: init is called where the service's code is.
func environment(s streams) []string {
	var lines []string
	if s.listed != nil {
		lines = s.listed()
		if text, err := files.Read(".env", 64<<10); err == nil { // most folders have none
			lines = append(lines, strings.Split(string(text), "\n")...)
		}
	}
	return lines
}

// schemaName is the file beside a target file from which editors learn its keys.
const schemaName = "target.schema.json"

// writeSchema writes the schema into the target file's folder, unless there is one.
func writeSchema(folder string) error {
	file, err := os.OpenFile(filepath.Join(folder, schemaName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.Write(targets.Schema())
	return errors.Join(err, file.Close())
}

// nextSteps says what comes next, after a target file was written under a name; empty: to standard output.
func nextSteps(out io.Writer, name string, file drafting.File, doubts int) {
	printed := name == ""
	if printed {
		name = "FILE"
	}
	if doubts > 0 {
		fmt.Fprintf(out, "init was unsure of %s, which the file lists at its top\n", english.Plural(doubts, "thing"))
	}
	variables := drafting.Variables(file)
	if file.Database {
		variables = append(variables, "DATABASE_URL")
	}
	for i, name := range variables {
		if drafting.InBase64(file, name) {
			variables[i] += " (USER:PASSWORD in base64)"
		}
	}
	if len(variables) > 0 {
		fmt.Fprintf(out, "the file takes from the environment: %s\n", strings.Join(variables, ", "))
	}
	if file.Start == nil {
		fmt.Fprintln(out, "runs will not kill the service or break its connections, since they do not start it: init --start COMMAND adds that, or process in the file")
	}
	switch {
	case file.Database && file.Proof == nil:
		fmt.Fprintf(out, "next: fill in the rows of %s, and then\n", shell.Quote(name))
	case printed:
		fmt.Fprintf(out, "next:\n  %s schema target > %s\n", program(), schemaName)
	default:
		fmt.Fprintln(out, "next:")
	}
	fmt.Fprintf(out, "  %s doctor --target %s\n", program(), shell.Quote(name))
}
