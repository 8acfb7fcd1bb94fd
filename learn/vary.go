package learn

import (
	"context"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// tryWords finds a word of the body for which the target takes another, where nothing else in it can be altered: one that is one of a few
// is refused.
func tryWords(ctx context.Context, i *inquiry) {
	for _, word := range drafting.Words(i.file) {
		other := withValue(i.file, word)
		asking, err := i.questionerFor(other)
		if err != nil {
			return
		}
		if answers, markers := asking.ask(ctx, "word", 1, "[{send: {}}]"); len(answers) == 1 && answers[0].Done() && i.made(ctx, markers[0]) == 1 {
			i.file.Draft.Others = append(slices.Clone(i.file.Draft.Others), word)
			return
		}
	}
}

// asGivenOnce lets a member have the source's value again, once, of which a refusal quotes another. It says which; empty: none.
func asGivenOnce(i *inquiry, refused drafting.Answer, given *bool) string {
	pointer := drafting.Quoted(i.file, refused)
	if pointer == "" || *given {
		return ""
	}
	beginToVary(i)
	*given = true
	drafting.AsGiven(&i.file.Draft, pointer)
	return "the value of the source in " + pointer
}

// asLong lets members have values as long as the source's, where a refusal may be about that. It says which; empty: none.
func asLong(i *inquiry, refused drafting.Answer) string {
	beginToVary(i)
	members := drafting.AsLong(&i.file, refused)
	if len(members) == 0 {
		return ""
	}
	return "values as long as the source's in " + strings.Join(members, ", ")
}

// unvaried is what a create was answered, and has made, in which nothing was varied.
type unvaried struct {
	status, rows int
	done         bool
}

// vary lets the next thing differ in each create by which a target may know one that it has seen: what may be the key, and
// then members of the body. It says which; empty: there is none left.
func vary(i *inquiry) string {
	beginToVary(i)
	i.file.Draft = *i.plain
	if len(i.places) > 0 {
		try := i.places[0]
		i.file.Draft, i.places = try.draft, i.places[1:]
		return drafting.Called(try.key) + " as the key"
	}
	if drafting.PutsAt(*i.plain) {
		if said := elsewhere(i); said != "" {
			return said
		}
	}
	if said := differ(i); said != "" {
		return said
	}
	if len(i.rest) > 0 {
		try := i.rest[0]
		i.file.Draft, i.rest = try.draft, i.rest[1:]
		said := drafting.Called(try.key) + " as the key"
		if try.members {
			i.file.Differing = i.file.MayName()
			said += ", and other values in " + strings.Join(i.file.Differing, ", ")
		}
		return said
	}
	if said := elsewhere(i); said != "" {
		return said
	}
	if numbers := append(i.plain.Numbers(), drafting.Short(*i.plain)...); i.file.Proof == nil {
		if next := slices.Index(numbers, i.plain.Number) + 1; next < len(numbers) {
			i.plain.Number = numbers[next]
			i.file.Draft, i.file.Differing, i.naming = *i.plain, nil, naming{taken: i.naming.taken}
			return "a number for a marker, in " + i.plain.Number
		}
	}
	return ""
}

// beginToVary keeps the draft as its source has it.
func beginToVary(i *inquiry) {
	if i.plain != nil {
		return
	}
	plain := i.file.Draft
	i.plain, i.paths = &plain, drafting.OtherPaths(plain)
	i.carriers.first, i.carriers.number = plain.Texts, plain.Number
	likely, others := plain.KeyPlaces(), plain.OtherPlaces()
	i.places, i.rest = placeTries(plain, likely), placeTries(plain, others)
	for _, key := range slices.Concat(likely, others) {
		with := i.file
		with.Draft = plain.WithKeyIn(key)
		if len(with.MayName()) > 0 {
			i.rest = append(i.rest, placeTry{key: key, draft: with.Draft, members: true})
		}
	}
}

// placeTries are the ways in which these places may hold the key.
func placeTries(plain drafting.Draft, places []targets.Key) (all []placeTry) {
	for _, key := range places {
		for _, with := range drafting.KeyedBy(plain, key) {
			all = append(all, placeTry{key: key, draft: with})
		}
	}
	return all
}

// placeTry is a place that may hold the key.
type placeTry struct {
	key     targets.Key
	draft   drafting.Draft // with its key there
	members bool           // together with members that may name one thing: a target may know both
}
