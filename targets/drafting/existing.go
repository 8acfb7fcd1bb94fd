package drafting

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// leastRefusals is how many creates have to be refused alike, until what they were told is taken for what such refusals say.
const leastRefusals = 2

// narrowed is what a create is refused by that is there already, where no code tells: a number or a sentence that all such refusals say, those to
// copies that lost a race as well, and that none of another kind says. A status alone may be that of any mistake in a request. Another body with the
// value is refused for it, too.
func narrowed(f *File, existing, declined contract.Signature, r Repeated) contract.Signature {
	if len(existing.Where) > 0 || len(existing.Statuses) != 1 {
		return existing
	}
	all := []Answer{r.Again, orNone(r.Taken)}
	for _, b := range r.Bursts {
		if b.After.Refused() {
			all = append(append(all, b.Copies...), b.After)
		}
	}
	all = slices.DeleteFunc(all, func(a Answer) bool {
		return !a.Refused() || a.Denied != nil || a.Shown || a.Status != existing.Statuses[0]
	})
	if len(all) < leastRefusals {
		return existing
	}
	others := slices.DeleteFunc(slices.Concat(r.Unlike, r.Declined), func(a Answer) bool { return a.Status != existing.Statuses[0] })
	for _, at := range append(reasons(), spoken(all[0].Body)...) {
		first, _ := jsonpointer.Resolve(all[0].Body, at)
		if _, list := first.([]any); list {
			continue
		}
		value := plain(first)
		says := func(a Answer) bool {
			said, there := jsonpointer.Resolve(a.Body, at)
			return there && plain(said) == value
		}
		if tells(f, value, existing.Statuses[0]) && !slices.ContainsFunc(all, func(a Answer) bool { return !says(a) }) && !slices.ContainsFunc(others, says) {
			existing.Where = map[string]any{at: value}
			break
		}
	}
	if same(existing, declined) {
		existing.Where = nil
	}
	return existing
}

// existingAt is where a refusal of what is there already names it: a member that is called like an id, and says of a repetition what the first answer
// was the name of. All such refusals have to have it.
func existingAt(f *File, l learnt, r Repeated) string {
	name := f.name(r.First)
	if name == "" || !r.Again.Refused() || !slices.Contains(l.existing.Statuses, r.Again.Status) {
		return ""
	}
	var places []string
	Scalars("", r.Again.Body, func(at string, value any) {
		_, fixed := l.existing.Where[at]
		if r.Taken != nil && !fixed {
			_, there := jsonpointer.Resolve(r.Taken.Body, at)
			fixed = !there
		}
		if Named(at) && !fixed && fmt.Sprint(plain(value)) == name {
			places = append(places, at)
		}
	})
	if len(places) != 1 {
		return ""
	}
	return places[0]
}

// aBeginning matches what is left of an intent's reference, which has 16 letters and digits behind its name, where its end was cut off.
var aBeginning = regexp.MustCompile(`^ref[0-9a-z]{1,15}$`)

// cutKeys are the columns of unique constraints that hold no more than the beginning of what was drawn for a natural key: with another end it is the
// same to the database, and two things are one. A row that has to hold what was sent shows that. Where another column has all of it, it is cut on
// purpose, as for a short name.
func cutKeys(f *File, l learnt, row map[string]string) map[string]string {
	if f.Proof == nil {
		return nil
	}
	cut, templates := map[string]string{}, settledOf(*f)
	for _, columns := range f.Proof.Table.Unique {
		for _, column := range columns {
			for _, pointer := range l.natural {
				before, behind, refers := strings.Cut(templates[pointer], referenceTemplate)
				left, begins := strings.CutPrefix(row[column], before)
				if refers && begins && behind == "" && aBeginning.MatchString(left) && !heldWhole(row, column) {
					cut[column] = pointer
					f.Doubt("Whether %s may be cut: %s holds the first %d characters of it alone, so that two which begin alike are one.", pointer, column, len([]rune(row[column])))
				}
			}
		}
	}
	return cut
}

// heldWhole reports that another column of a row goes on where one ends.
func heldWhole(row map[string]string, column string) bool {
	for other, value := range row {
		if other != column && len(value) > len(row[column]) && strings.HasPrefix(value, row[column]) {
			return true
		}
	}
	return false
}

// spoken are the members of an answer that hold a sentence, by whatever name: that of the member that is wrong, for one.
func spoken(body any) (places []string) {
	Scalars("", body, func(at string, value any) {
		if text, _ := value.(string); strings.Contains(text, " ") {
			places = append(places, at)
		}
	})
	return places
}

// tells reports that what a refusal says may tell its kind.
func tells(f *File, value any, status int) bool {
	switch value := value.(type) {
	case int64:
		return value != int64(status)
	case string:
		return sentence(value) && value != http.StatusText(status) && value != "about:blank" && !quotes(f, value)
	}
	return false
}
