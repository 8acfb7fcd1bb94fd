package drafting

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// distinguish makes texts differ from create to create where the database wants that: what the client sends for the primary key, and one column
// of each constraint, those of one column first, as they may be a part of others.
func (f *File) distinguish() {
	if f.Proof == nil {
		return
	}
	unique := slices.Clone(f.Proof.Table.Unique)
	slices.SortStableFunc(unique, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	if primary := f.Proof.Table.Primary; !slices.Contains(primary, f.Proof.Column) {
		if len(primary) == 1 {
			drawPrimary(f, primary[0])
		} else {
			drawOneOf(f, primary)
		}
	}
	for _, columns := range unique {
		if !slices.Contains(columns, f.Proof.Column) {
			distinguishMeasured(f, columns, drawOneOf(f, columns))
		}
	}
}

// distinguishMade lets a text differ that has come to a row of another table, which the created one refers to: the create has made that row, and in
// runs it has to be made again, as it may be twice when requests come at the same time. A row with numbers may be one whose balance creates have in
// common.
func distinguishMade(f *File) {
	if f.Proof == nil {
		return
	}
	for _, o := range f.Proof.Others {
		refers := slices.ContainsFunc(f.Proof.Table.Refers, func(r databases.Reference) bool { return r.Table == o.Table.FullName() })
		if o.Column == "" || o.Inside || !refers || holdsAmounts(o.Table) || len(o.texts) != 1 {
			continue
		}
		if text := o.texts[0]; text != f.Proof.Text && f.Draft.Templates[text] == "" && !slices.Contains(f.same, text) {
			f.Draft.Templates[text] = referenceTemplate
		}
	}
}

// distinguishMeasured lets one time or number of a unique constraint differ where nothing else of it does.
func distinguishMeasured(f *File, unique, members []string) {
	for _, pointer := range Measured(f) {
		value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
		if template := another(value); slices.Contains(members, pointer) && f.Proof.room(f.Proof.stored(pointer, value), template) {
			measure(f, pointer, template)
			return
		}
	}
	for _, pointer := range members {
		f.Doubt("What %s may be: the database allows each value of %s (%s) once, and it is always the same here.", pointer, f.Proof.Table.FullName(), strings.Join(unique, ", "))
	}
}

// generated matches what ids are drawn of.
var generated = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// drawPrimary lets the text or number differ that the client sends for a primary key. A short number may be the row's by chance. A long one, or a long text
// with digits in it, was drawn in most cases, and then often has to be as long as it is.
func drawPrimary(f *File, column string) {
	for _, pointer := range membersOf(f, column) {
		text, isText := textOf(f, pointer)
		switch {
		case f.Draft.Templates[pointer] != "" || slices.Contains(f.same, pointer) || !isText || ofOther(f, pointer):
		case f.landed(column, slices.Index(f.Draft.Texts, pointer)):
			f.Draft.Templates[pointer] = referenceTemplate
		case len(text) >= telling && generated.MatchString(text) && strings.ContainsAny(text, "0123456789"):
			f.Draft.Templates[pointer] = asLong(text)
		case !plainNumber.MatchString(text):
			f.Draft.Templates[pointer] = differingIn(f.Draft, pointer, text)
		}
	}
	for pointer, number := range wholeNumbers(f) {
		if number > math.MaxInt32 && ownNumber(f, pointer, number) && f.Draft.Templates[pointer] == "" && !slices.Contains(f.same, pointer) && !ofOther(f, pointer) {
			f.Draft.Templates[pointer] = anotherNumber(number)
		}
	}
}

// wholeNumbers are the members of the body that are one.
func wholeNumbers(f *File) map[string]int64 {
	all := map[string]int64{}
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		if number, isNumber := value.(int64); isNumber {
			all[pointer] = number
		}
	})
	return all
}

// textOf is a member of the body that is a text.
func textOf(f *File, pointer string) (string, bool) {
	value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
	text, isText := value.(string)
	return text, isText
}

// landed reports that a text of the draft has come to a column.
func (f *File) landed(column string, text int) bool {
	return text >= 0 && text < len(marks) && strings.HasSuffix(f.Proof.Row[column], markOf(text))
}

// membersOf are the members of the body that have come to a column. One that is kept the same for once had another value in the one create.
func membersOf(f *File, column string) (all []string) {
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		_, name := jsonpointer.Cut(pointer)
		kept := slices.Contains(f.same, pointer) && squeezed(name) == squeezed(column)
		if kept || f.landed(column, slices.Index(f.Draft.Texts, pointer)) || cameTo(f, pointer, value) == column {
			all = append(all, pointer)
		}
	})
	return all
}

// ofOther reports that a member has come to a column that refers to another table: of another value there may be no such row there.
func ofOther(f *File, pointer string) bool {
	value, there := jsonpointer.Resolve(f.Draft.Body, pointer)
	if f.Proof == nil || !there {
		return false
	}
	text, isText := value.(string)
	column := f.Proof.stored(pointer, value)
	return f.Proof.refers(value) || slices.ContainsFunc(f.Proof.Table.Refers, func(r databases.Reference) bool {
		return r.Column == column || isText && text != "" && !plainNumber.MatchString(text) && f.Proof.Row[r.Column] == text
	})
}

// steady matches templates that give one value for many creates.
var steady = regexp.MustCompile(`\{\{\.(Principal|Login)\.`)

// varies reports that a template gives another value for each create.
func varies(template string) bool {
	return strings.Contains(template, "{{") && !steady.MatchString(template)
}

// What speaks for it that a member is drawn of those in one constraint.
const (
	aWord       = iota + 1 // nothing does, but that no other of them differs: a handle or a slug
	likeAnother            // it is called like the id of another thing, such as a tenant, which may have to be there
	likeOne                // it is called or written like the name of one thing
	takesAny               // it took any text in the one create
)

// drawOneOf lets the members of one column of a constraint differ from create to create: another value in one is enough, and of the tenant of a
// customer there may be no other. Of columns that are alike it is the last, as that counts within those before it. A plain word differs only where
// nothing better does. What else is neither marked nor a name of something stays as it is: another value might be refused. Where no column differs,
// those are returned that do not.
func drawOneOf(f *File, columns []string) (same []string) {
	best, drawn := 0, map[string]string{}
	for _, column := range slices.Backward(columns) {
		rank, templates := 0, map[string]string{}
		for _, pointer := range membersOf(f, column) {
			text, _ := textOf(f, pointer)
			switch {
			case varies(f.Draft.Templates[pointer]) || slices.Contains(f.same, pointer):
				return nil
			case f.Draft.Templates[pointer] != "":
			case ofOther(f, pointer):
				same = append(same, pointer)
			case f.landed(column, slices.Index(f.Draft.Texts, pointer)):
				rank, templates[pointer] = takesAny, referenceTemplate
			case slices.Contains(f.Draft.codes(), pointer):
				templates[pointer] = differingIn(f.Draft, pointer, text)
				if rank = max(rank, likeAnother); !namesAnother.MatchString(pointer) {
					rank = max(rank, likeOne)
				}
			case mayBeWord(f, columns, pointer):
				rank, templates[pointer] = max(rank, aWord), differingIn(f.Draft, pointer, text)
			default:
				same = append(same, pointer)
			}
		}
		if rank > best {
			best, drawn = rank, templates
		}
	}
	if maps.Copy(f.Draft.Templates, drawn); best > 0 {
		return nil
	}
	slices.Reverse(same)
	return same
}

// mayBeWord reports that a text may be another word where a constraint is to hold of each create another value. What is alone in its constraint has
// to be another one in each row; with others, one of a few words is rather one of those that there are.
func mayBeWord(f *File, columns []string, pointer string) bool {
	text, isText := textOf(f, pointer)
	switch {
	case !isText || text == "" || f.Draft.document(pointer) || dateLike.MatchString(text) || amountLike.MatchString(text) || plainNumber.MatchString(text):
		return false
	case len(columns) == 1:
		return true
	}
	return !oneOfFew(pointer, text) && !namesAnother.MatchString(pointer)
}

// settledOf are the templates of the file's creates as it stands.
func settledOf(f File) map[string]string {
	if f.settle() != nil {
		return nil
	}
	return f.Draft.Templates
}

// ofForm matches refusals that may be about how a value is written.
var ofForm = regexp.MustCompile(`(?i)length|long|short|charact|max|minimum|format|pattern|regex|valid|alphanumeric|digit|size`)

// AsLong lets members that differ from create to create have values as long as the source's, and of such signs, where a refusal may be about that.
// It returns those of which the values were others.
func AsLong(f *File, refused Answer) (members []string) {
	if !refused.Refused() || !ofForm.MatchString(refused.Written) {
		return nil
	}
	own := f.Draft.Templates
	for pointer, template := range settledOf(*f) {
		text, _ := textOf(f, pointer)
		long := asLong(text)
		drawn := own[pointer] == "" || slices.Contains(f.Differing, pointer)
		if drawn && long != "" && long != template && strings.Contains(template, referenceTemplate) {
			members = append(members, pointer)
		}
	}
	slices.Sort(members)
	f.Draft.Templates = cloneTexts(own)
	for _, pointer := range members {
		text, _ := textOf(f, pointer)
		f.Draft.Templates[pointer] = asLong(text)
		if !slices.Contains(f.Differing, pointer) {
			f.Differing = append(slices.Clone(f.Differing), pointer)
		}
	}
	return members
}

// Quoted is the member of which a refusal quotes a value that was drawn because a constraint holds it, together with others: there may be none but
// the source's. Of several with one value it is the one that is called like the id of another thing; empty: it quotes none, or says that it is there.
func Quoted(f File, refused Answer) string {
	if !refused.Refused() || refused.Status == http.StatusConflict {
		return ""
	}
	var all []string
	for pointer, template := range settledOf(f) {
		before, behind, drawn := strings.Cut(template, referenceTemplate)
		if drawn && f.Draft.Templates[pointer] == "" && !slices.Contains(f.Differing, pointer) && pointer != f.Proof.Text &&
			regexp.MustCompile(regexp.QuoteMeta(before)+reference+regexp.QuoteMeta(behind)).MatchString(refused.Written) {
			all = append(all, pointer)
		}
	}
	if another := slices.DeleteFunc(slices.Clone(all), func(pointer string) bool { return !namesAnother.MatchString(pointer) }); len(another) > 0 {
		all = another
	}
	if len(all) != 1 {
		return ""
	}
	return all[0]
}

// AsGiven lets a member have the value of the source, so that another of its constraint differs.
func AsGiven(d *Draft, pointer string) {
	value, _ := jsonpointer.Resolve(d.Body, pointer)
	d.Templates = cloneTexts(d.Templates)
	d.Templates[pointer] = Escape(fmt.Sprint(value))
}
