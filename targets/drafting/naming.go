package drafting

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// ofTheRequest matches names of members that name a request and not what it made.
var ofTheRequest = regexp.MustCompile(`(?i)request|trace|span|correlation|session|idempoten|job|task|event|message`)

// echoed reports that an answer names a thing by what the request may have said, such as its key.
func (d Draft) echoed(named contract.Identity) bool {
	_, name := jsonpointer.Cut(named.JSON)
	said := NamesKey(name)
	Scalars("", d.Body, func(pointer string, _ any) {
		_, own := jsonpointer.Cut(pointer)
		said = said || squeezed(own) == squeezed(name)
	})
	return said
}

// nameAgain compares what the first create was answered with the answers to another one and its repetition. What names the row has
// to be that of the other's row, too. Where no key was found, a member that is called like an id names what was created if
// it is another one for each create, the same for a repetition, and nothing that the requests have said.
func nameAgain(f *File, r Repeated) {
	p := f.Proof
	inList(f, r)
	inStep(f, r)
	of := r.Rows == 1 || p.Shown != (databases.Shown{}) // of several, the row may be the repetition's
	other := of && r.Row != nil && p.Identity != "" && f.name(r.First) != p.Shown.Of(r.Row[p.Identity])
	shared := r.Row != nil && p.Identity != "" && r.Row[p.Identity] == p.Row[p.Identity] && !slices.Contains(p.Table.Primary, p.Identity) // as who has sent both is
	if other || shared || !sure(f, r) || unsaid(f, r) {
		p.Named, p.Identity, p.Shown = contract.Identity{}, "", databases.Shown{}
	}
	ofPart(f, r)
	if p.Part != "" || p.Named.Declared() && !f.Draft.echoed(p.Named) || r.First.Status == http.StatusAccepted || !r.Again.Done() || r.Rows > 1 {
		return
	}
	named := opaque(f, r)
	if !named.Declared() {
		named = leadsTo(f, r)
	}
	if named.Declared() {
		p.Named, p.Identity = named, ""
	}
}

// inStep takes another column for the one that answers name the row by, where both have had the value that the first create's answer has: the one
// that has that of another create's answer, too. If both have, they are counted in step until creates overlap, and it is the one that is called as
// the member is, or else the one that is in a constraint, as what belongs to a thing has that thing's id there. A table that is called as a part of
// another's things, such as facet_translation, has the thing's id in what refers to it.
func inStep(f *File, r Repeated) {
	p := f.Proof
	names := []string{f.name(r.First)}
	if r.Rows == 2 { // of which the row is one
		names = append(names, f.name(r.Again))
	}
	if p.Identity == "" || p.Shown != (databases.Shown{}) || r.Rows != len(names) || r.Row == nil || slices.Contains(names, "") || len(p.Several.Rows) > 0 {
		return
	}
	_, member := jsonpointer.Cut(p.Named.JSON)
	for _, c := range p.Table.Columns {
		if c.Name == p.Identity || !idLike.MatchString(c.Name) || p.Row[c.Name] != p.Row[p.Identity] || !slices.Contains(names, r.Row[c.Name]) {
			continue
		}
		before := p.Identity
		if !slices.Contains(names, r.Row[before]) {
			p.Identity = c.Name
			return
		}
		if !slices.Contains(p.Table.Primary, before) {
			continue // it was chosen for what it refers to
		}
		called := cmp.Compare(alike(member, c.Name), alike(member, before))
		constrained := slices.ContainsFunc(p.Table.Unique, func(unique []string) bool { return slices.Contains(unique, c.Name) })
		refers := slices.IndexFunc(p.Table.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
		likelier := called > 0 || called == 0 && constrained && namesAnother.MatchString("/"+c.Name) ||
			refers >= 0 && partOf(p.Table.Name, p.Table.Refers[refers].Table, f.Draft.Path)
		if !likelier && refers < 0 {
			continue
		}
		chosen, other := before, c.Name
		if likelier {
			chosen, other = other, chosen
		}
		f.Doubt("Which column %s names: %s and %s of each row had its value, as two that are counted in step do until creates overlap. The file says %s, for identity of rows; if runs show an answer that no row has, it is %s.", f.named().Where(), chosen, other, chosen, other)
		p.Identity = chosen
		return
	}
}

// partOf reports that a table is called as what belongs to another's things, and the path is not called so.
func partOf(table, other, path string) bool {
	part, thing := squeezed(table), singular(squeezed(other[strings.LastIndex(other, ".")+1:]))
	return strings.HasPrefix(part, thing) && singular(part) != thing && !calledAs(table, path)
}

// leadsTo is where the end of a Location names what was created, by a name that no key of the row reads like: it is another one for each create.
// Of what was created, that of a repetition has to be the first one's (RFC 9110, section 15.3.2).
func leadsTo(f *File, r Repeated) contract.Identity {
	segments := pathSegments(r.First.Location)
	at := contract.Identity{Header: "Location", Pattern: leading(r.First.Location, segments[len(segments)-1])}
	if at.Pattern == "" || len(r.Apart) != 2 {
		return contract.Identity{}
	}
	first, again, other := at.In(r.First.Location), at.In(r.Again.Location), at.In(r.Apart[0].Location)
	if other == "" || other == first || again == "" || again != first && (r.First.Status != http.StatusCreated || r.Again.Status != http.StatusCreated) {
		return contract.Identity{}
	}
	if again != first {
		f.Doubt("Whether a repetition may lead elsewhere: the first answer's Location ends with %s, and that of the same request again with %s, though there is one row. Runs will show it as a broken promise; if it may, leave identity out.", first, again)
	}
	return at
}

// opaque is where answers name what was created, by a name that no key of the row reads like.
func opaque(f *File, r Repeated) contract.Identity {
	best := ""
	Scalars("", r.First.Body, func(pointer string, member any) {
		text := fmt.Sprint(member)
		_, name := jsonpointer.Cut(pointer)
		again, there := jsonpointer.Resolve(r.Again.Body, pointer)
		before, had := jsonpointer.Resolve(f.Proof.Told, pointer)
		switch {
		case !idLike.MatchString(name) || ofTheRequest.MatchString(pointer) || f.Draft.echoed(contract.Identity{JSON: pointer}) || text == "" || text == r.First.Key:
		case !there || !had || fmt.Sprint(again) != text || fmt.Sprint(before) == text:
		case best == "" || strings.Count(pointer, "/") < strings.Count(best, "/"):
			best = pointer
		}
	})
	return contract.Identity{JSON: best}
}
