package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

//go:embed matrix.schema.json
var matrixSchema []byte

// matrixOptions are the flags of matrix.
type matrixOptions struct {
	targets   string   // file that says what is known of targets; empty: the built-in ones
	only      []string // built-in designs; empty: all
	databases []string // of the built-in designs
	store     string   // Redis server of those that take one; empty: $DOUBLETAP_STORE, or they are left out
	seeds     int
	sparing   bool // from the second seed on, broken targets only with the scenarios that are declared to catch them
	parallel  int
	outputs   []string
	dryRun    bool
	force     bool
	resume    string // matrix that is gone on with; empty: none
}

// newMatrix returns the command that compares verdicts with the truth.
func newMatrix(s streams) *cobra.Command {
	o := matrixOptions{}
	cmd := &cobra.Command{
		Use:   "matrix [SCENARIO|FILE|DIR ...]",
		Short: "Run scenarios against targets of which the truth is known, and compare",
		Long: `Matrix runs every scenario against every built-in design, correct and broken, and compares the verdicts
with what is declared beside each design: caught, clean, missed, false alarm. With --targets FILE it does
the same for targets of your own. A scenario that decided nothing, as on a busy machine, is run again, up to
three times:

  targets:
    - {target: orders.yaml, correct: true}
    - {target: broken.yaml, shows: [duplicate], by: [burst-same-key]}

Exit codes: 0 every target was judged rightly with every seed, 1 if not.`,
		Example: `  doubletap matrix -o docs/matrix.md
  doubletap matrix --database "" --database postgres://me@localhost/test --seeds 20 -o matrix.html
  doubletap matrix --design check-then-insert burst-same-key
  doubletap matrix --seeds 20 --sparing -o matrix.json --resume matrix.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return matrixCommand(cmd.Context(), args, o, s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.targets, "targets", "", "file that says what is known of targets (default: the built-in designs)")
	f.StringSliceVar(&o.only, "design", nil, "built-in designs (default: all)")
	f.StringArrayVar(&o.databases, "database", []string{""}, "database of the built-in designs, as often as wanted: a postgres or mariadb URL; empty: a SQLite file")
	f.StringVar(&o.store, "store", "", storeUsage+"; without one such designs are left out")
	f.IntVar(&o.seeds, "seeds", 1, "how many seeds, from 1")
	f.BoolVar(&o.sparing, "sparing", false, "run broken targets, from the second seed on, only with the scenarios that are declared to catch them")
	f.IntVar(&o.parallel, "parallel", 2*runtime.NumCPU(), "runs at once: they mostly wait")
	f.StringArrayVarP(&o.outputs, "output", "o", nil, "file to write, as often as wanted: .md, .html or .json; also of what is there when it is interrupted")
	f.BoolVar(&o.force, "force", false, forceUsage)
	f.StringVar(&o.resume, "resume", "", "matrix to go on with, a .json of --output: what it has of targets, seeds and scenarios is not run again")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be played, and stop")
	return cmd
}

// redisSuffix names a place where Redis stands beside the database.
const redisSuffix = "+redis"

// known is a target, what is known of it, and where it stands.
type known struct {
	target   string
	database string
	store    string // Redis server; empty: it takes none
	truth    checker.Truth
}

// matrixCommand plays what is lacking and writes each output. It writes what there is also when it
// was interrupted, so that --resume can go on from there.
func matrixCommand(ctx context.Context, args []string, o matrixOptions, s streams) error {
	files, err := engine.FindScenarios(args)
	if err != nil {
		return err
	}
	forms, err := o.forms()
	if err != nil {
		return err
	}
	// Files that cannot be written are found before hours are played for them.
	for _, path := range o.outputs {
		if err := o.output(path).Check(); err != nil {
			return runerror.Configf("--output: %w", err)
		}
	}
	all, err := o.known(s)
	if err != nil {
		return err
	}
	earlier, err := o.earlier()
	if err != nil {
		return err
	}
	m, err := o.begin(files, all, earlier)
	if err != nil {
		return err
	}
	if o.dryRun {
		runs := o.unplayed(files, all, m)
		fmt.Fprintf(s.out, "%s against %s with %s: %s to be played\n\nnothing was sent (--dry-run)\n",
			english.Plural(len(files), "scenario"), english.Plural(len(all), "target"), english.Plural(o.seeds, "seed"), english.Plural(len(runs), "run"))
		return nil
	}
	// The matrix is written whatever ended the playing.
	played := o.play(ctx, files, all, &m, s)
	err = reports.MatrixText(s.out, m)
	for path, write := range forms {
		err = errors.Join(err, o.output(path).Write(func(w io.Writer) error { return write(w, m) }))
	}
	switch {
	case played != nil:
		return errors.Join(played, err)
	case err != nil:
		return runerror.Environment(err)
	}
	if !m.Right() {
		return exit{code: exitFinding}
	}
	return nil
}

// output is a file to write. One that a matrix was written to before is written anew: the mark,
// which stands in each such file, tells it from a file of the user's.
func (o matrixOptions) output(path string) files.Output {
	mark := "What doubletap catches"
	if filepath.Ext(path) == ".json" {
		mark = `"sparing": `
	}
	return files.Output{Path: path, Mark: mark, Force: o.force}
}

// forms says how each output is written.
func (o matrixOptions) forms() (map[string]func(io.Writer, reports.Matrix) error, error) {
	if o.seeds < 1 || o.parallel < 1 {
		return nil, runerror.Configf("--seeds is %d and --parallel %d, expected 1 or more", o.seeds, o.parallel)
	}
	forms := map[string]func(io.Writer, reports.Matrix) error{}
	for _, path := range o.outputs {
		write := map[string]func(io.Writer, reports.Matrix) error{
			".md": reports.MatrixMarkdown, ".html": reports.MatrixHTML, ".json": reports.MatrixJSON,
		}[filepath.Ext(path)]
		if write == nil {
			return nil, runerror.Configf("--output is %s, expected a file that ends in .md, .html or .json", path)
		}
		forms[path] = write
	}
	return forms, nil
}

// earlier reads the matrix that is gone on with; nil: there is none.
func (o matrixOptions) earlier() (*reports.Matrix, error) {
	if o.resume == "" {
		return nil, nil
	}
	file, err := files.Open(o.resume, files.MostText)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(o.outputs, o.resume) {
		return nil, nil // the first time
	}
	if err != nil {
		return nil, runerror.Config(runerror.Unreadable("file", o.resume, err))
	}
	defer file.Close()
	m, err := reports.ReadMatrix(file)
	if err != nil {
		return nil, runerror.Configf("--resume %s: %w", o.resume, err)
	}
	return &m, nil
}

// known lists the targets, with what is declared of them. A design that takes Redis is left out
// where there is no server; if it was asked for by name, that is an error, or nothing would be
// played without a word.
func (o matrixOptions) known(s streams) ([]known, error) {
	if o.targets != "" && o.store != "" {
		return nil, runerror.Configf("--store is for the built-in designs; those of %s take $%s", o.targets, sut.StoreVariable)
	}
	if o.targets != "" {
		return knownOf(o.targets)
	}
	store, err := targetFlags{store: o.store}.options(s).StoreOption()
	if err != nil {
		return nil, err
	}
	var all []known
	for _, database := range o.databases {
		for _, d := range orders.Designs() {
			if len(o.only) > 0 && !slices.Contains(o.only, d.Name) || !d.StandsOn(string(dialectOf(database))) {
				continue
			}
			if d.Redis && store == "" {
				if len(o.only) > 0 {
					return nil, sut.NoStore(d.Name)
				}
				continue
			}
			truth := checker.Truth{Correct: d.Correct, By: d.By}
			for _, kind := range d.Shows {
				truth.Shows = append(truth.Shows, checker.Kind(kind))
			}
			one := known{target: sut.BuiltinPrefix + d.Name, database: database, truth: truth}
			if d.Redis {
				one.store = store
			}
			all = append(all, one)
		}
	}
	if store == "" && len(o.only) == 0 {
		fmt.Fprintf(s.err, "the designs that take a Redis server are left out: there is no --store and no $%s\n", sut.StoreVariable)
	}
	// A name that is none is told from a design that does not stand on the databases of this matrix.
	for _, name := range o.only {
		if !isDesign(name) {
			return nil, runerror.Configf("--design: there is no built-in target %q", name)
		}
	}
	return all, nil
}

// dialectOf is the kind of database that a built-in design stands on: SQLite, unless a URL names another.
func dialectOf(database string) databases.Dialect {
	if database == "" {
		return databases.SQLite
	}
	return databases.DialectOf(database)
}

// knownOf reads a file that says what is known of targets. Their paths are relative to it.
func knownOf(path string) ([]known, error) {
	source, err := files.Read(path, files.MostText)
	if err != nil {
		return nil, runerror.Config(runerror.Unreadable("file", path, err))
	}
	doc, err := document.Parse(source, document.Options{File: path, Schema: matrixSchema})
	if err != nil {
		return nil, runerror.Config(err)
	}
	var file struct {
		Targets []struct {
			Target  string         `yaml:"target"`
			Correct bool           `yaml:"correct"`
			Shows   []checker.Kind `yaml:"shows"`
			By      []string       `yaml:"by"`
		} `yaml:"targets"`
	}
	if err := doc.Decode(&file); err != nil {
		return nil, runerror.Config(err)
	}
	var all []known
	for _, t := range file.Targets {
		target := t.Target
		if !strings.HasPrefix(target, sut.BuiltinPrefix) && !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		all = append(all, known{target: target, truth: checker.Truth{Correct: t.Correct, Shows: t.Shows, By: t.By}})
	}
	return all, nil
}

// isDesign reports whether there is a built-in design of a name.
func isDesign(name string) bool {
	_, found := orders.Named(name)
	return found
}
