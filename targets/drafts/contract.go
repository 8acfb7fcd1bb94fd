package drafts

import (
	"slices"

	"github.com/doubletap-harness/doubletap/targets"
)

// doubtContract says what of the contract is a guess.
func (f *File) doubtContract() {
	d := f.Draft
	if d.Key.In == targets.KeyNowhere {
		f.doubt("Whether there is an idempotency key: the source names none. Without one, repeated requests are different wishes, and most scenarios do not apply; add key, or natural_key to the contract.")
		return
	}
	if !slices.Contains(d.Statuses, 422) {
		f.doubt("What another body under the same key is answered: 422 is not documented, and taken from the Idempotency-Key draft (contract.fingerprint).")
	}
	if d.Key.Required && !slices.Contains(d.Statuses, 400) {
		f.doubt("What a missing key is answered: 400 is not documented, and taken from the Idempotency-Key draft (contract.missing_key).")
	}
}

// contract suggests what is promised.
func (f *File) contract() {
	d := f.Draft
	f.line("contract: # what is promised; doubletap explain --target FILE says it in sentences")
	if d.Key.In == targets.KeyNowhere {
		f.line("  preset: dedup-only # one effect for one wish, and nothing about the answers")
	} else {
		f.line("  preset: ietf # 422 for another body under the same key, 400 for a missing key, 409 while the first runs")
		if !slices.Contains(d.Statuses, 409) {
			f.line("  in_progress: {mode: wait} # no 409 is documented: a request that meets a running one waits for its answer")
		}
	}
	if ack := f.acknowledged(); len(ack) > 0 {
		f.line("  ack: {statuses: %s} # documented", flow(ack))
	}
}

// acknowledged are the documented statuses of success where the usual ones lack one.
func (f *File) acknowledged() []int {
	ok := slices.DeleteFunc(slices.Clone(f.Draft.Statuses), func(s int) bool { return s < 200 || s > 299 })
	usual := []int{200, 201, 204}
	if !slices.ContainsFunc(ok, func(s int) bool { return !slices.Contains(usual, s) }) {
		return nil
	}
	return ok
}
