package checker

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/doubletap-harness/doubletap/history"
)

// introducedBy says which principals introduced something.
type introducedBy map[string][]string

// introductions is what each principal brought into the run and others must not see.
type introductions struct {
	markers        introducedBy
	identities     introducedBy // by operation and identity
	longIdentities introducedBy // identities that can mean nothing else
	acknowledged   introducedBy // things that were acknowledged
}

// longName is from how many characters on an identity is unique wherever it stands. A shorter one, such as 7, may be
// anything.
const longName = 16

// foreign reports that something is known, and that only other principals introduced it.
func (o introducedBy) foreign(text, principal string) bool {
	introduced, known := o[text]
	return known && text != "" && !slices.Contains(introduced, principal)
}

// checkLeaks checks that no answer to one principal carries a marker or an identity that only another principal
// introduced (I7). Principals who share their keys on purpose are one.
func checkLeaks(e *evaluation) {
	if !e.whole.leaky {
		return
	}
	g := e.asking().leaks
	for tr := range e.traces() {
		for _, a := range slices.Concat(tr.refused, tr.whole().attempts) {
			checkLeak(e, tr, a, g)
		}
	}
}

// collectIntroductions notes the markers and identities of a trace's principal.
func collectIntroductions(e *evaluation, tr *trace, g introductions) {
	for _, b := range tr.intent.Bodies {
		g.markers.add(b.Marker, tr.intent.Principal)
		for _, m := range []moment{atT1, atT2} {
			rows, _ := e.rows(m, b.Marker)
			for _, row := range rows {
				id := rowIdentity(tr, row)
				g.identities.add(thing(tr, id), tr.intent.Principal)
				if len(id) >= longName {
					g.longIdentities.add(id, tr.intent.Principal)
				}
			}
		}
	}
}

// add notes that a principal introduced something.
func (o introducedBy) add(text, principal string) { o[text] = append(o[text], principal) }

// thing names an identity among those of all operations; empty: none.
func thing(tr *trace, identity string) string {
	if identity == "" {
		return ""
	}
	return tr.intent.Operation + "/" + identity
}

// checkLeak looks for another principal's marker or identity in one answer. The rows of twins cannot be told apart,
// so no more principals may be told of an identity than there are rows with it.
func checkLeak(e *evaluation, tr *trace, a *classified, g introductions) {
	principal, id := tr.intent.Principal, thing(tr, a.identity)
	marker, name := foreignMarker(a, principal, g.markers), foreignName(tr, a, g.longIdentities)
	switch {
	case marker != "":
		reportLeak(e, tr, a, fmt.Sprintf("was answered with the marker %s of %s", marker, ownerName(g.markers[marker])))
	case g.identities.foreign(id, principal):
		reportLeak(e, tr, a, fmt.Sprintf("names %s, which is %s's", a.identity, ownerName(g.identities[id])))
	case name != "":
		reportLeak(e, tr, a, fmt.Sprintf("was answered with %s, which is %s's", name, ownerName(g.longIdentities[name])))
	case a.outcome == Acknowledged && tr.twin && g.acknowledged.foreign(id, principal) && countIdentity(e, tr, a.identity) == len(g.acknowledged[id]):
		reportLeak(e, tr, a, fmt.Sprintf("is told of %s, which was acknowledged to %s", a.identity, ownerName(g.acknowledged[id])))
	case a.outcome == Acknowledged && !slices.Contains(g.acknowledged[id], principal):
		g.acknowledged.add(id, principal)
	}
}

// countIdentity counts the rows of a trace's marker that have an identity, in the snapshot with the most.
func countIdentity(e *evaluation, tr *trace, identity string) int {
	most := 0
	for _, m := range []moment{atT1, atT2} {
		rows, _ := e.rows(m, tr.intent.Bodies[history.Original].Marker)
		n := len(slices.DeleteFunc(slices.Clone(rows), func(row history.Row) bool { return rowIdentity(tr, row) != identity }))
		most = max(most, n)
	}
	return most
}

// ownerName names the principal who introduced something.
func ownerName(owners []string) string {
	if owners[0] == "" {
		return "an unnamed principal"
	}
	return owners[0]
}

// reportLeak reports what an answer showed.
func reportLeak(e *evaluation, tr *trace, a *classified, shown string) {
	m := atT1
	if a.Probe {
		m = atT2
	}
	e.report(m, tr, Finding{
		Kind:     Leak,
		Expected: fmt.Sprintf("nothing of another principal in the answer to %s", orNothing(tr.intent.Principal)),
		Observed: fmt.Sprintf("attempt %s %s", a.ID, shown),
	})
}

// foreignMarker returns a marker of another principal that stands anywhere in an answer; empty: none.
func foreignMarker(a *classified, principal string, markers introducedBy) string {
	texts := shown(a)
	for length := range markers.lengths() {
		for _, text := range texts {
			for i := 0; i+length <= len(text); i++ {
				if markers.foreign(text[i:i+length], principal) {
					return text[i : i+length]
				}
			}
		}
	}
	return ""
}

// foreignName returns a long identity of another principal's row that stands as a word in an answer; empty: none. A
// word that the request itself said reveals nothing.
func foreignName(tr *trace, a *classified, names introducedBy) string {
	for _, word := range words(shown(a)) {
		if !names.foreign(word, tr.intent.Principal) {
			continue
		}
		said := []string{a.Key}
		for _, b := range tr.intent.Bodies {
			said = append(said, b.Content, b.Says)
		}
		if !slices.Contains(words(said), word) {
			return word
		}
	}
	return ""
}

// words splits texts at what is no letter, digit, dash or underscore, as identities and keys are written.
func words(texts []string) []string {
	return strings.FieldsFunc(strings.Join(texts, " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

// shown lists the texts of an answer.
func shown(a *classified) []string {
	texts := []string{a.Content}
	for _, value := range a.Header {
		texts = append(texts, value)
	}
	if a.followup != nil {
		texts = append(texts, a.followup.Content)
	}
	return texts
}

// lengths returns the lengths of what was introduced.
func (o introducedBy) lengths() map[int]bool {
	lengths := map[int]bool{}
	for text := range o {
		lengths[len(text)] = true
	}
	return lengths
}
