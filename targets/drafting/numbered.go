package drafting

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

var (
	// numberWord matches words in what columns are called that hold the number of an invoice or an order.
	numberWord = regexp.MustCompile(`^(seq|sequence|serial|number|num|no|nr|nummer|numero)$`)
	// lastNumber matches a number, alone or behind what stands before that of each thing, as in INV-2027-00017.
	lastNumber = regexp.MustCompile(`^([A-Za-z](?:[ -~]*[ -/:-~])?)?(\d{1,15})$`)
)

// ofWriters matches what columns are called that say which request or process has written a row: those are counted anew when a service starts.
var ofWriters = regexp.MustCompile(`(?i)trace|span|correlat|worker|process|thread|instance|node|^pid$|_pid$`)

// MayBeNumbered are the columns of the created thing that may have its number among all, and of which the database takes two of one. Where what is
// removed stays, its number may be given again.
func MayBeNumbered(f *File) (columns []databases.Column) {
	p := f.Proof
	if len(p.Several.Rows) > 0 || p.Removal != nil && p.Removal.Column != "" {
		return nil
	}
	for _, c := range p.Table.Columns {
		in := func(columns []string) bool { return slices.Contains(columns, c.Name) }
		refers := slices.ContainsFunc(p.Table.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
		partly := slices.ContainsFunc(p.Table.Partly, func(index string) bool { return strings.Contains(index, c.Name) })
		noted := ofRequests.MatchString(c.Name) || ofWriters.MatchString(c.Name)
		called := calledNumber(c.Name)
		prefix, number := Numbering(p.Row[c.Name])
		if c.Name != p.Column && !in(p.Table.Primary) && !slices.ContainsFunc(p.Table.Unique, in) && !refers && !partly && !noted && !moment.MatchString(c.Type) && number > 0 && (called || prefix != "") {
			columns = append(columns, c)
		}
	}
	return columns
}

// calledNumber reports that a column is called like the number of a thing. One that is called like how many there are, such as number_of_orders, is
// that for several things.
func calledNumber(column string) bool {
	words := namedWords(column)
	for n, word := range words {
		if n > 0 && numberWord.MatchString(words[n-1]) && (word == "of" || strings.HasSuffix(word, "s")) {
			return false
		}
	}
	return slices.ContainsFunc(words, numberWord.MatchString)
}

// Numbering parts a text into a number at its end, and what stands before it; 0: there is none.
func Numbering(value string) (prefix string, number int) {
	parts := lastNumber.FindStringSubmatch(value)
	if parts == nil {
		return "", 0
	}
	number, _ = strconv.Atoi(parts[2])
	return parts[1], number
}

// InTurn reports that each value has the next number, behind the same prefix.
func InTurn(values []string) bool {
	prefix, first := Numbering(values[0])
	for n, value := range values {
		if before, number := Numbering(value); number == 0 || before != prefix || number != first+n {
			return false
		}
	}
	return true
}

// Numbers notes that a column has the number of each thing among all, or among those that refer to the same things as the created rows all do.
func Numbers(f *File, column string, rows []map[string]string) {
	f.Doubt("Whether two of %s may have one number: each create got the next one in %s, and nothing in the database forbids two of one. Runs say so if creates at the same time get the same. If it counts within something else, such as a year or an account, put that into the effect's query.", f.Proof.Table.FullName(), column)
	columns := []string{column}
	for _, r := range f.Proof.Table.Refers {
		same := rows[0][r.Column] != "" && !slices.ContainsFunc(rows, func(row map[string]string) bool { return row[r.Column] != rows[0][r.Column] })
		if same && !slices.Contains(columns, r.Column) {
			columns = append(columns, r.Column)
		}
	}
	f.Proof.Numbers = append(f.Proof.Numbers, columns)
}

// numbersOnce counts the rows that bear the number of a created one: itself.
func numbersOnce(f *File) {
	table := f.Dialect.TableName(f.Proof.Table)
	for _, columns := range f.Proof.Numbers {
		var names []string
		for _, column := range columns {
			names = append(names, table+"."+f.Dialect.Name(column))
		}
		theirs := strings.Join(names, ", ")
		ours := theirs
		if len(names) > 1 {
			ours = "(" + theirs + ")"
		}
		f.line("      - name: %s # each has a number of its own", literal("same-"+Slug(columns[0])))
		f.line("        query: %s", literal(fmt.Sprintf("select 1 from %s where %s in (select %s from %s where %s)", table, ours, theirs, table, f.condition())))
		f.line("        rows: 1")
	}
}
