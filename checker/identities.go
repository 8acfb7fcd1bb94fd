package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkIdentities checks that all answers which name the created row name the same one, and the one in the database.
// Where the intent has other groups, the row may be theirs.
func checkIdentities(e *evaluation, m moment, tr *trace, body string, attempts []*classified, alone bool) {
	told := filter(attempts, func(a *classified) bool {
		return a.outcome == Acknowledged && e.identityPlace(tr, a).Declared() || a.outcome == Exists && a.identity != ""
	})
	want, source := "", ""
	if rows, known := e.rowsOf(m, tr, body); known && len(rows) == 1 && !tr.twin && !tr.endedByRemoval && alone {
		want, source = rowIdentity(tr, rows[0]), "the row"
	}
	named := filter(told, func(a *classified) bool { return a.identity != "" })
	if want == "" && len(named) > 0 {
		want, source = named[0].identity, "attempt "+named[0].ID
	}
	checkUnknownIdentities(e, m, tr, named)
	for _, a := range told {
		if a.identity == want || a.identity == "" && mayBeNameless(e, tr, a) {
			continue
		}
		where := e.identityPlace(tr, a).Where()
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "identity",
			Promise:  "All answers name the same row, and it exists.",
			Expected: fmt.Sprintf("%s at %s, as %s has it", want, where, source),
			Observed: fmt.Sprintf("attempt %s names %s", a.ID, orNothing(a.identity)),
			Differs:  []Difference{{Attempt: a.ID, Where: where, First: want, Then: orNothing(a.identity)}},
		})
		return
	}
}

// ExistingRowPromise is broken by an answer that names no row of its intent.
const ExistingRowPromise = "Every answer names a row that exists."

// checkUnknownIdentities checks that every identity in an answer is that of an existing row. It does not where the
// intent has no row, where no row of the operation has an identity, and where a row is known to be lost.
func checkUnknownIdentities(e *evaluation, m moment, tr *trace, named []*classified) {
	if len(named) == 0 {
		return
	}
	there := e.identitiesOf(tr)
	lost := e.found.has(LostWrite, "", tr) || e.found.has(AlteredBody, detailOverwrote, tr)
	if len(there) == 0 || slices.Contains(there, "") && !e.whole.namesRows(e, tr.intent.Operation) || lost || tr.endedByRemoval {
		return
	}
	for _, a := range named {
		if slices.Contains(there, a.identity) {
			continue
		}
		e.report(m, tr, Finding{
			Kind: ReplayMismatch, Detail: "identity",
			Promise:  ExistingRowPromise,
			Expected: "something that the rows of this intent name",
			Observed: fmt.Sprintf("attempt %s names %s, and no row does", a.ID, a.identity),
			Differs:  []Difference{{Attempt: a.ID, Where: e.identityPlace(tr, a).Where(), First: orNothing(strings.Join(slices.Sorted(slices.Values(there)), ", ")), Then: a.identity}},
		})
		return
	}
}

// identitiesOf returns the identities of an intent's rows in either snapshot, each once; none where rows of a body are
// unknown in both.
func (e *evaluation) identitiesOf(tr *trace) []string {
	var there []string
	for _, b := range tr.intent.Bodies {
		before, knownBefore := e.rows(atT1, b.Marker)
		after, knownAfter := e.rows(atT2, b.Marker)
		if !knownBefore && !knownAfter {
			return nil
		}
		for _, rows := range [][]history.Row{before, after} {
			for _, row := range rows {
				if identity := rowIdentity(tr, row); !slices.Contains(there, identity) {
					there = append(there, identity)
				}
			}
		}
	}
	return there
}

// namedRow reports that a row of an intent has an identity.
func namedRow(e *evaluation, tr *trace) bool {
	return slices.ContainsFunc(e.identitiesOf(tr), func(identity string) bool { return identity != "" })
}

// checkSharedNames checks that answers about two rows name two things, where the rows themselves have no identity to
// compare with. Numbers may begin anew under each parent and for each principal.
func checkSharedNames(e *evaluation) {
	for tr := range e.traces() {
		if !oneRow(e, tr) || e.whole.namesRows(e, tr.intent.Operation) {
			continue
		}
		for _, a := range withOutcome(tr.attempts, Acknowledged) {
			if other, told := e.asking().names[nameOf(tr, a)]; told && other.intent != a.Intent {
				e.report(atT2, tr, Finding{
					Kind: ReplayMismatch, Detail: "identity",
					Promise:  "Answers about two rows name two things.",
					Expected: fmt.Sprintf("another name than the %s of intent %s, which has a row of its own", a.identity, other.intent),
					Observed: fmt.Sprintf("attempts %s and %s both name %s", other.attempt, a.ID, a.identity),
					Differs:  []Difference{{Attempt: a.ID, Where: e.identityPlace(tr, a).Where(), First: a.identity, Then: a.identity}},
				})
			}
		}
	}
}

// oneRow reports that an intent has one row that is known to be its own. Only then can a name be told to be that
// row's: not among several rows, nor where twins share a marker.
func oneRow(e *evaluation, tr *trace) bool {
	n, known := e.rowCount(atT2, tr)
	return known && n == 1 && !tr.twin && !tr.endedByRemoval
}

// nameOf is what an answer calls the row of an intent, among the names of all.
func nameOf(tr *trace, a *classified) sharedName {
	return sharedName{tr.intent.Operation, tr.intent.Principal, tr.intent.Bodies[history.Original].Path, a.identity}
}

// identityPlace returns where an answer should name the created row.
func (e *evaluation) identityPlace(tr *trace, a *classified) contract.Identity {
	switch {
	case a.outcome == Exists:
		return e.terms.Contract.Existing.Identity
	case a.followup != nil && e.terms.Contract.Ack.Accepted.Identity != "":
		return contract.Identity{JSON: e.terms.Contract.Ack.Accepted.Identity}
	default:
		return e.terms.operationFor(tr.intent, a.Body).Identity
	}
}

// mayBeNameless reports that an acknowledgement need not name the row: it has no body, or the contract promises nothing
// about it. Where it is not known what it names, that is a doubt.
func mayBeNameless(e *evaluation, tr *trace, a *classified) bool {
	promise, place := e.terms.Contract, e.identityPlace(tr, a)
	if place.Header == "" && a.Length == 0 || a.promised || promise.Level == contract.DedupOnly || promise.Replay.Body == contract.AnyBody {
		return true
	}
	if place.Header != "" || a.followup != nil || answerOf(a.Attempt).knowsName(place) {
		return false
	}
	doubtOnce(e, "which row an answer names is not known: of attempt %s, %s could not be read, since %s", a.ID, place.Where(), unreadBecause(a.Attempt, place))
	return true
}

// Nothing stands in a [Difference] for a member or a header that an answer does not have.
const Nothing = "nothing"

// orNothing returns a text, or the word for a member or a header that is not there.
func orNothing(text string) string {
	if text == "" {
		return Nothing
	}
	return text
}

// rowIdentity returns what a row has in the column that the target file calls its identity, in the
// form in which answers are compared; empty: it has none.
func rowIdentity(tr *trace, row history.Row) string {
	value := row[tr.operation.Rows.Identity]
	if value == nil {
		return ""
	}
	return tr.asChosen(plain(normalise(value)))
}

// asChosen returns an identity as the first body spells it, where clients choose it: as a member of the natural key, of whose
// spelling something makes no difference. Rows and answers may have it in the spelling of any request.
func (tr *trace) asChosen(identity string) string {
	for _, name := range tr.chosen {
		if contract.SameName(identity, name, tr.ignores) {
			return name
		}
	}
	return identity
}
