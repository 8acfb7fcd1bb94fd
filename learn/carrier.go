package learn

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// carriers are the members of the body of which one after the other carries the marker alone.
type carriers struct {
	begun bool
	first []string // that carried it together
	left  []string
	tried int

	number  string // that was the marker at first; empty: none was
	lastly  []asGiven
	settled bool // what is tried at last is known
}

// otherwise changes the next create, and says how; empty: there is nothing left to change. A key that a refusal names, and what may be taken,
// come before other places of the marker. After a failure only those can help.
func otherwise(i *inquiry, answer drafting.Answer) string {
	beginToVary(i)
	if said := asLong(i, answer); said != "" {
		return said
	}
	i.naming.taken = i.naming.taken && invented(i) || saysTaken(i.file.Draft, answer)
	ways := []func() string{func() string { return narrow(i) }, func() string { return vary(i) }}
	switch {
	case len(i.places) > 0 && i.places[0].key.Name == i.asked || saysTaken(i.file.Draft, answer) || invented(i):
		slices.Reverse(ways)
	case !answer.Done() && !answer.Refused():
		ways = ways[:1]
	}
	for _, way := range ways {
		if said := way(); said != "" {
			return said
		}
	}
	return ""
}

// narrow puts the marker into another member, and nowhere else: some take a few words only, have no room for it, or are not stored. When
// none is left, all carry it again that did at first.
func narrow(i *inquiry) string {
	c := &i.carriers
	if !c.begun {
		c.begun, c.left = true, i.plain.Carrying()
	}
	texts, said := c.first, ""
	if len(c.left) > 0 {
		texts, said = c.left[:1:1], "the marker in "+c.left[0]+" alone"
		c.left = c.left[1:]
		c.tried++
	}
	i.plain.Texts, i.file.Draft.Texts = texts, texts
	return said
}

// naming are the members that may name one thing and no other, of which one after the other differs alone from create to create.
type naming struct {
	begun bool
	left  []string
	spans [][]string // times that differ together, tried when nothing else is left
	taken bool       // the first create was refused because of what is there
}

// differ lets members differ in each create that may name one thing: all of them, and then one after the other, since another value of
// one may be refused; then those that may be secret, and texts that nothing says of that they name one; at last times and numbers, which say
// what is taken, as a room is at a time, where something is. When none is left, all are as the source has them.
func differ(i *inquiry) string {
	n := &i.naming
	more := i.file.MayName()
	switch {
	case !n.begun:
		n.begun = true
		if len(more) > 1 {
			n.left = more
		}
		n.left = slices.Concat(n.left, drafting.Withheld(i.file), drafting.Unlikely(&i.file))
		if n.taken || i.file.Proof != nil {
			n.left, n.spans = append(n.left, drafting.Measured(&i.file)...), drafting.Spans(&i.file)
		}
		if len(more) == 0 {
			return differ(i)
		}
		i.file.Differing = append(i.file.Differing, more...)
		return "other values in " + strings.Join(more, ", ")
	case len(n.left) == 0 && len(n.spans) > 0:
		next := n.spans[0]
		i.file.Differing, n.spans = append(slices.Clone(i.hidden), next...), n.spans[1:]
		return "other times in " + strings.Join(next, ", ")
	case len(n.left) == 0:
		i.file.Differing = slices.Clone(i.hidden)
		return ""
	}
	next := n.left[0]
	i.file.Differing, n.left = append(slices.Clone(i.hidden), next), n.left[1:]
	return "another value in " + next
}
