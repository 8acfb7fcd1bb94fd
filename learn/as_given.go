package learn

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// asGiven is a create with more of the body as the source has it.
type asGiven struct {
	kept  []string // members that are
	texts []string // that carry the marker
}

// How many members are tried at last, each alone: as the source has it, and as the one that carries the marker.
const (
	mostKept        = 2
	mostLastCarried = 3
)

// lastly changes the next create when nothing else has helped, and reports whether it did. An address may be that of somebody who must be
// there, and a word one that the target knows: then addresses are sent as the source has them, one after the other, then all of them, and
// at last all of the body but for one member, with the marker. Where there is nothing left, all is as at first.
func lastly(i *inquiry, answer drafting.Answer, why string) bool {
	c := &i.carriers
	if !c.settled && !aboutTheBody(i, answer) && !invented(i) {
		return false
	}
	if !c.settled {
		asAtFirst(i)
		c.settled, c.lastly = true, lastTries(*i.plain, c.begun)
	}
	if len(c.lastly) == 0 {
		asAtFirst(i)
		return false
	}
	next := c.lastly[0]
	c.lastly = c.lastly[1:]
	said := "the marker in " + strings.Join(next.texts, ", ")
	if len(next.kept) > 0 {
		said += ", and the value of the source in " + strings.Join(next.kept, ", ")
	}
	i.plain.Texts, i.file.Draft.Texts, i.declined = next.texts, next.texts, nil
	drafting.Keep(&i.file, next.kept)
	fmt.Fprintf(i.Said, "%s\ntrying with %s\n", why, said)
	return true
}

// aboutTheBody reports that a refusal may be about what the body names. A failure may be one, where an address is that of nobody.
func aboutTheBody(i *inquiry, answer drafting.Answer) bool {
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
		return false
	case http.StatusNotFound: // a page says that there is no such path
		return answer.Body != nil
	}
	return !i.versions.begun && (answer.Refused() || answer.Status >= 500 && len(drafting.Keepable(i.file.Draft)) > 0)
}

// asAtFirst lets all of the next create be as in the first one, but for a header that a refusal has asked for.
func asAtFirst(i *inquiry) {
	beginToVary(i)
	i.plain.Texts, i.plain.Number = i.carriers.first, i.carriers.number
	i.file.Draft, i.file.Differing = *i.plain, slices.Clone(i.hidden)
	if i.asked != "" {
		i.file.Draft = i.plain.WithKeyIn(drafting.InHeader(i.asked))
	}
	drafting.Keep(&i.file, nil)
}

// lastTries are the creates that are tried at last. Where the marker was in one member after the other already, that is tried once more
// together with addresses only.
func lastTries(d drafting.Draft, narrowed bool) []asGiven {
	var tries []asGiven
	kept := drafting.Keepable(d)
	for _, pointer := range kept[:min(len(kept), mostKept)] {
		tries = append(tries, asGiven{[]string{pointer}, d.Texts})
	}
	if len(kept) > 1 {
		tries = append(tries, asGiven{kept, d.Texts})
	}
	carrying := d.Carrying()
	for _, pointer := range carrying[:min(len(carrying), mostLastCarried)] {
		alone := d
		alone.Texts = []string{pointer}
		if kept := drafting.Keepable(alone); len(kept) > 0 || !narrowed {
			tries = append(tries, asGiven{kept, alone.Texts})
		}
	}
	return tries
}
