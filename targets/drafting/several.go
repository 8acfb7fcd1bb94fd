package drafting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Several are the rows of one create that hold one text of it, where one create makes more than one: the legs of a booking, or the pieces
// of a batch. The row query must give one row for an intent, so it takes them for one.
type Several struct {
	Rows     []map[string]string // nil: a create makes one
	Together bool                // they share what the answer names them by, and no other create's have it
	Twins    bool                // some differ in nothing but their keys and times

	identity string // of one of them, where they do not
	shown    databases.Shown
}

// several gathers the rows of a create that hold what the best place does.
func several(best place, places []place) Several {
	var s Several
	for _, p := range places {
		if p.Table.FullName() == best.Table.FullName() && p.Column == best.Column && p.Text == best.Text && p.Exact == best.Exact {
			s.Rows = append(s.Rows, p.Row)
		}
	}
	if len(s.Rows) < 2 {
		return Several{}
	}
	s.Together = best.Identity != "" && best.Shown == (databases.Shown{}) && s.share(best.Identity)
	return s
}

// share reports that all rows have the same in a column.
func (s Several) share(column string) bool {
	return !slices.ContainsFunc(s.Rows, func(row map[string]string) bool { return row[column] != s.Rows[0][column] })
}

// Count is how many created things rows of one other create are.
func (p *Proof) Count(rows []map[string]string) int {
	each := len(p.Several.Rows)
	if each == 0 || len(rows) == 0 {
		return len(rows)
	}
	if p.Several.Together && rows[0][p.Identity] == p.Row[p.Identity] { // the first create's have it, too
		p.apart()
	}
	if !p.Several.Together {
		return (len(rows) + each - 1) / each
	}
	names := map[string]bool{}
	for _, row := range rows {
		names[row[p.Identity]] = true
	}
	return len(names)
}

// apart says that nothing names the rows of a create together: an answer that names one of them is compared with other answers only.
func (p *Proof) apart() {
	p.Several.Together, p.Identity, p.Shown = false, "", databases.Shown{}
}

// asOne makes a query of the rows of an intent one that gives a row for each create.
func asOne(f *File, columns []string, from string) string {
	p := f.Proof
	listed := strings.Join(columns, ", ")
	switch each := len(p.Several.Rows); {
	case each == 0:
		return fmt.Sprintf("select %s %s", listed, from)
	case p.Several.Together:
		return fmt.Sprintf("select distinct %s %s", listed, from)
	default:
		return fmt.Sprintf("select %s from (select %s, row_number() over (order by %s) as doubletap_nth %s) each_create where (doubletap_nth - 1) %% %d = 0",
			listed, listed, strings.Join(ordered(f), ", "), from, each)
	}
}

// ordered are the columns by which the rows of a table are numbered.
func ordered(f *File) []string {
	columns := f.Proof.Table.Primary
	if len(columns) == 0 {
		columns = []string{f.Proof.Column}
	}
	var names []string
	for _, c := range columns {
		names = append(names, f.Dialect.Name(c))
	}
	return names
}

// doubtSeveral says how more than one row of a create is counted.
func doubtSeveral(f *File) {
	s := f.Proof.Several
	if len(s.Rows) == 0 {
		return
	}
	how := fmt.Sprintf("The row query takes every %d rows for one create", len(s.Rows))
	if s.Together {
		how = fmt.Sprintf("The row query takes those with the same %s for one create", f.Proof.Identity)
	}
	if s.Twins {
		f.Doubts = append([]string{fmt.Sprintf("Whether a create is to make %d rows in %s: each did that was sent once, some of them differ in nothing but their keys and times, and nothing in the request says that there are so many. It may be done twice each time. %s, and the effect %s holds that there are so many: if a create is to make one row, let the query give each row, and leave the effect out.", len(s.Rows), f.Proof.Table.FullName(), how, allRows(f))}, f.Doubts...)
		return
	}
	f.Doubt("Whether a create is to make %d rows in %s: one did. %s, and the effect %s holds that there are so many.", len(s.Rows), f.Proof.Table.FullName(), how, allRows(f))
}

// allRows is the name of the effect that counts all rows of a create.
func allRows(f *File) string { return Slug(f.Proof.Table.FullName() + " rows") }

// refers reports that a number of the body has come to a column that refers to another table, in a row of the create: of another number there
// may be no such row there.
func (p *Proof) refers(value any) bool {
	if p == nil {
		return false
	}
	number, isNumber := value.(int64)
	rows := append([]map[string]string{p.Row}, p.Several.Rows...)
	return isNumber && slices.ContainsFunc(p.Table.Refers, func(r databases.Reference) bool {
		return slices.ContainsFunc(rows, func(row map[string]string) bool { return row[r.Column] == strconv.FormatInt(number, 10) })
	})
}

// AlterOtherwise lets an altered body have a smaller number in a member of which no row keeps a greater one, such as a flag or the highest
// priority. Where it was smaller already, or is no number, no row is held to keep it.
func AlterOtherwise(f *File, pointer string) {
	value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
	less := smaller(value)
	n := slices.IndexFunc(f.Draft.Others, func(o Other) bool { return o.Pointer == pointer })
	if n < 0 || less == nil || f.Draft.Others[n].Value == less {
		f.Proof.Unkept = append(f.Proof.Unkept, pointer)
		return
	}
	f.Draft.Others = slices.Clone(f.Draft.Others)
	f.Draft.Others[n].Value = less
}

// smaller is a whole number less one; nil: it is none, or not above zero.
func smaller(value any) any {
	switch value := value.(type) {
	case int64:
		if value > 0 {
			return value - 1
		}
	case string:
		if whole, err := strconv.ParseInt(value, 10, 64); err == nil && whole > 0 {
			return strconv.FormatInt(whole-1, 10)
		}
	}
	return nil
}

// Altered is the body that an altered request has, and the member that differs in it; ok says that one is sent, and that it differs in more than
// its marker.
func Altered(f File) (body map[string]any, pointer string, ok bool) {
	if f.settle() != nil || f.alter == nil || f.alter.unsent || f.alter.marker {
		return nil, "", false
	}
	body, ok = Put(f.Draft.Body, f.alter.Pointer, f.alter.Value).(map[string]any)
	return body, f.alter.Pointer, ok
}

// Lower is such a file whose other body has the number below that of a create, where it has the one above; false: it has no number that counts up.
func Lower(f File) (lower File, pointer string, ok bool) {
	_, pointer, ok = Altered(f)
	value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
	number, err := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	if _, text := value.(string); text || !ok || err != nil || number < 2 {
		return f, "", false
	}
	f.Draft.Others = append([]Other{{pointer, number - 1}}, f.Draft.Others...)
	return f, pointer, true
}

// AlteredAfter is Altered once a create was repeated: runs send no other body where rows are found by what makes two creates one.
func AlteredAfter(f File, r Repeated) (body map[string]any, ok bool) {
	f.learnt.natural = f.NaturalKey(r)
	body, _, ok = Altered(f)
	return body, ok
}

// DifferentRows counts the rows of one create that differ by what they hold, besides their keys and times; 0: they hold nothing else.
func DifferentRows(t databases.Table, rows []map[string]string) int {
	different, holds := map[string]bool{}, false
	for _, row := range rows {
		var said []string
		for _, c := range t.Columns {
			if !slices.Contains(t.Primary, c.Name) && !moment.MatchString(c.Type) && !itsOwn.MatchString(c.Name) {
				said = append(said, row[c.Name])
				holds = holds || row[c.Name] != ""
			}
		}
		different[fmt.Sprintf("%q", said)] = true
	}
	if !holds {
		return 0
	}
	return len(different)
}

// SaysSoMany reports that a request says a number: as a value, or by a list of as many.
func SaysSoMany(f File, n int) bool {
	number := strconv.Itoa(n)
	_, query, _ := strings.Cut(f.Draft.Path, "?")
	said := slices.ContainsFunc(strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == '=' }), func(part string) bool { return part == number })
	var look func(value any)
	look = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, member := range value {
				look(member)
			}
		case []any:
			said = said || len(value) == n
			for _, member := range value {
				look(member)
			}
		default:
			said = said || Same(fmt.Sprint(value), number)
		}
	}
	look(f.Draft.Body)
	return said
}

// Twins notes that some of the rows of one create differ in nothing but their keys and times. Behind an answer, only those are what it is to make
// that differ otherwise.
func Twins(f *File, different int, behind bool) {
	s := &f.Proof.Several
	if !behind {
		s.Twins = true
		return
	}
	how := "The row query takes each row for one create; if one is to make more, let it give one row for each create"
	if different > 1 {
		how = fmt.Sprintf("The file has those that differ, %d", different)
	}
	f.Doubts = append([]string{fmt.Sprintf("How many rows a create makes in %s: each that was sent once made %d, behind its answer, of which some differ in nothing but their keys and times, and nothing in the request says that there are so many. %s.", f.Proof.Table.FullName(), len(s.Rows), how)}, f.Doubts...)
	if s.Rows = s.Rows[:different]; different == 1 {
		f.Proof.Several = Several{}
	}
}
