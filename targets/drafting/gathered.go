package drafting

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// What else of a column is a number: a member of its JSON ("data at balance"), how many elements a list or an array has, how many lines a text, how
// long an interval is, an amount that is no number to the database, and the day on which a range ends ("valid end in days").
const (
	at         = " at "
	inElements = " in elements"
	inMembers  = " in members"
	inLines    = " in lines"
	inSeconds  = " in seconds"
	asAmount   = " as an amount"
	rangeEnd   = " end"
)

// What is read of the JSON in one column.
const (
	deepest     = 3
	mostNumbers = 30
)

var (
	jsonType     = regexp.MustCompile(`(?i)^jsonb?$`)
	arrayType    = regexp.MustCompile(`(?i)^array$|\[\]$`)
	intervalType = regexp.MustCompile(`(?i)^interval`)
	moneyType    = regexp.MustCompile(`(?i)^money$`)
	rangeType    = regexp.MustCompile(`(?i)^(date|ts|tstz)range$`)
	// amountWord matches words in what columns of text are called that may hold a number, such as the value in a table of settings.
	amountWord = regexp.MustCompile(`^(value|val|amount|balance|count|counter|total|sum|stock|quantity|qty|revenue|points?|credits?)s?$`)
	// documentWord matches words in what columns of text are called that may hold JSON.
	documentWord = regexp.MustCompile(`^(json|data|doc|document|stats?|state|payload|body|meta|attributes|props|properties|value)$`)
	// jsonMember matches a member of JSON that can stand in a path of any database.
	jsonMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// someOnly matches words by which a list is called that does not keep all that comes to it.
	someOnly = regexp.MustCompile(`^(recent|latest|newest|last|top|cache|cached|preview|window)s?$`)
	numerals = regexp.MustCompile(`^-?\d{1,15}(\.\d{1,6})?$`)
	// intervalText matches how PostgreSQL writes an interval.
	intervalText = regexp.MustCompile(`^(?:(-?\d+) years? ?)?(?:(-?\d+) mons? ?)?(?:(-?\d+) days? ?)?(?:(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?))?$`)
)

// documents reports that a column may hold JSON, or another thing of which a part is a number, going by its type or its name.
func documents(c databases.Column) bool {
	return jsonType.MatchString(c.Type) || arrayType.MatchString(c.Type) || intervalType.MatchString(c.Type) || moneyType.MatchString(c.Type) ||
		forText(c) && slices.ContainsFunc(namedWords(c.Name), func(word string) bool { return amountWord.MatchString(word) || documentWord.MatchString(word) })
}

// forText reports that a column is of a type for texts.
func forText(c databases.Column) bool {
	return !c.HoldsNumber() && !moment.MatchString(c.Type) && !arrayType.MatchString(c.Type) && textType.MatchString(c.Type)
}

// textType matches the types of columns for texts.
var textType = regexp.MustCompile(`(?i)char|text|clob|^json$|^$`)

// gathered are the numbers in the columns of a row that are of another type. Keys are none.
func gathered(t databases.Table, row map[string]string) map[string]float64 {
	all := map[string]float64{}
	for _, c := range t.Columns {
		text, set := row[c.Name]
		if !set || slices.Contains(t.Primary, c.Name) || slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return r.Column == c.Name }) {
			continue
		}
		switch {
		case jsonType.MatchString(c.Type) || forText(c) && strings.HasPrefix(text, "{") || forText(c) && strings.HasPrefix(text, "["):
			maps.Copy(all, inJSON(c.Name, text))
		case arrayType.MatchString(c.Type):
			if n, known := members(text); known && !gone(c.Name) {
				all[c.Name+inMembers] = n
			}
		case intervalType.MatchString(c.Type):
			if n, known := secondsOf(text); known {
				all[c.Name+inSeconds] = n
			}
		case moneyType.MatchString(c.Type):
			if n, known := moneyOf(text); known {
				all[c.Name+asAmount] = n
			}
		case forText(c) && numerals.MatchString(text):
			if n, err := strconv.ParseFloat(text, 64); err == nil && slices.ContainsFunc(namedWords(c.Name), amountWord.MatchString) {
				all[c.Name+asAmount] = n
			}
		case forText(c) && strings.Contains(text, "\n") && !gone(c.Name):
			all[c.Name+inLines] = float64(strings.Count(text, "\n"))
		}
	}
	return all
}

// gone reports that a list is called so that it may drop what is older.
func gone(name string) bool { return slices.ContainsFunc(namedWords(name), someOnly.MatchString) }

// inJSON are the numbers in a document, and how many elements its lists have.
func inJSON(column, text string) map[string]float64 {
	all := map[string]float64{}
	var document any
	if json.Unmarshal([]byte(text), &document) != nil {
		return nil
	}
	var walk func(path []string, value any)
	walk = func(path []string, value any) {
		name := column
		if len(path) > 0 {
			name += at + strings.Join(path, ".")
		}
		switch value := value.(type) {
		case float64:
			if len(path) > 0 && len(all) < mostNumbers && !idLike.MatchString(path[len(path)-1]) {
				all[name] = value
			}
		case []any:
			if len(all) < mostNumbers && !gone(name) {
				all[name+inElements] = float64(len(value))
			}
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(value)) {
				if len(path) < deepest && jsonMember.MatchString(member) {
					walk(append(slices.Clone(path), member), value[member])
				}
			}
		}
	}
	walk(nil, document)
	return all
}

// members is how many elements an array has, as PostgreSQL writes it.
func members(text string) (float64, bool) {
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") || strings.HasPrefix(text, "{{") {
		return 0, false
	}
	if text == "{}" {
		return 0, true
	}
	n, quoted := 1, false
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			n++
		}
	}
	return float64(n), true
}

// secondsOf is how long an interval is, by the months and years that extract(epoch) takes.
func secondsOf(text string) (seconds float64, known bool) {
	parts := intervalText.FindStringSubmatch(text)
	if parts == nil || text == "" {
		return 0, false
	}
	for n, each := range []float64{0, 365.25 * 86400, 30 * 86400, 86400} {
		if part, err := strconv.ParseFloat(parts[n], 64); n > 0 && err == nil {
			seconds += part * each
		}
	}
	clock := 0.0
	for n, each := range map[int]float64{5: 3600, 6: 60, 7: 1} {
		if part, err := strconv.ParseFloat(parts[n], 64); err == nil {
			clock += part * each
		}
	}
	if parts[4] == "-" {
		clock = -clock
	}
	return seconds + clock, true
}

// moneyOf is an amount of the type money, in whatever language its points and commas are.
func moneyOf(text string) (float64, bool) {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, text)
	n, err := strconv.ParseFloat(digits, 64)
	text = strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' }) // what stands behind it is a currency
	if cut := strings.LastIndexAny(text, ".,"); cut >= 0 && len(text)-cut == len(".00") {
		n /= 100
	}
	return n, err == nil
}

// endsIn are the days on which the ranges of a row end, as columns of dates.
func endsIn(t databases.Table, row map[string]string) (of databases.Table, ends map[string]string) {
	ends = map[string]string{}
	for _, c := range t.Columns {
		_, end, is := strings.Cut(row[c.Name], ",")
		if rangeType.MatchString(c.Type) && is {
			ends[c.Name+rangeEnd] = strings.Trim(end, `")]`)
			of.Columns = append(of.Columns, databases.Column{Name: c.Name + rangeEnd, Type: "date"})
		}
	}
	return of, ends
}

// numberPart is the column of which a number is a part, where in its JSON it is, and what of it is the number; empty: it is the column itself.
func numberPart(number string) (column, path, what string) {
	for _, suffix := range []string{inElements, inMembers, inLines, inSeconds, asAmount} {
		if rest, is := strings.CutSuffix(number, suffix); is {
			number, what = rest, suffix
		}
	}
	column, path, deep := strings.Cut(number, at)
	if deep && what == "" {
		what = at
	}
	return column, path, what
}

// Gathers reports that a number is how much has been put to a list or a text, of which what is older may be dropped some time.
func Gathers(number string) bool {
	_, _, what := numberPart(number)
	return what == inElements || what == inMembers || what == inLines
}

// fractional reports that a number which is a part of a column may have decimals.
func fractional(number string) bool {
	_, _, what := numberPart(number)
	return what != "" && !Gathers(number)
}

// partIn is a part of a column as a number; empty: the number is none.
func partIn(d databases.Dialect, table, number string) string {
	column, path, what := numberPart(number)
	if what == "" {
		return ""
	}
	of := table + "." + d.Name(column)
	where := "$"
	if path != "" {
		where += "." + path
	}
	keys := strings.ReplaceAll(path, ".", ",")
	list := "cast(" + of + " as jsonb)"
	if path != "" {
		list += " #> '{" + keys + "}'"
	}
	asked := map[string]map[databases.Dialect]string{
		at: {databases.PostgreSQL: fmt.Sprintf("cast(cast(%s as jsonb) #>> '{%s}' as numeric)", of, keys),
			databases.MariaDB: fmt.Sprintf("cast(json_value(%s, '%s') as decimal(40, 6))", of, where), databases.SQLite: fmt.Sprintf("json_extract(%s, '%s')", of, where)},
		inElements: {databases.PostgreSQL: "jsonb_array_length(" + list + ")",
			databases.MariaDB: fmt.Sprintf("json_length(%s, '%s')", of, where), databases.SQLite: fmt.Sprintf("json_array_length(%s, '%s')", of, where)},
		inMembers: {databases.PostgreSQL: "cardinality(" + of + ")"},
		inSeconds: {databases.PostgreSQL: "cast(extract(epoch from " + of + ") as numeric)"},
		asAmount: {databases.PostgreSQL: "cast(" + of + " as numeric)",
			databases.MariaDB: "cast(" + of + " as decimal(40, 6))", databases.SQLite: "cast(" + of + " as numeric)"},
		inLines: {databases.PostgreSQL: fmt.Sprintf("(length(%[1]s) - length(replace(%[1]s, chr(10), '')))", of),
			databases.MariaDB: fmt.Sprintf("(char_length(%[1]s) - char_length(replace(%[1]s, char(10 using utf8mb4), '')))", of),
			databases.SQLite:  fmt.Sprintf("(length(%[1]s) - length(replace(%[1]s, char(10), '')))", of)},
	}[what][d]
	return "coalesce(" + asked + ", 0)"
}
