package drafting

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// retyped doubts repetitions that have what the first answer has in another type, such as numbers as texts, as drivers give what they read back.
func retyped(f *File, first Answer, again []Answer) {
	for _, a := range again {
		at := ""
		Scalars("", first.Body, func(pointer string, value any) {
			if other, there := jsonpointer.Resolve(a.Body, pointer); at == "" && there && asText(value) != asText(other) && fmt.Sprint(value) == fmt.Sprint(other) {
				at = pointer
			}
		})
		if at != "" {
			f.Doubt("Whether a repetition may write %s in another type: what is a number in one answer was a text in the other, which many clients cannot read. Runs compare no more than %s, as text; if it must not be, take body: identity out of replay.", at, f.named().Where())
			return
		}
	}
}

// lessened doubts repetitions that leave out or empty something that the first answer says, such as an order's lines, which are not read back: nothing
// but the name of the created thing is compared then.
func lessened(f *File, first Answer, again []Answer) {
	for _, a := range again {
		if at := lessAt(nil, first.Body, a.Body); len(at) > 0 {
			f.Doubt("Whether a repetition may say less than the first answer: %s was left out, shorter or empty in one. Runs compare no more than %s; if all of it must be said again, take body: identity out of replay.", jsonpointer.Of(at...), f.named().Where())
			return
		}
	}
	saidOtherwise(f, first, again)
}

// mostOtherwise bounds how many members are named that repetitions say otherwise.
const mostOtherwise = 3

// saidOtherwise doubts repetitions that have another number or text where the first answer has one, such as the time of the repetition, or the state of
// today. A switch may say that it is a repetition.
func saidOtherwise(f *File, first Answer, again []Answer) {
	var members []string
	for _, a := range again {
		Scalars("", first.Body, func(pointer string, value any) {
			other, there := jsonpointer.Resolve(a.Body, pointer)
			_, isSwitch := value.(bool)
			if there && !isSwitch && fmt.Sprint(value) != fmt.Sprint(other) && !slices.Contains(members, pointer) {
				members = append(members, pointer)
			}
		})
	}
	if len(members) > 0 {
		slices.Sort(members)
		f.Doubt("Whether a repetition may say otherwise what the first answer says: it did in %s. Runs compare no more than %s; if the first answer must come again, take body: identity out of replay, and say by replay: {ignore: [POINTER]} what may differ.",
			strings.Join(members[:min(len(members), mostOtherwise)], ", "), f.named().Where())
	}
}

// lessAt is where the first of two values says something and the other nothing, or has fewer elements; nil: nowhere. What is said otherwise is not lacking.
func lessAt(at []any, first, again any) []any {
	switch first := first.(type) {
	case nil:
		return nil
	case string:
		if first != "" && (again == nil || again == "") {
			return at
		}
	case map[string]any:
		other, is := again.(map[string]any)
		if !is {
			return where(at, len(first) > 0 && again == nil)
		}
		for _, name := range slices.Sorted(maps.Keys(first)) {
			if found := lessAt(append(slices.Clone(at), name), first[name], other[name]); found != nil {
				return found
			}
		}
	case []any:
		other, is := again.([]any)
		if !is || len(other) < len(first) {
			return where(at, len(first) > 0 && (is || again == nil))
		}
		for i := range first {
			if found := lessAt(append(slices.Clone(at), i), first[i], other[i]); found != nil {
				return found
			}
		}
	default:
		return where(at, again == nil)
	}
	return nil
}

func where(at []any, lacks bool) []any {
	if lacks {
		return at
	}
	return nil
}

func asText(value any) bool {
	_, is := value.(string)
	return is
}

// leastKept is how long a text is at least that was drawn, such as a secret: one that is shorter may be a word that changes as work goes on.
const leastKept = 8

// misstated doubts repetitions that say another value of what the row has, such as the rate of now, where the first answer has the row's: no row has
// what they say.
func misstated(f *File, r Repeated) {
	if r.Rows != 1 || f.Proof == nil {
		return
	}
	at, column := "", ""
	Scalars("", r.Again.Body, func(pointer string, value any) {
		before, there := jsonpointer.Resolve(r.First.Body, pointer)
		_, name := jsonpointer.Cut(pointer)
		for _, c := range f.Proof.Table.Columns {
			kept, has := r.Row[c.Name]
			if at == "" && there && has && squeezed(c.Name) == squeezed(name) && !moment.MatchString(c.Type) && alikeValues(before, kept) && !alikeValues(value, kept) {
				at, column = pointer, c.Name
			}
		}
	})
	if at != "" {
		f.Doubt("Whether a repetition may say another %s: it did, and %s.%s has what the first answer said, so that no row has the other. Runs compare no more than %s; if it must be the first's, take body: identity out of replay.", at, f.Proof.Table.FullName(), column, f.named().Where())
	}
}

// alikeValues reports that a member of an answer is what a column has: as text, or as a number.
func alikeValues(member any, kept string) bool {
	said := fmt.Sprint(member)
	a, err := strconv.ParseFloat(said, 64)
	b, none := strconv.ParseFloat(kept, 64)
	return said == kept || err == nil && none == nil && a == b
}

// renewed doubts repetitions that make another secret, or whatever else is drawn, of which the row keeps the later one: what an answer before it
// said holds no more. A time may change.
func renewed(f *File, r Repeated) {
	if r.Rows != 1 || f.Proof == nil {
		return
	}
	at, column := "", ""
	Scalars("", r.Again.Body, func(pointer string, value any) {
		text, isText := value.(string)
		if at != "" || !isText || len(text) < leastKept || dateLike.MatchString(text) || !strings.ContainsAny(text, "0123456789") {
			return
		}
		before, _ := jsonpointer.Resolve(r.First.Body, pointer)
		first, isText := before.(string)
		for _, c := range f.Proof.Table.Columns {
			if isText && first != text && r.Row[c.Name] == text && !moment.MatchString(c.Type) && c.Name != f.Proof.Column {
				at, column = pointer, c.Name
			}
		}
	})
	if at != "" {
		f.Doubt("Whether a repetition may make another %s: it did, and %s.%s has the later one, so that what the first answer said holds no more. Runs compare no more than %s; if it must stay, take body: identity out of replay.", at, f.Proof.Table.FullName(), column, f.named().Where())
	}
}
