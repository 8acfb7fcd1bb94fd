package drafting

import (
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// noteNames are in the names of tables that have rows for requests, or for their keys and locks, and not for what they do. A catalog is no log, nor
// are conversions, reviews, interviews, blocks, releases and exchanges what a part of their names says.
const noteNames = `(?:^|[^abio])log|(?:api|data)log|audit|attempt|histor|request|trace|(?:^|[^n])version|[^o]nversion|revision|session|token|key|idempot|record|dedup|seen|visit|(?:^|[^er])view|[^r]eview|[^e]rview|(?:^|[^b])lock|(?:job|db)lock|(?:^|[^e])lease|[^r]elease|claim|(?:^|[^x])change|[^e]xchange|track|cache|status`

var (
	// bookkeeping matches names of tables that may have rows for requests, or whose rows come and go: those are no effect of a create. What it puts
	// into an inbox may be one.
	bookkeeping = regexp.MustCompile(`(?i)event|outbox|queue|job|task|messag|notif|mail|` + noteNames)
	// sending matches names of tables whose rows are sent, or say that something was, so that no repetition of a request makes another.
	sending = regexp.MustCompile(`(?i)outbox|mail|messag|notif`)
	// working matches names of tables whose rows are work to do.
	working = regexp.MustCompile(`(?i)queue|job|task`)
	// noting matches names of tables that have rows for requests, or for what came in, and none for what is to be sent or done.
	noting = regexp.MustCompile(`(?i)inbox|receiv|processed|incoming|` + noteNames)
)

// HoldsMessages reports that the rows of a table are messages or jobs, going by its name. They may be taken away when they are done.
func HoldsMessages(t databases.Table) bool {
	return (sending.MatchString(t.Name) || working.MatchString(t.Name)) && !noting.MatchString(t.Name)
}

// atMost reports that no create makes more messages than were seen in a table, and no repetition of one: it was seen to make none, or the
// name of the table tells that each is sent. Where equal creates make different numbers, more say nothing of a repetition.
func atMost(t databases.Table, rows, again int, uneven bool) bool {
	return rows > 0 && HoldsMessages(t) && (again <= rows || uneven || sending.MatchString(t.Name))
}

// Implied are columns of another table that refer to the created row by their name, without a foreign key: order_id, where the row is one of
// orders, or aggregate_id, where the id tells enough.
func (p *Proof) Implied(t databases.Table) []databases.Reference {
	var all []databases.Reference
	if len(p.Table.Primary) != 1 {
		return nil
	}
	own := p.Table.Primary[0]
	named := []string{singular(squeezed(p.Table.Name)) + "id"}
	if squeezed(own) != "id" {
		named = append(named, squeezed(own))
	}
	if len(p.Row[own]) >= telling {
		named = append(named, "aggregateid", "entityid", "resourceid", "objectid", "subjectid")
	}
	for _, c := range t.Columns {
		refers := slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
		if !refers && slices.Contains(named, squeezed(c.Name)) {
			all = append(all, databases.Reference{Column: c.Name, Schema: p.Table.Schema, Table: p.Table.FullName(), Theirs: own})
		} else if theirs := p.namedFor(c); !refers && theirs != "" {
			all = append(all, databases.Reference{Column: c.Name, Schema: p.Table.Schema, Table: p.Table.FullName(), Theirs: theirs})
		}
	}
	return all
}

// namedFor is the column of the created row that a column of another table may refer to, which is called after the created table: order_no for the
// no or order_no of orders, or order_key for what tells one order from all others. A word that says how it stands with an order is none.
func (p *Proof) namedFor(c databases.Column) string {
	one := singular(squeezed(p.Table.Name))
	if one == "" || !strings.HasPrefix(squeezed(c.Name), one) || slices.ContainsFunc(namedWords(c.Name), stateWord.MatchString) {
		return ""
	}
	likely := ""
	for _, theirs := range p.Table.Columns {
		value, called := p.Row[theirs.Name], slices.Contains([]string{squeezed(theirs.Name), one + squeezed(theirs.Name)}, squeezed(c.Name))
		ofOther := slices.ContainsFunc(p.Table.Refers, func(r databases.Reference) bool { return r.Column == theirs.Name })
		tells := len(value) >= telling && strings.ContainsAny(value, "0123456789") && idLike.MatchString(theirs.Name) && !moment.MatchString(theirs.Type) && idLike.MatchString(c.Name)
		switch {
		case called && (p.Table.IsKey(theirs.Name) && value != "" || tells && !ofOther):
			return theirs.Name
		case tells && !ofOther && likely == "":
			likely = theirs.Name
		}
	}
	return likely
}

// singular is the name of one of what a table holds.
func singular(plural string) string {
	for _, end := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"s", ""}} {
		if one, is := strings.CutSuffix(plural, end[0]); is {
			return one + end[1]
		}
	}
	return plural
}
