package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// gate says what verdicts that are neither a pass nor a failure mean to a release: fail or warn.
type gate struct{ inconclusive, fixed string }

// flags adds the flags that run and check share.
func (g *gate) flags(cmd *cobra.Command) {
	inconclusiveFlag(cmd, &g.inconclusive)
	const usage = "what it means to a gate that a known bug was not seen any more: fail (exit 5) or warn (exit 0)"
	cmd.Flags().StringVar(&g.fixed, "fixed", "fail", usage)
	cmd.Flags().StringVar(&g.fixed, "mended", "fail", usage) // its name before
	_ = cmd.Flags().MarkHidden("mended")                     // it fails only for a flag that is not there
}

// check says which flags of the gate have a value that means nothing.
func (g gate) check() error {
	return errors.Join(checkInconclusive(g.inconclusive), checkMeaning("fixed", g.fixed))
}

// inconclusiveFlag adds --inconclusive to commands that know no fixed bugs, such as hunt and diff,
// and to the others by way of flags.
func inconclusiveFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "inconclusive", "fail", "what an inconclusive verdict means to a gate: fail (exit 2) or warn (exit 0)")
}

// checkInconclusive says what is wrong with the value of --inconclusive; nil: nothing.
func checkInconclusive(value string) error { return checkMeaning("inconclusive", value) }

// checkMeaning says what is wrong with the value of a gate's flag. There is no third value:
// ignoring a verdict silently is what a gate must not do.
func checkMeaning(flag, value string) error {
	if value != "fail" && value != "warn" {
		return runerror.Configf("--%s is %q, expected fail or warn", flag, value)
	}
	return nil
}

// conclude turns a report, and what failed beside it, into the error that decides the exit code: a
// finding outranks a failing harness, and an interruption says so whatever was found.
func conclude(ctx context.Context, report *checker.Report, failure error, g gate, s streams) error {
	if report == nil {
		return failure
	}
	code, interrupted := interruption(ctx)
	if interrupted || report.Verdict == checker.Fail {
		complain(s.err, failure)
		failure = nil
	}
	switch {
	case failure != nil:
		return failure
	case interrupted:
		return exit{code: code}
	default:
		return g.exit(*report)
	}
}

// exit turns the verdict on a run into an exit code. Where inconclusive means nothing, a bug that is fixed and a
// database that has gone still do.
func (g gate) exit(r checker.Report) error {
	switch {
	case r.Verdict == checker.Fail:
		return exit{code: exitFinding}
	case r.Verdict == checker.Broken, databaseGone(r):
		return exit{code: exitEnvironment}
	case r.Verdict != checker.Pass && r.Verdict != checker.Mended && g.inconclusive == "fail":
		return exit{code: exitInconclusive}
	case g.fixed == "fail" && slices.ContainsFunc(r.Results, func(r checker.Result) bool { return r.Verdict == checker.Mended }):
		return exit{code: exitFixed}
	default:
		return nil
	}
}

// databaseGone reports that a database could not be asked any more. A target's own listing is no database: what it
// answers is the target's affair.
func databaseGone(r checker.Report) bool {
	return !r.OwnWord && slices.ContainsFunc(r.Results, func(r checker.Result) bool { return r.DatabaseGone })
}

// again returns the flags of a gate that are not as usual.
func (g gate) again() []string {
	var words []string
	if g.inconclusive == "warn" {
		words = append(words, "--inconclusive", g.inconclusive)
	}
	if g.fixed == "warn" {
		words = append(words, "--fixed", g.fixed)
	}
	return words
}
