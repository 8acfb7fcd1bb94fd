package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/outline"
)

// compareBodies returns where two bodies differ under the contract's comparison: byte by
// byte, as JSON values but for what replay.ignore names, or not at all. Unknown says why
// they could not be compared; empty: they were, or are equal byte by byte. Not known is no
// difference: the checker accuses no target of what is not on record.
func compareBodies(r contract.Replay, first, then *history.Attempt) (differs []Difference, unknown string) {
	if r.Body == contract.SameIdentity || r.Body == contract.AnyBody || first.Content == then.Content && first.Digest == then.Digest {
		return nil, ""
	}
	whole := []Difference{{Attempt: then.ID, Where: "body", First: bodyText(first), Then: bodyText(then)}}
	if r.Body == contract.SameBytes {
		return whole, ""
	}
	for _, a := range []*history.Attempt{first, then} {
		if a.Unread != "" {
			return nil, unreadBecause(a, contract.Identity{})
		}
	}
	a, b := answerOf(first), answerOf(then)
	valueA, okA := a.json()
	valueB, okB := b.json()
	if !okA || !okB {
		return whole, ""
	}
	var list []Difference
	for _, d := range differences("", valueA, valueB, slices.Concat(foldsOf(a, b), r.Ignore)) {
		list = append(list, Difference{Attempt: then.ID, Where: d.where, First: d.first, Then: d.then})
	}
	folds, unknown := compareFolds(r, a, b)
	for i := range folds {
		folds[i].Attempt = then.ID
	}
	return append(list, folds...), unknown
}

// bodyText is a body for a reader: its text, or what is known of one that is not on record as a whole.
func bodyText(a *history.Attempt) string {
	if a.Digest == "" {
		return a.Content
	}
	return fmt.Sprintf("%d bytes, SHA-256 %s", a.Length, a.Digest)
}

// compareFolds compares two answers at the places where either is folded.
func compareFolds(r contract.Replay, a, b *answer) (differs []Difference, unknown string) {
	for _, at := range foldsOf(a, b) {
		covered := func(by string) bool { return outline.Within(at, by) }
		hides := func(place string) bool { return outline.Within(place, at) }
		first, inFirst := a.shape.At(at)
		then, inThen := b.shape.At(at)
		switch {
		case slices.ContainsFunc(r.Ignore, covered), first == then:
		case slices.ContainsFunc(r.Ignore, hides):
			unknown = fmt.Sprintf("what replay.ignore names is within %s, of which only digests are on record", orBody(at))
		case a.masks(at) || b.masks(at):
			unknown = fmt.Sprintf("a secret is masked within %s, of which only a digest is on record", orBody(at))
		default:
			differs = append(differs, Difference{Where: orBody(at), First: foldText(first, inFirst), Then: foldText(then, inThen)})
		}
	}
	return differs, unknown
}

// foldsOf returns the places at which either answer is folded, but those within a fold of the other.
func foldsOf(a, b *answer) []string {
	var all []string
	for _, pair := range [][2]*answer{{a, b}, {b, a}} {
		for at := range pair[0].shape.Folded {
			if by, covered := pair[1].shape.Covers(at); !covered || by == at {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// masks reports that a secret is masked in what an answer has at a place.
func (a *answer) masks(at string) bool {
	value, _ := jsonpointer.Resolve(a.value, at)
	return strings.Contains(show(value), masked)
}

// masked is what stands in histories where a secret was. It must be the driver's word for
// it.
const masked = "***"

// foldText describes a fold for a reader.
func foldText(f outline.Fold, found bool) string {
	if !found {
		return "absent"
	}
	return fmt.Sprintf("%d bytes, SHA-256 %s", f.Bytes, f.SHA256)
}

// orBody names a place for a reader: the empty pointer is the body as a whole.
func orBody(at string) string {
	if at == "" {
		return "body"
	}
	return at
}

// Unread says why it is not known which row an answer names; empty: it is known, or the answer names none.
func Unread(o contract.Operation, a history.Attempt) string {
	if a.Length == 0 || answerOf(&a).knowsName(o.Identity) {
		return ""
	}
	return unreadBecause(&a, o.Identity)
}

// unreadBecause says why a place of a body could not be read.
func unreadBecause(a *history.Attempt, place contract.Identity) string {
	switch {
	case a.Unread != "":
		return "the body was not read: " + a.Unread
	case place.InText():
		return "only the beginning of the body is on record"
	}
	said := answerOf(a)
	said.json()
	at, _ := said.shape.Covers(place.JSON)
	return fmt.Sprintf("it is within %s, of which only a digest is on record", orBody(at))
}
