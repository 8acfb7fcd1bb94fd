package drafting

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// Spelling is a target whose contract ignores one thing of how the natural key is spelled.
type Spelling struct {
	Target  targets.Target
	Ignored contract.Ignored
	inQuery bool // rows are found by the natural key alone, so that the row query has to ignore it
}

// Spellings are those in which requests of a target can name the same thing; none: there is no natural key that could be spelled otherwise.
func Spellings(f File, t targets.Target, r Repeated) (all []Spelling) {
	natural := f.NaturalKey(r)
	if len(natural) != 1 || natural[0] == contract.WholePath {
		return nil
	}
	t.Contract.NaturalKey, f.learnt.natural = natural, natural
	for _, ignored := range []contract.Ignored{contract.IgnoresCase, contract.IgnoresBlanks} {
		t.Contract.NaturalKeyIgnores, f.learnt.ignores = []contract.Ignored{ignored}, []contract.Ignored{ignored}
		o, inQuery := t.Operations[f.Draft.Name], len(spellingIn(&f)) > 0
		if inQuery {
			o.Rows.Query = f.query()
		}
		if t.Renames(o) {
			all = append(all, Spelling{t, ignored, inQuery})
		}
	}
	return all
}

// InAnySpelling is a condition for the rows of the marker that a parameter has, however it is spelled; empty: the rows of a marker are found whatever the
// natural key is.
func (s Spelling) InAnySpelling(f *File, parameter string) string {
	if !s.inQuery {
		return ""
	}
	return equalIn([]contract.Ignored{s.Ignored}, f.Dialect.Name(f.Proof.Column), parameter)
}

// DoubtNames notes what two rows have in common that were made for one name in two spellings: the target derived it from the name, and so may take them
// for one elsewhere.
func DoubtNames(f *File, s Spelling, rows []map[string]string) {
	if len(rows) < 2 {
		return
	}
	name := plainly(rows[0][f.Proof.Column])
	for _, c := range f.Proof.Table.Columns {
		if one := rows[0][c.Name]; c.Name != f.Proof.Column && one == rows[1][c.Name] && name != "" && strings.Contains(plainly(one), name) {
			f.Doubt("Whether %s in another spelling (%s) names another thing: it made a row of its own, and both rows have the same %s. If they are to be one, say natural_key_ignores: [%s], and let the row query find both, as %s does: runs show the second row then.",
				f.Proof.Text, s.Ignored, c.Name, s.Ignored, f.Proof.asks(s.InAnySpelling(f, ":marker")))
			return
		}
	}
}

// plainly is a name in lower case, without what slugs leave out.
func plainly(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// spellingIn is what of the marker's spelling makes no difference, where it is the natural key and its column holds nothing else.
func spellingIn(f *File) []contract.Ignored {
	if p := f.Proof; !p.Exact || p.Through != nil || p.Within != "" || !slices.Equal(f.learnt.natural, []string{p.Text}) {
		return nil
	}
	return f.learnt.ignores
}

// equalIn is a condition of SQL that a column equals a parameter, but for what makes no difference.
func equalIn(ignored []contract.Ignored, column, parameter string) string {
	return inOneSpelling(column, ignored) + " = " + inOneSpelling(parameter, ignored)
}

// inOneSpelling is an expression of SQL without what makes no difference.
func inOneSpelling(expression string, ignored []contract.Ignored) string {
	if slices.Contains(ignored, contract.IgnoresBlanks) {
		expression = "trim(" + expression + ")"
	}
	if slices.Contains(ignored, contract.IgnoresCase) {
		expression = "lower(" + expression + ")"
	}
	return expression
}

// Anew is the file in which members that differ from create to create can differ from request to request as well, and which those are. The member that
// carries the marker is none of them, nor are those that are kept.
func Anew(f File, kept []string) (anew File, members []string) {
	settled := settledOf(f)
	f.Draft.Templates = cloneTexts(f.Draft.Templates)
	for _, pointer := range f.Suspects() {
		if template := settled[pointer]; varies(template) && !slices.Contains(kept, pointer) {
			f.Draft.Templates[pointer] = strings.ReplaceAll(template, referenceTemplate, `ref{{unique "text"}}`)
			members = append(members, pointer)
		}
	}
	return f, members
}

// DrawingAnew is the target of such a file, whose requests draw these members anew.
func DrawingAnew(t targets.Target, operation string, members []string) targets.Target {
	o := t.Operations[operation]
	o.Volatile = slices.Concat(o.Volatile, members)
	t.Operations = maps.Clone(t.Operations)
	t.Operations[operation] = o
	return t
}

// SameRefusal reports that two answers refuse for the same reason: with one status and code, and in the same words, but for what they quote of the
// requests.
func SameRefusal(a, b Answer) bool {
	return a.Refused() && b.Refused() && reflect.DeepEqual(signature(a), signature(b)) && !slices.ContainsFunc(reasons(), func(at string) bool {
		one, _ := jsonpointer.Resolve(a.Body, at)
		other, _ := jsonpointer.Resolve(b.Body, at)
		return !reflect.DeepEqual(reasonIn(one), reasonIn(other))
	})
}

// longestWord is how many letters words of sentences have at most. A drawn value has more, or a digit.
const longestWord = 15

// reasonIn is what a member of a refusal says that is nothing of a request, for comparison.
func reasonIn(said any) any {
	switch said := said.(type) {
	case map[string]any, []any:
		return nil
	case string:
		signs := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		return strings.Join(slices.DeleteFunc(signs, func(word string) bool {
			return utf8.RuneCountInString(word) > longestWord || strings.ContainsFunc(word, unicode.IsDigit)
		}), " ")
	default:
		return plain(said)
	}
}
