package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Seen is a row that a create has written, as it stood then and some time later.
type Seen struct{ Then, Later map[string]string }

// Counting is which rows of a table stand for what a number was changed by.
type Counting struct {
	Condition string // for those that do; empty: all
	Moves     bool   // a row has a state that may move on
	Told      bool   // it is known
}

// Counted finds which rows count, as all those do that creates have written: one that was declined, waits or was taken back does not. It is
// not told where only a code says what became of a row, or a word of which it is not known what comes after it.
func Counted(f *File, t databases.Table, rows []Seen) Counting {
	all := Counting{Told: true}
	var conditions []string
	for _, c := range t.Columns {
		one := countedBy(f.Dialect, c, f.Dialect.TableName(t)+"."+f.Dialect.Name(c.Name), rows)
		if one.Condition != "" {
			conditions = append(conditions, one.Condition)
		}
		all.Moves, all.Told = all.Moves || one.Moves, all.Told && one.Told
	}
	all.Condition = strings.Join(conditions, " and ")
	return all
}

// countedBy finds which rows count by one column.
func countedBy(d databases.Dialect, c databases.Column, name string, rows []Seen) Counting {
	var values []string
	missing, moves := 0, false
	for _, row := range rows {
		then, was := row.Then[c.Name]
		later, is := row.Later[c.Name]
		moves = moves || was != is || then != later
		for _, value := range []struct {
			text string
			set  bool
		}{{then, was}, {later, is}} {
			if value.set {
				values = append(values, value.text)
			} else {
				missing++
			}
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	is := slices.ContainsFunc(namedWords(c.Name), stateWord.MatchString)
	one := missing == 0 && len(values) == 1
	text := fmt.Sprintf("lower(cast(%s as char(60)))", name)
	switch {
	case is && c.HoldsNumber() && len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !answeredDone.MatchString(v) }):
		return Counting{Condition: name + " between 200 and 299", Told: true}
	case is && !moment.MatchString(c.Type) && len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !quotable.MatchString(v) || len(v) > 60 }):
		return countedState(d, c, text, values, moves)
	case undone.MatchString(c.Name) && len(values) == 0:
		return Counting{Condition: name + " is null", Told: true}
	case one && quotable.MatchString(values[0]) && !moment.MatchString(c.Type) && (undone.MatchString(c.Name) || doneName.MatchString(c.Name) && yes.MatchString(values[0])):
		return Counting{Condition: fmt.Sprintf("%s = '%s'", text, strings.ToLower(values[0])), Told: true}
	case doneName.MatchString(c.Name) && missing == 0 && moment.MatchString(c.Type):
		return Counting{Condition: name + " is not null", Told: true}
	}
	return Counting{Told: true}
}

// countedState finds it by what says what became of a row. A row that moves on counts on, unless it comes to nothing. One that is done counts
// in the state that it has then, and in those that come after it.
func countedState(d databases.Dialect, c databases.Column, text string, values []string, moves bool) Counting {
	text = "coalesce(" + text + ", '')"
	without := func(stems []string) []string {
		return slices.DeleteFunc(slices.Clone(stems), func(stem string) bool {
			return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), stem) })
		})
	}
	switch {
	case c.HoldsNumber():
		return Counting{}
	case moves || slices.ContainsFunc(values, begun.MatchString):
		return Counting{Condition: "not " + has(d, text, without(undoneStems)), Moves: true, Told: true}
	case !slices.ContainsFunc(values, func(v string) bool { return !done.MatchString(v) }):
		return Counting{Condition: fmt.Sprintf("(%s in ('%s') or %s)", text, strings.ToLower(strings.Join(values, "', '")), has(d, text, without(furtherStems))), Told: true}
	default:
		return Counting{}
	}
}

// has is the condition that a text has one of some stems in it.
func has(d databases.Dialect, text string, stems []string) string {
	switch d {
	case databases.PostgreSQL:
		return fmt.Sprintf("(%s ~ '%s')", text, strings.Join(stems, "|"))
	case databases.MariaDB:
		return fmt.Sprintf("(%s regexp '%s')", text, strings.Join(stems, "|"))
	default:
		return fmt.Sprintf("(%s like '%%%s%%')", text, strings.Join(stems, "%' or "+text+" like '%"))
	}
}

// furtherStems are in the states of a row that is done, and was taken further since.
var furtherStems = []string{"ship", "fulfilled", "deliver", "sent", "pack", "complete", "done", "closed", "settled", "captured", "dispatch", "transit", "posted", "processed", "succe", "finish"}

// undoneStems are in the states of a row that stands for nothing, or not yet, and in the names of columns that say so.
var undoneStems = []string{
	"declin", "fail", "reject", "refus", "denied", "cancel", "void", "error", "expired", "releas", "revers", "refund", "insuff", "abort", "waitlist",
	"backorder", "block", "invalid", "inactiv", "delet", "return",
}

var (
	undone       = regexp.MustCompile(`(?i)` + strings.Join(undoneStems, "|"))
	doneName     = regexp.MustCompile(`(?i)succe|approv|accept|captur|confirm|paid|settle|complet|authori[sz]ed|applied|^ok$|^valid$`)
	begun        = regexp.MustCompile(`(?i)new|creat|open|pend|plac|queu|receiv|submit|draft|processing|progress|initia|request|reserv|held|hold|start|wait|accept|activ|^(un|not|in_|to_|awaiting)`)
	done         = regexp.MustCompile(`(?i)^ok$|paid|done|complete|succe|settled|booked|confirm|captured|approved|fulfilled|finish|posted|executed|charged|sold|issued|closed|processed|applied|redeemed|sent`)
	answeredDone = regexp.MustCompile(`^2\d\d$`) // the status of an answer, as records of keys have it
	moment       = regexp.MustCompile(`(?i)date|time`)
	yes          = regexp.MustCompile(`(?i)^(true|t|1|yes|y)$`)
	stateWord    = regexp.MustCompile(`^(status|state|outcome|result|decision|disposition|stage|phase)$`)
)

// namedWords are the words of which a name is made, in small letters: of order_status and orderStatus, order and status.
func namedWords(name string) []string {
	var spaced strings.Builder
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		if unicode.IsLetter(r) {
			spaced.WriteRune(unicode.ToLower(r))
		} else {
			spaced.WriteByte(' ')
		}
	}
	return strings.Fields(spaced.String())
}
