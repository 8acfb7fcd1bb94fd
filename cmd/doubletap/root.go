package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// expectedOf says what flags of a type take, where the package that reads them only says that it could not.
var expectedOf = map[string]string{
	"bool": "true or false", "duration": "a duration such as 30s or 5m", "int": "a whole number", "uint64": "a whole number that is 0 or more",
}

// newRoot returns the command tree.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "doubletap",
		Short: "Find out whether your API creates things exactly once",
		Long: `doubletap sends the same request to an API more than once, the way real clients and networks do:
retries, lost answers, double clicks, several tabs, reused keys. Then it asks the database what
really happened and gives a verdict.

Exit codes: 0 every verdict is a pass, or a failure that is known; 1 at least one finding that is not in the
register; 2 inconclusive: nothing new broke, but something was not exercised; 3 a mistake in the command line
or a file; 4 the target, the database or doubletap itself failed; 5 a known bug was not seen any more: take it
out of the register; 129 to 131 and 143 interrupted, which outranks all else. 1 outranks 2 to 5.`,
		Example: `  doubletap demo
  doubletap init --openapi openapi.yaml --db "$DATABASE_URL" -o doubletap.yaml
  doubletap run`,
		Version:       engine.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.bytes)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var wrong *pflag.InvalidValueError
		if errors.As(err, &wrong) {
			text := err.Error()
			if expected := expectedOf[wrong.GetFlag().Value.Type()]; expected != "" {
				text = strings.Replace(text, wrong.Unwrap().Error(), "expected "+expected, 1)
			}
			if strings.Contains(wrong.GetValue(), "@") { // it may be a URL with a password
				text = strings.ReplaceAll(text, fmt.Sprintf("%q", wrong.GetValue()), `"***"`)
			}
			err = errors.New(text)
		}
		return runerror.Configf("%w%s\nsee: %s --help", err, likeFlag(cmd, err), cmd.CommandPath())
	})
	root.AddCommand(
		newInit(s), newDemo(s), newRun(s), newHunt(s), newCheck(s), newMerge(s), newWork(s), newDiff(s), newMend(s), newReplay(s), newShrink(s), newExport(s), newMatrix(s), newValidate(s), newExplain(s), newDoctor(s), newClean(s), newTargets(s), newScenarios(s), newSchema(s),
	)
	sayUsage(root)
	narrowHelp(root, s)
	offer(root)
	return root
}

// sayUsage has each command without subcommands say how it is written, where there are too few or too many arguments.
func sayUsage(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		sayUsage(sub)
	}
	check := cmd.Args
	if check == nil || cmd.HasSubCommands() {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		surplus := ""
		switch {
		case err == nil:
			return nil
		case strings.HasPrefix(err.Error(), "unknown command"): // so cobra calls an argument where none is taken
			surplus = fmt.Sprintf("%s has no place there; ", args[0])
		case !strings.Contains(err.Error(), "arg(s)"):
			return err
		}
		example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
		if example, _, _ = strings.Cut(example, "  #"); example != "" {
			example = "\nsuch as: " + strings.TrimSpace(example)
		}
		return runerror.Configf("%sit takes: %s%s\nsee: %s --help", surplus, strings.TrimSuffix(cmd.UseLine(), " [flags]"), example, cmd.CommandPath())
	}
}

// unknownFlag matches what is said of a flag that a command has not.
var unknownFlag = regexp.MustCompile(`^unknown flag: --([a-z-]+)$`)

// likeFlag names the flag of a command that one it has not looks like; empty: none does.
func likeFlag(cmd *cobra.Command, err error) string {
	found := unknownFlag.FindStringSubmatch(err.Error())
	if found == nil {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if nearest, ok := document.Nearest(found[1], names); ok {
		return fmt.Sprintf(", did you mean --%s?", nearest)
	}
	return ""
}
