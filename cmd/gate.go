package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
)

// gate says what verdicts that are neither a pass nor a failure mean to a release: fail or warn.
type gate struct{ inconclusive, mended string }

// flags adds the flags that run and check share.
func (g *gate) flags(cmd *cobra.Command) {
	inconclusiveFlag(cmd, &g.inconclusive)
	cmd.Flags().StringVar(&g.mended, "mended", "fail", "what it means to a gate that a known bug was not seen any more: fail (exit 5) or warn (exit 0)")
}

func (g gate) check() error {
	return errors.Join(checkInconclusive(g.inconclusive), checkMeaning("mended", g.mended))
}

func inconclusiveFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "inconclusive", "fail", "what an inconclusive verdict means to a gate: fail (exit 2) or warn (exit 0)")
}

func checkInconclusive(value string) error { return checkMeaning("inconclusive", value) }

func checkMeaning(flag, value string) error {
	if value != "fail" && value != "warn" {
		return mistakef("--%s is %q, expected fail or warn", flag, value)
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

// exit turns the verdict on a run into an exit code. Where inconclusive means nothing, what is mended and a
// database that has gone still do.
func (g gate) exit(r checker.Report) error {
	switch {
	case r.Verdict == checker.Fail:
		return exit{code: exitFinding}
	case r.Verdict == checker.Broken, databaseGone(r):
		return exit{code: exitSurroundings}
	case r.Verdict != checker.Pass && r.Verdict != checker.Mended && g.inconclusive == "fail":
		return exit{code: exitInconclusive}
	case g.mended == "fail" && slices.ContainsFunc(r.Results, func(r checker.Result) bool { return r.Verdict == checker.Mended }):
		return exit{code: exitMended}
	default:
		return nil
	}
}

// databaseGone reports that a database could not be asked any more. A target's own listing is no database: what it
// answers is the target's affair.
func databaseGone(r checker.Report) bool {
	return !r.OwnWord && slices.ContainsFunc(r.Results, func(r checker.Result) bool { return r.DatabaseGone })
}

// overall is the verdict on a run: the worst of its scenarios. One that fails as expected is as good as
// a pass. Nothing but scenarios that do not apply has tested nothing.
func overall(results []checker.Result) checker.Verdict {
	rank := map[checker.Verdict]int{
		checker.NotApplicable: 0, checker.Known: 1, checker.Pass: 2, checker.Mended: 3,
		checker.Inconclusive: 4, checker.Broken: 5, checker.Fail: 6,
	}
	worst := checker.NotApplicable
	for _, r := range results {
		if rank[r.Verdict] > rank[worst] {
			worst = r.Verdict
		}
	}
	switch worst {
	case checker.NotApplicable:
		return checker.Inconclusive
	case checker.Known:
		return checker.Pass
	default:
		return worst
	}
}
