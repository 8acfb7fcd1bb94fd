// Package explain says in plain sentences what a run checks of a target: it turns a target file's
// contract into a list of what is checked, what is checked less than it may seem, and what is not
// checked.
//
// It describes the rules of the checker and is not used by it. So it has a sentence for each rule,
// in the files of the rules' subjects, and a reader who sees a pass knows what that does not mean.
package explain

import (
	"fmt"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// Explanation says in plain sentences what a run can find wrong with one operation of a target, and
// what it cannot. It describes the judge and is not used by it.
type Explanation struct {
	Operation  string     `json:"operation"`
	Held       []Sentence `json:"held"`                  // checked
	Weakened   []Sentence `json:"weakened,omitempty"`    // checked, but less strictly than it may seem
	NotChecked []Sentence `json:"not_checked,omitempty"` // passes whatever the target does
}

// Sentence is one thing that is checked or not, and what makes it so.
type Sentence struct {
	Text string `json:"text"` // without a full stop
	From string `json:"from"` // the line of the contract or of the operation
}

// everyContract is the source of the invariants that need no declaration.
const everyContract = "holds for every contract"

// String returns the sentence with its source.
func (s Sentence) String() string { return s.Text + " (" + s.From + ")." }

// Operations explains every operation of a target, by name.
func Operations(t targets.Target) []Explanation {
	var all []Explanation
	for _, name := range t.OperationNames() {
		x := &explainer{target: t, operation: t.Operations[name], contract: t.Contract}
		x.out.Operation = name
		x.explain()
		all = append(all, x.out)
	}
	return all
}

// String returns the explanation as lines for a terminal; it ends with a line break.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, e.Operation)
	section(&b, "Checked", e.Held)
	section(&b, "Checked, but less strictly than it may seem", e.Weakened)
	section(&b, "Not checked", e.NotChecked)
	return b.String()
}

// section writes the sentences under one title; none: nothing.
func section(b *strings.Builder, title string, sentences []Sentence) {
	if len(sentences) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %s:\n", title)
	for _, s := range sentences {
		fmt.Fprintf(b, "    - %s\n", s)
	}
}

// explainer collects the sentences about one operation.
type explainer struct {
	target    targets.Target
	operation targets.Operation
	contract  contract.Contract
	out       Explanation
}

// explain collects the sentences in the order in which a reader asks: what is one intent, how many
// rows it may have, and then what repetitions are answered. Without a key and a natural key
// nothing is repeated, so most of it does not apply.
func (x *explainer) explain() {
	x.intents()
	prepared(x)
	x.keys()
	x.rows()
	x.accepted()
	x.effects()
	x.content()
	x.identity()
	missingKey(x)
	x.principals()
	credential(x)
	x.operations()
	parents(x)
	if x.repeatable() {
		x.replays()
		x.refusals()
		declines(x)
		x.serverErrors()
		x.running()
		x.existing()
		x.otherBody()
		spelling(x)
		sizes(x)
		x.expiry()
		x.lease()
		x.store()
		setbacks(x)
		x.resolution()
	}
	x.throttled()
	rateLimit(x)
	x.instances()
	confusions(x)
	outside(x)
}

// held says what is checked.
func (x *explainer) held(from, format string, args ...any) {
	x.out.Held = append(x.out.Held, Sentence{Text: fmt.Sprintf(format, args...), From: from})
}

// weakened says what is checked less strictly than it may seem.
func (x *explainer) weakened(from, format string, args ...any) {
	x.out.Weakened = append(x.out.Weakened, Sentence{Text: fmt.Sprintf(format, args...), From: from})
}

// notChecked says what passes whatever the target does.
func (x *explainer) notChecked(from, format string, args ...any) {
	x.out.NotChecked = append(x.out.NotChecked, Sentence{Text: fmt.Sprintf(format, args...), From: from})
}

// undeclared says that nothing is checked for want of a line in the contract.
func (x *explainer) undeclared(line, format string, args ...any) {
	x.notChecked(line, format+", because the contract does not declare it", args...)
}

// What the operation takes: a key; one that the client chooses; a natural key; or either, so that
// a repetition has a meaning.
func (x *explainer) keyed() bool      { return x.operation.Key.In != contract.KeyNowhere }
func (x *explainer) chosen() bool     { return len(x.operation.Key.Issued) == 0 }
func (x *explainer) natural() bool    { return len(x.contract.NaturalKey) > 0 }
func (x *explainer) repeatable() bool { return x.keyed() || x.natural() }

// rowsKnown reports that there is a database and a query, or that the target is asked.
func (x *explainer) rowsKnown() bool { return x.target.KnowsRows(x.operation) }

// dedupOnly reports that answers to repetitions are not compared.
func (x *explainer) dedupOnly() bool { return x.contract.Level == contract.DedupOnly }

// comparesBodies reports that the bodies of a repetition's answers are compared as a whole. An empty
// comparison is that of JSON.
func (x *explainer) comparesBodies() bool {
	body := x.contract.Replay.Body
	return !x.dedupOnly() && body != contract.SameIdentity && body != contract.AnyBody
}
