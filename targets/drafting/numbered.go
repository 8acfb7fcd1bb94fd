package drafting

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

var (
	// numberWord matches words in what columns are called that hold the number of an invoice or an order.
	numberWord = regexp.MustCompile(`^(seq|sequence|serial|number|num|no|nr|nummer|numero)$`)
	// placeWord matches the last word of what columns are called that hold the number of what only one can have; slots go round, and many share one.
	placeWord = regexp.MustCompile(`^(seat|locker|ticket|folio|voucher|docket)$`)
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
		prefix, number := Numbering(p.Row[c.Name])
		if mayBeShared(p, c) && number > 0 && (calledNumber(c.Name) || prefix != "") {
			columns = append(columns, c)
		}
	}
	return columns
}

// mayBeShared reports that the database takes two rows with one value in a column, and that it is no reference, no time, and nothing of requests.
func mayBeShared(p *Proof, c databases.Column) bool {
	return takesTwo(p, c) && !ofRequests.MatchString(c.Name) && !ofWriters.MatchString(c.Name)
}

// takesTwo reports that the database takes two rows with one value in a column, and that it is no reference and no time.
func takesTwo(p *Proof, c databases.Column) bool {
	in := func(columns []string) bool { return slices.Contains(columns, c.Name) }
	refers := slices.ContainsFunc(p.Table.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
	partly := slices.ContainsFunc(p.Table.Partly, func(index string) bool { return strings.Contains(index, c.Name) })
	return c.Name != p.Column && !slices.ContainsFunc(p.Table.Keys(), in) && !refers && !partly && !moment.MatchString(c.Type)
}

// refilled matches what columns are called that hold what is left of a quota: it is full again after a while, and equal ones come again.
var refilled = regexp.MustCompile(`(?i)quota|limit|allowance|throttl|(^|_)rate|hour|minute|window`)

// MayRunOn are the columns of the created thing that may have a balance after it: what the row before has, and an amount of its own.
func MayRunOn(f *File) (columns []databases.Column) {
	p := f.Proof
	if len(p.Several.Rows) > 0 || p.Removal != nil && p.Removal.Column != "" {
		return nil
	}
	for _, c := range p.Table.Columns {
		if mayBeShared(p, c) && c.HoldsNumber() && !refilled.MatchString(c.Name) && len(amounts(p.Table, c.Name, p.Row)) > 0 {
			columns = append(columns, c)
		}
	}
	return columns
}

// MayNameTwo is the column that answers name the created thing by, if the database takes two things of one name: the service makes it, out of the
// time or by chance, and nothing but that keeps it from giving a name again. What the request says itself is no such name.
func MayNameTwo(f *File) databases.Column {
	p := f.Proof
	if len(p.Several.Rows) > 0 || p.Removal != nil && p.Removal.Column != "" || p.Archive != nil || len(p.Shards) > 0 || p.Through != nil || p.Shown != (databases.Shown{}) || f.Draft.echoed(p.Named) {
		return databases.Column{}
	}
	for _, c := range p.Table.Columns {
		if c.Name == p.Identity && mayBeShared(p, c) {
			return c
		}
	}
	return databases.Column{}
}

// MayBeLinked are the columns of the created thing that may have the sum of the row before it, as in a chain that shows what was changed later.
func MayBeLinked(f *File) (columns []databases.Column) {
	p := f.Proof
	if len(p.Several.Rows) > 0 || p.Removal != nil && p.Removal.Column != "" {
		return nil
	}
	for _, c := range p.Table.Columns {
		if checksum.MatchString(c.Name) && takesTwo(p, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// checksum matches what columns are called that hold the sum of a row.
var checksum = regexp.MustCompile(`(?i)hash|digest|checksum|sha\d|hmac|signature`)

// Linked reports that each row has in a column what the one before has in another one: a sum that no two rows share.
func Linked(t databases.Table, column string, rows []map[string]string) bool {
	return len(rows) > 2 && slices.ContainsFunc(t.Columns, func(c databases.Column) bool {
		for n := 1; n < len(rows); n++ {
			if sum := rows[n][column]; len(sum) < telling || sum != rows[n-1][c.Name] || sum == rows[n-1][column] {
				return false
			}
		}
		return true
	})
}

// Links notes that the rows are a chain.
func Links(f *File, column string, rows []map[string]string) {
	f.Doubt("Whether two of %s may follow the same one: each create had in %s what the one before it has of its own, and nothing in the database forbids two of one. Runs say so if creates at the same time follow the same; leave the effect out if that may be.", f.Proof.Table.FullName(), column)
	noteShared(f, column, rows)
}

// amounts are the columns of numbers by which another one may go on: not by one or nothing, as what counts rows does.
func amounts(t databases.Table, column string, row map[string]string) (names []string) {
	for _, c := range t.Columns {
		amount, is := new(big.Rat).SetString(row[c.Name])
		refers := slices.Contains(t.Primary, c.Name) || slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return r.Column == c.Name })
		if c.Name != column && c.HoldsNumber() && !refers && is && new(big.Rat).Abs(amount).Cmp(big.NewRat(1, 1)) > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// RunsOn reports that each row has in a column what the one before has, and, always more or always less, what another column of it says.
func RunsOn(t databases.Table, column string, rows []map[string]string) bool {
	by := func(amount string, sign int) bool {
		for n, row := range rows {
			if n == 0 {
				continue
			}
			before, was := new(big.Rat).SetString(rows[n-1][column])
			now, is := new(big.Rat).SetString(row[column])
			step, said := new(big.Rat).SetString(row[amount])
			if !was || !is || !said || step.Sign() == 0 || now.Sub(now, before).Cmp(step.Mul(step, big.NewRat(int64(sign), 1))) != 0 {
				return false
			}
		}
		return true
	}
	return len(rows) > 2 && slices.ContainsFunc(amounts(t, column, rows[0]), func(amount string) bool { return by(amount, 1) || by(amount, -1) })
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
	return slices.ContainsFunc(words, numberWord.MatchString) || len(words) > 0 && placeWord.MatchString(words[len(words)-1])
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
	noteShared(f, column, rows)
}

// Sums notes that a column has a balance after each thing.
func Sums(f *File, column string, rows []map[string]string) {
	f.Doubt("Whether two of %s may have one %s: each create had there what the one before it had, and its own amount. Runs say so if creates at the same time start from the same. If that may be, or if equal sums come again in time, leave the effect out.", f.Proof.Table.FullName(), column)
	noteShared(f, column, rows)
}

// InOrder reports that each row has a later value in a column than the one before, as what is made out of the time has. What is drawn is not in
// order: it comes twice by chance alone, and is meant to if it is short, such as a code that is said at a counter.
func InOrder(column string, rows []map[string]string) bool {
	const least = 6
	for n, row := range rows {
		if len(row[column]) < least || n > 0 && (len(row[column]) != len(rows[n-1][column]) || row[column] <= rows[n-1][column]) {
			return false
		}
	}
	return len(rows) > 2
}

// Names notes that answers name things by a column, each by another value so far.
func Names(f *File, column string, rows []map[string]string) {
	noted := func(columns []string) bool { return columns[0] == column }
	if slices.ContainsFunc(f.Proof.Numbers, noted) {
		return
	}
	f.Doubt("Whether two of %s may have one %s: the answer names the thing by it, and nothing in the database forbids two of one. Runs say so if creates at the same time get the same; leave the effect out if that may be.", f.Proof.Table.FullName(), column)
	noteShared(f, column, rows)
}

// NamedAlike doubts a name that two creates got which were sent one after the other.
func NamedAlike(f *File, column string, rows []map[string]string) {
	for n, row := range rows {
		if n > 0 && row[column] == rows[n-1][column] {
			f.Doubt("Whether the answer names one thing: two creates one after the other had the same %s in %s, by which the answer names them. If no two may, an effect says so: query: select 1 from TABLE where %s in (the created row's), rows: 1.", column, f.Proof.Table.FullName(), column)
			return
		}
	}
}

// noteShared notes that no two rows have one value in a column, among those that refer to the same things as the created rows all do.
func noteShared(f *File, column string, rows []map[string]string) {
	columns := []string{column}
	for _, within := range belongsTo(f.Proof) {
		same := rows[0][within] != "" && !slices.ContainsFunc(rows, func(row map[string]string) bool { return row[within] != rows[0][within] })
		if same && !slices.Contains(columns, within) {
			columns = append(columns, within)
		}
	}
	f.Proof.Numbers = append(f.Proof.Numbers, columns)
}

// owner matches what columns are called that say whose a row is, where they are no reference to another table.
var owner = regexp.MustCompile(`^(owner|account|acct|tenant|wallet|purse|customer|user|member|holder|payer|payee|org|organi[sz]ation|company|client|merchant|seller|vendor|supplier|shop|store|branch|till|terminal|device|meter|card|iban|phone|msisdn|email|book|ledger|currency|region|country)( (id|uuid|code|no|number|name|ref))?$`)

// belongsTo are the columns that say what a row belongs to, within which another row may rightly have the same number or balance: references to other
// tables, and what is called so, or as an id.
func belongsTo(p *Proof) (columns []string) {
	for _, r := range p.Table.Refers {
		columns = append(columns, r.Column)
	}
	for _, c := range p.Table.Columns {
		if c.Name != p.Column && c.Name != p.Identity && !slices.Contains(p.Table.Primary, c.Name) && (idLike.MatchString(c.Name) || owner.MatchString(strings.Join(namedWords(c.Name), " "))) {
			columns = append(columns, c.Name)
		}
	}
	return columns
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
